"""`esrag ask`: a cited answer, or a refusal."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import answer_options, question_argument, question_of, settings_of
from esrag.cli.output import print_json, print_text, remark
from esrag.cli.streams import stop_unread

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.results import AskResult
    from esrag.settings import Settings

REFUSED = 3


@dataclass(frozen=True, slots=True)
class Parts:
    """The optional parts to print with the answer."""

    evidence: bool
    prompt: bool
    explain: bool


@click.command()
@question_argument
@click.option("--show-evidence", is_flag=True, help="Print the passages available to the answer.")
@click.option("--show-prompt", is_flag=True, help="Print the prompt sent to the language model.")
@click.option(
    "--stream", is_flag=True, help="Print each sentence as soon as it has passed its check."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print ranks and scores of each hit, the search path and the time of each stage.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the record of this run to a file.",
)
@answer_options
def ask(
    words: tuple[str, ...],
    *,
    stream: bool,
    save: Path | None,
    as_json: bool,
    where: tuple[str, ...],
    **options: Any,
) -> int:
    """Answer a question and cite a passage for every sentence.

    If the documents do not hold the answer, print "not found in provided docs" and exit with code
    3. Quote a QUESTION that contains ? or *, or pass - to read it from stdin.
    """
    from esrag.citations import ignore
    from esrag.context import open_context
    from esrag.filters import parse_all
    from esrag.pipeline import ask as run
    from esrag.runs.record_files import check_target, write_record

    stop_unread()
    if stream:
        _require_text(as_json=as_json)
    parts = Parts(*(options.pop(name) for name in ("show_evidence", "show_prompt", "explain")))
    question = question_of(words)
    settings = settings_of(**options)
    kibana = _kibana(settings) if parts.explain else ""
    if save:
        check_target(save)
    context = open_context(settings)
    sentences: list[str] = []
    filter_ = parse_all(where)
    asked = run(question, context, filter_, partial(_stream, sentences) if stream else ignore)
    _print(asked, _kibana_url(kibana, asked, context), parts, sentences, as_json=as_json)
    if save:  # at the end: an answer is shown even if it cannot be saved
        write_record(save, asked.to_record(context, filter_))
    return REFUSED if asked.answer.refused else 0


def _require_text(*, as_json: bool) -> None:
    """Raise UsageError for JSON, which is printed at the end."""
    if as_json:
        raise click.UsageError(
            "--stream and --json cannot be combined: --json prints one object at the end"
        )


def _print(
    asked: "AskResult", kibana_url: str, parts: Parts, sentences: list[str], *, as_json: bool
) -> None:
    if as_json:
        print_json(to_dict(asked, kibana_url, parts))
    else:
        _show(asked, kibana_url, parts, sentences)


def _stream(sentences: list[str], sentence: str) -> None:
    """Print a sentence at once, and remember it."""
    from esrag.cli.citing import print_sentence

    sentences.append(sentence)
    print_sentence(sentence)


def _kibana(settings: "Settings") -> str:
    """Return the address of Kibana or Dashboards, or "" if it shows nothing of the index.

    Raises: SettingsError.
    """
    from esrag.settings import is_address

    if not (settings.kibana.url and is_address(settings.engine.url)):
        return ""
    from esrag.dashboards.client import mask_url

    return mask_url(settings.kibana.url)


def _kibana_url(kibana: str, asked: "AskResult", context: "Context") -> str:
    """Return the address that opens the evidence in Kibana, or "" if there is nothing to show."""
    if not (kibana and asked.evidence):
        return ""
    from esrag.dashboards.links import evidence_link
    from esrag.engines.server import ServerEngine

    if not isinstance(context.engine, ServerEngine):  # a plugin's engine, whose product is unknown
        return ""
    chunk_ids = [item.chunk.chunk_id for item in asked.evidence]
    return evidence_link(kibana, context.engine.product, context.settings.engine.index, chunk_ids)


def to_dict(asked: "AskResult", kibana_url: str, parts: Parts) -> dict[str, Any]:
    """Return the answer as JSON, with the link to its evidence if `explain` is set."""
    answer = asked.to_dict(evidence=parts.evidence, prompt=parts.prompt, explain=parts.explain)
    return answer | ({"kibana_url": kibana_url} if parts.explain else {})


def show_answer(asked: "AskResult", *, is_printed: bool = False) -> None:
    """Print an answer, its citations and confidence; `is_printed` if its text was streamed."""
    from esrag.cli.citing import print_answer, print_citations, print_places

    for correction in asked.corrections:
        remark(correction.note)
    if not is_printed:
        print_text(asked.text) if asked.route == "facts" else print_answer(asked.answer)
    print_citations(asked.answer.citations)
    print_places(asked.nearest)
    if not asked.answer.refused and asked.route != "direct":
        print_text(f"\nconfidence: {asked.confidence_band} ({asked.confidence:.2f})")


def _show(asked: "AskResult", kibana_url: str, parts: Parts, sentences: list[str]) -> None:
    from esrag.cli.rendering import render

    is_printed = " ".join(sentences).split() == asked.answer.text.split()  # a list has lines
    show_answer(asked, is_printed=is_printed)
    if parts.evidence:
        print_text(render("evidence.txt.j2", evidence=asked.evidence, model=asked.model))
    if parts.prompt:
        print_text(render("sent.txt.j2", prompt=asked.prompt, model=asked.model))
    if parts.explain:
        print_text(render("explain.txt.j2", asked=asked, kibana_url=kibana_url))
    _remark_notes(asked, is_repeated=bool(sentences) and not is_printed)


def _remark_notes(asked: "AskResult", *, is_repeated: bool) -> None:
    """Remark on what a reader should know; `is_repeated` if the stream had other sentences."""
    for note in (*asked.retrieved.notes, *(() if asked.answer.refused else asked.answer.notes)):
        remark(note)
    if is_repeated:
        remark(
            "the sentences above the last answer passed their checks, "
            "but the rest of their draft did not"
        )
    if asked.answer.refused:
        remark(f"refused: {asked.answer.reason}: {'; '.join(asked.answer.notes)}")

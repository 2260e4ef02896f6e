"""`esrag index`: create, inspect, swap, migrate and remove the indexes at an address."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.errors import UsageError
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.engines import Engine, StoredIndex
    from esrag.engines.recall import Recall
    from esrag.ingesting.migration import Moved
    from esrag.settings import Settings


@click.group()
def index() -> None:
    """Create, list, swap, migrate and remove indexes."""


@index.command()
@settings_options
def create(**options: Any) -> int:
    """Create an empty index with the current settings."""
    from esrag.context import open_context
    from esrag.ingesting.batches import fingerprint

    settings = settings_of(**options)
    context = open_context(settings)
    if context.engine.exists():
        hint = "esrag index info shows it; esrag ingest --rebuild replaces it"
        raise UsageError(f"index {settings.engine.index} already exists", hint=hint)
    with context.engine.writer(fingerprint(settings, context.embedder)):
        pass
    print_text(f"created {settings.engine.index}")
    return 0


@index.command()
@json_option
@settings_options
def info(*, as_json: bool, **options: Any) -> int:
    """Show the index in use."""
    from esrag.context import open_engine

    settings = settings_of(**options)
    _show([open_engine(settings.engine).info()], as_json=as_json)
    return 0


@index.command("list")
@json_option
@settings_options
def list_(*, as_json: bool, **options: Any) -> int:
    """List every index at the address. A star marks the one in use."""
    from esrag.context import open_engine

    _show(open_engine(settings_of(**options).engine).indexes(), as_json=as_json)
    return 0


@index.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@settings_options
def drop(name: str, *, yes: bool, **options: Any) -> int:
    """Remove the index NAME and everything in it. Its jobs leave the ledger.

    With the index in use, its facts and summaries are removed too.
    """
    from esrag.context import open_engine

    settings = settings_of(**options)
    if not yes:
        click.confirm(f"Remove {name} and everything in it?", abort=True, err=True)
    engine = open_engine(settings.engine)
    was_there = engine.exists()
    engine.drop(name)
    print_text(f"removed {name}")
    if was_there and not engine.exists():
        _drop_siblings(settings)
    for former in dict.fromkeys((name, settings.engine.index)):  # its own name, or its alias
        _forget(settings, former)
    return 0


def _drop_siblings(settings: "Settings") -> None:
    """Remove the facts and the summaries of an index."""
    from esrag.context import open_siblings

    for name, sibling in open_siblings(settings.engine).items():
        if sibling.exists():
            sibling.drop(name)
            print_text(f"removed {name}")


@index.command()
@click.argument("name")
@settings_options
def swap(name: str, **options: Any) -> int:
    """Replace the index in use by NAME. The former index is kept.

    Facts stay, and summaries are made of what NAME holds.
    """
    from esrag.context import open_engine

    _require_applicable(options["sets"], ("chunking", "embedding", "loading"))
    settings = settings_of(**options)
    engine = open_engine(settings.engine)
    _require_usable(engine, name)
    former = engine.swap(name)
    _forget(settings, settings.engine.index, replaced=True)
    print_text(f"{settings.engine.index} now holds what {name} held")
    _sum_up(settings)
    _say_the_way_back(former)
    return 0


def _sum_up(settings: "Settings") -> None:
    """Bring the summaries up to date with another index in use."""
    from esrag.cli.progress import choose_progress
    from esrag.jobs.summaries import update_summaries
    from esrag.jobs.work import Work

    with closing(Work(settings)) as work, choose_progress() as shown:
        update_summaries(work, settings.engine.index, shown)


def _require_usable(engine: "Engine", name: str) -> None:
    """Raise UsageError for an index with a problem."""
    problem = next((one.problem for one in engine.indexes() if one.name == name), "")
    if problem:
        raise UsageError(
            f"{name} cannot be used: {problem}", hint="esrag index list shows all indexes"
        )


@index.command()
@settings_options
def refresh(**options: Any) -> int:
    """Make all stored documents searchable immediately."""
    from esrag.context import open_engine

    open_engine(settings_of(**options).engine).refresh()
    return 0


@index.command()
@click.option(
    "--to", metavar="FOLDER|URL", help="Move the index here; by default it stays where it is."
)
@click.option("--model", help="Embed the texts with this model; by default vectors are copied.")
@json_option
@settings_options
def migrate(*, to: str | None, model: str | None, as_json: bool, **options: Any) -> int:
    """Copy what is stored to a new index, and swap it in.

    The two are compared first, and the former index is kept. No file is read again, and chunks stay
    the same. Facts and summaries move along. Without --to and --model, the copy gets the current
    settings, such as engine.shards.
    """
    if "" in {to, model}:
        raise UsageError("--to and --model need a value", hint="esrag index migrate --help")
    _require_applicable(options["sets"], ("loading", "embedding.model" if model else "embedding"))
    settings = settings_of(**options)
    there = {**options, "sets": [*options["sets"], f"engine.url={to}"]} if to else options
    aim = _aim(settings, settings_of(**there, embedding__model=model))

    moved = _move(settings, aim, embeds=bool(model))
    _print_moved(moved, as_json=as_json)
    if not as_json:
        _say_what_to_set(to, model)
        _say_the_way_back(moved.former)
    return 0


def _move(settings: "Settings", aim: "Settings", *, embeds: bool) -> "Moved":
    """Copy the index of the settings to where `aim` says. Raises: UsageError if it cannot be."""
    from esrag.cli.progress import choose_progress
    from esrag.context import open_context, open_engine
    from esrag.ingesting.migration import move, move_siblings

    context = open_context(aim)
    if embeds:
        _require_model(context)
    source = _open_source(settings, aim, context.engine)

    def at(name: str) -> "Engine":
        return open_engine(aim.engine.model_copy(update={"index": name}))

    with choose_progress() as bar:
        moved = move(source, context.engine, at, context if embeds else None, bar)
    move_siblings(settings.engine, aim.engine, context if embeds else None)
    return moved


def _require_model(context: "Context") -> None:
    """Raise UsageError without an embedder."""
    if context.embedder is None:
        hint = "esrag ingest --rebuild drops the vectors"
        raise UsageError("without a model there is nothing to embed", hint=hint)


def _open_source(settings: "Settings", aim: "Settings", target: "Engine") -> "Engine":
    """Return the engine to copy from. Raises: UsageError if its chunks would not stay."""
    from esrag.context import open_engine
    from esrag.ingesting.batches import fingerprint
    from esrag.ingesting.migration import require_same_chunks

    moves = aim.engine.url != settings.engine.url
    source = open_engine(settings.engine) if moves else target
    require_same_chunks(source.fingerprint(), fingerprint(aim, None))
    return source


def _say_what_to_set(to: str | None, model: str | None) -> None:
    """Print the settings that a migration to another server or model calls for."""
    from esrag.settings import mask_value

    wanted = [
        *([f"engine.url to {mask_value(to)}"] if to else []),
        *([f"embedding.model to {model}"] if model else []),
    ]
    if wanted:
        remark(f"now set {' and '.join(wanted)}")


@index.command("check-recall")
@click.option(
    "--questions",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Number of vectors.",
)
@click.option(
    "--k",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Compare this many hits.",
)
@json_option
@settings_options
def check_recall(*, questions: int, k: int, as_json: bool, **options: Any) -> int:
    """Compare the vector leg with an exact search."""
    from esrag.context import open_engine
    from esrag.engines.recall import MIN_RECALL, recall

    settings = settings_of(**options)
    candidates = max(settings.retrieval.candidates, k)
    measured = recall(open_engine(settings.engine), questions, k, candidates)
    if measured is None:
        raise UsageError(
            "the index holds no vectors", hint="only vector search has a recall to measure"
        )
    _print_recall(measured, k, as_json=as_json)
    return 0 if measured.mean >= MIN_RECALL else 1


def _print_recall(measured: "Recall", k: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "esrag.recall/1", **asdict(measured)})
        return

    questions = format_count(measured.questions, "question")
    of = f"{questions} over {format_count(measured.chunks, 'chunk')}"
    print_text(f"recall@{k} {measured.mean:.4f}, worst question {measured.worst:.4f}: {of}")


def _print_moved(moved: "Moved", *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "esrag.migration/1", **asdict(moved)})
        return

    print_text(
        f"{format_count(moved.documents, 'document')}, {format_count(moved.chunks, 'chunk')}, "
        f"{moved.embedded} embedded"
    )
    agreement = f"keyword hits in common {moved.agreement}"
    if moved.found_again is not None:
        agreement += f", chunks found by their own vector {moved.found_again}"
    print_text(agreement)


def _require_applicable(sets: "Sequence[str]", refused: "Sequence[str]") -> None:
    """Raise UsageError if `--set` changes a setting that the index fixes and the command keeps."""
    for key in (text.partition("=")[0].strip() for text in sets):
        if any(key == name or key.startswith(f"{name}.") for name in refused):
            hint = (
                "esrag index migrate --model NAME re-embeds; esrag ingest FOLDER... "
                "--rebuild re-reads"
            )
            raise UsageError(
                f"this command keeps the index's {key}: --set {key} would have no effect", hint=hint
            )


def _aim(settings: "Settings", aim: "Settings") -> "Settings":
    """Return the target's settings. Credentials for one server are not sent to another."""
    from esrag.settings import EngineSettings, is_address

    urls = (settings.engine.url, aim.engine.url)
    if urls[0] == urls[1] or not all(map(is_address, urls)):
        return aim
    kept = aim.engine.model_dump(
        exclude={"username", "password", "api_key", "ca_file", "certificate_fingerprint"}
    )
    return aim.model_copy(update={"engine": EngineSettings(**kept)})


def _show(indexes: "Sequence[StoredIndex]", *, as_json: bool) -> None:
    for one in indexes:
        if as_json:
            print_json({"schema": "esrag.index/1", **asdict(one)})
        elif one.problem and not one.chunks:
            print_text(f"{'*' if one.in_use else ' '} {one.name}  {one.problem}")
        else:
            _print(one)


def _print(one: "StoredIndex") -> None:
    """Print what an index holds, and how it was made."""
    made = one.fingerprint
    model = f"{made.model}, {made.dimensions} dimensions" if made.dimensions else "no model"
    size = "" if one.size_bytes is None else f", {one.size_bytes / 2**20:.1f} MiB"
    holds = f"{format_count(one.documents, 'document')}, {format_count(one.chunks, 'chunk')}{size}"

    print_text(f"{'*' if one.in_use else ' '} {one.name}  {holds}")
    if one.problem:
        print_text(f"  {one.problem}")
    print_text(f"  made with {model}; {made.chunker}")


def _forget(settings: "Settings", index: str, *, replaced: bool = False) -> None:
    """Remove the ingests of a deleted index from the ledger: no other index has their documents."""
    from esrag.context import open_engine
    from esrag.ledger.opening import open_ledger

    where = settings.engine.model_copy(update={"index": index})
    if replaced or not open_engine(where).exists():
        with closing(open_ledger(settings.model_copy(update={"engine": where}))) as ledger:
            ledger.forget(index)


def _say_the_way_back(former: str) -> None:
    if former:
        remark(f"to go back: esrag index swap {former}")

"""Reply to a question about the documents themselves: the collection, or one document in short."""

from dataclasses import replace

from esrag.answering import Answering, build_result, generate, verify
from esrag.citations import OnSentence
from esrag.context import Context
from esrag.describing import Description
from esrag.describing.catalogue import describe_collection, list_values
from esrag.describing.summary import find_summary
from esrag.engines.clock import Clock
from esrag.evidence.confidence import Signals
from esrag.filters import Filter
from esrag.gathering import Gathered
from esrag.results import AskResult
from esrag.retrieving.scopes import limit_to
from esrag.routing import Route
from esrag.routing.document_questions import DocumentQuestion, read_document_question
from esrag.text import split_sentences
from esrag.verifying.source_lookup import name_sources
from esrag.verifying.verify import Check, Rules


def answer_about_documents(
    question: str, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the answer to a question about the documents; None for a question to them.

    Raises: IndexMissing, GeneratorError, SettingsError.
    """
    asked = read_document_question(question)
    if asked is None:
        return None
    if asked.wanted:
        return _describe(question, asked, context, where, on_sentence)

    found = find_summary(question, asked.about, context, where)
    if found is None:
        return None
    write = _write_summary if context.generator().prompted else _quote_summary
    return replace(write(question, found, context, on_sentence), route="summary")


def _describe(
    question: str,
    asked: DocumentQuestion,
    context: Context,
    where: Filter | None,
    on_sentence: OnSentence,
) -> AskResult | None:
    """Return what the records of the index say; None if the question is about something else."""
    clock = Clock()
    described = describe_collection(asked, context, where)
    return _reply(question, described, clock, on_sentence) if described else None


def answer_with_list(
    question: str, route: Route, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the values that a route lists, with their documents; None for another route.

    Raises: IndexMissing.
    """
    if not route.list_by:
        return None

    clock, scope = Clock(), route.scopes[0]
    described = list_values(route.list_by, limit_to(scope.filter, where), context)
    if described is None:
        return None
    found = replace(described, retrieved=replace(described.retrieved, scope=scope.label))
    return replace(_reply(question, found, clock, on_sentence), decision=route.decision)


def _reply(
    question: str, described: Description, clock: Clock, on_sentence: OnSentence
) -> AskResult:
    clock.lap("describe")
    for line in described.answer.text.splitlines():
        on_sentence(line)
    found = Gathered(
        retrieved=replace(described.retrieved, took_ms=clock.took_ms),
        evidence=described.evidence,
        statements=(),
        signals=Signals(described.confidence, None),
        confidence=described.confidence,
        lacks=None,
    )
    result = build_result(question, found, described.answer, "records")
    return replace(result, route="collection")


def _write_summary(
    question: str, found: Gathered, context: Context, on_sentence: OnSentence
) -> AskResult:
    """Return the summary that a language model writes of a document's sentences."""
    writers = context.open_writers()
    answering = Answering(question, found, context, on_sentence)
    for attempt in answering.iter_attempts(writers):
        draft = generate(attempt)
        answering.add(attempt, draft, verify(draft, attempt))
    return answering.result(writers[0])


def _quote_summary(
    question: str, found: Gathered, context: Context, on_sentence: OnSentence
) -> AskResult:
    """Return the document's own sentences as its summary."""
    draft = " ".join(
        f"{part} [{each.key}]" for each in found.statements for part in split_sentences(each.text)
    )
    check = Check(question, found.evidence, Rules("drop"), on_sentence=on_sentence)
    answer = name_sources(check.answer(draft), context.engine)
    return build_result(question, found, answer, context.generator().model, draft=draft)

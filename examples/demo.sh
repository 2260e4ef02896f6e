#!/bin/sh
# Ingests the project's guides and concepts and a small corpus, and asks three questions: two are
# answered, one is refused. Runs from the repository's root with esrag on the PATH; ends with 1 where
# an expectation does not hold.
set -eu

engine=${ESRAG_ENGINE__URL:-.demo}  # a folder, or a server's address
export ESRAG_ENGINE__INDEX=esrag-demo

fail() {
    printf 'demo: %s\n' "$1" >&2
    exit 1
}

# answered QUESTION WORDS DOCUMENT: the answer must hold the words and cite the document.
answered() {
    printf '\n? %s\n\n' "$1"
    output=$(esrag ask "$1" --engine "$engine") || fail "expected an answer, got exit code $?"
    printf '%s\n' "$output"
    case $output in *"$2"*) ;; *) fail "the answer does not hold \"$2\"" ;; esac
    printf '%s\n' "$output" | grep -q "^\[c[0-9]*\] .*, page.*/$3\." || fail "the answer does not cite $3"
}

# refused QUESTION: the answer must be the refusal, with its own exit code.
refused() {
    printf '\n? %s\n\n' "$1"
    code=0
    output=$(esrag ask "$1" --engine "$engine") || code=$?
    printf '%s\n(exit code %s)\n' "$output" "$code"
    [ "$code" -eq 3 ] || fail "expected a refusal with exit code 3, got $code"
    [ "$output" = "not found in provided docs" ] || fail "the refusal has another text"
}

rm -rf .demo
esrag ingest docs/concepts docs/guides examples/demo --exclude '*.svg' --engine "$engine"

answered "In which wind does the ferry not sail?" "17 metres a second" fulmar
answered "What happens when two programs write to the same index?" "the second one waits" storage
refused "Who won the 2018 World Cup?"

printf '\nDemo done. More questions: esrag ask "…" --engine %s\n' "$engine"

#!/bin/sh
# Imports the facts and ingests the documents into build/example-two-tier, asks a few questions, and
# scores the labelled ones. Runs from the repository's root with esrag on the PATH.
set -eu

here=$PWD/examples/two-tier
rm -rf build/example-two-tier
mkdir -p build/example-two-tier
cd build/example-two-tier
cp "$here/esrag.yaml" .

esrag facts import "$here/facts.csv"
esrag ingest "$here/docs"
for question in "What is the H1B cap?" "What is premium processing fee?" \
    "What is premium processing time?" "Am I eligible with CS degree?"; do
    printf '\n? %s\n\n' "$question"
    esrag route "$question"
    esrag ask "$question"
done
for file in questions-tune questions-held near-misses; do
    printf '\n? the routes of %s.jsonl\n\n' "$file"
    esrag route --questions "$here/$file.jsonl"
done
for half in tune held; do
    printf '\n? the answers to questions-%s.jsonl\n\n' "$half"
    esrag compare --questions "$here/questions-$half.jsonl"
done

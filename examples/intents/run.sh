#!/bin/sh
# Ingests the folders into build/example-intents, asks a few questions, and scores the labelled ones.
# Runs from the repository's root with esrag on the PATH.
set -eu

here=$PWD/examples/intents
rm -rf build/example-intents
mkdir -p build/example-intents
cd build/example-intents
cp "$here/esrag.yaml" .

esrag ingest "$here/docs"
for question in "What is project 225?" "Who is the client for job 225221?" \
    "What is the maximum span of a 225mm beam?"; do
    printf '\n? %s\n\n' "$question"
    esrag route "$question"
    esrag ask "$question"
done
for half in tune held; do
    printf '\n? the answers to questions-%s.jsonl\n\n' "$half"
    esrag compare --questions "$here/questions-$half.jsonl"
done

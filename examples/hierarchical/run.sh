#!/bin/sh
# Ingests the documents into build/example-hierarchical, asks a few questions, and scores the
# labelled ones. Runs from the repository's root with esrag on the PATH.
set -eu

here=$PWD/examples/hierarchical
rm -rf build/example-hierarchical
mkdir -p build/example-hierarchical
cd build/example-hierarchical
cp "$here/esrag.yaml" .

esrag ingest "$here/docs"
for question in "What part of payroll costs is excluded in 2026?" \
    "How do Article 6.1 and Article 6.3 differ for Group Gorse, and what is due when?" \
    "What is the latest guidance in Brenn?"; do
    printf '\n? %s\n\n' "$question"
    esrag route "$question"
    esrag ask "$question" || test $? = 3
done
for half in tune held; do
    printf '\n? the answers to questions-%s.jsonl\n\n' "$half"
    esrag compare --questions "$here/questions-$half.jsonl"
done

#!/bin/sh
# Ingests the documents into build/example-cited-specs, asks a few questions, and scores the labelled
# ones. Runs from the repository's root with esrag on the PATH.
set -eu

here=$PWD/examples/cited-specs
rm -rf build/example-cited-specs
mkdir -p build/example-cited-specs
cd build/example-cited-specs
cp "$here/esrag.yaml" .

esrag ingest "$here/docs"
for question in "What is the size of the encapsulation key of BKX-40?" \
    "What are the steps in Algorithm 2 SampleLens?" \
    "Who won the 2018 World Cup?"; do
    printf '\n? %s\n\n' "$question"
    esrag ask "$question" || test $? = 3
done
printf '\n? esrag search KeyGen\n\n'
esrag search KeyGen
for half in tune held; do
    printf '\n? the answers to questions-%s.jsonl\n\n' "$half"
    esrag compare --questions "$here/questions-$half.jsonl"
done

#!/bin/sh
# Ingests the articles into build/example-csv-kb, searches with and without turns, and scores the
# questions. Runs from the repository's root with esrag on the PATH.
set -eu

here=$PWD/examples/csv-kb
rm -rf build/example-csv-kb
mkdir -p build/example-csv-kb
cd build/example-csv-kb
cp "$here/esrag.yaml" .

esrag ingest "$here/articles.csv"
printf '\n? chain wear, without turns between the sources\n\n'
esrag search "chain wear" --no-reranking
printf '\n? chain wear, with turns\n\n'
esrag search "chain wear"
for half in tune held; do
    printf '\n? the questions of questions-%s.jsonl\n\n' "$half"
    esrag compare --questions "$here/questions-$half.jsonl"
done

-- The embedded engine's tables. `row` joins chunks, passages and words; `vector_row` counts rows of
-- the vector file.

PRAGMA application_id = 1702064743;  -- 0x65737267, "esrg": says that a SQLite file is ours
PRAGMA user_version = 4;             -- the schema's version; a newer one is refused

CREATE TABLE state (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    model         TEXT    NOT NULL,
    dimensions    INTEGER NOT NULL,
    chunker       TEXT    NOT NULL,
    generation    INTEGER NOT NULL,
    vector_file   TEXT    NOT NULL,
    vector_rows   INTEGER NOT NULL   -- rows of that file that were committed; what follows them is left by a crash
);

-- Of the committed rows of the vector file. The pages of this database carry checksums of their
-- own.
CREATE TABLE vector_blocks (
    block         INTEGER PRIMARY KEY,  -- of 4,096 rows
    checksum      INTEGER NOT NULL      -- CRC-32
);

CREATE TABLE documents (
    key           INTEGER PRIMARY KEY,
    doc_id        TEXT    NOT NULL UNIQUE,
    source        TEXT    NOT NULL,
    source_sha256 TEXT    NOT NULL,
    revision      TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    characters    INTEGER NOT NULL,
    page_count    INTEGER NOT NULL,
    chunk_count   INTEGER NOT NULL,
    metadata      TEXT    NOT NULL,
    source_documents INTEGER NOT NULL, -- how many the source holds; fewer here: an ingest was cut short
    rules         TEXT    NOT NULL     -- a digest of those that enriched it
);

-- What can be filtered by beside the columns: a document's metadata with the chunk's on top. Most
-- chunks of a document share one row, so that a filter reads few of them.
CREATE TABLE facts (
    key           INTEGER PRIMARY KEY,
    facts         TEXT    NOT NULL UNIQUE
);

-- Narrow on purpose: a filter may have to read all of it. The long texts are in passages and words.
CREATE TABLE chunks (
    "row"         INTEGER PRIMARY KEY,
    chunk_id      TEXT    NOT NULL UNIQUE,
    document      INTEGER NOT NULL REFERENCES documents (key),
    ordinal       INTEGER NOT NULL,
    "start"       INTEGER NOT NULL,
    "end"         INTEGER NOT NULL,
    start_page    INTEGER NOT NULL,
    end_page      INTEGER NOT NULL,
    title         TEXT    NOT NULL,
    section       TEXT    NOT NULL,
    keywords      TEXT    NOT NULL,
    metadata      TEXT    NOT NULL,
    facts         INTEGER NOT NULL REFERENCES facts (key),
    text_hash     TEXT    NOT NULL,  -- of what was embedded, which is more than the text
    vector_row    INTEGER,
    context       TEXT    NOT NULL,  -- fields of the document that are searched with the text
    breaks        TEXT    NOT NULL   -- where another page or section begins: [[start, page, section]]
);
CREATE INDEX chunks_by_document ON chunks (document, ordinal);
CREATE INDEX chunks_by_facts ON chunks (facts);
CREATE INDEX chunks_by_text ON chunks (text_hash);
CREATE INDEX chunks_by_vector ON chunks (vector_row);

CREATE TABLE passages (
    "row"         INTEGER PRIMARY KEY,
    text          TEXT    NOT NULL
);

-- The terms are made by esrag.terms and joined by spaces. The ascii tokenizer takes every character
-- beyond ASCII for part of a token, and the characters named here are what a compound may hold: one
-- term, one token.
CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = "ascii tokenchars '-._/:@&+#'''");
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, 'row');

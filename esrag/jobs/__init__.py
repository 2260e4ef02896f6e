"""Jobs: what an ingest has to do, done by the command itself or by workers, and brought to an end.

`recording` writes a job down, `running` works its batches off, in the command itself or in a worker, `sweeping` hands
them to workers and takes back what was lost, `reporting` says what came of it.
"""

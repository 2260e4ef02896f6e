"""Jobs: the work of an ingest, done by the command itself or by workers, and completed.

`recording` writes a job down, `running` works its batches off, in the command itself or in a
worker, `sweeping` hands them to workers and recovers lost ones, `reporting` reports the outcome.
"""

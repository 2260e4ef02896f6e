"""The command line: one file a command group; options, one call, printing.

Data goes to stdout, everything else to stderr. `main` is the one place that turns an error into a line, a hint and an
exit code. Command modules import click and little else, so that `--help` is quick; the work is imported when it runs.
"""

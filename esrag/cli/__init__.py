"""The command line: each file holds one command or command group with its options and printing.

Data goes to stdout, everything else to stderr. Only `main` turns an error into a message, a hint
and an exit code. Command modules import click and little else, so that `--help` is fast; a command
imports the rest when it runs.
"""

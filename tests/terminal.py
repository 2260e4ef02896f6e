"""A command on a terminal."""

import os
import pty
import subprocess


def on_a_terminal(esrag, *arguments):
    """The exit code of a command and what it shows on a terminal of 120 columns, as it came."""
    terminal, slave = pty.openpty()
    environment = esrag.environment(TERM="xterm", COLUMNS="120")
    running = subprocess.Popen(
        esrag.command(*arguments),
        cwd=esrag.folder,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = []
    try:
        while part := os.read(terminal, 65_536):
            shown.append(part)
    except OSError:  # nobody has it open any more
        pass
    os.close(terminal)
    return running.wait(30), b"".join(shown).decode()

"""Owners of locks and claims, and whether their process still runs on this machine."""

import os
import socket
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from uuid import uuid4


def make_owner() -> str:
    """Return a unique name for this process: the machine, the process number, a mark."""
    return f"{_machine()} {os.getpid()} {uuid4()}"


def is_dead(owner: str) -> bool:
    """Return whether an owner was a process of this machine that has ended.

    False for a name of another form.
    """
    machine, _, rest = owner.partition(" ")
    number = rest.partition(" ")[0]
    if machine != _machine() or not number.isdigit():
        return False

    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False

    return False


@lru_cache(maxsize=1)
def _machine() -> str:
    """Return a name for the place in which a process number is unique.

    Containers may share the name of a host, but not its process numbers.
    """
    boot = numbers = ""
    with suppress(OSError):  # no Linux
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        numbers = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname()}/{boot}/{numbers}"

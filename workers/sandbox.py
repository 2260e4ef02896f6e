"""Takes from a process what a parser does not need: sockets, and a way out of its process group."""

import ctypes
import errno
import platform
import sys
from contextlib import suppress
from struct import pack

# For each machine: AUDIT_ARCH of linux/audit.h, then the numbers of socket, io_uring_setup, setsid
# and setpgid.
_MACHINES = {
    "x86_64": (0xC000003E, (41, 425, 112, 109)),
    "aarch64": (0xC00000B7, (198, 425, 157, 154)),
}
_X32 = 0x40000000  # from here on the same calls again, for another ABI of x86_64
_ARCH_OFFSET, _NUMBER_OFFSET = 4, 0  # in struct seccomp_data
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid_sockets() -> None:
    """Forbid this process and its children new sockets, sessions and process groups.

    It needs no privilege, and cannot be undone. If the system has no seccomp filters, nothing
    happens.
    """
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return

    instructions = _instructions(*_MACHINES[platform.machine()])
    program = _Program(len(instructions) // 8, instructions)
    with suppress(OSError, AttributeError):  # no prctl in this libc
        prctl = ctypes.CDLL(None).prctl
        prctl(_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0)))
        prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(program))


def _instructions(arch: int, refused: tuple[int, ...]) -> bytes:
    """Return the filter in classic BPF.

    Other calls are allowed, and calls of another architecture are refused.
    """
    tests = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_AT_LEAST, len(refused) + 1, 0, _X32),
        *((_EQUAL, len(refused) - n, 0, number) for n, number in enumerate(refused)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(pack("=HBBI", *test) for test in tests)

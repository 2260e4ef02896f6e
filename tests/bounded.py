"""A limit on the processor's time, for tests of what must not take for ever."""

import signal
from contextlib import contextmanager


class LateError(BaseException):
    """Too much time was taken; no handler of errors takes it for one."""


@contextmanager
def limited(seconds):
    """Ends what takes more of the processor's time, however loaded the machine is.

    A match can be interrupted.
    """

    def late(*_):
        raise LateError

    former = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)

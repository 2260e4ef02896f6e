"""Waiting for what is about to happen."""

import time


def wait_until(true, within_s=45):
    """Until something is so, looked at often; a failure when it is not in time."""
    end = time.monotonic() + within_s
    while not (found := true()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found

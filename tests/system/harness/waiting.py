# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition, never for an amount of time."""

import time

_INTERVAL = 0.01


class DeadlineMissed(AssertionError):
    """A condition that should have become true did not."""


def wait_until(condition, what, timeout=10.0):
    """Polls `condition` until it returns something true, which is returned.

    `what` names what is waited for; it may be a callable, asked only when the deadline is missed,
    so that the message can show the state that was found.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            text = what() if callable(what) else what
            raise DeadlineMissed(f"not within {timeout} s: {text}")
        time.sleep(_INTERVAL)

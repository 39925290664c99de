# SPDX-License-Identifier: Apache-2.0
"""Ends the program in order on SIGINT, SIGTERM and SIGHUP: as SystemExit, at a good moment."""

import contextlib
import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    depth = 0       # Of deferred() blocks.
    pending = None  # The signal that arrived in one.


def install():
    for number in _SIGNALS:
        signal.signal(number, _on_signal)


@contextlib.contextmanager
def deferred():
    """Holds the end back until the block has been left.

    For what must not stop half-way, such as starting a process: an exception in the middle of
    Popen() leaves a child that nobody knows of.
    """
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
        if _State.depth == 0 and _State.pending is not None:
            _stop(_State.pending)


def _on_signal(number, _frame):
    if _State.depth:
        _State.pending = number
    else:
        _stop(number)


def _stop(number):
    # Once is enough: a second signal must not interrupt the taking down.
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    _State.pending = None
    raise SystemExit(128 + number)

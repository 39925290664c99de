# SPDX-License-Identifier: Apache-2.0
"""Commands and child processes, each ended by its own pid."""

import contextlib
import os
import select
import signal
import subprocess

# Should the test runner itself be killed, nothing that it started stays behind.
_DIE_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


class CommandFailed(AssertionError):
    """A command that had to succeed did not."""


def run(command, *, check=True, timeout=60, env=None, text_in=None):
    """Runs `command` to its end; returns the CompletedProcess with text output."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=env, input=text_in,
        check=False)
    if check and done.returncode != 0:
        raise CommandFailed(
            f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def processes_with(mark):
    """Pid and command line of each process that has `mark` in its command line."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            command = file.read().replace(b"\0", b" ").decode(errors="replace")
            if mark in command:
                found[int(name)] = command
    return found


class Child:
    """A process in the background, with its output in a file.  Start it from the main thread."""

    def __init__(self, command, log_path, env=None):
        self.command = command
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self._process = subprocess.Popen(
                [*_DIE_WITH_PARENT, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=env)

    @property
    def pid(self):
        return self._process.pid

    def alive(self):
        return self._process.poll() is None

    def exit_status(self):
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def output(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def kill(self):
        """kill -9, and wait for it."""
        if self.alive():
            self._process.kill()
        self._process.wait()

    def stop(self, timeout=10):
        """SIGTERM, and SIGKILL for what does not listen.  Returns the exit status."""
        if self.alive():
            self._process.terminate()
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.wait()


class Detached:
    """A daemon that has left its parent, with the same verbs as Child."""

    def __init__(self, pid):
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def alive(self):
        return not select.select([self._fd], [], [], 0)[0]

    def exit_status(self):
        """Nobody but its parent can know."""
        return None

    def output(self):
        return ""

    def kill(self):
        self._end(signal.SIGKILL, 10)

    def stop(self, timeout=10):
        self._end(signal.SIGTERM, timeout)
        if self.alive():
            self.kill()

    def _end(self, number, timeout):
        if self.alive():
            signal.pidfd_send_signal(self._fd, number)
            select.select([self._fd], [], [], timeout)

# SPDX-License-Identifier: Apache-2.0
"""Running commands and children that cannot outlive us."""

import json
import pathlib
import signal
import subprocess
import time

from . import stop_signals


class BenchError(Exception):
    """Something that the user must read; the message is complete."""


def run(*args, env=None):
    """Runs a short command to its end, Ctrl-C or not, and returns its standard output."""
    command = [str(arg) for arg in args]
    try:
        with stop_signals.deferred():
            done = subprocess.run(command, env=env, text=True, capture_output=True, check=False,
                                  start_new_session=True)
    except OSError as error:
        raise BenchError(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise BenchError(
            f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def wait_until(condition, what, timeout=10.0, interval=0.02):
    """Returns the first true value of condition(); an error after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise BenchError(f"waited {timeout:g} s in vain: {what}")
        time.sleep(interval)


class Child:
    """A child process whose output goes to files.

    The kernel ends it when we die (setpriv --pdeathsig), even by SIGKILL.  It is in a session of
    its own, so that Ctrl-C reaches us alone and things are taken down in order.
    """

    def __init__(self, args, log, env=None):
        self.name = pathlib.Path(str(args[0])).name
        self.output = pathlib.Path(log)
        self.errors = self.output.with_suffix(".err")
        command = ["setpriv", "--pdeathsig", "TERM", *[str(arg) for arg in args]]
        with (self.output.open("wb") as out, self.errors.open("wb") as err,
              stop_signals.deferred()):
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env,
                start_new_session=True)

    @property
    def pid(self):
        return self._process.pid

    def check_running(self):
        status = self._process.poll()
        if status is not None:
            raise BenchError(f"{self.output.stem} ended with status {status}: "
                             f"{self.errors.read_text().strip()}")
        return True

    def json_lines(self):
        """The complete lines written so far."""
        text = self.output.read_text()
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def wait_for_line(self):
        wait_until(lambda: self.check_running() and self.json_lines(),
                   f"first output of {self.output.stem}")

    def wait(self, timeout):
        """Waits for it to end by itself, successfully."""
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{self.output.stem} did not end in {timeout:g} s") from error
        if status != 0:
            raise BenchError(f"{self.output.stem} ended with status {status}: "
                             f"{self.errors.read_text().strip()}{self.output.read_text()[-2000:]}")

    def stop(self):
        """Asks it to end, and makes sure; may be called again."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the system tests, or runs some of them.

  run.py --list          prints the id of each test, one a line
  run.py ID...           runs these; an id may name a module, a class or a method
  run.py                 runs all

Environment: OVS_PREFIX is where Open vSwitch is installed (default: build/ovs-4.0.0 of this
repository), AFXDP_TOOLS the folder of tap_vm (default: build/release/tests/tools).
"""

import argparse
import pathlib
import signal
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# One test's limit, in seconds.  Below CTest's, so that a test that hangs still cleans up.
LIMIT = 150


class Terminated(Exception):
    """The runner was asked to end.  Not a KeyboardInterrupt: unittest skips cleanups for that."""


def _on_termination(number, _frame):
    raise Terminated(signal.Signals(number).name)


class Result(unittest.TextTestResult):
    """Says why a test was skipped in a form that CTest knows, and dumps state on failure."""

    def getDescription(self, test):
        return test.id()  # says enough; docstrings are for readers of the source

    def startTest(self, test):
        super().startTest(test)
        signal.alarm(LIMIT)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.stream.writeln(f"[  SKIPPED ] {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._describe(test)

    def addError(self, test, err):
        super().addError(test, err)
        if issubclass(err[0], Terminated):
            self.stop()
        else:
            self._describe(test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._describe(test)

    def _describe(self, test):
        # unittest of Python 3.11 reports at once, before tearDown and the cleanups.
        try:
            self.stream.writeln(f"\n{test.describe() if hasattr(test, 'describe') else ''}")
        except Exception as error:  # pylint: disable=broad-except
            self.stream.writeln(f"\nno description: {error!r}")


def _on_alarm(_signal, _frame):
    raise AssertionError(f"not finished within {LIMIT} s")


def tests_in(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_in(item)
        else:
            yield item


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the tests' ids")
    parser.add_argument("id", nargs="*")
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    sys.dont_write_bytecode = True  # root's files in the user's tree
    loader = unittest.TestLoader()
    suite = (loader.loadTestsFromNames(arguments.id) if arguments.id
             else loader.discover(str(HERE), "test_*.py"))
    if arguments.list:
        print("\n".join(test.id() for test in tests_in(suite)))
        return 1 if loader.errors else 0
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.signal(signal.SIGTERM, _on_termination)
    signal.signal(signal.SIGINT, _on_termination)
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stdout)
    return 0 if runner.run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The rounds of the speed comparison."""

import dataclasses

from . import latency, throughput
from .report import Row
from .testbed import Testbed
from .throughput import Case

# Frame size -> target for ours/upstream.
TARGETS = {64: 1.15, 1500: 1.20}
CASES = [Case(size, flows) for size in TARGETS for flows in (1, 1000)]


@dataclasses.dataclass
class Quantity:
    """What one kind of measurement yields: a function of a connected testbed, and table rows."""
    name: str
    measure: callable
    rows: dict  # Field of the result -> (Row, factor from the field's unit to the row's).

    def add(self, label, result):
        for field, (row, factor) in self.rows.items():
            row.values(label).append(getattr(result, field) * factor)

    def tell(self, result):
        return ", ".join(f"{getattr(result, field) * factor:.{row.digits}f} {row.unit}"
                         for field, (row, factor) in self.rows.items())


def quantities():
    found = [Quantity(str(case), lambda bed, case=case: throughput.measure(bed, case),
                      {"pps": (Row(str(case), "Mpps", 3, True, TARGETS[case.size]), 1e-6)})
             for case in CASES]
    found.append(Quantity("round trip", latency.measure, {
        name: (Row(f"round trip {name}", "us", 1, False, 1.0), 1) for name in ("p50", "p99")}))
    return found


def compare(both, settings, rounds, retries):
    """Returns the table's rows and what is known about each single measurement."""
    kinds = quantities()
    details = []
    for number in range(1, rounds + 1):
        # Whoever comes first in one round is second in the next.
        order = both if number % 2 else both[::-1]
        for kind in kinds:
            attempts = _measure_pair(kind, order, settings, number, retries)
            for label, result in attempts[-1].items():
                kind.add(label, result)
            details += [{"round": number, "build": label, "what": kind.name, "attempt": attempt,
                         "in_table": attempt == len(attempts), **dataclasses.asdict(result)}
                        for attempt, results in enumerate(attempts, 1)
                        for label, result in results.items()]
    return [row for kind in kinds for row, _ in kind.rows.values()], details


def _measure_pair(kind, order, settings, number, retries):
    """Measures both builds, one after the other; again if there is doubt about either.

    Returns all attempts, of which the last counts.  A repetition replaces both builds' figures.  It
    is not quite blind to them: a fast switch is the likelier to be found idle.
    """
    attempts = []
    while True:
        results = {build.label: _measure(kind, build, settings, number) for build in order}
        attempts.append(results)
        if len(attempts) > retries or not any(result.doubts for result in results.values()):
            return attempts
        print("  both are measured again", flush=True)


def _measure(kind, build, settings, number):
    with Testbed(build, settings) as bed:
        bed.connect()
        result = kind.measure(bed)
    print(f"round {number}: {build.label}: {kind.name}: {kind.tell(result)}", flush=True)
    for doubt in result.doubts:
        print(f"  doubtful: {doubt}", flush=True)
    return result

# SPDX-License-Identifier: Apache-2.0
"""What bench/compare does, from its arguments to its table."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import tempfile

from . import builds, leftovers, machine, memory, network, speed, stop_signals
from .processes import BenchError
from .report import comparison_table
from .testbed import Settings

THOROUGH = {"rounds": 5, "duration": 3.0, "warmup": 1.0, "retries": 2}
QUICK = {"rounds": 2, "duration": 1.0, "warmup": 0.5, "retries": 0}
PORT_COUNTS = [2, 16, 64]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="compare", description="Measure Open vSwitch with this project's AF_XDP provider "
        "against unpatched upstream: both in one run, alternating.")
    parser.add_argument("--rounds", type=int, metavar="N", help="default 5")
    parser.add_argument("--duration", type=float, metavar="SECONDS",
                        help="measured part of each run; default 3")
    parser.add_argument("--warmup", type=float, metavar="SECONDS", help="default 1")
    parser.add_argument("--retries", type=int, metavar="N",
                        help="how often a doubtful pair of measurements is repeated; default 2")
    parser.add_argument("--quick", action="store_true",
                        help="other defaults, which show that it works and no more: "
                        "2 rounds of 1 s after 0.5 s, no retries")
    parser.add_argument("--memory", action="store_true",
                        help=f"measure memory with {PORT_COUNTS} ports instead of speed")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--pmd-cpu", type=int, default=1, help="default %(default)s")
    parser.add_argument("--load-cpu", type=int, default=0,
                        help="for the generator, latency test and OVS's other threads; "
                        "default %(default)s")
    parser.add_argument("--ours", metavar="PREFIX",
                        help="an installed build; default: made by scripts/setup")
    parser.add_argument("--upstream", metavar="PREFIX",
                        help="likewise; default: made by scripts/setup --upstream")
    parser.add_argument("--traffic-tool", metavar="FILE",
                        help="afxdp-bench-traffic; default: built from this tree")
    options = parser.parse_args(arguments)
    defaults = QUICK if options.quick else THOROUGH
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.rounds < 1 or options.duration <= 0 or options.warmup < 0 or options.retries < 0:
        parser.error("--rounds and --duration must be positive, the others not negative")
    return options


def _environment(both):
    return {**machine.describe(),
            "builds": {build.label: {"version": build.version(),
                                     "compiled": build.compiler_flags()} for build in both}}


def _compare_speed(both, settings, options):
    rows, details = speed.compare(both, settings, options.rounds, options.retries)
    counted = [entry for entry in details if entry["in_table"]]
    doubtful = sum(bool(entry["doubts"]) for entry in counted)
    print(f"\n{comparison_table(rows)}\n\nMedian (lowest..highest) of {options.rounds} rounds. "
          f"Doubtful: {doubtful} of {len(counted)} measurements; "
          f"{len(details) - len(counted)} more were replaced.")
    return {"rows": [row.to_json() for row in rows], "details": details}


def _compare_memory(both, settings):
    results = {build.label: [] for build in both}
    for ports in PORT_COUNTS:
        for build in both:
            print(f"{build.label}: {ports} ports", flush=True)
            results[build.label].append(memory.measure(build, settings, ports))
    print(f"\n{memory.table(results)}")
    return {label: [dataclasses.asdict(entry) for entry in entries]
            for label, entries in results.items()}


def run(options):
    network.require_root_and_tools()
    leftovers.delete_of_the_dead()
    both = builds.prepare(options.ours, options.upstream)
    tool = builds.prepare_traffic_tool(options.traffic_tool)
    output = {"environment": _environment(both), "unfair": builds.differences(*both)}
    for difference in output["unfair"]:
        print(f"UNFAIR: {difference}", flush=True)
    with tempfile.TemporaryDirectory(prefix=leftovers.folder_prefix(os.getpid())) as folder:
        settings = Settings(traffic_tool=tool.resolve(), folder=pathlib.Path(folder),
                            warmup=options.warmup, duration=options.duration,
                            pmd_cpu=options.pmd_cpu, load_cpu=options.load_cpu)
        if options.memory:
            output["memory"] = _compare_memory(both, settings)
        else:
            output.update(_compare_speed(both, settings, options))
    if options.json:
        options.json.write_text(json.dumps(output, indent=2) + "\n")


def main(arguments=None):
    options = parse_arguments(arguments)
    stop_signals.install()
    with contextlib.ExitStack() as stack:
        # What was just being made or deleted when a signal came.
        stack.callback(leftovers.delete_of, os.getpid())
        try:
            run(options)
        except BenchError as error:
            print(f"compare: {error}", file=sys.stderr)
            return 1
    return 0

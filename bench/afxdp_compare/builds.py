# SPDX-License-Identifier: Apache-2.0
"""Finding what is compared, and building what is missing."""

import pathlib
import subprocess

from .processes import BenchError
from .switch import Build

ROOT = pathlib.Path(__file__).resolve().parents[2]
OVS_VERSION = "4.0.0"
DEFAULT_PREFIXES = {
    "ours": ROOT / "build" / f"ovs-{OVS_VERSION}",
    "upstream": ROOT / "build" / f"ovs-{OVS_VERSION}-upstream",
}
TRAFFIC_TOOL = ROOT / "build" / "release" / "bench" / "traffic" / "afxdp-bench-traffic"


def prepare(ours, upstream):
    """Both builds; one whose prefix is None is made, or brought up to date, by scripts/setup."""
    if ours is None:
        _tell_and_run([ROOT / "scripts" / "setup"])
        ours = DEFAULT_PREFIXES["ours"]
    if upstream is None:
        _tell_and_run([ROOT / "scripts" / "setup", "--upstream"])
        upstream = DEFAULT_PREFIXES["upstream"]
    return Build("ours", pathlib.Path(ours)), Build("upstream", pathlib.Path(upstream))


def prepare_traffic_tool(path):
    """The traffic tool; built from this tree if no path is given."""
    if path is not None:
        return pathlib.Path(path)
    if not (ROOT / "build" / "release" / "CMakeCache.txt").exists():
        _tell_and_run(["cmake", "--preset", "release"])
    _tell_and_run(["cmake", "--build", "--preset", "release", "--target", "afxdp-bench-traffic"])
    return TRAFFIC_TOOL


def differences(ours, upstream):
    """What makes the comparison unfair, in words; empty if nothing does."""
    found = []
    if ours.version() != upstream.version():
        found.append(f"versions differ: {ours.version()} and {upstream.version()}")
    if ours.compiler_flags() != upstream.compiler_flags():
        found.append(f"OVS was compiled differently: {'; '.join(ours.compiler_flags())} "
                     f"and {'; '.join(upstream.compiler_flags())}")
    return found


def _tell_and_run(command):
    command = [str(part) for part in command]
    print(f"# {' '.join(command)}", flush=True)
    try:
        subprocess.run(command, check=True, cwd=ROOT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"{' '.join(command)} failed: {error}") from error

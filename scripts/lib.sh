# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034  # The variables are for those who source this file.
#
# What the scripts share: where things are, which packages are needed, and how progress is told.
# Source it after `set -euo pipefail`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$ROOT/build
LOGS=$BUILD/log

OVS_VERSION=4.0.0
# Ours, and the same source without patches, for comparison.  Each has its own run, log and database
# folders, so that neither meets an Open vSwitch that the machine runs.
OVS_PREFIX=$BUILD/ovs-$OVS_VERSION
OVS_UPSTREAM_PREFIX=$BUILD/ovs-$OVS_VERSION-upstream

# Everything that building, testing and measuring need, by the names of Debian 12 and 13.
PACKAGES=(
    # The library and its tests
    build-essential pkg-config cmake ninja-build clang llvm bpftool
    clang-format clang-tidy
    libbpf-dev libxdp-dev libelf-dev zlib1g-dev libmnl-dev
    libabsl-dev libgtest-dev libgmock-dev libbenchmark-dev libcli11-dev
    # Open vSwitch
    autoconf automake libtool patch xz-utils
    libnuma-dev libcap-ng-dev libssl-dev python3
    # The demo and the tests with real traffic
    ethtool iproute2 iputils-ping iperf3 procps sockperf util-linux shellcheck
    # Downloads
    ca-certificates debian-archive-keyring
)

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

require_root() {
    [[ $EUID -eq 0 ]] || die "must be run as root: $1"
}

# run_logged NAME COMMAND...: runs COMMAND with its output in build/log/NAME.log, the end of which
# is shown if it fails.
run_logged() {
    local log=$LOGS/$1.log
    shift
    mkdir -p "$LOGS"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        die "failed: $* (all of its output is in $log)"
    fi
}

# missing_packages: prints those of PACKAGES that are not installed.
missing_packages() {
    local package status
    for package in "${PACKAGES[@]}"; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=missing
        [[ $status == installed ]] || printf '%s\n' "$package"
    done
}

# SPDX-License-Identifier: Apache-2.0
"""Measures two Open vSwitch builds against each other; see bench/README.md."""

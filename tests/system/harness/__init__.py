# SPDX-License-Identifier: Apache-2.0
"""What the system tests are made of: a real ovs-vswitchd, containers and VMs in namespaces."""

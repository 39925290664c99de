# SPDX-License-Identifier: Apache-2.0
"""What OVS, sockperf and /proc print is read correctly, and what is missing is an error."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from afxdp_compare import latency, memory, switch  # noqa: E402
from afxdp_compare.processes import BenchError  # noqa: E402

PMD_STATS = """
Time: 17:42:39.286
Measurement duration: 0.430 s

pmd thread numa_id 0 core_id 1:

  Iterations:              5346104  (0.06 us/it)
  - Used TSC cycles:         40000  ( 76.6 % of total cycles)
  - idle iterations:       5346101  ( 25.0 % of used cycles)
  - busy iterations:             3  ( 75.0 % of used cycles)
  Rx packets:                    6  (0 Kpps, 241003 cycles/pkt)
  - Megaflow hits:               4  ( 66.7 %, 1.00 subtbl lookups/hit)
  - Upcalls:                     2  ( 33.3 %, 0.0 us/upcall)
  - Lost upcalls:                0  (  0.0 %)

Time: 17:42:39.286
Measurement duration: 0.440 s

main thread:

  Rx packets:                   99
  Tx packets:                    0
"""

SOCKPERF = """
sockperf: # dropped messages = 3; # duplicated messages = 0; # out-of-order messages = 0
sockperf: ---> percentile 99.900 = 6439.744
sockperf: ---> percentile 99.000 = 1332.627
sockperf: ---> percentile 90.000 =   58.127
sockperf: ---> percentile 50.000 =   47.781
"""


class PmdCounters(unittest.TestCase):
    def test_takes_the_core_that_is_asked_for(self):
        counters = switch.parse_pmd_counters(PMD_STATS, 1)
        self.assertEqual(counters, switch.PmdCounters(
            received=6, used_cycles=40000, idle_cycles=10000.0, upcalls=2))

    def test_difference(self):
        counters = switch.parse_pmd_counters(PMD_STATS, 1)
        earlier = switch.PmdCounters(received=2, used_cycles=20000, idle_cycles=0, upcalls=0)
        self.assertEqual(counters.minus(earlier).received, 4)
        self.assertEqual(counters.minus(earlier).idle_share(), 0.5)

    def test_no_such_core(self):
        with self.assertRaisesRegex(BenchError, "no PMD thread on core 11"):
            switch.parse_pmd_counters(PMD_STATS, 11)

    def test_missing_line(self):
        with self.assertRaisesRegex(BenchError, "Rx packets"):
            switch.parse_pmd_counters(PMD_STATS.replace("Rx", "RX"), 1)


class OvsText(unittest.TestCase):
    def test_coverage(self):
        text = ("Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=93:\n"
                "afxdp_cq_empty             0.4/sec     0.033/sec        0.0006/sec   total: 2\n"
                "190 events never hit\n")
        self.assertEqual(switch.parse_coverage(text), {"afxdp_cq_empty": 2})

    def test_map(self):
        text = '{driver_name=veth, firmware_version="", "xdp-mode"=native, "a b"="c, d"}'
        self.assertEqual(switch.parse_map(text), {
            "driver_name": "veth", "firmware_version": "", "xdp-mode": "native", "a b": "c, d"})


class Sockperf(unittest.TestCase):
    def test_percentiles(self):
        self.assertEqual(latency.parse(SOCKPERF),
                         {"p50": 47.781, "p99": 1332.627, "p999": 6439.744, "lost": 3})

    def test_missing_percentile(self):
        with self.assertRaisesRegex(BenchError, "percentile 50.000"):
            latency.parse(SOCKPERF.replace("50.000", "51.000"))


class Proc(unittest.TestCase):
    def test_kib(self):
        text = "MemFree:  23948 kB\nActive(anon):   7 kB\nHugePages_Total:   0\nVmRSS:\t  9 kB\n"
        self.assertEqual(memory.parse_kib(text), {"MemFree": 23948, "Active(anon)": 7, "VmRSS": 9})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Rates, ratios, verdicts and doubts."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from afxdp_compare import report, throughput  # noqa: E402
from afxdp_compare.processes import BenchError  # noqa: E402


def row(higher_is_better, target, ours, upstream):
    return report.Row("name", "unit", 1, higher_is_better, target, ours, upstream)


class Rows(unittest.TestCase):
    def test_ratio_is_taken_round_by_round(self):
        self.assertEqual(row(True, 1.2, [3, 2, 8], [2, 1, 4]).ratios(), [1.5, 2, 2])

    def test_target_needs_the_median(self):
        self.assertTrue(row(True, 1.2, [1.2, 1.1, 1.3], [1, 1, 1]).meets_target())
        self.assertFalse(row(True, 1.2, [1.1, 1.1, 1.9], [1, 1, 1]).meets_target())

    def test_less_is_better(self):
        self.assertTrue(row(False, 1.0, [9], [10]).meets_target())
        self.assertFalse(row(False, 1.0, [10], [10]).meets_target())

    def test_table(self):
        text = report.comparison_table([row(True, 1.2, [2.0, 3.0, 4.0], [2.0, 2.0, 2.0])])
        self.assertIn("3.0 (2.0..4.0)", text)
        self.assertIn("1.500 (1.000..2.000)", text)
        self.assertIn("met", text)

    def test_json(self):
        data = row(True, 1.2, [2, 4], [2, 2]).to_json()
        self.assertEqual(data["ratio"],
                         {"median": 1.5, "minimum": 1.0, "maximum": 2.0, "values": [1.0, 2.0]})


class Rate(unittest.TestCase):
    SAMPLES = [{"time": time, "packets": 10 * time * time} for time in range(10)]

    def test_uses_only_samples_inside(self):
        self.assertEqual(throughput.rate(self.SAMPLES, 1.5, 4.5), (160 - 40) / 2)

    def test_too_few_samples(self):
        with self.assertRaisesRegex(BenchError, "no samples"):
            throughput.rate(self.SAMPLES, 1.5, 2.5)


class Doubts(unittest.TestCase):
    CASE = throughput.Case(64, 1)
    DELIVERED = {"packets": 1000, "bytes": 64000}

    def judge(self, delivered=None, **changes):
        values = {"pps": 1e6, "offered_pps": 4e6, "idle_share": 0.0, "loss_share": 0.0,
                  "upcalls": 0, "others_share": 0.0, "mode": "native", "counters": {}, **changes}
        return throughput.judge(self.CASE, delivered or self.DELIVERED,
                                throughput.Throughput(**values)).doubts

    def test_none(self):
        self.assertEqual(self.judge(counters={"afxdp_cq_empty": 7}), [])

    def test_each(self):
        for changes, words in (
                ({"offered_pps": 1.01e6}, "1.01 Mpps offered"),
                ({"idle_share": 0.5}, "idle for 50%"),
                ({"loss_share": 0.02}, "2.0% of what the datapath received was lost"),
                ({"loss_share": -0.02}, "-2.0%"),
                ({"others_share": 0.3}, "other processes used 30% of a core"),
                ({"delivered": {"packets": 1000, "bytes": 64100}}, "other packets"),
                ({"counters": {"datapath_drop_lock_error": 3}}, "datapath_drop_lock_error is 3")):
            with self.subTest(words):
                doubts = self.judge(**changes)
                self.assertEqual(len(doubts), 1)
                self.assertIn(words, doubts[0])

    def test_nothing_arrived(self):
        with self.assertRaisesRegex(BenchError, "nothing arrived"):
            self.judge(pps=0)


if __name__ == "__main__":
    unittest.main()

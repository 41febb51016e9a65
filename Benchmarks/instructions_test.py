# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Shows that the counter of instructions reads what callgrind writes, and that its gate can fail.

    python3 Benchmarks/instructions_test.py
"""
import unittest

import instructions

CALLGRIND = """version: 1
events: Ir

fn=(1) main
16 400
cfn=(2) malloc
calls=50 32
16 400
cfn=(3) work
calls=1 50
16 400
fn=(3)
51 100
cfn=(2)
calls=2 32
51 60
cfn=(4) free
calls=7 10
51 60
totals: 1320
"""


class ParseTests(unittest.TestCase):
    def test_calls_of_the_allocator_are_counted_by_name_and_by_number(self):
        self.assertEqual(instructions.parse(CALLGRIND.splitlines()), (1320, 52))

    def test_a_file_without_a_total_is_no_measurement(self):
        with self.assertRaises(ValueError):
            instructions.parse(["events: Ir"])


class VerdictTests(unittest.TestCase):
    limit = {"instructions": 1000, "allocations": 1.0}

    def verdict(self, count, allocations):
        return instructions.verdict({"instructions": count, "allocations": allocations}, self.limit, 0.1)

    def test_at_the_limit_and_its_tolerance_all_is_well(self):
        self.assertEqual(self.verdict(1100, 1.1), [])

    def test_one_instruction_more_fails(self):
        self.assertEqual(len(self.verdict(1101, 1.0)), 1)

    def test_one_allocation_more_fails(self):
        self.assertEqual(len(self.verdict(1000, 2.0)), 1)

    def test_both_are_said(self):
        self.assertEqual(len(self.verdict(5000, 9.0)), 2)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast capacity`: what it says, how it ends, and that the page about it shows what it prints."""
import json, os, re, shlex, subprocess, unittest

from harness import BINARY, RUN_PATIENCE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: So much of everything that only the case decides.
MACHINE = ("--cores", "64", "--memory", "512", "--disk", "4000", "--descriptors", "1000000")


def capacity(*arguments):
    return subprocess.run([BINARY, "capacity", *arguments], capture_output=True, text=True, timeout=RUN_PATIENCE)


class Capacity(unittest.TestCase):
    def test_the_page_shows_what_the_command_prints(self):
        with open(os.path.join(ROOT, "docs/operations/capacity.md")) as file:
            page = file.read()
        command, shown = re.search(r"```\n\$ cuecast capacity (.*)\n((?s:.*?))\n```", page).groups()
        done = capacity(*shlex.split(command))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.rstrip(), shown)
        figures = capacity("--figures")
        self.assertEqual(figures.returncode, 0)
        self.assertIn(figures.stdout, page)

    def test_the_page_about_a_million_listeners_shows_what_the_command_prints(self):
        with open(os.path.join(ROOT, "docs/operations/size.md")) as file:
            page = file.read()
        commands = re.findall(r"```\n\$ cuecast capacity (.*)\n((?s:.*?))\n```", page)
        self.assertTrue(commands)
        for command, shown in commands:
            done = capacity(*shlex.split(command))
            self.assertEqual((done.returncode, done.stdout.rstrip()), (0, shown), done.stderr)
        # Each line of the table of gateways is what the command says of so many.
        [case] = re.findall(r"`cuecast capacity (--listeners 1000000 [^`]*) --gateways N`", page)
        columns = ["listeners", "cores, on average", "memory", "open files (LimitNOFILE)", "network, the bus to a gateway",
                   "servers: network, all together"]
        rows = re.findall(r"^\| (\d[\d,]*) \| (.*) \|$", page, re.M)
        self.assertGreater(len(rows), 3)
        for gateways, shown in rows:
            gateways = int(gateways.replace(",", ""))
            needs = {each["resource"]: each["amount"] for each in json.loads(
                capacity(*shlex.split(case), "--gateways", str(gateways), *MACHINE, "--json").stdout)["needs"]}
            needs["listeners"] = -(-1_000_000 // max(1, gateways - 1))
            for column, text in zip(columns, shown.split(" | "), strict=True):
                number, _, unit = text.replace(",", "").partition(" ")
                factor = {"": 1, "MB": 1e6, "GB": 1e9, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]
                self.assertLess(abs(float(number) * factor / needs[column] - 1), 0.06, f"{gateways} gateways: {column}")

    def test_the_lines_of_a_cluster_are_of_one_gateway_and_of_the_servers(self):
        case = ("--listeners", "60000", "--streams", "10", *MACHINE, "--json")
        alone, share = (json.loads(capacity(*words).stdout) for words in (
            ("--listeners", "30000", *case[2:]), (*case, "--gateways", "3")))
        amounts = [{each["resource"]: each["amount"] for each in document["needs"]} for document in (alone, share)]
        # Two of three serve: 30,000 listeners each.
        for resource in ("memory", "open files (LimitNOFILE)", "batch requests at the break"):
            self.assertEqual(amounts[0][resource], amounts[1][resource])
        self.assertIn("servers: disk of each, a day", amounts[1])
        self.assertNotIn("the event log (log.bytesMax)", amounts[1])
        for count, code in (("0", 64), ("1025", 64), ("1", 0), ("1024", 0)):
            self.assertEqual(capacity("--listeners", "1000", "--gateways", count, *MACHINE).returncode, code, count)

    def test_the_exit_code_says_whether_it_fits(self):
        case = ("--streams", "3", "--breaks-per-hour", "6", "--ads", "2", *MACHINE, "--json")
        small = capacity("--listeners", "1000", *case)
        self.assertEqual(small.returncode, 0, small.stderr)
        document = json.loads(small.stdout)
        self.assertTrue(document["fits"])
        self.assertLessEqual({"resource", "amount", "unit", "because"}, set(document["needs"][0]))
        large = capacity("--listeners", "10000000", *case)
        self.assertEqual(large.returncode, 1, large.stderr)
        document = json.loads(large.stdout)
        self.assertFalse(document["fits"])
        worst = max((each for each in document["needs"] if "share" in each), key=lambda each: each["share"])
        self.assertEqual(document["first"], worst["resource"])

    def test_this_machine_is_what_there_is_unless_told(self):
        document = json.loads(capacity("--listeners", "1", "--json").stdout)
        available = {each["resource"]: each.get("available") for each in document["needs"]}
        self.assertEqual(available["cores, on average"], len(os.sched_getaffinity(0)))

    def test_what_makes_no_sense_is_refused_with_its_bounds(self):
        for arguments, said in [
            ((), "--listeners is missing"),
            (("--listeners", "0"), "--listeners is from 1 to 100000000; it was 0"),
            (("--listeners", "100000001"), "--listeners is from 1 to 100000000"),
            (("--listeners", "1", "--ads", "65"), "--ads is from 1 to 64; it was 65"),
            (("--listeners", "1", "--streams", "0"), "--streams is from 1 to 1000000"),
            (("--listeners", "1", "--breaks-per-hour", "0"), "--breaks-per-hour is above 0"),
            (("--listeners", "1", "--breaks-per-hour", "3601"), "at most 3600"),
            (("--listeners", "1", "--memory", "nan"), "--memory is above 0"),
            (("--listeners", "1", "--disk", "-1"), "--disk"),
        ]:
            with self.subTest(arguments):
                done = capacity(*arguments)
                self.assertEqual(done.returncode, 64, done.stderr)
                self.assertIn(said, done.stderr)
        for arguments in [("--ads", "64"), ("--streams", "1000000"), ("--breaks-per-hour", "3600")]:
            self.assertIn(capacity("--listeners", "100000000", *arguments, *MACHINE).returncode, (0, 1), arguments)


if __name__ == "__main__":
    unittest.main()

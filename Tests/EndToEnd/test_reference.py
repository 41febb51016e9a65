# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The pages in docs/reference/ have the defaults that a gateway prints. scripts/check-documents compares their names."""
import json, os, re, unittest, urllib.request

from harness import Gateway, PATIENCE, ROOT


def rows(page, pattern):
    with open(os.path.join(ROOT, "docs/reference", page), encoding="utf-8") as file:
        return re.findall(pattern, file.read(), re.M)


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.gateway.addresses['http']}{path}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def test_the_page_of_keys_has_their_defaults(self):
        listed = {key: "" if default == "–" else default.strip("`")
                  for key, default in rows("configuration.md", r"^\| `([\w.]+)` \| (\S+) \|")}
        defaults = {each["key"]: each["default"] for each in self.ask("/v1/configuration")["settings"]}
        self.assertEqual(listed, defaults)

    def test_the_page_of_limits_has_their_values_and_keys(self):
        limits = {each["limit"]: each for each in self.ask("/v1/limits")["limits"]}
        # These are lower where the machine's limit on open files is low.
        of_descriptors = ("httpConnectionsMax", "httpEventReadersMax", "httpHandOversMax", "httpListenersMax", "httpReadersWaitingMax", "httpStreamsMax")
        for name, value, keys in rows("limits.md", r"^\| `(\w+)` \| ([^|]+) \| ([^|]*) ?\|"):
            limit = limits.pop(name)
            if value[0].isdigit() and name not in of_descriptors:
                self.assertEqual(int(value.split()[0]), limit["max"], name)
            self.assertEqual(re.findall(r"`([\w.]+)`", keys)[:1], [limit["key"]] if "key" in limit else [], name)
        self.assertEqual(limits, {})


if __name__ == "__main__":
    unittest.main()

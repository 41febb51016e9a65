# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""`cuecast cue explain`: what it says, how it ends, that its page shows what it prints, and that threefive reads and writes the same."""
import base64, json, os, re, shlex, subprocess, tempfile, unittest

from harness import BINARY, ROOT, RUN_PATIENCE

#: The first two worked examples of SCTE 35 section 14.
TIME_SIGNAL = "/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg=="
SPLICE_INSERT = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="


def explain(*arguments, given=None):
    return subprocess.run([BINARY, "cue", "explain", *arguments], input=given, capture_output=True, timeout=RUN_PATIENCE)


class ExplainedCues(unittest.TestCase):
    def test_the_page_shows_what_the_command_prints(self):
        with open(os.path.join(ROOT, "docs/broadcasters/scte-35.md"), encoding="utf-8") as file:
            page = file.read()
        command, shown = re.search(r"```\n\$ cuecast cue explain (.*)\n((?s:.*?))\n```", page).groups()
        done = explain(*shlex.split(command))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode().rstrip(), shown)

    def test_a_cue_is_read_in_every_form_from_every_place(self):
        section = base64.b64decode(SPLICE_INSERT)
        expected = json.loads(explain(SPLICE_INSERT, "--json").stdout)
        self.assertTrue(expected["readable"])
        self.assertEqual(expected["base64"], SPLICE_INSERT)
        self.assertEqual([signal["kind"] for signal in expected["signals"]], ["out"])
        xml = expected["xml"].encode()
        for form in (SPLICE_INSERT.encode() + b"\n", section.hex().encode(), b"0x" + section.hex().upper().encode(), section, xml):
            with tempfile.NamedTemporaryFile() as file:
                file.write(form)
                file.flush()
                for done in (explain(file.name, "--json"), explain("-", "--json", given=form)):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(json.loads(done.stdout), expected, form)

    def test_a_refused_cue_is_shown_up_to_the_fault(self):
        for cue, said, fields in (("/DAvAA==", "Byte 1, section_length: 47 bytes must follow, and 1 do", 5),
                                  ("cue.bin", "there is no file with this name", 0)):
            done = explain(cue, "--json")
            self.assertEqual(done.returncode, 65, done.stdout)
            self.assertIn(said, done.stderr.decode())
            document = json.loads(done.stdout)
            self.assertFalse(document["readable"])
            self.assertEqual(len(document["fields"]), fields)
        wrong = bytearray(base64.b64decode(SPLICE_INSERT))
        wrong[-1] ^= 1
        done = explain(wrong.hex())
        self.assertEqual(done.returncode, 65)
        self.assertIn("Byte 46, CRC_32: 0x62dba30b is not the checksum", done.stderr.decode())
        self.assertIn("provider_avail_id", done.stdout.decode())

    def test_a_file_is_read_up_to_its_limit(self):
        limit = 64 * 1024 * 1024
        for size, said in ((limit, "text: 65537 bytes are more than 65536"), (limit + 1, f"has more than {limit} bytes")):
            with tempfile.NamedTemporaryFile() as file:
                file.truncate(size)
                done = explain(file.name)
            self.assertEqual(done.returncode, 65, done.stdout)
            self.assertIn(said, done.stderr.decode())

    def test_lines_are_cues(self):
        done = explain("-", "--lines", "--json", given=f"{SPLICE_INSERT}\n{TIME_SIGNAL}\nnone\n".encode())
        self.assertEqual(done.returncode, 65)
        self.assertIn(b"cues that are refused: 1", done.stderr)
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([document["readable"] for document in documents], [True, True, False])

    def test_another_reader_and_writer_has_the_same_fields(self):
        done = subprocess.run([os.path.join(ROOT, ".venv/bin/python"), os.path.join(ROOT, "Tests/EndToEnd/cues.py"), BINARY],
                              capture_output=True, text=True, timeout=RUN_PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

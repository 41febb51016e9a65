# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A `cuecast watch` process of a test."""
import json, subprocess, threading

from harness import BINARY, PATIENCE


class Watcher:
    """A `cuecast watch` process, and what it printed."""

    def __init__(self, gateway, *arguments, given=None):
        self.lines, self.complaints, self.changed = [], [], threading.Condition()
        self.process = subprocess.Popen(
            [BINARY, "watch", *arguments, "--source", "encoder", "--json"], env=gateway.environment,
            stdin=given or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.complaints))]
        for reader in self.readers:
            reader.start()

    def read(self, file, kept):
        for line in file:
            with self.changed:
                kept.append(line.rstrip("\n"))
                self.changed.notify_all()

    def wait(self, condition, what):
        """What the condition gives for what was printed."""
        with self.changed:
            found = self.changed.wait_for(lambda: condition(self), PATIENCE)
            assert found, f"waited in vain: {what}\n{self.lines}\n{self.complaints}"
            return found

    def seen(self, result, kind=None):
        """The lines with a result, and with a kind of signal."""
        found = [json.loads(line) for line in self.lines]
        return [line for line in found if line.get("result") == result
                and (kind is None or line.get("signal", {}).get("kind") == kind)]

    def wait_for(self, result, kind=None, count=1):
        return self.wait(lambda watcher: len(found := watcher.seen(result, kind)) >= count and found, f"{result} {kind}")

    def complaint(self, text):
        return self.wait(lambda watcher: next((line for line in watcher.complaints if text in line), None), text)

    def address(self):
        """The host and the port that the system chose."""
        host, port = self.complaint("Listens for").rstrip(".").split(" at ")[1].rsplit(":", 1)
        return host, int(port)

    def end(self):
        """Waits until the watch ends by itself; gives the counts."""
        code = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join(PATIENCE)
        assert code == 0, (code, self.lines, self.complaints)
        return json.loads(self.lines[-1])["counts"]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A gateway whose messages are not read: it serves and stops as any other."""
import fcntl, os, unittest

from harness import Broadcaster, Gateway, Listener, ad, broadcast_pb2, listener_pb2, status_pb2, until

NOW = broadcast_pb2.Start(now=True)
UNREAD = 'cuecast_log_lines_suppressed_total{kind="unread"}'


class UnreadGateway(Gateway):
    """Its messages go to a pipe that is full at once."""

    def __init__(self):
        self.reading, self.writing = os.pipe()
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, 4_096)
        super().__init__("--set", "logLevel=trace")

    def start(self):
        kept = os.dup(2)
        try:
            # The process that is started has it as its standard error.
            os.dup2(self.writing, 2)
            super().start()
        finally:
            os.dup2(kept, 2)
            os.close(kept)

    def close(self):
        super().close()
        os.close(self.reading)
        os.close(self.writing)


class UnreadMessages(unittest.TestCase):
    def test_a_gateway_whose_messages_are_not_read_serves_counts_what_it_left_out_and_stops(self):
        gateway = UnreadGateway()
        self.addCleanup(gateway.close)
        broadcaster, listener = Broadcaster(gateway), Listener(gateway, "s")
        self.addCleanup(broadcaster.close)
        self.addCleanup(listener.close)

        def left_out():
            for number in range(100):
                answer = broadcaster.publish(f"s{number}", "b", [ad("x", 1_800_000)], start=NOW, duration_ms=1_800_000)
                self.assertEqual(answer.status, status_pb2.STATUS_CODE_OK)
                for _ in range(50):
                    listener.ask(get_time=listener_pb2.GetTime())
            return gateway.metric(UNREAD) > 0

        self.assertEqual(gateway.metric(UNREAD), 0)
        until("more waits than may", left_out)
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()

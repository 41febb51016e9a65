# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A gateway that was killed serves before its ledger is compared with the whole log.

    scripts/end-to-end.sh SharedLogQuickStart
"""
import signal, sqlite3, unittest

from harness import until
from test_shared_log import SharedLogCase, made


class SharedLogQuickStart(SharedLogCase):
    def test_a_killed_gateway_serves_before_its_ledger_is_checked_and_a_wrong_count_is_found(self):
        servers = self.servers(1)
        made(servers)
        gateway = self.gateway(servers)
        listeners = [self.listener(gateway) for _ in range(4)]
        self.publish(gateway, "one")
        for number, listener in enumerate(listeners):
            listener.next()
            self.play(listener, "one", "played" if number else "failed")
        expected = {"delivered": 4, "played": 3, "failed": 1, "unknown": 0}
        self.reports_agree([gateway], "one", expected)

        def killed(change=None):
            gateway.process.send_signal(signal.SIGKILL)
            gateway.process.wait()
            gateway.process.stdout.close()
            if change:
                with sqlite3.connect(gateway.folder + "/data/ledger.sqlite") as ledger:
                    ledger.executescript(change)
                ledger.close()
            gateway.start()

        # Right as it is: the check ends, and nothing is said of it any more.
        killed()
        until("the check is done", lambda: "pending" not in gateway.get("/v1/reports") and "ledger" not in gateway.readiness()[2])
        self.reports_agree([gateway], "one", expected)
        self.assertNotIn("counted anew", gateway.messages())

        # A count that no record explains, in totals and rows alike, is found while it serves, and put right.
        killed("UPDATE outcomes SET heard_ms = heard_ms + 5 WHERE kind = 1; UPDATE totals SET heard_ms = heard_ms + 5 * played")
        gateway.until_said("the ledger is counted anew")
        until("the check is done", lambda: "pending" not in gateway.get("/v1/reports"))
        self.reports_agree([gateway], "one", expected)
        self.assertEqual(gateway.stop(), 0)
        found = gateway.verified(servers)
        self.assertTrue(found["right"], found)


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Shows that the checker of the fault rounds can fail: histories made by hand, each with one breach.

    python3 Tests/Faults/checker_test.py
"""
import copy, os, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from checker import Checker, summary
from history import History, read


def info(name="b", revision=1, sequence=1, **fields):
    return {"stream": "s", "break": name, "revision": revision, "start_us": None, "duration_ms": 10, "end_us": None, "hold_until_us": 99,
            "position": ["7", sequence] if sequence else None, "published_us": 5, "ads": 1, "cancelled": False, **fields}


def notice(sequence, name="b", kind="available", **fields):
    return {"position": ["7", sequence], "kind": kind, "break": name, "start_us": None, "duration_ms": 10, **fields}


def change(op="publish", name="b", revision=1, client="p", changed=True, answer=True, sequence=1, **asked):
    return {"op": op, "client": client, "gateway": 0, "begin": 1, "end": 2, "asked": {"stream": "s", "break": name, **asked},
            "answer": {"status": "OK", "changed": changed, "break": info(name, revision, sequence)} if answer else None}


def join(last, kind, head, notices=(), connection=1, session="aa", gateway=0):
    return {"op": "join", "client": "l", "gateway": gateway, "connection": connection, "begin": 2, "end": 3,
            "asked": {"stream": "s", "session": session, "last": last},
            "answer": {"status": "OK", "kind": kind, "head": head, "notices": list(notices)}}


def pushed(said, connection=1, session="aa", gateway=0):
    return {"op": "notice", "client": "l", "gateway": gateway, "connection": connection, "at": 4, "stream": "s", "session": session,
            "notice": said}


def batch(session="aa", status="OK", name="b"):
    return {"op": "batch", "client": "l", "gateway": 0, "begin": 5, "end": 6, "asked": {"stream": "s", "break": name, "session": session},
            "answer": {"status": status, "delivery": "dd", "ads": ["x"]}}


def acknowledge(outcome="played", session="aa", answer="OK", begin=7, end=8, recorded=1):
    return {"op": "acknowledge", "client": "l", "gateway": 0, "begin": begin, "end": end,
            "asked": {"stream": "s", "break": "b", "session": session, "delivery": "dd", "outcomes": {"x": outcome}},
            "answer": {"status": answer, "recorded": recorded if answer == "OK" else 0} if answer else None}


def row(outcome="played", session="aa", name="b"):
    return {"stream": "s", "break": name, "ad": "x", "session": session, "outcome": outcome}


def final(gateway):
    counts = {"delivered": 1, "played": 1, "ignored": 0, "failed": 0, "unknown": 0}
    return {"op": "final", "gateway": gateway, "alarms": [], "heads": {"s": ["7", 2]}, "breaks": [info(revision=2, sequence=2, duration_ms=20)],
            "reports": [{"stream": "s", "break": "b", "ads": {"x": counts}}], "outcomes": [row()]}


def good():
    """A history in which every promise is kept: a listener moves, an update has no answer, an acknowledgement is repeated."""
    return [change(), change("update", answer=False, duration_ms=20),
            join(None, "snapshot", ["7", 1], [notice(1)]), pushed(notice(1, kind="head")),
            join(["7", 1], "recovered", ["7", 2], [notice(2, kind="updated", duration_ms=20)], connection=2, gateway=1),
            join(None, "snapshot", ["7", 1], [notice(1)], connection=3, session="bb"),
            pushed(notice(2, kind="updated", duration_ms=20), connection=3, session="bb"),
            batch(), acknowledge(answer=None), acknowledge(answer="UNAVAILABLE"), acknowledge(), final(0), final(1), final(2)]


class CheckerTests(unittest.TestCase):
    def rules(self, lines):
        return {rule for rule, _ in Checker(lines).check()}

    def changed(self, edit):
        lines = copy.deepcopy(good())
        edit(lines)
        return self.rules(lines)

    def test_a_history_without_a_breach_has_no_findings(self):
        self.assertEqual(Checker(good()).check(), [])

    def test_an_end_that_is_told_by_one_gateway_only_is_incomplete(self):
        self.assertIn("incomplete", self.rules([line for line in good() if line.get("gateway") != 1 and line.get("gateway") != 2]))
        self.assertIn("incomplete", self.changed(lambda lines: lines[-1].update(gateway=1)))
        self.assertIn("incomplete", self.rules([]))

    # Breaks

    def test_a_confirmed_break_that_a_gateway_lacks_is_lost(self):
        self.assertIn("lost break", self.changed(lambda lines: lines[-1]["breaks"].clear()))

    def test_a_break_without_an_answer_may_be_there_or_not(self):
        unanswered = change(name="c", answer=False)
        self.assertEqual(self.changed(lambda lines: lines.insert(0, unanswered)), set())

        def there(lines):
            lines.insert(0, unanswered)
            for line in lines[-3:]:
                line["breaks"].append(info("c", sequence=None))
        self.assertEqual(self.changed(there), set())

    def test_a_confirmed_change_that_a_gateway_lacks_is_lost(self):
        def lacks(lines):
            lines.insert(1, change("update", revision=3, sequence=3))
        self.assertIn("lost change", self.changed(lacks))

    def test_a_break_that_no_client_published_is_invented(self):
        self.assertIn("invented break", self.changed(lambda lines: [line["breaks"].append(info("z", sequence=None)) for line in lines[-3:]]))

    def test_a_break_that_is_listed_twice_is_found(self):
        self.assertIn("invented break", self.changed(lambda lines: lines[-1]["breaks"].append(dict(lines[-1]["breaks"][0]))))

    def test_a_revision_with_two_contents_is_found(self):
        self.assertIn("two contents", self.changed(lambda lines: lines[-1]["breaks"][0].update(duration_ms=21)))

        def forked(lines):
            lines[1:1] = [change("update", revision=2, sequence=2), change("update", revision=2, sequence=2, client="q")]
            for line in lines[1:3]:
                line["answer"]["break"].update(duration_ms=20)
        self.assertIn("two contents", self.changed(forked))

    def test_a_revision_that_was_made_of_a_later_one_is_found(self):
        def backwards(lines):
            lines[0]["asked"]["expected_revision"] = 1
        self.assertIn("two contents", self.changed(backwards))

    def test_a_request_that_is_repeated_makes_one_revision(self):
        self.assertEqual(self.changed(lambda lines: lines.insert(1, change())), set())

    # Outcomes

    def test_a_confirmed_outcome_that_a_gateway_does_not_count_is_lost(self):
        def lost(lines):
            lines[-1]["outcomes"].clear()
        self.assertIn("lost outcome", self.changed(lost))

    def test_a_confirmed_outcome_that_no_gateway_counts_is_lost(self):
        def lost(lines):
            for line in lines[-3:]:
                line["outcomes"].clear()
                line["reports"][0]["ads"]["x"] = {"delivered": 1, "played": 0, "ignored": 0, "failed": 0, "unknown": 1}
        self.assertEqual(self.changed(lost), {"lost outcome"})

    def test_fewer_recorded_than_sent_is_a_loss(self):
        self.assertIn("lost outcome", self.changed(lambda lines: lines[-4]["answer"].update(recorded=0)))

    def test_an_outcome_that_is_counted_twice_is_found(self):
        self.assertIn("counted wrong", self.changed(lambda lines: [
            line["reports"][0]["ads"]["x"].update(played=2, delivered=2) for line in lines[-3:]]))

    def test_two_rows_of_one_statement_count_once(self):
        self.assertEqual(self.changed(lambda lines: [line["outcomes"].append(row()) for line in lines[-3:]]), set())

    def test_an_outcome_in_no_report_is_found(self):
        self.assertIn("counted wrong", self.changed(lambda lines: [line["reports"].clear() for line in lines[-3:]]))

    def test_books_that_do_not_balance_are_found(self):
        self.assertIn("counted wrong", self.changed(lambda lines: lines[-1]["reports"][0]["ads"]["x"].update(unknown=1)))

    def test_more_deliveries_than_listeners_are_found(self):
        self.assertIn("counted wrong", self.changed(lambda lines: [
            line["reports"][0]["ads"]["x"].update(unknown=1, delivered=2) for line in lines[-3:]]))

    def test_an_outcome_that_no_client_sent_is_invented(self):
        self.assertIn("invented outcome", self.changed(lambda lines: lines[-1]["outcomes"].append(row(session="cc"))))

    def test_another_outcome_than_the_one_that_was_sent_is_found(self):
        def other(lines):
            for line in lines[-3:]:
                line["outcomes"][0]["outcome"] = "failed"
                line["reports"][0]["ads"]["x"].update(played=0, failed=1)
        self.assertEqual(self.changed(other), {"other outcome"})

    def test_what_was_confirmed_first_stands(self):
        def contradicted(begin, confirmed):
            def edit(lines):
                lines.insert(-3, acknowledge("failed", begin=begin, end=begin + 1 if confirmed else None, answer="OK" if confirmed else None))
                for line in lines[-3:]:
                    line["outcomes"].insert(0, row("failed"))
                    line["reports"][0]["ads"]["x"].update(played=0, failed=1)
            return edit
        self.assertEqual(self.changed(contradicted(9, True)), {"other outcome"})
        self.assertEqual(self.changed(contradicted(9, False)), {"other outcome"})
        # It was under way at the same time: both are possible.
        self.assertEqual(self.changed(contradicted(7.5, True)), set())
        self.assertEqual(self.changed(contradicted(7.5, False)), set())

    # Positions

    def test_a_position_with_two_notices_is_found(self):
        self.assertIn("two meanings", self.changed(lambda lines: lines[6]["notice"].update(duration_ms=30)))
        self.assertIn("two meanings", self.changed(lambda lines: lines[5]["answer"]["notices"][0].update({"break": "c"})))

    def test_a_position_that_a_break_and_a_notice_claim_is_found(self):
        def claimed(lines):
            lines.insert(0, change(name="c", sequence=2))
            for line in lines[-3:]:
                line["breaks"].append(info("c", sequence=2))
        self.assertEqual(self.changed(claimed), {"two meanings"})

    def test_another_epoch_is_found(self):
        self.assertIn("two meanings", self.changed(lambda lines: lines[3:4] and lines.insert(7, pushed(
            {**notice(3), "position": ["8", 3]}, connection=3, session="bb"))))

    def test_a_gap_is_found(self):
        skip = pushed(notice(4, kind="ended"), connection=3, session="bb")
        self.assertEqual(self.changed(lambda lines: lines.insert(7, skip)), {"gap"})

    def test_a_head_above_what_was_sent_is_a_gap(self):
        self.assertEqual(self.changed(lambda lines: lines[3]["notice"].update(position=["7", 2])), {"gap"})

    def test_a_recovery_that_is_not_complete_is_a_gap(self):
        self.assertEqual(self.changed(lambda lines: lines[4]["answer"]["notices"].clear()), {"gap"})

    def test_a_position_that_is_not_current_is_a_gap(self):
        self.assertEqual(self.changed(lambda lines: lines[4]["answer"].update(kind="current", notices=[])), {"gap"})

    def test_a_notice_that_comes_twice_is_found(self):
        self.assertEqual(self.changed(lambda lines: lines.insert(7, lines[6])), {"repeat"})

    def test_a_subscriber_may_have_notices_from_before_its_join_and_no_others_twice(self):
        def subscribed(edit):
            def change(lines):
                lines[5]["asked"]["way"] = "subscription"
                edit(lines)
            return self.changed(change)
        early = pushed(notice(1), connection=3, session="bb")
        self.assertEqual(subscribed(lambda lines: lines.insert(6, early)), set())
        self.assertEqual(self.changed(lambda lines: lines.insert(6, early)), {"repeat"})
        self.assertEqual(subscribed(lambda lines: lines.insert(7, lines[6])), {"repeat"})
        self.assertEqual(subscribed(lambda lines: lines.insert(7, pushed(notice(4), connection=3, session="bb"))), {"gap"})

    def test_a_session_that_begins_at_an_older_position_has_every_notice_again(self):
        again = join(["7", 1], "recovered", ["7", 2], [notice(2, kind="updated", duration_ms=20)], connection=0, session="cc", gateway=2)
        self.assertEqual(self.changed(lambda lines: lines.insert(-3, copy.deepcopy(again))), set())
        again["answer"]["notices"][0]["duration_ms"] = 21
        self.assertEqual(self.changed(lambda lines: lines.insert(-3, again)), {"two meanings"})

    def test_a_player_that_joins_with_another_position_than_it_has_makes_a_wrong_history(self):
        self.assertIn("incomplete", self.changed(lambda lines: lines[4]["asked"].update(last=["7", 0])))

    def test_a_gateway_that_is_behind_its_listener_is_found(self):
        self.assertIn("backwards", self.changed(lambda lines: lines[4]["answer"].update(kind="snapshot", head=["7", 0], notices=[])))

    # Refusals, agreement

    def test_a_refusal_that_says_something_wrong_is_found(self):
        for status in ("NOT_FOUND", "DELIVERY_INVALID", "BREAK_TOO_OLD"):
            self.assertEqual(self.changed(lambda lines: lines.insert(-4, acknowledge(answer=status))), {"wrong refusal"}, status)
            self.assertEqual(self.changed(lambda lines: lines.insert(7, batch(status=status))), {"wrong refusal"}, status)

    def test_a_change_that_is_refused_as_unknown_is_found(self):
        def refused(status, **asked):
            return {**change("end", **asked), "answer": {"status": status}}
        for status in ("NOT_FOUND", "CONFLICT", "INVALID", "REVISION_CONFLICT"):
            self.assertEqual(self.changed(lambda lines: lines.insert(2, refused(status))), {"wrong refusal"}, status)
        for status in ("BREAK_OVERLAP", "WRONG_STATE", "UNAVAILABLE"):
            self.assertEqual(self.changed(lambda lines: lines.insert(2, refused(status))), set(), status)
        self.assertEqual(self.changed(lambda lines: lines.insert(2, refused("REVISION_CONFLICT", expected_revision=2))), set())

    def test_gateways_that_differ_are_found(self):
        for edit in (lambda line: line["alarms"].append("boardsDiffer"), lambda line: line["heads"].update(s=["7", 3]),
                     lambda line: line["breaks"].append(info("c")), lambda line: line["outcomes"].append(row()),
                     lambda line: line["reports"][0]["ads"]["x"].update(repeats=1)):
            self.assertIn("differ", self.changed(lambda lines: edit(lines[-2])))

    # The program

    def test_the_program_reads_a_file_and_says_how_it_was(self):
        def run(lines):
            with tempfile.TemporaryDirectory() as folder:
                history = History(folder + "/history")
                for line in lines:
                    history.write(**line)
                history.close()
                self.assertEqual(read(folder + "/history"), lines)
                return subprocess.run([sys.executable, HERE + "/checker.py", folder + "/history"], capture_output=True, text=True)
        done = run(good())
        self.assertEqual((done.returncode, "every promise was kept" in done.stdout), (0, True), done)
        lines = good()
        lines[-1]["outcomes"].clear()
        done = run(lines)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("FOUND lost outcome: ('s', 'b', 'x', 'aa')", done.stdout)
        self.assertEqual(subprocess.run([sys.executable, HERE + "/checker.py"], capture_output=True).returncode, 64)

    def test_the_summary_counts_operations_by_their_answers(self):
        counts = dict(summary(good()))
        self.assertEqual((counts[("acknowledge", "OK")], counts[("acknowledge", "no answer")], counts[("change", "no answer")],
                          counts[("notice", "")], counts[("join told", "snapshot")]), (1, 1, 1, 1, 2))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Reads the history of a fault run, and says where gateways broke a promise. It knows nothing of the faults.

    Tests/Faults/checker.py HISTORY      exits with 0: every promise was kept; 1: findings, one a line

The promises, by the name of the rule that looks for a breach:

    lost break, lost change     what was confirmed of a break is there at every gateway at the end
    invented break              nothing is there that no client asked for
    two contents                a revision of a break never has two contents, and is made by one request only
    lost outcome                an acknowledgement that was confirmed is counted at every gateway
    other outcome               what is counted is what was sent; what was confirmed first stands
    invented outcome            nothing is counted that no client sent
    counted wrong               the reports count each outcome once: not twice, not less, and the books balance
    two meanings                a position of a stream never has two notices, at any gateway, for any client
    gap, repeat, backwards      each listener gets every notice once and in order, unless it was told that some are missing
    wrong refusal               what a gateway gave a listener, or confirmed to a broadcaster, is never refused as unknown or forged
    differ                      all gateways have the same breaks, outcomes and reports, and none says that boards differ
    incomplete                  the history says how the run ended, at more than one gateway
"""
import collections, sys

from history import read

CHANGES = ("publish", "update", "punch", "end", "cancel")
#: Refusals of an acknowledgement that are the gateway's right at any time: it says that nothing was recorded, and the client asks again.
#: BREAK_TOO_OLD is not among them: no run lasts as long as a gateway keeps breaks.
AGAIN = {"UNAVAILABLE", "DRAINING", "RATE_LIMITED", "LIMIT_REACHED"}
#: A batch may also come too late.
NO_BATCH = AGAIN | {"TOO_LATE", "WRONG_STATE"}
#: And a change may meet the changes of others, or what time has done. NOT_FOUND is not among them: clients change what was confirmed.
NO_CHANGE = AGAIN | {"BREAK_OVERLAP", "WRONG_STATE", "START_IN_PAST"}


class Checker:
    def __init__(self, lines):
        self.lines = lines
        self.findings = []
        self.finals = [line for line in lines if line["op"] == "final"]
        self.by_op = collections.defaultdict(list)
        for line in lines:
            self.by_op[line["op"]].append(line)

    def find(self, rule, sentence):
        self.findings.append((rule, sentence))

    def check(self):
        if len(self.finals) < 2 or len({final["gateway"] for final in self.finals}) != len(self.finals):
            self.find("incomplete", f"{len(self.finals)} gateways told how it ended; there have to be two, and each once")
        self.check_breaks()
        self.check_revisions()
        self.check_outcomes()
        self.check_counts()
        self.check_positions()
        self.check_order()
        self.check_refusals()
        self.check_agreement()
        return self.findings

    # Breaks

    def changes(self):
        for op in CHANGES:
            yield from self.by_op[op]

    def check_breaks(self):
        asked = {(line["asked"]["stream"], line["asked"]["break"]) for line in self.by_op["publish"]}
        confirmed = collections.defaultdict(int)
        for line in self.changes():
            answer = line["answer"]
            if answer and answer["status"] == "OK":
                key = (line["asked"]["stream"], line["asked"]["break"])
                confirmed[key] = max(confirmed[key], answer["break"]["revision"])
        for final in self.finals:
            there = collections.Counter((each["stream"], each["break"]) for each in final["breaks"])
            revisions = {(each["stream"], each["break"]): each["revision"] for each in final["breaks"]}
            for key, revision in confirmed.items():
                if key not in there:
                    self.find("lost break", f"{key} was confirmed in revision {revision}, and gateway {final['gateway']} has no such break")
                elif revisions[key] < revision:
                    self.find("lost change", f"{key} was confirmed in revision {revision}, and gateway {final['gateway']} has {revisions[key]}")
            for key, times in there.items():
                if key not in asked:
                    self.find("invented break", f"gateway {final['gateway']} has {key}, which no client published")
                if times > 1:
                    self.find("invented break", f"gateway {final['gateway']} lists {key} {times} times")

    def check_revisions(self):
        contents, makers = {}, {}

        def told(info, where):
            key = (info["stream"], info["break"], info["revision"])
            before = contents.setdefault(key, (info, where))
            if before[0] != info:
                self.find("two contents", f"{key} is {before[0]} by {before[1]}, and {info} by {where}")
        for line in self.changes():
            answer = line["answer"]
            if not answer or answer["status"] != "OK":
                continue
            told(answer["break"], f"gateway {line['gateway']} at {line['end']} s")
            if not answer["changed"]:
                continue
            key = (line["asked"]["stream"], line["asked"]["break"], answer["break"]["revision"])
            other = makers.setdefault(key, line)
            # The same request, asked again by the same client because no answer came, is one request.
            if other is not line and (other["client"], other["asked"]) != (line["client"], line["asked"]):
                self.find("two contents", f"two requests were told that they made {key}: {other['asked']} and {line['asked']}")
            expected = line["asked"].get("expected_revision")
            if expected is not None and answer["break"]["revision"] <= expected:
                self.find("two contents", f"{key} was made of revision {expected}")
        for final in self.finals:
            for info in final["breaks"]:
                told(info, f"gateway {final['gateway']} at the end")

    # Outcomes

    def counted(self, final):
        """The rows of a gateway that count: the first of each (stream, break, ad, session)."""
        rows = {}
        for row in final["outcomes"]:
            rows.setdefault((row["stream"], row["break"], row["ad"], row["session"]), row["outcome"])
        return rows

    def check_outcomes(self):
        # Of each key: every outcome that was sent, with the times at which it began and was confirmed.
        sent = collections.defaultdict(list)
        for line in self.by_op["acknowledge"]:
            asked, answer = line["asked"], line["answer"]
            confirmed = bool(answer) and answer["status"] == "OK"
            if confirmed and answer["recorded"] != len(asked["outcomes"]):
                self.find("lost outcome", f"{asked} was answered with {answer['recorded']} recorded")
            for ad, outcome in asked["outcomes"].items():
                key = (asked["stream"], asked["break"], ad, asked["session"])
                sent[key].append((outcome, line["begin"], line["end"] if confirmed else None))
        for final in self.finals:
            rows, gateway = self.counted(final), final["gateway"]
            for key, statements in sent.items():
                confirmed_at = min((end for _, _, end in statements if end is not None), default=None)
                if key not in rows:
                    if confirmed_at is not None:
                        self.find("lost outcome", f"{key} was confirmed at {confirmed_at} s, and gateway {gateway} does not count it")
                    continue
                # What began after a statement was confirmed came later in the log.
                possible = {outcome for outcome, begin, _ in statements if confirmed_at is None or begin < confirmed_at}
                if rows[key] not in possible:
                    self.find("other outcome", f"{key} counts as {rows[key]} at gateway {gateway}; sent were {statements}")
            for key in rows.keys() - sent.keys():
                self.find("invented outcome", f"gateway {gateway} counts {key}, which no client sent")

    def check_counts(self):
        for final in self.finals:
            gateway = final["gateway"]
            rows = collections.Counter()
            for (stream, break_id, ad, _), outcome in self.counted(final).items():
                rows[(stream, break_id, ad, outcome.split(":")[0])] += 1
            asked = collections.defaultdict(set)
            for line in self.by_op["batch"]:
                asked[(line["asked"]["stream"], line["asked"]["break"])].add(line["asked"]["session"])
            seen = set()
            for report in final["reports"]:
                stream, break_id = report["stream"], report["break"]
                for ad, counts in report["ads"].items():
                    total = 0
                    for kind in ("played", "ignored", "failed"):
                        key = (stream, break_id, ad, kind)
                        seen.add(key)
                        total += counts[kind]
                        if counts[kind] != rows[key]:
                            self.find("counted wrong", f"the report of gateway {gateway} has {counts[kind]} {key}; its outcomes are {rows[key]}")
                    if counts["delivered"] != total + counts["unknown"]:
                        self.find("counted wrong", f"the report of gateway {gateway} does not balance: {stream} {break_id} {ad} {counts}")
                    if counts["delivered"] > len(asked[(stream, break_id)]):
                        self.find("counted wrong", f"gateway {gateway} delivered {ad} of {break_id} {counts['delivered']} times; "
                                                   f"{len(asked[(stream, break_id)])} listeners asked")
            for key in rows.keys() - seen:
                self.find("counted wrong", f"gateway {gateway} has {rows[key]} {key} in no report")

    # Positions

    def notices(self):
        """Every notice that a client was told of, with where; and those of snapshots without their kind.

        A snapshot has each open break as it stands, at the position of its newest notice: available for the one who joins, whatever that
        notice said.
        """
        for line in self.by_op["notice"]:
            yield line["stream"], line["notice"], f"gateway {line['gateway']} at {line['at']} s"
        snapshots = []
        for line in self.by_op["join"]:
            where = f"gateway {line['gateway']} in a join at {line['end']} s"
            for notice in (line["answer"] or {}).get("notices", ()):
                if line["answer"]["kind"] == "snapshot":
                    snapshots.append((line["asked"]["stream"], {name: value for name, value in notice.items() if name != "kind"}, where))
                else:
                    yield line["asked"]["stream"], notice, where
        yield from snapshots

    def check_positions(self):
        meanings = {}
        for stream, notice, where in self.notices():
            if notice.get("kind") == "head":
                continue
            before = meanings.setdefault((stream, *notice["position"]), (notice, where))
            if any(before[0].get(name, value) != value for name, value in notice.items()):
                self.find("two meanings", f"{stream} {notice['position']} is {before[0]} by {before[1]}, and {notice} by {where}")
        # Where a gateway says that a break's newest notice is.
        infos = [(line["answer"]["break"], f"gateway {line['gateway']} at {line['end']} s") for line in self.changes()
                 if line["answer"] and line["answer"]["status"] == "OK"]
        infos += [(info, f"gateway {final['gateway']} at the end") for final in self.finals for info in final["breaks"]]
        for info, where in infos:
            if info["position"]:
                key = (info["stream"], *info["position"])
                before = meanings.setdefault(key, ({"break": info["break"]}, where))
                if before[0]["break"] != info["break"]:
                    self.find("two meanings", f"{key} is about {before[0]['break']} by {before[1]}, and about {info['break']} by {where}")
        epochs = collections.defaultdict(set)
        for stream, epoch, _ in meanings:
            epochs[stream].add(epoch)
        for stream, found in epochs.items():
            if len(found) > 1:
                self.find("two meanings", f"{stream} has the epochs {sorted(found)}, and no history was lost")

    def check_order(self):
        # Of a session what it applied; of a connection its session, and up to where notices may have come before the join.
        last, by_connection, before_join = {}, {}, {}
        for line in self.lines:
            if line["op"] == "join" and line["answer"] and line["answer"]["status"] == "OK":
                answer, session = line["answer"], line["asked"]["session"]
                head, asked = answer["head"], line["asked"]["last"]
                where = f"session {session} at gateway {line['gateway']} at {line['end']} s"
                # A session may begin at a position that it has from elsewhere.
                if asked != last.get(session, asked):
                    self.find("incomplete", f"{where} joined with {asked}, having {last.get(session)}: the history is wrong")
                if asked and asked[0] == head[0] and head[1] < asked[1]:
                    self.find("backwards", f"{where} has {asked}, and was told that {head} is the newest")
                numbers = [notice["position"][1] for notice in answer["notices"]]
                if answer["kind"] == "current" and head != asked:
                    self.find("gap", f"{where} was told that {asked} is current, and then {head}")
                if answer["kind"] == "recovered":
                    if not asked or numbers != list(range(asked[1] + 1, head[1] + 1)):
                        self.find("gap", f"{where} was told that {numbers} are all notices between {asked} and {head}")
                last[session] = head
                by_connection[line["connection"]] = session
                if line["asked"].get("way") == "subscription":
                    before_join[line["connection"]] = head
            elif line["op"] == "notice":
                session = by_connection.get(line["connection"])
                where = f"session {line['session']} at gateway {line['gateway']} at {line['at']} s"
                if session != line["session"]:
                    self.find("incomplete", f"{where} got a notice on a connection that it had not joined by")
                    continue
                epoch, number = line["notice"]["position"]
                known = before_join.get(line["connection"])
                if known and epoch == known[0] and number <= known[1]:
                    continue
                before = last[session]
                if line["notice"]["kind"] == "head":
                    if epoch == before[0] and number > before[1]:
                        self.find("gap", f"{where} has {before}, and a head says {number}")
                    continue
                if epoch != before[0] or number > before[1] + 1:
                    self.find("gap", f"{where} got {[epoch, number]} after {before}")
                elif number <= before[1]:
                    self.find("repeat", f"{where} got {[epoch, number]} after {before}")
                last[session] = [epoch, number]

    # Refusals, and what gateways say together

    def check_refusals(self):
        for line in self.changes():
            allowed = NO_CHANGE | ({"REVISION_CONFLICT"} if "expected_revision" in line["asked"] else set())
            if line["answer"] and line["answer"]["status"] != "OK" and line["answer"]["status"] not in allowed:
                self.find("wrong refusal", f"a change that was possible was refused: {line}")
        given = set()
        for line in self.by_op["batch"]:
            answer = line["answer"]
            if answer and answer["status"] == "OK":
                given.add((line["asked"]["session"], line["asked"]["break"], answer["delivery"]))
            elif answer and answer["status"] not in NO_BATCH:
                self.find("wrong refusal", f"a batch that listeners were told of was refused: {line}")
        for line in self.by_op["acknowledge"]:
            asked, answer = line["asked"], line["answer"]
            if (asked["session"], asked["break"], asked["delivery"]) not in given:
                self.find("incomplete", f"an acknowledgement has a delivery that was never given: {line}")
            if answer and answer["status"] != "OK" and answer["status"] not in AGAIN:
                self.find("wrong refusal", f"an acknowledgement of what was delivered was refused: {line}")

    def check_agreement(self):
        for final in self.finals:
            if "boardsDiffer" in final["alarms"]:
                self.find("differ", f"gateway {final['gateway']} says that boards differ")
        if not self.finals:
            return
        first = self.finals[0]
        for final in self.finals[1:]:
            pair = f"gateways {first['gateway']} and {final['gateway']}"
            for name, key in (("breaks", ("stream", "break")), ("reports", ("stream", "break")), ("heads", None)):
                mine, others = first[name], final[name]
                if key:
                    mine, others = ({tuple(each[part] for part in key): each for each in side} for side in (mine, others))
                for entry in sorted(mine.keys() | others.keys()):
                    if mine.get(entry) != others.get(entry):
                        self.find("differ", f"{pair} have other {name}: {entry} is {mine.get(entry)} and {others.get(entry)}")
            # The order of rows is the order of the log.
            if first["outcomes"] != final["outcomes"]:
                at = next((at for at, (mine, other) in enumerate(zip(first["outcomes"], final["outcomes"])) if mine != other),
                          min(len(first["outcomes"]), len(final["outcomes"])))
                self.find("differ", f"{pair} have other outcomes, from row {at} on: "
                                    f"{first['outcomes'][at:at + 1]} and {final['outcomes'][at:at + 1]}")


def summary(lines):
    """What a history has, for people: (what, how many)."""
    counts = collections.Counter()
    for line in lines:
        if line["op"] in CHANGES or line["op"] in ("join", "batch", "acknowledge"):
            name = "change" if line["op"] in CHANGES else line["op"]
            counts[(name, line["answer"]["status"] if line["answer"] else "no answer")] += 1
        elif line["op"] == "notice" and line["notice"]["kind"] != "head":
            counts[("notice", "")] += 1
    kinds = collections.Counter(line["answer"]["kind"] for line in lines
                                if line["op"] == "join" and line["answer"] and line["answer"]["status"] == "OK")
    counts.update({("join told", kind): times for kind, times in kinds.items()})
    return sorted(counts.items())


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    lines = read(sys.argv[1])
    findings = Checker(lines).check()
    print("; ".join(f"{' '.join(filter(None, name))} {times}" for name, times in summary(lines)))
    rules = collections.Counter(rule for rule, _ in findings)
    told = collections.Counter()
    for rule, sentence in findings:
        told[rule] += 1
        if told[rule] <= 20:  # of each rule
            print(f"FOUND {rule}: {sentence}")
    print("checker: " + (", ".join(f"{rule} {times}" for rule, times in rules.items()) or "every promise was kept"))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Parts of scripts/demo-broadcast.sh.

    await FILE KIND COUNT     waits until a watcher has sent so many signals of a kind, and prints the newest one
    break FILE                prints the break that a watcher's newest signal is about
    listening                 reads what `cuecast streams --json` says, and prints how many players listen
    findings FILE             prints what the load tool found wrong, of its report
    delivered                 reads what `cuecast report --format json` says, and prints how many players got every ad
    check FOLDER TV RADIO AUDIENCE=COUNT…
                              compares what the gateway has with what was broadcast; TV, RADIO and COUNT are numbers of players
"""
import signal

# Ctrl-C ends the demo without a trace of this program's calls, also while it is still being loaded.
signal.signal(signal.SIGINT, signal.SIG_DFL)

import datetime, json, os, re, sys, time

import demo_schedule
from demo_schedule import lines

PATIENCE = float(os.environ.get("DEMO_PATIENCE", "120").rstrip("s"))


def seconds(instant):
    """The seconds since 1970 of an instant in RFC 3339."""
    return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


def sentence(line):
    """What a watcher saw and sent, on one line, with the times of the clock only."""
    signal, reply = line["signal"], line["reply"]
    said = f"{line['time']} {line['seen']} -> {signal['kind']} {signal['eventId']} -> break {reply['breakId']} {reply['state']}"
    return re.sub(r"\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)(?:\.\d+)?Z", r"\1", said)


def wait(path, kind, count):
    deadline = time.monotonic() + PATIENCE
    while True:
        found = lines(path)
        for line in found:
            if line.get("result") not in ("sent", "ignored"):
                sys.exit(f"   a watcher failed: {json.dumps(line)}")
        sent = [line for line in found if line.get("result") == "sent" and line["signal"]["kind"] == kind]
        if len(sent) >= count:
            print(f"   [{sent[-1]['source']}] {sentence(sent[-1])}", flush=True)
            return
        if time.monotonic() > deadline:
            sys.exit(f"   {path}: for {PATIENCE:.0f} s the watcher sent no signal '{kind}'")
        time.sleep(0.1)


class Check:
    """The faults that were found."""

    def __init__(self, folder):
        self.folder, self.faults = folder, []
        with open(folder + "/breaks.json", encoding="utf-8") as file:
            self.breaks = json.load(file)
        with open(folder + "/report.json", encoding="utf-8") as file:
            self.report = json.load(file)
        with open(folder + "/audit.json", encoding="utf-8") as file:
            self.audit = json.load(file)["entries"][::-1]

    def must(self, condition, text):
        if not condition:
            self.faults.append(text)

    def confirm(self, text):
        """Says what is as it must be, unless something was not."""
        if not self.faults:
            print(text, flush=True)

    def sources(self, name):
        """The broadcasters that asked for something about a break, with what each asked for.

        A signal may come several times, where the answer to the first one was lost for instance.
        """
        asked = {}
        for entry in self.audit:
            if entry.get("break") == name and entry["outcome"] in ("changed", "unchanged"):
                asked.setdefault(entry.get("by"), set()).add(entry["action"])
        return asked

    def told(self, kind, event):
        """The bytes of an encoder's cue as the audit has them, by the source that sent it."""
        # A cue that changes nothing has the reason before it.
        pattern = re.compile(rf"\b{kind} of the event splice-{event} of the source (\S+) on tv\. Raw: (\S+)")
        found = (pattern.search(entry.get("sentence", "")) for entry in self.audit)
        return {match[1]: match[2] for match in found if match}

    def signalled(self, stream, watcher):
        """The breaks that the signals of a watcher made, in their order, each once."""
        sent = [line for line in lines(f"{self.folder}/{watcher}.jsonl") if line.get("result") == "sent"]
        self.must(all(line["stream"] == stream for line in sent), f"the watcher {watcher} signalled another stream")
        return list(dict.fromkeys(line["reply"]["breakId"] for line in sent))

    def booked(self, name):
        return next((each for each in self.report["breaks"] if each["break"] == name), None)

    def played(self, name, players):
        """The break is in the report, and every player got it."""
        booked = self.booked(name)
        self.must(booked is not None, f"the report has no break {name}")
        if booked is None:
            return
        for ad in booked["ads"]:
            delivered = ad["counts"]["delivered"]
            self.must(delivered == players, f"{players} players listen, and {delivered} of them got the ad {ad['id']} of {name}")

    def near(self, instant, expected, what):
        distance = abs(seconds(instant) - seconds(expected))
        self.must(distance <= 0.5, f"{what} is {instant}, and the encoder said {expected}")


def check(folder, tv, radio, *audiences):
    tv, radio, it = int(tv), int(radio), Check(folder)
    broadcast = {(line["event"], line["kind"]): line for line in lines(folder + "/broadcast.jsonl")}
    by_encoder, by_playlist = it.signalled("tv", "encoder"), it.signalled("tv", "playlist")
    by_radio = it.signalled("radio", "radio")
    it.must(len(by_encoder) == 2, f"the cues of the transport stream made {len(by_encoder)} breaks, and it must be 2")
    it.must(by_playlist == by_encoder[:1], f"the playlist made {by_playlist}, and the transport stream {by_encoder}")
    it.must(len(by_radio) == 1, f"the titles of the radio made {len(by_radio)} breaks, and it must be 1")
    if it.faults:
        return it.faults
    (first, cancelled), (of_radio,) = by_encoder, by_radio

    scheduled = demo_schedule.check(it, folder, {name: int(count) for name, count in (each.split("=") for each in audiences)})
    expected = {**scheduled, ("tv", first): "complete", ("tv", "late-news"): "complete", ("tv", cancelled): "cancelled", ("radio", of_radio): "complete"}
    found = sorted((each["stream"], each["break"], each["state"]) for each in it.breaks)
    it.must(found == sorted((*key, state) for key, state in expected.items()), f"the gateway has these breaks: {found}")
    it.confirm(f"   {len(found)} breaks are there, each once; {cancelled} was cancelled before its start")

    for name, asked in ((first, {"encoder": {"signal"}, "playlist": {"signal"}}), (of_radio, {"radio": {"signal"}}),
                        ("late-news", {"studio": {"publish", "punch"}}), (cancelled, {"encoder": {"signal"}})):
        sources = it.sources(name)
        it.must(sources == asked, f"by the audit {name} is of {sources}, and it must be {asked}")
        it.confirm(f"   {name} was made by {' and '.join(sorted(asked))}")
    for kind, event, count in (("OUT", 1001, 2), ("IN", 1001, 2), ("OUT", 1002, 1), ("CANCEL", 1002, 1)):
        told = it.told(kind, event)
        it.must(len(told) == count, f"by the audit {len(told)} sources sent the {kind} of event {event}, and it must be {count}")
        it.must(len(set(told.values())) <= 1, f"the {kind} of event {event} has other bytes in the playlist: {told}")
    it.confirm("   the audit has every cue, with the same bytes from the playlist and from the transport stream")
    # A follower of a schedule asks for changes that are none, to learn what a break has.
    refused = [entry for entry in it.audit if entry["outcome"] not in ("changed", "unchanged") and entry.get("by") != "traffic"]
    it.must(not refused, f"the audit has refusals: {refused}")

    booked = it.booked(first)
    if booked:
        it.near(booked["start"], broadcast[1001, "out"]["at"], f"the start of {first}")
        it.near(booked["end"], broadcast[1001, "in"]["at"], f"the end of {first}")
    booked = it.booked(cancelled)
    it.must(booked is not None and booked["cancelled"], f"by the report {cancelled} was not cancelled")
    it.played(first, tv)
    it.played("late-news", tv)
    it.played(of_radio, radio)
    total = it.report["total"]
    it.must(it.report["balanced"] and it.report["complete"], "the report does not balance")
    it.must(total["unknown"] == 0, f"the outcomes of {total['unknown']} ads are unknown")
    it.confirm("   the report balances: {delivered} delivered = {played} played + {ignored} ignored + {failed} failed".format(**total))
    return it.faults


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "await":
        wait(arguments[0], arguments[1], int(arguments[2]))
    elif command == "break":
        print([line["reply"]["breakId"] for line in lines(arguments[0]) if line.get("result") == "sent"][-1])
    elif command == "findings":
        with open(arguments[0], encoding="utf-8") as file:
            print(json.dumps(json.load(file)["findings"]))
    elif command == "delivered":
        print(min((ad["counts"]["delivered"] for each in json.load(sys.stdin)["breaks"] for ad in each["ads"]), default=0))
    elif command == "listening":
        print(sum(stream["listeners"] for stream in json.load(sys.stdin)["streams"]))
    elif command == "check":
        faults = check(*arguments)
        for fault in faults:
            print(f"   {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The conditions that must hold during an attack on a gateway, and after it: from what was observed, without measuring anything."""
import dataclasses, statistics

#: Resident memory and descriptors may be so much more afterwards.
RETURN_SHARE = 0.05
#: How much later the slowest hundredth of notices, batches and confirmations may come beside an attack.
P99_RATIO_MAX = 2.0
KINDS = ("notice", "batch", "acknowledge")
#: The effects that forged data must never have, as an attack counts them.
FORGED = {"forged_counted": "forged outcomes were counted", "forged_joined": "forged tokens let a listener join",
          "forged_served": "requests by forged tickets were served", "forged_answered": "forged headers got an answer",
          "forged_opened": "pages of other origins got a WebSocket"}
#: An attack is told of by a counter that grew by more than twice what the honest listeners alone make of it, and this.
TOLD_MIN = 10


@dataclasses.dataclass(frozen=True)
class Verdict:
    name: str
    holds: bool
    sentence: str


@dataclasses.dataclass
class Level:
    """Of the gateway's process."""
    resident_kib: int
    descriptors: int


@dataclasses.dataclass
class Observed:
    """One attack, its quiet run before it, and what came after."""
    attack: str
    alive: bool = True
    exit_code: int | None = None
    #: What `cuecast-load` found beside the attack, as sentences.
    lost: list = dataclasses.field(default_factory=list)
    #: Whether all of that may come from a machine that is too slow for the pace.
    only_late: bool = False
    #: The same of a run that began when the attack was over.
    newcomers_lost: list = dataclasses.field(default_factory=list)
    #: Why the books are not right; empty when they are.
    books: str = ""
    #: Kind of latency → microseconds, quiet and attacked.
    quiet_p99: dict = dataclasses.field(default_factory=dict)
    attacked_p99: dict = dataclasses.field(default_factory=dict)
    quiet_p50: dict = dataclasses.field(default_factory=dict)
    attacked_p50: dict = dataclasses.field(default_factory=dict)
    #: The same kinds while the attack went to another gateway of the same machine; empty: that was not measured.
    elsewhere_p99: dict = dataclasses.field(default_factory=dict)
    before: Level | None = None
    peak: Level | None = None
    after: Level | None = None
    #: How long until memory and descriptors were back, or were given up.
    settled_seconds: float = 0
    memory_stopped: bool = False
    cpu_share: float = 0
    #: Counter → by how much the attack moved it.
    told: dict = dataclasses.field(default_factory=dict)
    operators_unanswered: int = 0
    operators_slowest: float = 0
    #: What the attack says that it did.
    did: dict = dataclasses.field(default_factory=dict)


def ratios(observed, usual_p99, slower=None):
    """Kind → how many times slower than in its own quiet run, which counts as one to two times the usual one.

    A quiet run that was quick by luck makes nothing slow, and one that was disturbed hides nothing. `slower` is what is
    compared with it: beside the attack, unless told.
    """
    found = {}
    for kind, attacked in (observed.attacked_p99 if slower is None else slower).items():
        base = observed.quiet_p99.get(kind, 0)
        if kind in usual_p99:
            base = min(max(base, usual_p99[kind]), 2 * usual_p99[kind])
        if base:
            found[kind] = attacked / base
    return found


def usual(quiet_runs):
    """The median of each kind over all quiet runs so far."""
    return {kind: statistics.median(run[kind] for run in quiet_runs if kind in run)
            for kind in KINDS if any(kind in run for run in quiet_runs)}


def told(quiet, attacked, longer=1.0, looks=0, explained=()):
    """The counters by which an operator sees the attack → by how much it moved them.

    `quiet` and `attacked` are the metrics before and after each run, of which the second took `longer` times as long. `looks`
    is how many connections this program itself made over HTTP meanwhile; counters whose name begins with what is `explained`
    were moved by something that is no attack.
    """
    found = {}
    (quiet_before, quiet_after), (before, after) = quiet, attacked
    for series, value in after.items():
        name = series.split("{")[0]
        grown = value - before.get(series, 0)
        if name == "cuecast_alarm":
            if grown > 0:
                found[series] = 1
        elif name.endswith("_total") and not series.startswith(tuple(explained)):
            alone = max(quiet_after.get(series, 0) - quiet_before.get(series, 0), 0) * longer
            if series == 'cuecast_connections_ended_total{socket="http"}':
                alone += looks
            if grown > 2 * alone + TOLD_MIN:
                found[series] = grown - alone
    return found


def returned(after, before, growth_kib=0):
    """Whether memory and descriptors are back, as a pair.

    `growth_kib` is what a run without an attack leaves behind.
    """
    return (after.resident_kib <= (before.resident_kib + max(growth_kib, 0)) * (1 + RETURN_SHARE),
            after.descriptors <= before.descriptors * (1 + RETURN_SHARE))


def mebibytes(kib):
    return f"{kib / 1024:.0f} MiB"


def judge(observed, short=False, growth_kib=0, usual_p99=None):
    """The verdicts, in the order of the table. The short form leaves out whatever depends on speed."""
    found = []

    def say(name, holds, sentence):
        found.append(Verdict(name, bool(holds), sentence))

    attacked = observed.attack != "nothing"
    if attacked:
        say("ran", "fault" not in observed.did and observed.did, observed.did.get("fault") or "the attack did what it says"
            if observed.did else "the attack said nothing")
    say("alive", observed.alive, "the process lives" if observed.alive else f"the process ended with {observed.exit_code}")
    say("lossless", not observed.lost, "; ".join(observed.lost) or "the honest listeners lost nothing")
    if not observed.alive:
        return found
    say("newcomers", not observed.newcomers_lost, "; ".join(observed.newcomers_lost) or "new listeners are served afterwards")
    say("books", not observed.books, observed.books or "verify finds the books right, and they balance")
    forged = [name for name in FORGED if name in observed.did]
    if forged:
        say("forged", not any(observed.did[name] for name in forged), "; ".join(
            f"{observed.did[name] or 'no'} {FORGED[name]}" for name in forged))
    say("operators", not observed.operators_unanswered,
        f"{observed.operators_unanswered} looks at the metrics were not answered" if observed.operators_unanswered
        else "the metrics were answered all the time")
    memory, descriptors = returned(observed.after, observed.before, growth_kib)
    say("descriptors", descriptors, f"{observed.before.descriptors} before, {observed.peak.descriptors} at most, "
        f"{observed.after.descriptors} after")
    if attacked:
        say("told", observed.told, ", ".join(observed.told) or "no counter told of it")
    if short:
        return found
    say("bounded", not observed.memory_stopped, f"{mebibytes(observed.peak.resident_kib)} at most"
        + (": the attack was stopped" if observed.memory_stopped else ""))
    say("memory", memory, f"{mebibytes(observed.before.resident_kib)} before, {mebibytes(observed.after.resident_kib)} after")
    if attacked:
        found_ratios = ratios(observed, usual_p99 or {})
        say("p99", all(kind in found_ratios for kind in KINDS) and max(found_ratios.values()) <= P99_RATIO_MAX,
            told_ratios(found_ratios) + elsewhere_sentence(observed, usual_p99))
    return found


def told_ratios(found):
    return ", ".join(f"{kind} {value:.1f}×" for kind, value in found.items()) or "nothing was measured"


def elsewhere_sentence(observed, usual_p99):
    """How much of the waiting is the machine's, which attacker, listeners and gateway share; empty where it is not known."""
    if not observed.elsewhere_p99:
        return ""
    found = ratios(observed, usual_p99 or {}, observed.elsewhere_p99)
    return f"; while another gateway of this machine was attacked so: {told_ratios(found)}"


def perhaps_noise(verdicts, found_ratios):
    """Whether nothing but the p99 fails, and by so little that it may go away when it is measured again."""
    return [each.name for each in verdicts if not each.holds] == ["p99"] and bool(found_ratios) \
        and max(found_ratios.values()) <= 2 * P99_RATIO_MAX


HEADINGS = ("attack", "alive", "lost", "p99 notices", "p99 batches", "p99 confirmations", "memory before, at most, after",
            "descriptors before, at most, after", "detected by", "fails")


def most_told(series, count=2):
    """The names of the counters that grew most, without what all names begin with."""
    order = sorted(series, key=lambda name: -series[name])
    short_names = [each.removeprefix("cuecast_").replace('"', "") for each in order[:count]]
    return ", ".join(short_names) + (f" and {len(order) - count} more" if len(order) > count else "")


def row(observed, verdicts, usual_p99=None):
    """What the tables show of one attack."""
    found = ratios(observed, usual_p99 or {})
    levels = [level for level in (observed.before, observed.peak, observed.after) if level]
    return (
        observed.attack, "yes" if observed.alive else "no", "nothing" if not observed.lost else "yes",
        *(f"{found[kind]:.1f}×" if kind in found else "–" for kind in KINDS),
        ", ".join(f"{level.resident_kib / 1024:.0f}" for level in levels) + " MiB" if levels else "–",
        ", ".join(str(level.descriptors) for level in levels) or "–",
        most_told(observed.told) or "no counter",
        ", ".join(each.name for each in verdicts if not each.holds) or "–",
    )


def table(rows):
    """For a terminal."""
    widths = [max(len(str(each[index])) for each in [HEADINGS, *rows]) for index in range(len(HEADINGS))]
    return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(each, widths)).rstrip()
                     for each in [HEADINGS, *rows])


#: The heading above the table of the sockets of before (docs/internals/decisions/0084-attacks-that-delay-listeners.md).
BEFORE = "## libzmq's sockets"


def failed_before(document):
    """Attack → what failed with the sockets of before, from their table in the document."""
    found = {}
    for line in document.partition(BEFORE)[2].splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(HEADINGS) and cells[0] not in (HEADINGS[0], "---"):
            found[cells[0]] = cells[-1]
    return found


def markdown(rows, quiet, facts, before):
    """For docs/internals/reliability.md: a sentence about the run, and the table, with what failed with the sockets of before in it.

    `quiet` is the sentence about the quiet runs, `facts` says when and on which machine.
    """
    lines = [f"{facts}. {quiet}".strip(), "",
             "| " + " | ".join((*HEADINGS, "failed with libzmq's sockets")) + " |", "|" + " --- |" * (len(HEADINGS) + 1)]
    return "\n".join(lines + ["| " + " | ".join((*map(str, each), before.get(each[0], "not run"))) + " |" for each in rows])


def quiet_sentence(quiet_runs):
    """How slow the slowest hundredth was in all quiet runs; empty where there are too few."""
    parts = []
    for kind, name in zip(KINDS, ("notices", "batches", "confirmations")):
        values = sorted(run[kind] for run in quiet_runs if kind in run)
        if len(values) > 1:
            parts.append(f"of {name} {values[0] / 1000:.1f} to {values[-1] / 1000:.1f} ms, median "
                         f"{usual(quiet_runs)[kind] / 1000:.1f} ms")
    return f"p99 {', '.join(parts)}, in {len(quiet_runs)} quiet runs." if parts else ""

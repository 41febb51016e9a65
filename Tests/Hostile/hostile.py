#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Attacks a gateway as strangers would, while 200 honest listeners of two broadcasters work, and says who notices what.

Each attack gets a gateway of its own: a run to warm it up, a quiet run, the same run beside the attack; then memory and
descriptors must come back, new listeners be served, and the books be right. Where the p99 was too high, the same run again
while another gateway of the machine is attacked: so much of the waiting is not the gateway's. `cuecast-load` is the honest side.
Listeners and attackers stand for other machines, whose processors are free: listeners have a processor as soon as they want one
(where the system permits it, which it does for root), and the attacker has one of them, at nice 19. It is ended when the gateway takes more
than 3 GiB. In the short form attacks share gateways, and only attackers are at nice 19.

  make hostile                                              all attacks, about forty minutes
  Tests/Hostile/hostile.py --list                           what they do
  Tests/Hostile/hostile.py --only garbage half-open         some of them
  Tests/Hostile/hostile.py --only churn --binary /tmp/other/cuecast   of another build

The table goes to standard output, progress to standard error. Exit codes: 0 every verdict holds; 1 one does not; 64 usage;
69 it could not be run. CUECAST_SEED=… repeats a run's choices.
"""
import argparse, contextlib, functools, http.client, json, os, random, signal, subprocess, sys, tempfile, threading, time, urllib.error, urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "Benchmarks")]

import measuring, verdicts
from run_attack import ATTACKS
from access_modes import ACCESS_MODES
from verdicts import KINDS, Level, Observed

ATTACKS_DOCUMENT = os.path.join(ROOT, "docs/internals/attacks.md")
#: Has the table of the sockets of before.
BEFORE_DOCUMENT = os.path.join(ROOT, "docs/internals/decisions/0084-attacks-that-delay-listeners.md")
MEMORY_STOP_KIB = 3 << 20
SETTLE_SECONDS_MAX = 75
#: A session's lease is this, so that what sessions take is given back within the time above.
SETTINGS = ("--set", "listeners.lease=30s", "--set", "logLevel=error")
#: What is found where a machine is too slow for the pace of the honest side.
LATE = {"batchesMissing", "breaksNotPublished", "not_compared"}
#: Attempts where nothing but the p99 fails, and not by much.
TRIES = 3
#: A question over HTTP was not answered, or not in full.
UNANSWERED = (OSError, http.client.HTTPException)
#: Gateways until a quiet run is quiet.
QUIET_TRIES = 5
#: Starts a program that has a processor as soon as it wants one.
GOES_FIRST = ["chrt", "--fifo", "1"]


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


@functools.cache
def may_go_first():
    """Whether the system lets a program have a processor before all others."""
    return subprocess.run([*GOES_FIRST, "true"], capture_output=True).returncode == 0


class Form:
    """How large everything is, and who has the processors."""

    def __init__(self, short):
        self.short = short
        self.listeners = 40 if short else 200
        self.breaks = 1 if short else 24
        self.every_ms, self.lead_ms = (500, 1_000) if short else (500, 1_500)
        self.patience = 1_800 if short else 30
        #: How much slower the honest side goes: for machines that cannot keep its pace.
        self.factor = 1
        #: What starts who stands for other machines. No SCHED_IDLE: Linux takes a processor that has only such threads for an idle one.
        #: In the short form nothing is timed, and everybody has to get on on a busy machine.
        self.as_listener = [] if short or not may_go_first() else GOES_FIRST
        self.as_attacker = ["nice", "-n", "19"] if short else ["taskset", "-c", str(max(os.sched_getaffinity(0))), "nice", "-n", "19"]


class Watch:
    """Looks at the gateway's process 20 times a second and at its metrics every second, and guards the machine's memory."""

    def __init__(self, process, addresses, patience):
        self.process, self.addresses, self.patience = process, addresses, patience
        self.peak = Level(0, 0)
        self.alarms = {}
        self.unanswered, self.slowest = 0, 0.0
        self.too_much = threading.Event()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._levels, self._operators)]

    def _levels(self):
        while not self._stop.wait(0.05):
            found = level(self.process)
            if found is None:
                return
            self.peak = Level(max(self.peak.resident_kib, found.resident_kib), max(self.peak.descriptors, found.descriptors))
            if found.resident_kib > MEMORY_STOP_KIB:
                self.too_much.set()

    def _operators(self):
        while not self._stop.wait(1):
            began = time.monotonic()
            try:
                found = metrics(self.addresses, self.patience)
                for name, value in found.items():
                    if name.startswith("cuecast_alarm"):
                        self.alarms[name] = max(value, self.alarms.get(name, 0))
            except UNANSWERED:
                if self.process.poll() is not None:
                    return
                self.unanswered += 1
            self.slowest = max(self.slowest, time.monotonic() - began)

    def __enter__(self):
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for each in self._threads:
            each.join()


def level(process):
    """Memory and descriptors of a process; `None` when it has ended."""
    try:
        resident = measuring.process_facts(process.pid)[1]
        return Level(resident, measuring.descriptors(process.pid)) if process.poll() is None else None
    except (OSError, StopIteration):
        return None


#: How often the metrics were asked for: each time is a connection that the gateway counts.
looks = 0


def metrics(addresses, patience):
    global looks
    looks += 1
    with urllib.request.urlopen(f"http://{addresses['http']}/metrics", timeout=patience) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line and line[0] != "#"}


def sum_of(found, name):
    return sum(value for series, value in found.items() if series.split("{")[0] == name)


@functools.cache
def two_connections(load):
    """What has listeners of the load tool use two connections; nothing where an older tool knows no other way."""
    told = subprocess.run([load, "run", "--help"], capture_output=True, text=True).stdout
    return ["--no-push"] if "--no-push" in told else []


class Honest:
    """Two broadcasters, each with half of the listeners, as two processes of the load tool: one has listeners with one
    connection, the other has listeners with two.
    """

    def __init__(self, load, addresses, folder, form, phase, access, breaks=None, listeners=None):
        self.streams = [f"{access.stream_prefix}{phase}-a", f"{phase}-b"]
        ways = [(access.of_one(addresses), access.words_of_one), (addresses, two_connections(load))]
        self.reports, self.processes = [], []
        listeners, breaks, factor = listeners or form.listeners, breaks or form.breaks, form.factor
        for stream, (where, words) in zip(self.streams, ways):
            report = open(os.path.join(folder, f"{stream}.json"), "w+")
            self.reports.append(report)
            self.processes.append(subprocess.Popen(
                [*form.as_listener, load, "run", "--stream", stream, "--listeners", str(listeners // 2), "--breaks", str(breaks),
                 "--every", f"{form.every_ms * factor}ms", "--duration", f"{form.every_ms * factor}ms",
                 "--lead", f"{form.lead_ms * factor}ms", "--ads", "3", "--json",
                 "--patience", "30m" if form.short else "20s", *words, *access.words,
                 *(word for name in ("notices", "requests", "broadcast", "http") if where.get(name)
                   for word in (f"--{name}", where[name]))],
                stdout=report, stderr=subprocess.DEVNULL))

    def running(self):
        return any(each.poll() is None for each in self.processes)

    def kill(self):
        for each in self.processes:
            each.kill()
            each.wait()

    def found(self):
        """What both say once they have ended: what was lost, as (kind, sentence), and p50 and p99 of the slower half."""
        lost, p50, p99 = [], {}, {}
        for process, file in zip(self.processes, self.reports):
            process.wait()
            file.seek(0)
            text = file.read()
            file.close()
            try:
                report = json.loads(text)
            except ValueError:
                lost.append(("unreported", f"cuecast-load ended with {process.returncode} and no report"))
                continue
            lost += [(each["kind"], f"{each['count']} × {each['sentence']} ({'; '.join(each['examples'][:1])})") for each in report["findings"]]
            if not report["complete"]:
                lost.append(("incomplete", "cuecast-load did not do everything"))
            elif report["books"]["state"] != "equal" and not report["findings"]:
                lost.append((report["books"]["state"], report["books"]["sentence"]))
            for kind in KINDS:
                latency = report["latency"].get(kind, {}).get("intended_us")
                if latency:
                    p50[kind] = max(p50.get(kind, 0), latency["p50"])
                    p99[kind] = max(p99.get(kind, 0), latency["p99"])
        return lost, p50, p99


class Attacker:
    """The process that attacks."""

    def __init__(self, attack, addresses, streams, options, form, told):
        context = {"addresses": addresses, "streams": streams, "short": form.short, "seed": options.seed,
                   "patience": form.patience, **told}
        self.process = subprocess.Popen(
            [*form.as_attacker, sys.executable, os.path.join(HERE, "run_attack.py"), attack.name, json.dumps(context)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.did = {}
        #: It has done its amount.
        self.done = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.did = json.loads(line)
            self.done.set()
        self.done.set()

    def finish(self):
        """Has it stop, and gives what it says that it did."""
        self.process.stdin.close()
        self._reader.join()
        self.process.wait()
        return self.did

    def kill(self):
        self.process.kill()
        self._reader.join()
        self.process.wait()
        self.process.stdout.close()


def wait_for(condition, seconds):
    """Whether the condition came true in time; a gateway that does not answer makes it false."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(*UNANSWERED):
            if condition():
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)


def books(addresses, patience):
    """Why the reports do not balance once the ledger has read the log; empty when they do."""
    def settled():
        with urllib.request.urlopen(f"http://{addresses['http']}/v1/reports?limit=500", timeout=patience) as answer:
            found.append(json.load(answer))
        return all(lane["offset"] == lane.get("head") for lane in found[-1]["lanes"].values())
    found = []
    if not wait_for(settled, max(patience, SETTLE_SECONDS_MAX)):
        return "the ledger did not read the whole log"
    return "" if found[-1]["balanced"] else "the reports do not balance"


def stopped_and_verified(process, binary, folder, patience):
    """Stops the gateway and counts its log anew; what was wrong, empty when nothing was."""
    process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(max(patience, 60))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return "it did not stop"
    if code:
        return f"it stopped with the exit code {code}"
    done = subprocess.run([binary, "verify", "--json", "--data-dir", folder + "/data"], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
        return "" if done.returncode == 0 and found["right"] else f"verify: {done.stdout.strip()[:300]}"
    except (ValueError, KeyError):
        return f"verify ended with {done.returncode}: {done.stderr.strip()[:300]}"


#: Listeners alone reach it, sooner or later.
ALWAYS_EXPLAINED = ('cuecast_limits_hit_total{limit="rememberedOutcomesMax"}',)


class Disturbed(measuring.MeasurementError):
    """Without an attack something was lost: the machine is too busy to tell anything."""


class Bench:
    """One gateway under attack, with what its quiet run showed."""

    def __init__(self, process, addresses, folder, options, form, access, honest_addresses):
        self.process, self.addresses, self.folder, self.options, self.form = process, addresses, folder, options, form
        self.access, self.honest_addresses = access, honest_addresses
        self.quiet_p50, self.quiet_p99 = {}, {}
        self.quiet_before = self.quiet_after = {}
        self.runs = 0
        self.descriptors = 0

    def look(self):
        return metrics(self.addresses, self.form.patience)

    def honest(self, phase, **options):
        self.runs += 1
        return Honest(self.options.load, self.honest_addresses, self.folder, self.form, f"{phase}-{self.runs}", self.access,
                      **options)

    def prepare(self):
        """Warms the gateway up and measures it without an attack; the short form has one run for both."""
        for phase in ("quiet",) if self.form.short else ("warm", "quiet"):
            say(f"{phase} run")
            self.quiet_before = self.look()
            honest = self.honest(phase)
            try:
                lost, self.quiet_p50, self.quiet_p99 = honest.found()
            finally:
                honest.kill()
            if lost and not self.form.short:
                raise Disturbed(f"the {phase} run lost something: {'; '.join(each[1] for each in lost)}")
        self.come_to_rest()
        self.quiet_after = self.look()

    def come_to_rest(self):
        """Waits until connections of the last run have ended, and memory was given back."""
        last = []

        def rested():
            last.append(level(self.process))
            self.look()
            return len(last) > 10 and last[-1] == last[-10]
        wait_for(rested, 20)
        # A connection of an operator and a reader of the books come and go.
        self.descriptors = max((each.descriptors for each in last[-10:] if each), default=0)

    def attack(self, attack, growth_kib=0, explained=ALWAYS_EXPLAINED):
        """The observations while an attack runs, and until memory and descriptors are back.

        `growth_kib` and the counters `explained` are what the same run leaves behind and moves without an attack.
        """
        observed = Observed(attack.name, quiet_p50=self.quiet_p50, quiet_p99=self.quiet_p99)
        before, looks_before = self.look(), looks
        observed.before = level(self.process)
        observed.before.descriptors = max(observed.before.descriptors, self.descriptors)
        cpu_before, began = measuring.process_facts(self.process.pid)[0], time.monotonic()
        breaks = self.breaks_beside(attack)
        say(f"{attack.name}: attacks")
        with Watch(self.process, self.addresses, self.form.patience) as watch:
            def telling():
                return verdicts.told((self.quiet_before, self.quiet_after), (before, {**self.look(), **watch.alarms}),
                                     breaks / self.form.breaks, looks - looks_before, [*attack.explains, *explained])
            self.attacked(attack, observed, watch, before, breaks, telling)
        observed.peak = watch.peak
        observed.operators_unanswered, observed.operators_slowest = watch.unanswered, watch.slowest
        if not self.lives(observed):
            return observed
        observed.cpu_share = (measuring.process_facts(self.process.pid)[0] - cpu_before) / (time.monotonic() - began)
        with contextlib.suppress(*UNANSWERED):
            observed.told = telling()
        say(f"{attack.name}: settles")
        self.settle(observed, before, growth_kib)
        return observed

    def breaks_beside(self, attack):
        """How many breaks the honest side has, so that it works for as long as the attack lasts."""
        return self.form.breaks if self.form.short else max(
            self.form.breaks, round(attack.seconds * 1_000 / self.form.every_ms))

    def wait_until_joined(self, honest, before):
        """The listeners are there before the attack begins; `before` are the metrics of before they came."""
        joined = sum_of(before, "cuecast_joins_total") + self.form.listeners
        wait_for(lambda: not honest.running() or sum_of(self.look(), "cuecast_joins_total") >= joined, self.form.patience)

    def lives(self, observed):
        if self.process.poll() is not None:
            observed.alive, observed.exit_code = False, self.process.returncode
        return observed.alive

    def attacked(self, attack, observed, watch, before, breaks, telling):
        form = self.form
        honest, attacker = self.honest(attack.name, breaks=breaks), None
        try:
            self.wait_until_joined(honest, before)
            attacker = Attacker(attack, self.addresses, honest.streams, self.options, form, self.access.told)
            while self.lives(observed):
                if watch.too_much.is_set():
                    observed.memory_stopped = True
                    attacker.process.kill()
                if not honest.running() and (not form.short or attacker.done.is_set()):
                    break
                time.sleep(0.1)
            if form.short and observed.alive and attack.name != "nothing":
                # What is noticed late, such as the end of a handshake that never came, is waited for.
                wait_for(telling, self.options.patience)
            observed.did = attacker.finish()
            if not observed.alive:
                honest.kill()
            lost, observed.attacked_p50, observed.attacked_p99 = honest.found()
            observed.lost = [sentence for _, sentence in lost]
            observed.only_late = bool(lost) and {kind for kind, _ in lost} <= LATE
            if observed.memory_stopped:
                observed.did = {"stopped": f"the gateway had {MEMORY_STOP_KIB >> 10} MiB"}
        finally:
            honest.kill()
            if attacker:
                attacker.kill()

    def elsewhere(self, attack):
        """The 99th percentiles of the same run while another gateway of this machine is attacked: what attacker and honest
        listeners take from each other, whatever the gateway does."""
        say(f"{attack.name}: attacks another gateway")
        before = self.look()
        with one_gateway(attack, self.options) as (_, addresses, _, access):
            honest, attacker = self.honest("elsewhere", breaks=self.breaks_beside(attack)), None
            try:
                self.wait_until_joined(honest, before)
                attacker = Attacker(attack, addresses, honest.streams, self.options, self.form, access.told)
                return honest.found()[2]
            finally:
                honest.kill()
                if attacker:
                    attacker.kill()

    def settle(self, observed, before, growth_kib):
        began, short = time.monotonic(), self.form.short
        listeners_max = before.get("cuecast_listeners", 0) + self.form.listeners

        def settled():
            observed.after = level(self.process) or observed.after
            memory, descriptors = verdicts.returned(observed.after, observed.before, growth_kib)
            # The short form does not wait for leases to end: it has joins only by the thousand.
            return descriptors and (short or (memory and self.look().get("cuecast_listeners", 0) <= listeners_max))
        wait_for(settled, self.options.patience if short else SETTLE_SECONDS_MAX)
        observed.settled_seconds = time.monotonic() - began

    def close(self, observed):
        """Serves new listeners, and counts the books of the stopped gateway."""
        say(f"{observed.attack}: newcomers, books")
        for factor in (1, 4, 16, 64):
            self.form.factor = factor
            honest = self.honest("newcomers", breaks=2, listeners=20)
            try:
                lost = honest.found()[0]
            finally:
                honest.kill()
            observed.newcomers_lost = [sentence for _, sentence in lost]
            # Where the machine is only too slow for the pace, a slower one shows it.
            if not lost or not {kind for kind, _ in lost} <= LATE:
                break
        self.form.factor = 1
        if self.lives(observed):
            observed.books = books(self.addresses, self.form.patience)
            observed.books = stopped_and_verified(
                self.process, self.options.binary, self.folder, self.form.patience) or observed.books


@contextlib.contextmanager
def one_gateway(attack, options):
    """A gateway as an attack wants it, in a folder that is removed: its process, its addresses, the folder, and its access mode."""
    os.makedirs(os.path.join(ROOT, ".build"), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hostile-data.", dir=os.path.join(ROOT, ".build")) as folder:
        access = ACCESS_MODES[attack.access](folder, options.binary)
        with measuring.gateway(options.binary, *SETTINGS, *access.settings, prefix=attack.prefix, data=folder + "/data") as (
                process, addresses):
            yield process, addresses, folder, access


@contextlib.contextmanager
def bench(attack, options, form):
    """A gateway of its own; another one where the quiet run was disturbed."""
    for tried in range(QUIET_TRIES):
        with contextlib.ExitStack() as stack:
            process, addresses, folder, access = stack.enter_context(one_gateway(attack, options))
            found = Bench(process, addresses, folder, options, form, access, stack.enter_context(access.honest(addresses)))
            try:
                found.prepare()
            except Disturbed as disturbed:
                say(str(disturbed))
                if tried == QUIET_TRIES - 1:
                    raise
                continue
            yield found
            return


class Results:
    """What was found, as a table, as sentences and as a file."""

    def __init__(self, options, form):
        self.options, self.form = options, form
        self.quiet_p99, self.growth_kib, self.explained = [], 0, ALWAYS_EXPLAINED
        self.rows, self.attacks = [], []

    def judge(self, observed):
        self.usual = verdicts.usual(self.quiet_p99)
        return verdicts.judge(observed, self.form.short, self.growth_kib, self.usual)

    def is_quick(self, observed):
        """Whether no listener waited longer than the verdict allows."""
        return all(each.holds for each in self.judge(observed) if each.name == "p99")

    def add(self, observed, tries=1):
        found = self.judge(observed)
        self.rows.append(verdicts.row(observed, found, self.usual))
        levels = {name: vars(value) for name in ("before", "peak", "after") if (value := getattr(observed, name))}
        self.attacks.append({
            **vars(observed), **levels, "ratios": verdicts.ratios(observed, self.usual), "tries": tries,
            "verdicts": {each.name: {"holds": each.holds, "sentence": each.sentence} for each in found}})
        for each in found:
            if not each.holds:
                say(f"{observed.attack}: FAILS {each.name}: {each.sentence}")
        say(f"{observed.attack}: {'passed' if all(each.holds for each in found) else 'FAILED'}; it did {observed.did}")
        if self.options.json:
            with open(self.options.json, "w") as file:
                json.dump({"seed": self.options.seed, "short": self.form.short, "growth_kib": self.growth_kib,
                           "quiet_p99": self.quiet_p99, "machine": measuring.machine_facts(), "attacks": self.attacks},
                          file, indent=1)

        if self.options.markdown:
            with open(BEFORE_DOCUMENT) as file:
                before = verdicts.failed_before(file.read())
            facts = f"{time.strftime('%Y-%m-%d')}, {measuring.machine()}"
            with open(self.options.markdown, "w") as file:
                file.write(verdicts.markdown(self.rows, verdicts.quiet_sentence(self.quiet_p99), facts, before) + "\n")

    def tell(self):
        """Prints the table; gives the exit code."""
        print(verdicts.table(self.rows))
        if not self.form.short:
            print(verdicts.quiet_sentence(self.quiet_p99))
        failed = []
        for each in self.attacks:
            sentences = [f"{name}: {verdict['sentence']}" for name, verdict in each["verdicts"].items() if not verdict["holds"]]
            if sentences:
                failed.append(each["attack"])
                print(f"{each['attack']} failed: {'; '.join(sentences)}")
        print(f"{len(self.attacks) - len(failed)} passed, {len(failed)} failed"
              + (f": {', '.join(failed)}" if failed else ""))
        return 1 if failed else 0


def run_full(attack, results, options, form):
    """On a gateway of its own; once more on another one where nothing but the p99 is too high."""
    for tried in range(TRIES):
        with bench(attack, options, form) as found:
            results.quiet_p99.append(found.quiet_p99)
            observed = found.attack(attack, results.growth_kib, results.explained)
            if observed.alive and not results.is_quick(observed):
                observed.elsewhere_p99 = found.elsewhere(attack)
            if observed.alive:
                found.close(observed)
        if attack.name == "nothing":
            results.quiet_p99.append(observed.attacked_p99)
            results.explained = (*ALWAYS_EXPLAINED, *observed.told)
            results.growth_kib = max(0, observed.after.resident_kib - observed.before.resident_kib) if observed.after else 0
        judged = results.judge(observed)
        if not verdicts.perhaps_noise(judged, verdicts.ratios(observed, results.usual)):
            break
        say(f"{attack.name}: the p99 was too high")
    results.add(observed, tried + 1)


def run_short(attacks, results, options, form):
    """On one gateway after the other attack, as long as it lives; the last one has the newcomers and the books."""
    waiting = list(attacks)
    while waiting:
        with bench(waiting[0], options, form) as found:
            while True:
                attack = waiting.pop(0)
                observed = found.attack(attack)
                while observed.only_late and observed.alive and form.factor < 64:
                    # A machine that is too slow for the pace, and no fault of the gateway.
                    form.factor *= 4
                    observed = found.attack(attack)
                form.factor = 1
                last = not observed.alive or not waiting or (waiting[0].prefix, waiting[0].access) != (attack.prefix, attack.access)
                if last and observed.alive:
                    found.close(observed)
                results.add(observed)
                if last:
                    break


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """With the code of the project's own commands."""
        print(f"hostile: {message}", file=sys.stderr)
        sys.exit(64)


def parsed_options():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these attacks, by name")
    parser.add_argument("--short", action="store_true",
                        help="smaller amounts, a few seconds each, and no verdict that depends on speed")
    parser.add_argument("--json", metavar="FILE", help="write everything that was observed there")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, as docs/internals/reliability.md has it")
    parser.add_argument("--list", action="store_true", help="say what the attacks do, and end")
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/cuecast"), help="the gateway (%(default)s)")
    parser.add_argument("--load", metavar="PATH", help="cuecast-load; without it the one beside the gateway")
    parser.add_argument("--patience", type=float, default=float(os.environ.get("CUECAST_TEST_PATIENCE", "300")), metavar="SECONDS",
                        help="how long the short form waits for a counter that tells of an attack, and for descriptors to come "
                        "back (%(default)s)")
    options = parser.parse_args()
    options.load = options.load or os.path.join(os.path.dirname(options.binary), "cuecast-load")
    names = [each.name for each in ATTACKS]
    for name in options.only or []:
        if name not in names:
            parser.error(f"there is no attack {name}; there are: {', '.join(names)}")
    if not options.list:
        for path in (options.binary, options.load):
            if not os.access(path, os.X_OK):
                parser.error(f"{path} is no program: build it, or say where it is with --binary and --load")
    options.seed = int(os.environ.get("CUECAST_SEED", random.randrange(1 << 32)))
    return options


def run(options):
    form = Form(options.short)
    chosen = [each for each in ATTACKS if not options.only or each.name in options.only]
    # Doing nothing goes first: it says what honest listeners leave behind, and how much quiet runs differ.
    if not form.short and chosen[0] is not ATTACKS[0]:
        chosen.insert(0, ATTACKS[0])
    print(f"CUECAST_SEED={options.seed}, {form.listeners} listeners, {len(chosen)} attacks; {measuring.machine()}", flush=True)
    if not form.short and not form.as_listener:
        print("listeners wait for a processor like everybody else, which the p99 shows: run it as root to measure the gateway alone", flush=True)
    results = Results(options, form)
    if form.short:
        run_short(chosen, results, options, form)
    else:
        for attack in chosen:
            run_full(attack, results, options, form)
    return results.tell()


def main():
    options = parsed_options()
    if options.list:
        for each in ATTACKS:
            print(f"{each.name} ({each.entrance})\n    {each.does}")
        return 0
    # Gateways, listeners and attackers end with this program.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return run(options)
    except (measuring.MeasurementError, *UNANSWERED, subprocess.SubprocessError) as error:
        print(f"hostile: {error}", file=sys.stderr)
        return 69


if __name__ == "__main__":
    sys.exit(main())

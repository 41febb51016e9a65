#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Backups and restores under publish and acknowledge load: what was confirmed before a backup began is there after the
restore, counted once; ids stay reserved, numbers are not used again, and players that are ahead are told.

    scripts/backups.sh                20 rounds
    scripts/backups.sh --rounds 3     as `make test` does
    CUECAST_SEED=42 scripts/backups.sh

Each round makes a backup while the load runs, ends the gateway some time later, in order or by kill -9, restores the backup over
its data directory, and starts it again. The oracle is the clients' own memory and SQL on the ledger's file: it knows nothing of
the gateway's totals.
"""
import argparse, json, os, random, re, shutil, signal, sqlite3, subprocess, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (BINARY, Broadcaster, Gateway, Listener, PATIENCE, ad, listener_pb2, status_pb2, until)
import zmq

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--rounds", type=int, default=20)
arguments.add_argument("--listeners", type=int, default=6)
options = arguments.parse_args()
seed = int(os.environ.get("CUECAST_SEED", random.randrange(1 << 32)))
print(f"CUECAST_SEED={seed}, {options.rounds} rounds", flush=True)
randomness = random.Random(seed)

OK = status_pb2.STATUS_CODE_OK
AGAIN = {status_pb2.STATUS_CODE_UNAVAILABLE, status_pb2.STATUS_CODE_DRAINING}
NAMES, KINDS = ["x", "y", "z"], {"played": 1, "failed": 3}

gateway = Gateway()
data = gateway.folder + "/data"
stopping, lock = threading.Event(), threading.Lock()
#: Raised whenever what was confirmed may be lost: an answer to a question from before says nothing about what is there now.
generation = 0
#: What is certain to be there, and what may be: breaks, and (break, session, ad) with its outcome.
breaks, outcomes, possible_breaks, possible_outcomes, done = set(), {}, set(), {}, set()
faults, retries, confirmed = [], 0, 0


def insist(make, ask):
    """Asks until there is an answer that stands, on a new connection after each failure, as clients do.

    Waits twice as long each time: a machine that is busy may take longer to answer than anybody waits at first.
    """
    global retries
    patience = 0.7
    while not stopping.is_set():
        peer = make(patience)
        try:
            reply = ask(peer)
            if reply.status not in AGAIN:
                return reply
        except zmq.Again:
            patience = min(2 * patience, PATIENCE)
        finally:
            peer.close()
        with lock:
            retries += 1
        time.sleep(0.05)
    raise InterruptedError


def publish(number):
    index = 0
    while not stopping.is_set():
        break_id = f"b-{number}-{index}"
        index += 1
        with lock:
            began = generation
            possible_breaks.add(break_id)
        reply = insist(lambda patience: Broadcaster(gateway, timeout=patience),
                       lambda peer: peer.publish("backup", break_id, [ad(name) for name in NAMES], pre_stream=True,
                                                 hold_ms=3_000))
        assert reply.status in (OK, status_pb2.STATUS_CODE_LIMIT_REACHED), reply
        with lock:
            if reply.status == OK and began == generation:
                breaks.add(break_id)
        time.sleep(randomness.uniform(0, 0.03))


def listen(number):
    global confirmed
    chosen = random.Random(seed + 1 + number)
    session = chosen.randbytes(16)
    while not stopping.is_set():
        with lock:
            open_breaks = [each for each in list(breaks)[-200:] if (each, session) not in done]
            began = generation
        if not open_breaks:
            time.sleep(0.01)
            continue
        break_id = chosen.choice(open_breaks)
        with lock:
            done.add((break_id, session))
        make = lambda patience: Listener(gateway, "backup", session=session, timeout=patience)
        batch = insist(make, lambda peer: peer.batch(break_id))
        if batch.status != OK:
            assert batch.status in (status_pb2.STATUS_CODE_TOO_LATE, status_pb2.STATUS_CODE_NOT_FOUND), batch
            continue
        chosen_outcomes = {each.id: chosen.choice(["played", "failed", listener_pb2.IGNORE_REASON_USER])
                           for each in batch.batch.advertisements}
        with lock:
            possible_outcomes.update(
                {(break_id, session, name): KINDS.get(what, 2) for name, what in chosen_outcomes.items()})
        reply = insist(make, lambda peer: peer.acknowledge(break_id, batch.batch.delivery, chosen_outcomes))
        with lock:
            if reply.status == OK and began == generation:
                assert reply.acknowledged.recorded == len(chosen_outcomes), reply
                confirmed += len(chosen_outcomes)
                outcomes.update(
                    {(break_id, session, name): KINDS.get(what, 2) for name, what in chosen_outcomes.items()})


def guarded(body, number):
    try:
        body(number)
    except InterruptedError:
        pass
    except BaseException as fault:  # noqa: BLE001 - told at the end
        faults.append(fault)


def command(*words):
    finished = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=4 * PATIENCE)
    assert finished.returncode == 0, f"{words}: exit {finished.returncode}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


def counted():
    """Whether the ledger has read what the log had when it was asked."""
    return all(lane["offset"] == lane.get("head") for lane in gateway.get("/v1/reports?limit=1")["lanes"].values())


def load_goes_on():
    with lock:
        before = confirmed
    until("the load goes on", lambda: faults or confirmed > before + 20)
    assert not faults, faults


def check_books(certain_breaks, certain_outcomes):
    """Compares the ledger's rows with what clients remember; the gateway does not run. Gives the highest number of a break."""
    database = sqlite3.connect(f"file:{data}/ledger.sqlite?mode=ro", uri=True)
    names = dict(database.execute("SELECT break_number, id FROM breaks"))
    assert len(set(names.values())) == len(names), "an id has two numbers"
    missing = certain_breaks - set(names.values())
    assert not missing, f"breaks from before the backup are lost: {list(missing)[:5]}"
    assert set(names.values()) <= possible_breaks, "breaks that were not published"
    rows = {}
    for number, session, ordinal, kind in database.execute(
            "SELECT break_number, session, ordinal, kind FROM outcomes"):
        key = (names[number], bytes(session), NAMES[ordinal])
        assert key not in rows, "a key is listed twice"
        rows[key] = kind
    lost = [key for key, kind in certain_outcomes.items() if rows.get(key) != kind]
    assert not lost, f"outcomes confirmed before the backup are lost or differ: {len(lost)}, for instance {lost[:3]}"
    for key, kind in rows.items():
        assert possible_outcomes.get(key) == kind, f"an outcome that was not reported: {key}"
    totals = {}
    for (number, ordinal, kind), count in {
            (number, ordinal, kind): count for number, ordinal, kind, count in database.execute(
                "SELECT break_number, ordinal, kind, count(*) FROM outcomes GROUP BY 1, 2, 3")}.items():
        totals.setdefault((number, ordinal), [0, 0, 0])[kind - 1] = count
    for number, ordinal, *counts in database.execute("SELECT break_number, ordinal, played, ignored, failed FROM totals"):
        assert totals.pop((number, ordinal), [0, 0, 0]) == counts, "totals and rows differ"
    assert not totals, "rows without totals"
    highest = max(names, default=0)
    database.close()
    return highest


threads = [threading.Thread(target=guarded, args=(publish, number)) for number in range(2)]
threads += [threading.Thread(target=guarded, args=(listen, number)) for number in range(options.listeners)]
for thread in threads:
    thread.start()
epochs, numbers = set(), 0
try:
    for number in range(options.rounds):
        load_goes_on()
        player = Listener(gateway, "backup")
        with lock:
            certain = set(breaks), dict(outcomes)
        folder = f"{gateway.folder}/backup-{number}"
        began = time.monotonic()
        command("backup", "--data-dir", data, "--to", folder)
        took = time.monotonic() - began
        manifest = json.load(open(folder + "/manifest.json"))
        load_goes_on()
        player.join()
        numbers = max(numbers, *(lane["head"] for lane in gateway.get("/v1/reports?limit=1")["lanes"].values()))
        time.sleep(randomness.uniform(0, 0.3))
        gateway.stop(randomness.choice([signal.SIGTERM, signal.SIGKILL]))
        with lock:
            generation += 1
            breaks, outcomes = set(), {}
        restored = command("restore", "--from", folder, "--data-dir", data, "--replace")
        epoch, base = re.search(r"epoch=(\w+) base=(\d+)", restored).groups()
        assert epoch not in epochs and epoch != manifest["epoch"], "an epoch was used twice"
        epochs.add(epoch)
        assert int(base) >= numbers + (1 << 32), "numbers that were given out could be given out again"
        numbers = int(base)
        shutil.rmtree(data + "/replaced")
        shutil.rmtree(folder)
        gateway.start()
        with lock:
            breaks |= certain[0]
            outcomes.update({key: kind for key, kind in certain[1].items()})
        # A player that heard of breaks after the backup is told everything anew.
        assert player.join().kind == listener_pb2.JOIN_KIND_SNAPSHOT, "a player was not told that history was lost"
        player.close()
        # Ids from before the backup stay taken: with other content it is another break.
        reserved = randomness.choice(sorted(certain[0]))
        reply = insist(lambda patience: Broadcaster(gateway, timeout=patience),
                       lambda peer: peer.publish("backup", reserved, [ad("other")]))
        assert reply.status != OK, f"the id {reserved} was given out again"
        print(f"round {number + 1}: backup in {took:.2f} s, {len(certain[1])} outcomes certain, epoch {epoch}", flush=True)
    load_goes_on()
finally:
    stopping.set()
    for thread in threads:
        thread.join(PATIENCE)
assert not faults, faults
until("the ledger has read the log", counted)
before = None
while True:
    page = gateway.get("/v1/reports?stream=backup&limit=500" + (f"&before={before}" if before else ""))
    assert page["balanced"], "the books do not balance"
    before = page.get("before")
    if before is None:
        break
assert gateway.stop() == 0
highest = check_books(breaks, outcomes)
assert highest // 1_024 > numbers, "the newest break has a number of an epoch before"
gateway.close()
print(f"{len(breaks)} breaks and {len(outcomes)} outcomes confirmed before the last of {options.rounds} backups or after its "
      f"restore, {retries} retries: none lost, none counted twice, no number used again")

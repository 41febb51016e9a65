#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""kill -9 of the gateway at random moments under publish and acknowledge load: nothing that was confirmed is lost, nothing
is counted twice.

    scripts/crash.sh                 20 moments
    scripts/crash.sh --moments 3     as `make test` does
    CUECAST_SEED=42 scripts/crash.sh

Broadcasters publish breaks; listeners fetch batches and acknowledge, each ad once, and ask again until they are confirmed, as
a client does. At the end the ledger's file is counted by SQL, independent of the gateway's totals.
"""
import argparse, os, random, signal, sqlite3, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (Broadcaster, Gateway, Listener, PATIENCE, ad, listener_pb2, notice_pb2, status_pb2, until)
import zmq

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--moments", type=int, default=20)
arguments.add_argument("--listeners", type=int, default=8)
options = arguments.parse_args()
seed = int(os.environ.get("CUECAST_SEED", random.randrange(1 << 32)))
print(f"CUECAST_SEED={seed}, {options.moments} moments", flush=True)
randomness = random.Random(seed)

gateway = Gateway()
stopping = threading.Event()
lock = threading.Lock()
#: What the gateway confirmed: breaks with their position, and (break, session, ad) with its outcome.
confirmed_breaks, confirmed_outcomes, unconfirmed = {}, {}, set()
faults, retries = [], 0
OK = status_pb2.STATUS_CODE_OK
AGAIN = {status_pb2.STATUS_CODE_UNAVAILABLE, status_pb2.STATUS_CODE_DRAINING}


def insist(make, ask):
    """Asks until there is an answer that stands, on a new connection after each failure, as clients do.

    Waits twice as long each time: a machine that is busy may take longer to answer than anybody waits at first.
    """
    global retries
    patience = 0.7
    while True:
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


def publish(number):
    index = 0
    while not stopping.is_set():
        break_id = f"b-{number}-{index}"
        index += 1
        reply = insist(lambda patience: Broadcaster(gateway, timeout=patience),
                       lambda peer: peer.publish("crash", break_id, [ad("x"), ad("y"), ad("z")], pre_stream=True,
                                                 hold_ms=2_000))
        assert reply.status == OK or reply.status == status_pb2.STATUS_CODE_LIMIT_REACHED, reply
        if reply.status == OK:
            position = getattr(reply, "break").position
            with lock:
                confirmed_breaks[break_id] = (position.epoch, position.sequence)
        time.sleep(randomness.uniform(0, 0.02))


def listen(number):
    chosen = random.Random(seed + 1 + number)
    session = chosen.randbytes(16)
    while not stopping.is_set():
        with lock:
            done = {key[0] for key in confirmed_outcomes if key[1] == session}
            open_breaks = [each for each in confirmed_breaks if each not in done]
        if not open_breaks:
            time.sleep(0.01)
            continue
        break_id = chosen.choice(open_breaks[-20:])
        make = lambda patience: Listener(gateway, "crash", session=session, timeout=patience)
        batch = insist(make, lambda peer: peer.batch(break_id))
        if batch.status != OK:
            assert batch.status == status_pb2.STATUS_CODE_TOO_LATE, batch
            with lock:
                confirmed_outcomes[(break_id, session, "")] = "too late"
            continue
        outcomes = {each.id: chosen.choice(["played", "failed", listener_pb2.IGNORE_REASON_USER])
                    for each in batch.batch.advertisements}
        with lock:
            unconfirmed.update((break_id, session, name) for name in outcomes)
        reply = insist(make, lambda peer: peer.acknowledge(break_id, batch.batch.delivery, outcomes))
        assert reply.status == OK and reply.acknowledged.recorded == len(outcomes), reply
        with lock:
            for name, outcome in outcomes.items():
                confirmed_outcomes[(break_id, session, name)] = outcome
                unconfirmed.discard((break_id, session, name))


def guarded(body, number):
    try:
        body(number)
    except BaseException as fault:  # noqa: BLE001 - told at the end
        faults.append(fault)


threads = [threading.Thread(target=guarded, args=(publish, number)) for number in range(2)]
threads += [threading.Thread(target=guarded, args=(listen, number)) for number in range(options.listeners)]
for thread in threads:
    thread.start()
try:
    for moment in range(options.moments):
        with lock:
            before = len(confirmed_outcomes)
        until("the load goes on", lambda: faults or len(confirmed_outcomes) > before + 20)
        time.sleep(randomness.uniform(0, 0.3))
        gateway.stop(signal.SIGKILL)
        began = time.monotonic()
        gateway.start()
        print(f"moment {moment + 1}: killed with {len(confirmed_outcomes)} outcomes confirmed, "
              f"back after {time.monotonic() - began:.2f} s", flush=True)
        if faults:
            break
    time.sleep(0.3)
finally:
    stopping.set()
    for thread in threads:
        thread.join(PATIENCE)
assert not faults, faults

# Every confirmed break is on the board, at the position that was confirmed, and no position was given twice.
listed = {}
until("the ledger has read the log", lambda: all(
    lane["offset"] == lane.get("head") for lane in gateway.get("/v1/reports?limit=1")["lanes"].values()))
before = None
while True:
    page = gateway.get("/v1/reports?stream=crash&limit=500" + (f"&before={before}" if before else ""))
    assert page["balanced"], "the books do not balance"
    for each in page["breaks"]:
        assert each["break"] not in listed, "a break is listed twice"
        listed[each["break"]] = each
    before = page.get("before")
    if before is None:
        break
missing = set(confirmed_breaks) - set(listed)
assert not missing, f"confirmed breaks are lost: {missing}"
positions = [position for position in confirmed_breaks.values() if position[1]]
assert len(set(positions)) == len(positions), "a position was given twice"
assert len({epoch for epoch, _ in positions}) == 1, "the epoch changed"
assert gateway.stop() == 0

# Every confirmed outcome is a row of the ledger, once, as it was confirmed; and nothing else is there.
database = sqlite3.connect(f"file:{gateway.folder}/data/ledger.sqlite?mode=ro", uri=True)
numbers = {each["number"]: name for name, each in listed.items()}
names = ["x", "y", "z"]
kinds = {"played": 1, "failed": 3}
LEDGER_ROWS = "SELECT break_number, session, ordinal, kind FROM outcomes"
rows = {}
for number, session, ordinal, kind in database.execute(LEDGER_ROWS):
    key = (numbers[number], bytes(session), names[ordinal])
    assert key not in rows, "a key is listed twice"
    rows[key] = kind
expected = {key: kinds.get(outcome, 2) for key, outcome in confirmed_outcomes.items() if key[2]}
lost = [key for key in expected if rows.get(key) != expected[key]]
assert not lost, f"confirmed outcomes are lost or differ: {lost[:5]}"
invented = set(rows) - set(expected) - unconfirmed
assert not invented, f"outcomes that were not reported: {list(invented)[:5]}"
# The totals of the reports agree with the rows.
for name, each in listed.items():
    for entry in each["ads"]:
        mine = [kind for (break_id, _, ad_id), kind in rows.items() if break_id == name and ad_id == entry["id"]]
        counts = entry["counts"]
        assert (counts["played"], counts["ignored"], counts["failed"]) == tuple(mine.count(kind) for kind in (1, 2, 3))
gateway.close()
print(f"{len(confirmed_breaks)} breaks and {len(expected)} outcomes confirmed under {options.moments} kills, "
      f"{retries} retries: none lost, none counted twice")

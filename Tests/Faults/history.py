# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The history of a fault run: one JSON object a line, with what a client asked, what it was told, and when.

Every line has `op`; times are seconds since the run began, on one clock.

    publish, update, punch, end, cancel
                  client, gateway, begin, end, asked {stream, break, …}, answer {status, changed, break}
    join          client, gateway, connection, begin, end, asked {stream, session, last, way}, answer {status, kind, head, notices}
    notice        client, gateway, connection, at, stream, session, notice: one that came on the connection of a join
    batch         client, gateway, begin, end, asked {stream, break, session}, answer {status, delivery, ads}
    acknowledge   client, gateway, begin, end, asked {stream, break, session, delivery, outcomes {ad: outcome}}, answer {status, recorded}
    final         gateway, alarms, breaks, reports, outcomes: what a gateway tells when all faults are healed

`answer` is null where none came: the operation may have had its effect, then or later, or none. A notice has `position` [epoch,
sequence], `kind` and what a listener acts on; a position is never written otherwise. Lines with other ops are for people.
"""
import json, threading, time

NOTICE_KINDS = ("unspecified", "available", "updated", "ended", "cancelled", "head")


class History:
    """Writes a history. Safe to use from many threads."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.lock = threading.Lock()
        self.began = time.monotonic()
        #: How many acknowledgements were answered as recorded, and changes as done: what tells that the load goes on.
        self.confirmed = 0

    def now(self):
        return round(time.monotonic() - self.began, 6)

    def write(self, op, **fields):
        line = json.dumps({"op": op, **fields}, separators=(",", ":"))
        with self.lock:
            self.file.write(line + "\n")
            answer = fields.get("answer")
            if answer and answer["status"] == "OK" and op not in ("join", "batch"):
                self.confirmed += 1

    def close(self):
        with self.lock:
            self.file.close()


def read(path):
    """All lines of a history."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def position(message):
    return [str(message.epoch), message.sequence]


def notice(message):
    """What a notice says, without what differs by nature: its window, which is sized for the listeners, and the time of sending."""
    said = {"position": position(message.position), "kind": NOTICE_KINDS[message.kind], "break": message.break_id}
    if said["kind"] == "head":
        return said
    for name in ("start_us", "duration_ms"):
        said[name] = getattr(message, name) if message.HasField(name) else None
    for name in ("expires_us", "advertisement_count", "pre_stream", "end_mode", "cancel_reason", "exact"):
        said[name] = getattr(message, name)
    return said


def break_info(message):
    """What a gateway says about a break, without its state, which follows from the time."""
    said = {"stream": message.stream, "break": message.break_id, "revision": message.revision}
    for name in ("start_us", "duration_ms", "end_us", "hold_until_us"):
        said[name] = getattr(message, name) if message.HasField(name) else None
    said["position"] = position(message.position) if message.HasField("position") else None
    said["published_us"], said["ads"] = message.published_us, message.advertisement_count
    said["cancelled"] = message.state == 6
    return said

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The rows about server-sent events: the gateway's listeners over HTTP against its listeners by ZMTP.

The listeners over HTTP are sockets of this process. The kernel says when each notice arrived (`SO_TIMESTAMPNS`), so that
reading thousands of them here costs the figure nothing.
"""
import os, select, socket, struct, time

from figures import OURS, Figure, Goal, median
from measuring import MeasurementError, resident_kib, wire
from rows import SETTLE_SECONDS, row

ZMTP = "the same by ZMTP"
#: Of Linux; Python's module has no name for it.
SO_TIMESTAMPNS = 35
PATIENCE = 120


class Listeners:
    """So many listeners by server-sent events, which have joined."""

    def __init__(self, address, count, stream="bench"):
        host, port = address.rsplit(":", 1)
        self.poller, self.sockets = select.epoll(), {}
        for _ in range(count):
            each = socket.create_connection((host, int(port)), timeout=PATIENCE)
            each.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            each.sendall(f"GET /v1/streams/{stream}/listen?session={os.urandom(16).hex()} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            each.setblocking(False)
            self.sockets[each.fileno()] = each
            self.poller.register(each, select.EPOLLIN)
        self.arrivals(b"event: joined")

    def arrivals(self, word):
        """When each heard something with this word in it, in seconds since 1970, in order."""
        found, rest, deadline = {}, {}, time.monotonic() + PATIENCE
        while len(found) < len(self.sockets):
            if time.monotonic() > deadline:
                raise MeasurementError(f"{len(self.sockets) - len(found)} listeners heard no {word.decode()}")
            for descriptor, _ in self.poller.poll(1):
                while True:
                    try:
                        part, extra, _, _ = self.sockets[descriptor].recvmsg(65_536, 64)
                    except BlockingIOError:
                        break
                    if not part:
                        raise MeasurementError("the gateway closed a listener's connection")
                    came = rest.get(descriptor, b"") + part
                    rest[descriptor] = came[-256:]
                    if word in came and descriptor not in found:
                        seconds, nanoseconds = struct.unpack("qq", next(data for _, kind, data in extra if kind == SO_TIMESTAMPNS)[:16])
                        found[descriptor] = seconds + nanoseconds / 1e9
        return sorted(found.values())

    def close(self):
        for each in self.sockets.values():
            each.close()
        self.poller.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def publish(addresses, name, stream="bench"):
    """Publishes a break, and gives when it was sent."""
    import zmq

    advertisement, broadcast, _, _, status = wire()
    publisher = zmq.Context.instance().socket(zmq.REQ)
    publisher.linger, publisher.rcvtimeo = 0, PATIENCE * 1_000
    publisher.connect(addresses["broadcast"])
    request = broadcast.BroadcastRequest(request_id=1, publish=broadcast.Publish(
        stream=stream, break_id=name, advertisements=[advertisement.Advertisement(
            id="a", duration_ms=30_000, media=[advertisement.MediaFile(url="https://ads.example/a.mp3", type="audio/mpeg")])]))
    sent = time.time()
    publisher.send(request.SerializeToString())
    reply = broadcast.BroadcastReply.FromString(publisher.recv())
    publisher.close()
    if reply.status != status.STATUS_CODE_OK:
        raise MeasurementError(f"the break was refused: {reply.message}")
    return sent


@row("events-notice-5000", "one break after silence, 5,000 listeners have the notice by server-sent events", ZMTP)
def notice(bench, figures):
    scale, count = bench.scale, bench.scale.connections(5_000)
    names = {"median": "median", "p99": "99th percentile", "last": "the last"}
    for key, name in names.items():
        figures[key] = Figure(name, "ms", Goal("<=", 1.5) if key == "median" else None, against=ZMTP)

    def ours():
        with bench.servers.gateway() as (_, addresses), Listeners(addresses["http"], count) as listeners:
            rounds = []
            for number in range(3):
                time.sleep(scale.silence)
                sent = publish(addresses, f"b{number}")
                times = listeners.arrivals(b"event: notice")
                rounds.append({"median": times[len(times) // 2], "p99": times[min(len(times) - 1, len(times) * 99 // 100)], "last": times[-1],
                               "sent": sent})
            return {key: median([1_000 * (each[key] - each["sent"]) for each in rounds]) for key in names}

    def zmtp():
        with bench.servers.gateway() as (_, addresses):
            report = bench.load.notices("single", addresses["notices"], broadcast=addresses["broadcast"], connections=count,
                                        silence=scale.silence)
        return {key: median([each[f"{key}_us"] for each in report["rounds"]]) / 1_000 for key in names}

    bench.pairs(figures, ours, zmtp)


@row("events-memory", "memory of a listener by server-sent events, 5,000 of them", "")
def memory(bench, figures):
    scale, count = bench.scale, bench.scale.connections(5_000)
    figure = figures["memory"] = Figure("", "KiB", Goal("<=", 5, "ours"))
    for _ in range(min(scale.pairs, 3)):
        with bench.servers.gateway() as (process, addresses):
            before = resident_kib(process.pid)
            with Listeners(addresses["http"], count):
                time.sleep(min(SETTLE_SECONDS, scale.hold))
                figure.add(OURS, (resident_kib(process.pid) - before) / count)
        bench.say(f"  {figure.ours[-1]:.3g} KiB")

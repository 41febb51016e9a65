# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What a listener, a break and an advertisement cost: the figures that `cuecast capacity` reckons with.

Each cost is a difference, so that what happens once does not count: between runs with few and with many breaks, and between
breaks with few and with many advertisements.
"""
import dataclasses, os, time

import measuring
from figures import OURS, Figure
from rows import SETTLE_SECONDS, row
from servers import temporary_folder

#: Everything that leaves the machine's own interface; other programs must not use it meanwhile (`unshare -n` sees to that).
INTERFACES, LOOPBACK = "/proc/self/net/dev", "lo"
#: Of an interface's numbers there the one that says how many bytes it has sent (`man 5 proc_net`).
SENT_COLUMN = 8
FEW_BREAKS, MANY_BREAKS = 2, 10
FEW_ADVERTISEMENTS, MANY_ADVERTISEMENTS = 1, 6
#: Between two breaks, in seconds.
EVERY = 2


@dataclasses.dataclass(frozen=True)
class Costs:
    """What was used, in all or for one listener and break."""
    microseconds: float
    wire: float
    log: float
    ledger: float

    def per(self, less, count):
        """What each of `count` things took that the other did not have."""
        return Costs(*((mine - theirs) / count for mine, theirs in zip(dataclasses.astuple(self), dataclasses.astuple(less))))


def kernel_bytes():
    """What the kernel keeps in its caches of objects: sockets, files and what watches them among it."""
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1_024 for line in file if line.startswith("Slab:"))


def sent_bytes():
    with open(INTERFACES) as file:
        numbers = {name.strip(): rest.split() for name, _, rest in (line.partition(":") for line in file)}
    return int(numbers[LOOPBACK][SENT_COLUMN])


def run(bench, listeners, breaks, advertisements):
    """A gateway's life with so many breaks; gives what it used and the resident KiB at the end."""
    with temporary_folder() as folder:
        data = os.path.join(folder, "data")
        with bench.servers.gateway(data=data) as (process, addresses):
            sent = sent_bytes()
            bench.load.run(addresses, 300, listeners=listeners, breaks=breaks, every=EVERY, ahead=EVERY, lasts=EVERY / 2,
                           advertisements=advertisements)
            used = measuring.cpu_seconds(process.pid) * 1_000_000
            resident, sent = measuring.resident_kib(process.pid), sent_bytes() - sent
        log, ledger = (measuring.stored_bytes(os.path.join(data, f"{name}.sqlite")) for name in ("events", "ledger"))
    return Costs(used, sent, log, ledger), resident


@row("footprint", "what a listener, a break and an advertisement cost", "")
def footprint(bench, figures):
    scale, count = bench.scale, bench.scale.connections(3_000)
    names = {
        "base": ("memory without listeners", "MiB"), "resident": ("memory of a listener that had 10 breaks", "KiB"),
        "kernel": ("memory of the kernel for a connection", "KiB"), "idle": ("sent to and by an idle listener, a second", "B"),
        "microseconds": ("CPU of one listener's break", "µs"), "ad-microseconds": ("CPU of each advertisement in it", "µs"),
        "wire": ("sent for one listener's break, with headers", "B"), "ad-wire": ("sent for each advertisement in it", "B"),
        "log": ("log for one listener's break", "B"), "ad-log": ("log for each advertisement in it", "B"),
        "ledger": ("ledger for one listener's break", "B"), "ad-ledger": ("ledger for each advertisement in it", "B"),
    }
    figures.update({key: Figure(name, unit) for key, (name, unit) in names.items()})
    for _ in range(min(scale.pairs, 3)):
        with bench.servers.gateway() as (process, addresses):
            base = measuring.resident_kib(process.pid)
            figures["base"].add(OURS, base / 1_024)
            kernel = kernel_bytes()
            with bench.load.idle(addresses["notices"], requests=addresses["requests"], connections=count,
                                 hold=scale.hold + 600):
                time.sleep(min(SETTLE_SECONDS, scale.hold))
                # Both ends of each connection are on this machine.
                figures["kernel"].add(OURS, (kernel_bytes() - kernel) / count / 2 / 1_024)
                sent, began = sent_bytes(), time.monotonic()
                time.sleep(scale.hold)
                figures["idle"].add(OURS, (sent_bytes() - sent) / count / (time.monotonic() - began))
        each = {}
        for advertisements in (FEW_ADVERTISEMENTS, MANY_ADVERTISEMENTS):
            few, _ = run(bench, count, FEW_BREAKS, advertisements)
            many, resident = run(bench, count, MANY_BREAKS, advertisements)
            each[advertisements] = many.per(few, count * (MANY_BREAKS - FEW_BREAKS))
        figures["resident"].add(OURS, (resident - base) / count)
        by_advertisement = each[MANY_ADVERTISEMENTS].per(each[FEW_ADVERTISEMENTS], MANY_ADVERTISEMENTS - FEW_ADVERTISEMENTS)
        for name, value in dataclasses.asdict(by_advertisement).items():
            figures[f"ad-{name}"].add(OURS, value)
            # Without any advertisement.
            figures[name].add(OURS, getattr(each[FEW_ADVERTISEMENTS], name) - FEW_ADVERTISEMENTS * value)
        bench.say("  " + "; ".join(f"{figure.name} {figure.ours[-1]:.4g} {figure.unit}" for figure in figures.values()))

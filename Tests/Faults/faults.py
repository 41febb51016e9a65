# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The faults of a fault run. Each is a generator: it does harm, yields what it did, and heals when it goes on."""
import signal, time

from places import Disk


def some(randomness, members):
    """One, two or all of them, most often one."""
    return randomness.sample(members, randomness.choice((1, 1, 1, 2, len(members))))


def names(members):
    return " and ".join(member.place.name for member in members)


def kill(cluster, randomness, members):
    members = some(randomness, members)
    for member in members:
        member.kill()
    yield f"{names(members)} killed"
    for member in members:
        member.start()


def stop(cluster, randomness, members):
    members = some(randomness, members)
    for member in members:
        member.signal(signal.SIGSTOP)
    yield f"{names(members)} stopped"
    for member in members:
        member.signal(signal.SIGCONT)


def kill_gateway(cluster, randomness):
    yield from kill(cluster, randomness, cluster.gateways)


def kill_server(cluster, randomness):
    yield from kill(cluster, randomness, cluster.servers)


def kill_leader(cluster, randomness):
    """The server that leads a lane, with a gateway in the same moment."""
    leader, gateway = cluster.leader() or cluster.servers[0], randomness.choice(cluster.gateways)
    for member in (leader, gateway):
        member.kill()
    yield f"{names([leader, gateway])} killed"
    for member in (leader, gateway):
        member.start()


def stop_gateway(cluster, randomness):
    yield from stop(cluster, randomness, cluster.gateways)


def stop_server(cluster, randomness):
    yield from stop(cluster, randomness, cluster.servers)


def cut(cluster, randomness, here, there, ways):
    """Nothing goes between each of `here` and each of `there` (`None`: the clients), in both ways or in one."""
    for one in here:
        for other in there:
            ends = [member and member.place for member in (one, other)]
            if ways != "back" and ends[1]:
                cluster.world.cut(ends[0], ends[1])
            if ways != "there":
                cluster.world.cut(ends[1], ends[0])


def partition(cluster, randomness):
    """One member is alone, or two sides do not reach each other."""
    alone = randomness.choice(cluster.members)
    if randomness.random() < 0.6:
        here, there = [alone], [each for each in cluster.members if each is not alone]
    else:
        here = randomness.sample(cluster.members, 3)
        there = [each for each in cluster.members if each not in here]
    cut(cluster, randomness, here, there, "both")
    yield f"{names(here)} cut off from {names(there)}"
    cluster.world.heal()


def partition_one_way(cluster, randomness):
    """What one member sends does not arrive at some others, and what they send arrives."""
    one = randomness.choice(cluster.members)
    others = [each for each in cluster.members if each is not one]
    others = randomness.sample(others, randomness.randrange(1, len(others) + 1))
    ways = randomness.choice(("there", "back"))
    cut(cluster, randomness, [one], others, ways)
    yield f"{names([one])} " + ("is not heard by" if ways == "there" else "does not hear") + f" {names(others)}"
    cluster.world.heal()


def partition_clients(cluster, randomness):
    """Clients lose a gateway, or hear nothing of it while it hears them."""
    gateway = randomness.choice(cluster.gateways)
    if randomness.random() < 0.5:
        cluster.world.cut(None, gateway.place)
        yield f"clients cut off from {names([gateway])}"
    else:
        # Answers are lost behind the gateway, which knows the addresses of its peers: its requests have arrived.
        cluster.world.silence(gateway.place)
        yield f"clients do not hear {names([gateway])}"
    cluster.world.heal()


def bad_network(cluster, randomness):
    """Packets are lost, late, or wait for a narrow line."""
    members, said = some(randomness, cluster.members), []
    for member in members:
        what = randomness.choice(("loss", "narrow", "delay" if cluster.world.has_delays else "loss"))
        if what == "loss":
            cluster.world.lose(member.place, percent := randomness.randrange(5, 40))
            said.append(f"{member.place.name} loses {percent} % of its packets")
        elif what == "delay":
            cluster.world.delay(member.place, milliseconds := randomness.randrange(20, 400))
            said.append(f"{member.place.name} sends {milliseconds} ms late")
        else:
            cluster.world.narrow(member.place, kilobits := randomness.choice((64, 128, 256, 512)))
            said.append(f"{member.place.name} sends {kilobits} kbit/s")
    yield ", ".join(said)
    cluster.world.heal()


def full_disk_server(cluster, randomness):
    """A server gives its log up when its disk is full, until it is started again."""
    server = randomness.choice(cluster.servers)
    disk = Disk(server.place)
    disk.fill()
    yield f"the disk of {names([server])} is full"
    disk.free()
    server.kill()
    server.start()


def full_disk_gateway(cluster, randomness):
    gateway = randomness.choice(cluster.gateways)
    disk = Disk(gateway.place)
    disk.fill()
    yield f"the disk of {names([gateway])} is full"
    disk.free()


def slow_disk(cluster, randomness):
    members = some(randomness, cluster.members)
    milliseconds = randomness.choice((5, 20, 100, 500))
    for member in members:
        member.slow(milliseconds)
    yield f"the disk of {names(members)} takes {milliseconds} ms to synchronise"
    for member in members:
        member.slow(0)


def clock(cluster, randomness):
    """The wall clock of gateways is set, and set back; one of them starts while it is wrong."""
    gateways = some(randomness, cluster.gateways)
    for gateway in gateways:
        gateway.step_clock(randomness.uniform(-8, 8))
    restarted = randomness.choice(gateways)
    if randomness.random() < 0.5:
        restarted.kill()
        restarted.start()
    yield f"the clock of {names(gateways)} is wrong"
    for gateway in gateways:
        gateway.step_clock(0)


def lost_data_gateway(cluster, randomness):
    """A gateway begins anew on an empty directory with the same keys."""
    gateway = randomness.choice(cluster.gateways)
    gateway.kill()
    gateway.lose_data()
    yield f"the data directory of {names([gateway])} is lost"
    gateway.start()


def lost_data_server(cluster, randomness):
    """A server begins anew on an empty folder. As an operator has to, it waits until the two others have all records and a leader: an
    empty server that votes before that can elect one without records that were confirmed."""
    cluster.until_whole()
    server = randomness.choice(cluster.servers)
    server.kill()
    yield f"the folder of {names([server])} is lost"
    others = {each.place.name for each in cluster.servers if each is not server}
    cluster.until_led_by(others)
    server.lose_data()
    server.start()


def rolling_restart(cluster, randomness):
    """One after the other is ended by SIGTERM and started again, as by an upgrade."""
    members = list(randomness.choice((cluster.servers, cluster.gateways)))
    randomness.shuffle(members)
    yield f"{names(members)} are restarted one after the other"
    for member in members:
        code = member.end()
        assert code == 0 or member in cluster.servers, f"{member.place.name} ended with {code}: {member.last_lines()}"
        member.start()
        if member in cluster.gateways:
            cluster.until_ready([member])
        else:
            cluster.until_whole()


#: By name: what it does, and what it needs of the world.
FAULTS = {
    "kill-gateway": (kill_gateway, None), "kill-server": (kill_server, None), "kill-leader": (kill_leader, None),
    "stop-gateway": (stop_gateway, None), "stop-server": (stop_server, None),
    "partition": (partition, "has_network"), "partition-one-way": (partition_one_way, "has_network"),
    "partition-clients": (partition_clients, "has_network"), "bad-network": (bad_network, "has_network"),
    "full-disk-server": (full_disk_server, "has_disks"), "full-disk-gateway": (full_disk_gateway, "has_disks"),
    "slow-disk": (slow_disk, None), "clock": (clock, None),
    "lost-data-gateway": (lost_data_gateway, None), "lost-data-server": (lost_data_server, None),
    "rolling-restart": (rolling_restart, None),
}
#: Those that may happen together with another one: two at a time never take confirmed records away.
TOGETHER = ("kill-gateway", "kill-server", "kill-leader", "stop-gateway", "stop-server", "partition", "partition-one-way",
            "partition-clients", "bad-network", "slow-disk", "clock")


def possible(world):
    """The names of the faults that can be had there."""
    return [name for name, (_, need) in FAULTS.items() if need is None or getattr(world, need)]


def happen(cluster, randomness, chosen, seconds):
    """Lets the faults of these names happen for some seconds; gives what they did. Everything is healed when it returns, but not ready."""
    under_way, said = [], []
    try:
        for name in chosen:
            fault = FAULTS[name][0](cluster, randomness)
            said.append(next(fault))
            under_way.append(fault)
        if chosen != ["rolling-restart"]:  # It takes its time by itself.
            time.sleep(seconds)
    finally:
        for fault in reversed(under_way):
            next(fault, None)
    return said

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Other servers at the same work: as many bytes to as many subscribers, and a batch's bytes over HTTP.

    Benchmarks/peers.py                     everything
    Benchmarks/peers.py --quick             short, two rounds
    Benchmarks/peers.py --only nats,redis   some of them

Each server runs alone on the first core, with one thread where it lets one choose, without persistence; the load on the
second. They take turns, and the gateway takes its turn too: ratios are the gateway's value over the peer's. What none of
the others does for a notice, the gateway does in these figures too: it writes the break to its log before anybody hears.

`scripts/setup.sh bench-peers` installs the servers. They run without privileges, from temporary folders, on free ports.
"""
import argparse, contextlib, json, os, resource, shutil, socket, subprocess, sys, time

sys.dont_write_bytecode = True

import compare
import measuring
import rows
from figures import BASELINE, COLUMNS, OURS, Figure, median
from load_tool import LoadTool, cpu_per_million, cpu_watch, parsed, round_window, steady_cpu_per_million
from measuring import MeasurementError
from servers import LOAD, SERVER, Servers, pinned, temporary_folder, wait_until

NCHAN_MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so"
BATCH_PATH = "/batch.bin"

MOSQUITTO = """
listener {port} 127.0.0.1
allow_anonymous true
persistence false
set_tcp_nodelay true
max_queued_messages 0
log_type error
log_dest stderr
"""

NATS = """
listen: 127.0.0.1:{port}
max_connections: 100000
max_pending: 1GB
write_deadline: "120s"
logfile: "{folder}/nats.log"
"""

NGINX = """
{modules}
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections {connections}; multi_accept on; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 1d;
    tcp_nodelay on;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        {locations}
    }}
}}
"""
NCHAN_LOCATIONS = """
        location = /sub {
            nchan_subscriber eventsource;
            nchan_channel_id bench;
            nchan_subscriber_first_message newest;
        }
        location = /pub {
            nchan_publisher;
            nchan_channel_id bench;
            nchan_message_buffer_length 2000;
        }
"""
BATCH_LOCATIONS = """
        open_file_cache max=10;
        location = %s { root {folder}; default_type application/octet-stream; }
""" % BATCH_PATH


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def nginx_configuration(folder, port, modules, locations):
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return NGINX.format(folder=folder, port=port, modules=modules, locations=locations.replace("{folder}", folder),
                        files=files, connections=max(files - 100, 100))


def program(name, *places):
    """Where a program is; Debian's daemons are not on everybody's path."""
    for place in (*places, f"/usr/sbin/{name}"):
        if os.access(place, os.X_OK):
            return place
    found = shutil.which(name)
    if not found:
        raise MeasurementError(f"{name} is not installed; scripts/setup.sh bench-peers installs it")
    return found


def nats_command(folder, port, _):
    configuration = write(f"{folder}/nats.conf", NATS.format(port=port, folder=folder))
    return [program("nats-server", os.path.join(measuring.ROOT, ".venv/bin/nats-server")), "-c", configuration]


def mosquitto_command(folder, port, _):
    return [program("mosquitto"), "-c", write(f"{folder}/mosquitto.conf", MOSQUITTO.format(port=port))]


def redis_command(folder, port, _):
    return [program("redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--maxclients", 100_000, "--tcp-backlog", 4096, "--client-output-buffer-limit", "pubsub 0 0 0",
            "--dir", folder, "--daemonize", "no", "--loglevel", "warning"]


def nchan_command(folder, port, _):
    if not os.path.exists(NCHAN_MODULE):
        raise MeasurementError("nchan is not installed; scripts/setup.sh bench-peers installs it")
    text = nginx_configuration(folder, port, f"load_module {NCHAN_MODULE};", NCHAN_LOCATIONS)
    return [program("nginx"), "-p", folder, "-e", "stderr", "-c", write(f"{folder}/nginx.conf", text)]


def batch_command(folder, port, reply):
    with open(folder + BATCH_PATH, "wb") as file:
        file.write(reply)
    text = nginx_configuration(folder, port, "", BATCH_LOCATIONS)
    return [program("nginx"), "-p", folder, "-e", "stderr", "-c", write(f"{folder}/nginx.conf", text)]


# Name → how it is started, and the protocol that is spoken to it.
BROKERS = {"nats-server": (nats_command, "nats"), "mosquitto": (mosquitto_command, "mqtt"),
           "redis": (redis_command, "redis"), "nginx with nchan": (nchan_command, "nchan")}
HTTP_SERVER = "nginx"

VERSIONS = {"nats-server": ("nats-server", "--version"), "mosquitto": ("mosquitto", "-h"),
            "redis": ("redis-server", "--version"), "nginx": ("nginx", "-v")}


def versions():
    """What was measured: name → its own words, one line."""
    found = {}
    for name, (command, flag) in VERSIONS.items():
        with contextlib.suppress(MeasurementError):
            path = program(command, os.path.join(measuring.ROOT, ".venv/bin", command))
            done = subprocess.run([path, flag], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            found[name] = done.stdout.strip().splitlines()[0]
    return found


@contextlib.contextmanager
def peer(command_of, reply=b""):
    """Runs a server without privileges; gives its process and its port, and ends it."""
    with temporary_folder() as folder:
        port = free_port()
        command = [*pinned(SERVER), *map(str, command_of(folder, port, reply))]
        # Who is root starts it as somebody who may nothing.
        unprivileged = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        if unprivileged:
            for path in (folder, *(os.path.join(folder, name) for name in os.listdir(folder))):
                shutil.chown(path, "nobody", "nogroup")
        with open(os.path.join(folder, "said"), "w+") as said:
            process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, **unprivileged)
            try:
                def answers():
                    if process.poll() is not None:
                        said.seek(0)
                        raise MeasurementError(f"{command[-1]} ended: {said.read()[-300:].strip()}")
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                        return True
                    return False

                wait_until(answers, 10, f"{' '.join(command)} answers")
                yield process, port
            finally:
                if process.poll() is None:
                    process.terminate()
                    try:
                        process.wait(10)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        process.wait()


class PeerLoad:
    def __init__(self, binary):
        self.binary = binary

    def run(self, *arguments):
        command = [*pinned(LOAD), self.binary, *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise MeasurementError(f"exit code {done.returncode} ({done.stderr.strip()}): {' '.join(command)}")
        return parsed(done.stdout, command)


class Round:
    """Measures the gateway and the peers in turn; who is first changes from round to round."""

    def __init__(self, bench, names, found):
        self.bench, self.names, self.found = bench, names, found

    def run(self, ours, theirs):
        """`ours()` and `theirs(name)` give values by key, alone or with their CPU."""
        sides = [OURS, *self.names]
        for number in range(self.bench.scale.pairs):
            turn = number % len(sides)
            values = {}
            for side in sides[turn:] + sides[:turn]:
                try:
                    values[side] = ours() if side == OURS else theirs(side)
                except MeasurementError as error:
                    if side == OURS:
                        raise
                    values[side] = None
                    for (name, _), figure in self.found.items():
                        if name == side:
                            figure.note(f"{side} could not be measured: {error}")
            for (name, key), figure in self.found.items():
                if values[name] is None:
                    continue
                for side, value in ((OURS, values[OURS][key]), (BASELINE, values[name][key])):
                    figure.add(side, *value) if isinstance(value, tuple) else figure.add(side, value)
            self.bench.say(f"  round {number + 1} of {self.bench.scale.pairs}: " + "; ".join(
                side + " " + (", ".join(f"{value[0] if isinstance(value, tuple) else value:.6g}"
                                        for value in values[side].values()) if values[side] else "failed")
                for side in sides))


def figures_of(names, keys, found):
    for key, (text, unit) in keys.items():
        for name in names:
            found[name, key] = Figure(f"{text}{', ' if text else ''}{name}", unit, against=name)


def single(bench, names, load, found):
    scale, count = bench.scale, bench.scale.connections(9_000)
    keys = {"median": ("median", "ms"), "p99": ("99th percentile", "ms"), "last": ("the last", "ms")}
    figures_of(names, keys, found)
    size = []

    def values(report):
        return {key: report["rounds"][0][f"{key}_us"] / 1_000 for key in keys}

    def ours():
        with bench.servers.gateway() as (_, addresses):
            report = bench.load.notices("single", addresses["notices"], broadcast=addresses["broadcast"],
                                        connections=count, silence=scale.silence)
        size.append(report.get("notice_bytes", 100))
        return values(report)

    def theirs(name):
        with peer(BROKERS[name][0]) as (_, port):
            return values(load.run("notices", "--protocol", BROKERS[name][1], "--port", port, "--connections", count,
                                   "--pattern", "single", "--silence", scale.silence, "--message-bytes",
                                   size[0] if size else 100))

    Round(bench, names, found).run(ours, theirs)


def burst(bench, names, load, found):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figures_of(names, {"rate": ("", "notices/s")}, found)
    size = []

    def values(process, measure):
        with cpu_watch(process) as watch:
            report = measure()
        each = report["rounds"][-1]
        size.append(report.get("notice_bytes", 100))
        return {"rate": (median([each["per_second"] for each in report["rounds"]]),
                         cpu_per_million(watch.samples, each["received"], round_window(each, watch.samples)))}

    def ours():
        with bench.servers.gateway() as (process, addresses):
            return values(process, lambda: bench.load.notices(
                "burst", addresses["notices"], broadcast=addresses["broadcast"], connections=count, burst=scale.burst,
                count=scale.bursts))

    def theirs(name):
        with peer(BROKERS[name][0]) as (process, port):
            return values(process, lambda: load.run(
                "notices", "--protocol", BROKERS[name][1], "--port", port, "--connections", count, "--pattern", "burst",
                "--burst", scale.burst, "--count", scale.bursts, "--message-bytes", size[0] if size else 100))

    Round(bench, names, found).run(ours, theirs)


def batch(bench, _, load, found):
    scale, count = bench.scale, bench.scale.connections(1_000)
    figures_of([HTTP_SERVER], {"rate": ("", "requests/s")}, found)
    with temporary_folder() as folder:
        with bench.servers.gateway() as (_, addresses):
            bench.load.requests("batch", addresses["requests"], broadcast=addresses["broadcast"], connections=1,
                                seconds=min(scale.seconds, 1), warmup=min(scale.warmup, 0.2), record=folder)
        with open(os.path.join(folder, "reply.bin"), "rb") as file:
            reply = file.read()

    def theirs(_):
        with peer(batch_command, reply) as (process, port):
            with cpu_watch(process) as watch:
                report = load.run("requests", "--port", port, "--path", BATCH_PATH, "--connections", count,
                                  "--duration", scale.seconds, "--warmup", scale.warmup)
        return {"rate": (report["per_second"], steady_cpu_per_million(watch.samples, scale.seconds, report["per_second"]))}

    figure = Figure("", "")
    Round(bench, [HTTP_SERVER], found).run(
        lambda: {"rate": rows.requests_of(bench, figure, "batch", count)}, theirs)


PEER_COLUMNS = tuple(name.replace("baseline", "theirs") for name in COLUMNS)

ROWS = {"peers-single-notice": ("one message after silence to 9,000 subscribers", single),
        "peers-burst-1000": ("500 messages at once to 1,000 subscribers", burst),
        "peers-batch-1000": ("a batch's bytes, 1,000 connections", batch)}


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = os.path.join(measuring.ROOT, ".build/release")
    parser.add_argument("--binary", default=os.path.join(release, "cuecast"), help="the gateway")
    parser.add_argument("--load", default=os.path.join(release, "cuecast-load"), help="the load tool")
    parser.add_argument("--only", default="", help=f"of {', '.join(BROKERS)}; with commas, the first word is enough")
    parser.add_argument("--rows", default="", help=f"of {', '.join(ROWS)}; with commas")
    parser.add_argument("--pairs", type=int, help="rounds; 10 unless told")
    parser.add_argument("--silence", type=float)
    parser.add_argument("--listeners-max", type=int)
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--smoke", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--results", default=os.path.join(measuring.ROOT, ".build/bench"))
    options = parser.parse_args(words)
    wanted = [name for name in options.only.split(",") if name]
    options.names = [name for name in BROKERS if not wanted or name in wanted or name.split()[0] in wanted
                     or name.removesuffix("-server") in wanted]
    options.rows = [name for name in options.rows.split(",") if name] or list(ROWS)
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown or not options.names:
        parser.error(f"there is no {', '.join(unknown) or options.only}")
    return options


def main(words):
    options = parse(words)
    for path in (options.binary, options.load):
        if not os.path.exists(path):
            print(f"peers.py: there is no {path}; build it, or say where it is", file=sys.stderr)
            return 69
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = os.path.abspath(os.path.join(options.results, "baselines"))
    subprocess.run(["make", "-s", "-C", os.path.join(measuring.ROOT, "Benchmarks/peers"), f"BUILD={folder}"], check=True)
    load = PeerLoad(os.path.join(folder, "peer_load"))
    bench = rows.Bench(Servers(options.binary, {}), LoadTool(options.load, pinned(LOAD)), compare.scale_of(options),
                       say=lambda text: print(text, flush=True))
    print(measuring.machine())
    found_versions = versions()
    for name, text in found_versions.items():
        print(f"{name}: {text}", flush=True)
    results = []
    for name in options.rows:
        title, function = ROWS[name]
        print(f"\n{name}: {title}", flush=True)
        found, error = {}, None
        try:
            function(bench, options.names, load, found)
        except (MeasurementError, KeyError, TypeError, ValueError, OSError) as fault:
            error = f"{type(fault).__name__}: {fault}"
            print(f"  not measured: {error}", flush=True)
        results.append({"row": name, "title": title, "error": error, "measured": round(time.time()),
                        "pairs": bench.scale.pairs, "machine": measuring.machine_facts(), "versions": found_versions,
                        "figures": [figure.as_json() for figure in found.values()]})
        with open(os.path.join(options.results, name + ".json"), "w") as file:
            json.dump(results[-1], file, indent=1)
    print("\n" + compare.table_of(results, PEER_COLUMNS))
    return 1 if any(result["error"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

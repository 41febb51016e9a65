# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Starts the servers of others, each alone on the first core and without privileges, and the load that asks them."""
import contextlib, os, resource, shutil, socket, subprocess

import measuring
from load_tool import cpu_watch, parsed, steady_cpu_per_million
from measuring import MeasurementError
from servers import LOAD, SERVER, pinned, temporary_folder, wait_until

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
        location = /socket {
            nchan_subscriber websocket;
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
        # Root starts it as an unprivileged user.
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

    def batches(self, reply, connections, seconds, warmup):
        """Asks a web server for a file with these bytes, in closed loops; gives requests a second and CPU for a million."""
        with peer(batch_command, reply) as (process, port):
            with cpu_watch(process) as watch:
                report = self.run("requests", "--port", port, "--path", BATCH_PATH, "--connections", connections,
                                  "--duration", seconds, "--warmup", warmup)
        return report["per_second"], steady_cpu_per_million(watch.samples, seconds, report["per_second"])


def build_peer_load(folder):
    """Compiles the load for other servers."""
    folder = os.path.abspath(folder)
    subprocess.run(["make", "-s", "-C", os.path.join(measuring.ROOT, "Benchmarks/peers"), f"BUILD={folder}"], check=True)
    return PeerLoad(os.path.join(folder, "peer_load"))

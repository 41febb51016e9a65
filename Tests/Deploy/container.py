#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Builds the image of deploy/container from the binary of a release, and runs what is in it.

    Tests/Deploy/container.py --binary .build/dist/cuecast --cache FOLDER

Needs root, buildah and debootstrap, but no container engine and no registry: the base is a Debian made by debootstrap, kept
in the cache, and the image runs in namespaces of its own, with its root file system read-only, as its user.
"""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile, time, urllib.request
from pathlib import Path

from deploy_files import CONTAINERFILE, ROOT

RELEASE = "bookworm"
IMAGE = "localhost/cuecast:test"
#: How long anything may take before it counts as hung, in seconds.
PATIENCE = 1_800


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"container: {' '.join(str(part) for part in command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def insist(condition, sentence):
    if not condition:
        sys.exit(f"container: {sentence}")


class Storage:
    """Images in a folder of their own."""

    def __init__(self, folder):
        self.options = ["--root", folder / "storage", "--runroot", folder / "run", "--storage-driver", "vfs"]

    def buildah(self, command, *arguments, **options):
        return run("buildah", *self.options, command, *arguments, **options)


def make_base(storage, cache):
    """The image that ours is built on: Debian and nothing else."""
    archive = cache / f"{RELEASE}.tar"
    if not archive.exists():
        folder = Path(tempfile.mkdtemp(prefix="cuecast-debian."))
        print(f"container: making {archive}", flush=True)
        run("debootstrap", "--variant=minbase", RELEASE, folder / "root")
        run("tar", "-C", folder / "root", "-cf", folder / "tar", ".")
        cache.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / "tar", archive)
        shutil.rmtree(folder)
    container = storage.buildah("from", "scratch").strip()
    storage.buildah("add", container, archive, "/")
    storage.buildah("commit", "--format", "docker", container, f"localhost/{RELEASE}:test")
    storage.buildah("rm", container)
    return f"localhost/{RELEASE}:test"


def build(storage, base, binary, folder):
    """The image, by the same Containerfile, with the binary that is there."""
    context = folder / "context"
    (context / ".build/dist").mkdir(parents=True)
    shutil.copy(binary, context / ".build/dist/cuecast")
    for name in (".containerignore", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, context / name)
    arguments = {"RUNTIME_IMAGE": base, "BINARY_FROM": "prebuilt", "VERSION": "0.0.0-test"}
    storage.buildah("build", "--isolation", "chroot", "--format", "docker", "--tag", IMAGE, "--file", CONTAINERFILE,
                    *[part for name, value in arguments.items() for part in ("--build-arg", f"{name}={value}")], context)
    inspected = json.loads(storage.buildah("inspect", "--type", "image", IMAGE))
    return inspected["Docker"]["config"]


#: The Debian packages of libraries beside those that every Debian has.
PACKAGES = {"libcrypto.so.3": "libssl3", "libcurl.so.4": "libcurl4", "libnats.so.3.4": "libnats3.4",
            "libsqlite3.so.0": "libsqlite3-0", "libssl.so.3": "libssl3", "libstdc++.so.6": "libstdc++6", "libzmq.so.5": "libzmq5"}
EVERYWHERE = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def check_packages(binary):
    """The Containerfile installs what the binary is linked against, and nothing else."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "--dynamic", binary))) - EVERYWHERE
    insist(needed <= set(PACKAGES), f"the binary needs {needed - set(PACKAGES)}, which has no package here")
    [line] = re.findall(r"apt-get install -y --no-install-recommends (.+) \\$", CONTAINERFILE.read_text(), re.M)
    installed, wanted = set(line.split()), {PACKAGES[name] for name in needed}
    insist(installed == wanted, f"the Containerfile installs {sorted(installed)}, and the binary needs {sorted(wanted)}")


def check_configuration(config):
    insist(config["User"] == "10001:10001", f"the user is {config['User']}")
    insist(config["Entrypoint"] == ["/usr/bin/cuecast"] and config["Cmd"] == ["serve"], "it does not run cuecast serve")
    insist(list(config["Volumes"]) == ["/var/lib/cuecast"], "the volume is another one")
    insist(config["StopSignal"] == "SIGTERM", "it is stopped otherwise than by SIGTERM")
    insist(config["Healthcheck"]["Test"][0] == "CMD", "there is no health check")
    labels = config["Labels"]
    for name in ("title", "description", "licenses", "version", "revision"):
        insist(labels.get(f"org.opencontainers.image.{name}"), f"the label {name} is missing")
    insist(labels["org.opencontainers.image.version"] == "0.0.0-test", "the version is not the one that was given")


class Running:
    """The image as a process: its own mounts and process ids, a read-only root, its user, and no privileges."""

    #: Only in the namespaces that `unshare` makes. The volume is the one place that can be written.
    SCRIPT = """
        mount --bind "$1" "$1"
        mount --bind "$2" "$1/var/lib/cuecast"
        mount -t proc proc "$1/proc"
        mount -o remount,bind,ro "$1"
        root="$1"
        shift 2
        exec chroot "$root" setpriv --reuid 10001 --regid 10001 --clear-groups --bounding-set -all --inh-caps -all \
            --no-new-privs "$@"
    """

    def __init__(self, root, volume, config):
        self.root, self.volume, self.config = root, volume, config
        self.environment = dict(each.split("=", 1) for each in config["Env"])
        flags = ["--notices", "tcp://127.0.0.1:*", "--requests", "tcp://127.0.0.1:*", "--broadcast", "tcp://127.0.0.1:*",
                 "--http", "127.0.0.1:0"]
        self.process = self.start(*config["Entrypoint"], *config["Cmd"], *flags)
        line = self.process.stdout.readline()
        insist(line.startswith("ready "), f"the gateway did not start: {line!r} {self.process.stderr.read() if not line else ''}")
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])
        self.environment["CUECAST_HTTP"] = self.addresses["http"]
        self.environment["CUECAST_BROADCAST"] = self.addresses["broadcast"]

    def start(self, *command):
        return subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "bash", "-euc", self.SCRIPT,
             "bash", str(self.root), str(self.volume), *command],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def execute(self, *command):
        process = self.start(*command)
        output, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, output + errors

    def stop(self):
        """SIGTERM to the gateway itself, which is the first process in its namespace, as an engine sends it."""
        [child] = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGTERM)
        return self.process.wait(PATIENCE)


def check_running(root, config, folder):
    volume = folder / "volume"
    volume.mkdir(mode=0o700)
    os.chown(volume, 10001, 10001)
    running = Running(root, volume, config)
    try:
        with urllib.request.urlopen(f"http://{running.addresses['http']}/readyz", timeout=PATIENCE) as answer:
            insist(json.load(answer)["ready"], "the gateway is not ready")
        code, output = running.execute(*config["Healthcheck"]["Test"][1:])
        insist(code == 0, f"the health check of a gateway that is well ends with {code}: {output}")
        code, output = running.execute("/usr/bin/touch", "/etc/cuecast")
        insist(code != 0 and "Read-only" in output, f"the root file system can be written: {output}")
        status = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()[0]
        facts = dict(line.split(":\t", 1) for line in Path(f"/proc/{status}/status").read_text().splitlines() if ":\t" in line)
        insist(facts["Uid"].split() == ["10001"] * 4, f"it runs as {facts['Uid']}")
        insist(int(facts["CapEff"], 16) == 0 and int(facts["CapBnd"], 16) == 0, "it has capabilities")
        insist(facts["NSpid"].split()[-1] == "1", "it is not the first process")
        insist(running.stop() == 0, "SIGTERM did not end it in order")
        code, output = running.execute(*config["Healthcheck"]["Test"][1:])
        insist(code == 69, f"the health check of a gateway that is gone ends with {code}: {output}")
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
    data = volume / "data"
    insist((data / "ledger.seal").exists() and not (data / "cuecast.open").exists(), "its books were not closed in order")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the gateway as `make release` makes it")
    parser.add_argument("--cache", type=Path, required=True, help="where the Debian base is kept")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("container: this needs root, to make a Debian and to run what is in the image")
    check_packages(options.binary)
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="cuecast-container."))
    storage = Storage(folder)
    try:
        config = build(storage, make_base(storage, options.cache), options.binary, folder)
        check_configuration(config)
        container = storage.buildah("from", IMAGE).strip()
        root = Path(storage.buildah("mount", container).strip())
        files = run("find", root, "-xdev", "(", "-name", "*.deb", "-o", "-path", "*/var/lib/apt/lists/*", "-type", "f", ")")
        insist(not files, f"these files are not needed at run time: {files}")
        check_running(root, config, folder)
        size = int(run("du", "-sk", root).split()[0])
        storage.buildah("umount", container)
    finally:
        storage.buildah("rm", "--all")
        shutil.rmtree(folder)
    print(f"container: the image is built, runs as 10001 with a read-only root, and drains ({size // 1024} MiB,"
          f" {time.monotonic() - begun:.0f} s)")


if __name__ == "__main__":
    main()

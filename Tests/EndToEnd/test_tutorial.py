# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The tutorial, followed to the letter: its commands as they are written, its code as it is shown, a gateway on the ports that
it names. Where the system allows it that runs in a network of its own, so that no other gateway is in its way.
"""
import fcntl, json, os, re, shlex, shutil, socket, struct, subprocess, sys, tempfile, unittest, urllib.request

from harness import BINARY, PATIENCE, RUN_PATIENCE, ROOT, until

PAGE = os.path.join(ROOT, "Sources/Cuecast/Cuecast.docc/FromZeroToAPlayingAd.md")
IN_NETWORK_OF_ITS_OWN = "--in-network-of-its-own"
ATTEMPTS_MAX = 5


def commands(name):
    """The commands of the page that begin so, as lists of arguments."""
    with open(PAGE) as page:
        lines = re.findall(rf"^cuecast {name} .*$", page.read(), re.M)
    return [[BINARY, *shlex.split(line)[1:]] for line in lines]


def bring_loopback_up():
    """What `ip link set lo up` does (netdevice(7)): SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = bytearray(struct.pack("16sh22x", b"lo", 0))
        fcntl.ioctl(control, 0x8913, request)
        flags = struct.unpack_from("16sh", request)[1] | 1
        fcntl.ioctl(control, 0x8914, bytes(struct.pack("16sh22x", b"lo", flags)))


def get(path):
    with urllib.request.urlopen("http://127.0.0.1:7480" + path, timeout=PATIENCE) as answer:
        return answer.read().decode()


def counts(*kinds):
    """How many outcomes of these kinds each advertisement has, by the books."""
    breaks = json.loads(get("/v1/reports?stream=radio1&break=first-1"))["breaks"]
    return [sum(ad["counts"][kind] for kind in kinds) for each in breaks for ad in each["ads"]]


def is_over():
    """Whether both advertisements have an outcome, or the break is over and none is to come."""
    if counts("played", "ignored", "failed") == [1, 1]:
        return True
    states = [each["state"] for each in json.loads(get("/v1/breaks?stream=radio1"))["breaks"]]
    return states == ["complete"] and not any(counts("unknown"))


def follow():
    """Does what the page says, in its order; from the beginning where the machine was too slow for both advertisements."""
    assert any(follow_once() for _ in range(ATTEMPTS_MAX)), "an advertisement was not played, each time"


def follow_once():
    """Whether both advertisements were played."""
    ((serve,), (publish,), (report,)) = (commands(name) for name in ("serve", "publish", "report"))
    folder = tempfile.mkdtemp(prefix="cuecast-tutorial.")
    processes = []
    try:
        for needed in ("Examples", ".build"):
            os.symlink(os.path.join(ROOT, needed), os.path.join(folder, needed))
        gateway = subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, text=True)
        processes.append(gateway)
        line = gateway.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r}"
        program = os.path.join(os.path.dirname(BINARY), "FirstAd")
        player = subprocess.Popen([program], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(player)
        until("the player listens", lambda: re.search(r"^cuecast_listeners 1$", get("/metrics"), re.M))
        subprocess.run(publish, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        # What a program prints into a pipe comes when it ends: what was played is known by the books.
        until("both advertisements are counted, or come too late", is_over, lasting=35)
        if counts("played") != [1, 1]:
            return False
        subprocess.run(report, cwd=folder, check=True)
        printed, _ = player.communicate("\n", timeout=RUN_PATIENCE)
        assert player.returncode == 0, player.returncode
        assert re.findall(r"^now playing: .+ for (\d+) s$", printed, re.M) == ["15", "10"], printed
        return True
    finally:
        for process in processes:
            process.kill()
            process.wait()
        shutil.rmtree(folder)


class Tutorial(unittest.TestCase):
    def test_followed_to_the_letter_an_ad_plays_and_is_counted(self):
        this = [sys.executable, os.path.abspath(__file__), IN_NETWORK_OF_ITS_OWN]
        may = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True).returncode == 0
        if may:
            done = subprocess.run(["unshare", "--map-root-user", "--net", *this], capture_output=True, text=True,
                                  timeout=RUN_PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        else:
            follow()


if __name__ == "__main__" and sys.argv[1:] == [IN_NETWORK_OF_ITS_OWN]:
    bring_loopback_up()
    follow()

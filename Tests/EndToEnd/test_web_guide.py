# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""docs/players/web.md, followed to the letter in a browser: its commands as they are written, on the ports that it names. Where the system
allows it that runs in a network of its own, so that no other gateway is in its way.

    scripts/end-to-end.sh WebGuide
"""
import itertools, json, os, re, shutil, subprocess, sys, tempfile, time, unittest, urllib.error, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Shared"))
from chromium import Browser
from harness import BINARY, PATIENCE, RUN_PATIENCE, ROOT, until
from test_tutorial import IN_NETWORK_OF_ITS_OWN, bring_loopback_up

PAGE = os.path.join(ROOT, "docs/players/web.md")
#: The widths of a telephone, a tablet and a screen.
WIDTHS = (320, 768, 1280)


def blocks(kind):
    with open(PAGE, encoding="utf-8") as page:
        return re.findall(rf"(?s)^```{kind}\n(.*?)^```", page.read(), re.M)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE):
            return True
    except urllib.error.URLError:
        return False


class Follower:
    """A person with a terminal and a browser, in a folder that has the repository's `clients`."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cuecast-guide.")
        shutil.copytree(os.path.join(ROOT, "clients"), os.path.join(self.folder, "clients"))
        self.environment = {**os.environ, "PATH": os.path.dirname(os.path.abspath(BINARY)) + ":" + os.environ["PATH"]}
        self.processes, self.browser = [], None

    def start(self, command):
        self.processes.append(subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.environment,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def run(self, commands):
        done = subprocess.run(["bash", "-ec", commands], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=RUN_PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def close(self):
        if self.browser:
            self.browser.close()
        for process in self.processes:
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder)


def played(name):
    """The outcomes of the break's ad, once it has one or its break is over."""
    def outcome():
        with urllib.request.urlopen(f"http://127.0.0.1:7480/v1/reports?stream=radio1&break={name}", timeout=PATIENCE) as answer:
            (report,) = json.load(answer)["breaks"]
        with urllib.request.urlopen("http://127.0.0.1:7480/v1/breaks?stream=radio1", timeout=PATIENCE) as answer:
            is_over = name in [each["break"] for each in json.load(answer)["breaks"] if each["state"] == "complete"]
        (counts,) = [ad["counts"] for ad in report["ads"]]
        return counts if any(counts[kind] for kind in ("played", "ignored", "failed")) or is_over else None
    return until("the ad has an outcome", outcome, lasting=20)


def follow():
    person = Follower()
    try:
        two_servers, publication = blocks("sh")
        gateway, server = two_servers.replace("\\\n", " ").strip().splitlines()
        (address,) = [each.strip() for each in blocks("text") if "127.0.0.1:8000" in each]
        person.start(gateway)
        person.start(server)
        until("the gateway answers", lambda: answers("http://127.0.0.1:7480/healthz"))
        until("the page is served", lambda: answers(address))
        person.browser = Browser()
        page = person.browser.page()
        page.go(address)
        for width in WIDTHS:
            page.show(width, 800)
            page.until(f"nothing is cut off at {width} points", "document.documentElement.scrollWidth <= innerWidth")
        page.click("#toggle")
        page.until("it listens", "window.listener?.state === 'listening' && window.listener.transport === 'webSocket'")
        # Where the machine is too slow for the ad, or for its sound, a person tries again.
        deadline = time.monotonic() + min(max(PATIENCE, 60), 400)
        for number in itertools.count(1):
            assert time.monotonic() < deadline, "the ad was not played, each time"
            name = f"b{number}"
            person.run(publication.replace("--break b1", f"--break {name}"))
            if played(name)["played"] == 1:
                break
        page.until("the page says that it is recorded", "/recorded/.test(document.querySelector('#log').textContent)")
        assert "A tone" in page.text("#log"), page.text()
        assert "tone" in person.run(f"cuecast report --stream radio1 --break {name}")
        for width in WIDTHS:
            page.show(width, 800)
            page.until(f"nothing is cut off at {width} points", "document.documentElement.scrollWidth <= innerWidth")
        assert not page.complaints, page.complaints
    finally:
        person.close()


class WebGuide(unittest.TestCase):
    def test_followed_to_the_letter_the_page_plays_an_ad(self):
        this = [sys.executable, os.path.abspath(__file__), IN_NETWORK_OF_ITS_OWN]
        may = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True).returncode == 0
        if may:
            done = subprocess.run(["unshare", "--map-root-user", "--net", *this], capture_output=True, text=True, timeout=RUN_PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        else:
            follow()


if __name__ == "__main__" and sys.argv[1:] == [IN_NETWORK_OF_ITS_OWN]:
    bring_loopback_up()
    follow()

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Debian's Chromium without a screen, driven by its DevTools protocol from Python's standard library.

    browser = Browser()
    page = browser.page(width=1280, height=800)
    page.go("http://127.0.0.1:7480/")
    page.until("the page has a heading", "document.querySelector('h1') !== null")
    page.screenshot("page.png")
    browser.close()

Messages go through two pipes (--remote-debugging-pipe), each ended by a zero byte: there is no port that another program could have.
https://chromedevtools.github.io/devtools-protocol/
"""
import base64, collections, json, os, shutil, signal, subprocess, tempfile, threading, time

BINARY = os.environ.get("CUECAST_CHROMIUM", "chromium")
#: How long anything may take before a test fails, in seconds (Tests/EndToEnd/harness.py).
PATIENCE = float(os.environ.get("CUECAST_TEST_PATIENCE", "20"))


class BrowserError(Exception):
    """What the browser refused, or a script that threw."""


class Browser:
    """A browser of its own, with a profile that is gone when it is closed."""

    def __init__(self, *flags):
        self.profile = tempfile.mkdtemp(prefix="cuecast-chromium.")
        (there, self.outgoing), (self.incoming, back) = os.pipe(), os.pipe()
        # The browser reads descriptor 3 and writes 4; the shell puts them there, whatever numbers they have here.
        arguments = [
            BINARY, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
            "--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
            "--disable-component-update", "--disable-background-networking", "--disable-sync", "--hide-scrollbars",
            "--mute-audio", "--autoplay-policy=no-user-gesture-required", "--force-color-profile=srgb", "--lang=en-GB", *flags]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")  # It refuses to run as root otherwise.
        self.messages = open(os.path.join(self.profile, "messages"), "wb")
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{there} 4>&{back}', *arguments], pass_fds=(there, back),
            stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages, start_new_session=True)
        os.close(there)
        os.close(back)
        self.changed = threading.Condition()
        self.answers, self.sessions, self.number, self.is_gone = {}, {}, 0, False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        rest = b""
        while part := os.read(self.incoming, 65_536):
            *whole, rest = (rest + part).split(b"\0")
            for each in whole:
                message = json.loads(each)
                with self.changed:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    elif message.get("sessionId") in self.sessions:
                        self.sessions[message["sessionId"]].take(message["method"], message["params"])
                    self.changed.notify_all()
        with self.changed:
            self.is_gone = True
            self.changed.notify_all()

    def call(self, method, session=None, **parameters):
        """Asks the browser for something, and waits for its answer."""
        with self.changed:
            self.number += 1
            number = self.number
            message = {"id": number, "method": method, "params": parameters}
            if session:
                message["sessionId"] = session
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self.outgoing, data):]
            came = self.changed.wait_for(lambda: number in self.answers or self.is_gone, PATIENCE)
            assert came, f"waited in vain for {method}"
            if number not in self.answers:
                raise BrowserError(f"the browser ended before it answered {method}:\n{self.said()}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def said(self):
        with open(self.messages.name, errors="replace") as file:
            return file.read()[-2_000:]

    def page(self, width=1280, height=800, **settings):
        """A new tab that shares no cookies or storage with others."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return self._attach(target, width, height, **settings)

    def opened_by(self, opener, width=1280, height=800):
        """The tab that a page has opened."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for each in self.call("Target.getTargets")["targetInfos"]:
                if each.get("openerId") == opener.target and not each["attached"]:
                    return self._attach(each["targetId"], width, height)
            assert time.monotonic() < deadline, "waited in vain for the tab that a page opens"
            time.sleep(0.05)

    def _attach(self, target, width, height, **settings):
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        with self.changed:
            self.sessions[session] = page
        for domain in ("Page", "Runtime", "Network", "Log", "DOM", "Accessibility"):
            page.call(domain + ".enable")
        page.show(width, height, **settings)
        return page

    def close(self):
        try:
            self.call("Browser.close")
        except (BrowserError, OSError):
            pass  # It is gone already.
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        for descriptor in (self.outgoing, self.incoming):
            os.close(descriptor)
        self.messages.close()
        shutil.rmtree(self.profile, ignore_errors=True)


#: Keeps answers to the page back, or writes others (`held.change`), by a part of their address and query.
HELD = r"""(() => {
    if (window.held) return;
    const held = window.held = { waiting: [], pattern: null, isBefore: false };
    const real = window.fetch;
    window.fetch = async (address, request) => {
        const url = address instanceof Request ? address.url : String(address);
        const isHeld = held.pattern && url.includes(held.pattern);
        if (!isHeld) return real(address, request);
        if (held.isBefore) await new Promise((go) => held.waiting.push(go));
        const answer = await real(address, request);
        if (held.isBefore) return answer;
        const text = await answer.text();
        if (held.change) return held.change(text);
        await new Promise((go) => held.waiting.push(go));
        return new Response(text, { status: answer.status, headers: answer.headers });
    };
})()"""


class Page:
    """A tab: what it shows, what it asked for, and what it complained about."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        #: The URL of every request that the page made, in order.
        self.requests = []
        #: Every error and warning of the console, uncaught exceptions among them.
        self.complaints = []
        self.seen = collections.Counter()

    def take(self, method, parameters):
        """An event; called with the browser's lock."""
        self.seen[method] += 1
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(parameters["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            said = " ".join(str(each.get("value", each.get("description", ""))) for each in parameters["args"])
            self.complaints.append(f"{parameters['type']}: {said}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            self.complaints.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}".rstrip())

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def show(self, width, height, scale=1, mobile=False, dark=False, reduced_motion=False):
        """Sets what the page is shown on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def go(self, url):
        """Loads a page, and waits until all of it is there."""
        before = self.seen["Page.loadEventFired"]
        failure = self.call("Page.navigate", url=url).get("errorText")
        if failure:
            raise BrowserError(f"{url}: {failure}")
        with self.browser.changed:
            came = self.browser.changed.wait_for(
                lambda: self.seen["Page.loadEventFired"] > before or self.browser.is_gone, PATIENCE)
        assert came and not self.browser.is_gone, f"{url} was never loaded"

    def back(self):
        """Goes back to the page before, which may have been kept as it was; waits until it is shown."""
        before = self.seen["Page.frameNavigated"]
        history = self.call("Page.getNavigationHistory")
        self.call("Page.navigateToHistoryEntry", entryId=history["entries"][history["currentIndex"] - 1]["id"])
        with self.browser.changed:
            came = self.browser.changed.wait_for(
                lambda: self.seen["Page.frameNavigated"] > before or self.browser.is_gone, PATIENCE)
        assert came and not self.browser.is_gone, "the page before was never shown"

    def open(self, url):
        """A window that the page opens: with a copy of its sessionStorage, as a tab that is duplicated has it. Both are seen:
        a browser loads no media for a tab that never was."""
        self.evaluate(f"void window.open({json.dumps(url)}, '', 'popup')")
        return self.browser.opened_by(self)

    def kill(self):
        """Kills the processes of all tabs, as the system does that has no memory left, and waits until this one is known to be
        gone; then it can be loaded anew."""
        self.call("Inspector.enable")
        before = self.seen["Inspector.targetCrashed"]
        for each in self.browser.call("SystemInfo.getProcessInfo")["processInfo"]:
            if each["type"] == "renderer":
                os.kill(each["id"], signal.SIGKILL)
        with self.browser.changed:
            came = self.browser.changed.wait_for(
                lambda: self.seen["Inspector.targetCrashed"] > before or self.browser.is_gone, PATIENCE)
        assert came and not self.browser.is_gone, "the tab never crashed"

    def close(self):
        """Closes the tab, as a person does."""
        self.call("Page.close")

    def leave(self):
        """Closes the tab if it is still there."""
        try:
            self.browser.call("Target.closeTarget", targetId=self.target)
        except BrowserError:
            pass

    def evaluate(self, expression):
        """What an expression of JavaScript gives, as JSON has it; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, what, expression):
        """Waits until an expression gives something true, and returns it; fails with what was waited for."""
        deadline, pause = time.monotonic() + PATIENCE, 0.05
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, f"waited in vain: {what}\n{self.text()}\n{self.complaints}"
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)
        return value

    def hold(self, pattern, before=False):
        """From now on the page gets no answer from addresses with a part, until it is let go; `before`: it does not even ask."""
        self.evaluate(HELD)
        self.evaluate(f"held.pattern = {json.dumps(pattern)}; held.isBefore = {json.dumps(before)}")

    def until_held(self, count=1):
        self.until(f"{count} answers are held back", f"held.waiting.length >= {count}")

    def let_go(self, place=0):
        """Gives the page one of the answers that were held back, and holds no more of them."""
        self.evaluate(f"held.pattern = null; held.waiting.splice({place}, 1)[0]()")

    def text(self, selector="body"):
        """What a person reads in an element."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText")

    def press(self, key, code=None, text=None, modifiers=0):
        """Presses and lets go of a key: Tab, Enter, Escape, ArrowDown, or one character."""
        known = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}
        number = known.get(key, ord(key[0].upper()))
        if text is None:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                      modifiers=modifiers, **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def focus(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def click(self, selector):
        """Clicks into the middle of the first element that matches, as a mouse does, once it stands still and nothing covers it.
        Where it moved away under the mouse all the same, it is clicked again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            place = self.evaluate(f"""(async () => {{
                const element = document.querySelector({json.dumps(selector)});
                element.scrollIntoView({{block: "center", behavior: "instant"}});
                const middle = () => {{
                    const box = element.getBoundingClientRect();
                    return [box.x + box.width / 2, box.y + box.height / 2];
                }};
                const [x, y] = middle();
                await new Promise((done) => setTimeout(done, 40));
                const isStill = middle().join() === [x, y].join();
                if (!isStill || !element.contains(document.elementFromPoint(x, y))) return null;
                window.clickOfTest = "none";
                addEventListener("click", (event) => {{ window.clickOfTest = element.contains(event.target) ? "hit" : "missed"; }},
                                 {{ capture: true, once: true }});
                return [x, y];
            }})()""")
            if place:
                for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                    self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1],
                              button="none" if kind == "mouseMoved" else "left", clickCount=0 if kind == "mouseMoved" else 1)
                # Another page knows nothing of it: the click led there.
                if self.evaluate("window.clickOfTest") not in ("none", "missed"):
                    return
            assert time.monotonic() < deadline, f"{selector} cannot be clicked: it moves, or something covers it\n{self.text()}"

    def accessibility(self):
        """What a screen reader is told: role, name and whether it can be focused of every node that is not passed over."""
        nodes = []
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
                nodes.append({"role": node.get("role", {}).get("value"), "name": node.get("name", {}).get("value", ""),
                              "value": node.get("value", {}).get("value"), **properties})
        return nodes

    def screenshot(self, path, whole=False):
        """Writes a PNG of what is to be seen, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

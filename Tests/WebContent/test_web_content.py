# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Web content in WebKit itself: the scripts that measure it (Sources/AdPresentation/Content/Web/WebContent.swift), and links.

    make test-web

Needs WebKitGTK and Xvfb. Documents are loaded into a view of a known size, and the script says how high their content is.
Waits end when WebKit tells something, not after some time.
"""
import atexit
import os
import re
import subprocess
import unittest
from pathlib import Path


def start_display():
    """A screen of our own, which ends with us; the server chooses its number."""
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
                              pass_fds=[writing], stderr=subprocess.DEVNULL)
    atexit.register(server.kill)
    os.close(writing)
    with os.fdopen(reading) as number:
        os.environ["DISPLAY"] = f":{int(number.readline())}"
    os.environ["GDK_BACKEND"] = "x11"
    # There is no session to talk to.
    os.environ["NO_AT_BRIDGE"] = "1"


start_display()
import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2

SOURCE = Path(__file__).resolve().parents[2] / "Sources/AdPresentation/Content/Web/WebContent.swift"
VIEW_WIDTH, VIEW_HEIGHT = 320, 400


def script(name):
    """A script as the Swift source has it."""
    text = SOURCE.read_text()
    found = re.search(rf'static let {name} = """\n(.*?)\n        """', text, re.S)
    if found is None:
        raise AssertionError(f"{SOURCE} has no {name}")
    inner = found[1].replace("\\(heightMessage)", message())
    return inner.replace("\\(heightScript)", script("heightScript")) if "\\(heightScript)" in inner else inner


def message():
    return re.search(r'static let heightMessage = "(\w+)"', SOURCE.read_text())[1]


class Page:
    """A document in a view."""

    def __init__(self, html):
        self.heights = []
        manager = WebKit2.UserContentManager()
        # As on Apple's systems: in a world of its own, at the end of the document, in the main frame only.
        manager.register_script_message_handler_in_world(message(), "Cuecast")
        manager.connect(f"script-message-received::{message()}", self.told)
        manager.add_script(WebKit2.UserScript.new_for_world(
            script("observingScript"), WebKit2.UserContentInjectedFrames.TOP_FRAME,
            WebKit2.UserScriptInjectionTime.END, "Cuecast", None, None))
        self.view = WebKit2.WebView(user_content_manager=manager)
        self.fault = None
        self.view.connect("web-process-terminated", self.terminated)
        self.window = Gtk.Window()
        self.window.set_default_size(VIEW_WIDTH, VIEW_HEIGHT)
        self.window.add(self.view)
        self.window.show_all()
        self.wait(lambda: self.view.get_allocated_height() == VIEW_HEIGHT)
        self.view.connect("load-changed", self.loaded)
        self.is_loaded = False
        self.view.load_html(html, "https://example.org/")
        self.wait(lambda: self.is_loaded)

    def loaded(self, view, event):
        self.is_loaded = event == WebKit2.LoadEvent.FINISHED

    def terminated(self, view, reason):
        self.fault = f"the process of the page ended: {reason.value_nick}"

    def told(self, manager, result):
        self.heights.append(result.get_js_value().to_double())

    def wait(self, condition):
        while not condition():
            if self.fault:
                raise AssertionError(self.fault)
            GLib.MainContext.default().iteration(True)

    def run(self, text):
        """The value of a script, as a number."""
        values = []

        def done(view, result):
            values.append(view.evaluate_javascript_finish(result).to_double())

        self.view.evaluate_javascript(text, -1, None, None, None, done)
        self.wait(lambda: values)
        return values[0]

    def height(self):
        return self.run(script("heightScript"))

    def resize(self, width):
        self.window.resize(width, VIEW_HEIGHT)
        self.wait(lambda: self.view.get_allocated_width() == width)
        # The document learns of it a little later.
        while self.run("window.innerWidth") != width:
            pass

    def close(self):
        self.window.destroy()


PIXELS = "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='32' height='16'></svg>"
BLOCK = "<div style='height:{}px'></div>"
STANDARD = "<!doctype html><meta name='viewport' content='width=device-width'>"


class Heights(unittest.TestCase):
    def page(self, html):
        page = Page(html)
        self.addCleanup(page.close)
        return page

    def test_content_that_is_lower_than_the_view_has_its_own_height(self):
        documents = {
            "an image as wide as the view": (
                STANDARD + f"<body style='margin:0'><img style='width:100%;display:block' src=\"{PIXELS}\"></body>", 160),
            "a block": (STANDARD + "<body style='margin:0'>" + BLOCK.format(50), 50),
            "a block and the margins of the body": (STANDARD + BLOCK.format(50), 66),
            "quirks mode": ("<body style='margin:0'>" + BLOCK.format(50), 50),
            "quirks mode and the margins of the body": (BLOCK.format(50), 66),
            "placed absolutely": (
                STANDARD + "<body style='margin:0'><div style='position:absolute;top:20px;height:70px;width:9px'></div>", 90),
            "nothing": (STANDARD + "<body style='margin:0'>", 0),
        }
        for name, (html, expected) in documents.items():
            with self.subTest(name):
                page = self.page(html)
                self.assertEqual(page.height(), expected)
                self.assertGreaterEqual(page.run("document.documentElement.scrollHeight"), VIEW_HEIGHT, "what hid it")

    def test_content_that_is_higher_than_the_view_has_its_own_height(self):
        for head in (STANDARD, ""):
            self.assertEqual(self.page(head + "<body style='margin:0'>" + BLOCK.format(900)).height(), 900)
        overflowing = "<body style='margin:0'><div style='height:10px'>" + BLOCK.format(700) + "</div>"
        self.assertEqual(self.page(STANDARD + overflowing).height(), 700)

    def test_a_document_that_was_scrolled_has_the_same_height(self):
        page = self.page(STANDARD + "<body style='margin:0'>" + BLOCK.format(900))
        page.run("window.scrollTo(0, 300), 1")
        self.assertEqual(page.height(), 900)

    def test_every_change_is_told_up_and_down(self):
        page = self.page(STANDARD + "<body style='margin:0'><div id='a' style='height:50px'></div>")
        for height in (120, 30, 600, 10):
            page.run(f"document.getElementById('a').style.height = '{height}px', 1")
            page.wait(lambda: page.heights and page.heights[-1] == height)

    def test_a_view_of_another_width_has_another_height(self):
        page = self.page(
            STANDARD + f"<body style='margin:0'><img style='width:100%;display:block' src=\"{PIXELS}\"></body>")
        self.assertEqual(page.height(), 160)
        for width in (640, 240):
            page.resize(width)
            page.wait(lambda: page.heights and page.heights[-1] == width / 2)


class Links(unittest.TestCase):
    def test_a_link_is_offered_before_it_is_followed_whatever_its_scheme(self):
        refused = re.search(r'static let refusedLink = "([^"]+)"', SOURCE.read_text())[1]
        for link in (refused, "https://shop.example/a?b=1&c=2#d"):
            page = Page(STANDARD + f"<a id='a' href='{link.replace('&', '&amp;')}'>x</a>")
            self.addCleanup(page.close)
            offered = []

            def decide(view, decision, kind):
                action = decision.get_navigation_action()
                offered.append((action.get_navigation_type(), action.get_request().get_uri()))
                decision.ignore()
                return True

            page.view.connect("decide-policy", decide)
            page.run("document.getElementById('a').click(), 1")
            page.wait(lambda: offered)
            self.assertEqual(offered, [(WebKit2.NavigationType.LINK_CLICKED, link)])


if __name__ == "__main__":
    unittest.main()

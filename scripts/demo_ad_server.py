# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""An ad server of scripts/demo-broadcast.sh.

    demo_ad_server.py FILE      says `ready http=HOST:PORT`, and writes each request to FILE, one JSON object on a line

    /vast                       a wrapper of a partner's address, which redirects twice to an ad in line
    /vast?…audience=cars        a pod of two ads
    /abroad                     a document without ads
"""
import signal

# Ctrl-C ends the demo without a trace of this program's calls, also while it is still being loaded.
signal.signal(signal.SIGINT, signal.SIG_DFL)

import http.server, json, os, sys, threading, urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/EndToEnd"))
from ad_server import inline, vast, wrapper

#: Where a partner's address leads, one after the other.
REDIRECTS = {"/partner": "/partner/eu", "/partner/eu": "/spring"}


def document(path, audience, base):
    """The document of an address; None: it has none."""
    if path == "/vast" and audience == "cars":
        return vast(inline("Winter tyres", seconds=5, place='sequence="1"'), inline("Fuel card", seconds=4, place='sequence="2"'))
    return {"/vast": vast(wrapper(base + "/partner")), "/spring": vast(inline("Spring sale", seconds=8)), "/abroad": vast()}.get(path)


def serve(file):
    """Serves for ever."""
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            target = urllib.parse.urlsplit(self.path)
            audience = urllib.parse.parse_qs(target.query).get("audience", [""])[0]
            host, port = self.server.server_address
            with lock:
                file.write(json.dumps({"path": target.path, "audience": audience}) + "\n")
                file.flush()
            found = document(target.path, audience, f"http://{host}:{port}")
            if target.path in REDIRECTS:
                self.answer(302, b"", Location=REDIRECTS[target.path])
            elif found is None:
                self.send_error(404)
            else:
                self.answer(200, found.encode(), **{"Content-Type": "application/xml"})

        def answer(self, status, body, **fields):
            self.send_response(status)
            for name, value in {"Content-Length": len(body), **fields}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size, daemon_threads = 64, True

    server = Server(("127.0.0.1", 0), Handler)
    print(f"ready http=127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as requests:
        serve(requests)

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""An ad server of the tests, which does what a test says, down to the bytes of the connection; and VAST documents."""
import socket, ssl, threading
from xml.sax.saxutils import escape

TRACK = "https://track.example.com"


def vast(*ads, version="4.2", error=None):
    """A document of these ads."""
    error = f"<Error><![CDATA[{error}]]></Error>" if error else ""
    return f'<VAST version="{version}">{error}{"".join(ads)}</VAST>'


def inline(title, seconds=15, place="", media=True, error=None, inside=""):
    """An ad in line."""
    media = '<MediaFile delivery="progressive" type="audio/mpeg">https://cdn.example.com/a.mp3</MediaFile>' if media else ""
    error = f"<Error><![CDATA[{error}]]></Error>" if error else ""
    return (f'<Ad id="{escape(title)}" {place}><InLine><AdSystem>Tests</AdSystem><AdTitle>{escape(title)}</AdTitle>{error}'
            f"<Impression>{TRACK}/{escape(title)}</Impression>{inside}<Creatives><Creative><Linear>"
            f"<Duration>00:00:{seconds:02}</Duration><MediaFiles>{media}</MediaFiles></Linear></Creative></Creatives></InLine></Ad>")


def wrapper(url, attributes="", place="", error=None, inside=""):
    """A wrapper of an address."""
    error = f"<Error><![CDATA[{error}]]></Error>" if error else ""
    return (f"<Ad {place}><Wrapper {attributes}><AdSystem>Tests</AdSystem><VASTAdTagURI><![CDATA[{url}]]></VASTAdTagURI>{error}"
            f"<Impression>{TRACK}/wrapper</Impression>{inside}</Wrapper></Ad>")


def answer(body, status=200, headers=()):
    """An answer over HTTP, whole."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Content-Type: application/xml", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class AdServer:
    """Listens on a port of its own; for each path a function gets the connection, and says or sends what it likes.

    What such a function returns is sent as a whole answer; `None`: it has sent what it wanted.
    """

    def __init__(self, certificate=None):
        self.pages = {}
        #: The targets that were asked for, and their headers in lower case.
        self.asked = []
        self.over = threading.Event()
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"{'https' if self.context else 'http'}://{host}:{self.port}{path}"

    def serve(self, path, body, status=200, headers=()):
        """Answers a path with a body."""
        self.pages[path] = lambda _: answer(body, status, headers)

    def redirect(self, path, target, status=302):
        self.pages[path] = lambda _: answer("", status, [f"Location: {target}"])

    def raw(self, path, sent):
        """Sends bytes as they are, and closes."""
        self.pages[path] = lambda connection: connection.sendall(sent)

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(65_536)
                if not part:
                    return
                head += part
            lines = head.decode("latin-1").split("\r\n")
            target = lines[0].split(" ")[1]
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            self.asked.append((target, headers))
            page = self.pages.get(target.split("?")[0])
            said = page(connection) if page else answer("", 404)
            if said is not None:
                connection.sendall(said)
        except OSError:
            pass  # The other side has had enough.
        finally:
            connection.close()

    def close(self):
        self.over.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

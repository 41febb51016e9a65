# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Radio servers for tests: a real Icecast with a source that tests drive, or Liquidsoap; and a small one that speaks ICY as SHOUTcast does."""
import base64, http.client, os, shutil, socket, socketserver, subprocess, tempfile, threading, urllib.parse, urllib.request, wave

from harness import PATIENCE, HeldPort, until

ICECAST = shutil.which("icecast2", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin")
LIQUIDSOAP = shutil.which("liquidsoap", path=os.environ.get("PATH", "") + ":/usr/bin")
MOUNT = "/radio.mp3"
PASSWORD = "a-password-of-tests"
#: No source and no listener is given up because the machine is slow.
CONFIGURATION = """<icecast>
  <limits><clients>20</clients><sources>2</sources><burst-size>4096</burst-size><queue-size>16777216</queue-size>
    <source-timeout>3600</source-timeout><client-timeout>3600</client-timeout><header-timeout>3600</header-timeout></limits>
  <authentication><source-password>{password}</source-password><admin-user>admin</admin-user>
    <admin-password>{password}</admin-password></authentication>
  <hostname>localhost</hostname>
  <listen-socket><port>{port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
  <paths><basedir>{folder}</basedir><logdir>{folder}</logdir><webroot>{folder}</webroot><adminroot>{folder}</adminroot></paths>
  <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>3</loglevel></logging>
  <security><chroot>0</chroot>{owner}</security>
</icecast>
"""


def authorization(user):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()}


class Icecast:
    """An Icecast process with one mount, and a source that sends bytes to it until it is closed.

    With `plays=False` it waits for another source.
    """

    def __init__(self, plays=True):
        self.plays = plays
        self.folder = tempfile.mkdtemp(prefix="cuecast-icecast.")
        os.chmod(self.folder, 0o777)
        self.port = HeldPort()
        # It refuses to run as root, and becomes another user.
        owner = "<changeowner><user>nobody</user><group>nogroup</group></changeowner>" if os.getuid() == 0 else ""
        with open(self.folder + "/icecast.xml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(password=PASSWORD, port=self.port.address.split(":")[1], folder=self.folder, owner=owner))
        self.url = f"http://{self.port.address}{MOUNT}"
        self.stopping, self.source = threading.Event(), None
        self.start()

    def start(self):
        self.process = subprocess.Popen([ICECAST, "-c", self.folder + "/icecast.xml"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        until("Icecast listens", self.is_listening)
        self.stopping.clear()
        if not self.plays:
            return
        self.source = threading.Thread(target=self.send, daemon=True)
        self.source.start()
        self.wait_for_mount()

    def wait_for_mount(self):
        until("Icecast has the mount", lambda: self.ask("/admin/listmounts").find(MOUNT) >= 0)

    def is_listening(self):
        assert self.process.poll() is None, f"Icecast ended: {open(self.folder + '/error.log', encoding='utf-8').read()}"
        try:
            socket.create_connection(self.address(), PATIENCE).close()
            return True
        except OSError:
            return False

    def address(self):
        host, port = self.port.address.split(":")
        return host, int(port)

    def send(self):
        """Sends audio that is none, about 800 kbit/s, so that metadata is soon due."""
        with socket.create_connection(self.address(), PATIENCE) as connection:
            head = {"Content-Type": "audio/mpeg", "Ice-Name": "Tests", "Ice-Public": "0", **authorization("source")}
            lines = [f"SOURCE {MOUNT} HTTP/1.0", *(f"{name}: {value}" for name, value in head.items()), "", ""]
            connection.sendall("\r\n".join(lines).encode())
            while not self.stopping.wait(0.02):
                try:
                    connection.sendall(b"\xFF\xFB" + bytes(1_998))
                except OSError:
                    return

    def ask(self, path):
        connection = http.client.HTTPConnection(*self.address(), timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=authorization("admin"))
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def play(self, title):
        """Sets the title."""
        query = urllib.parse.urlencode({"mount": MOUNT, "mode": "updinfo", "song": title, "charset": "UTF-8"})
        assert "successful" in self.ask(f"/admin/metadata?{query}")

    def stop(self):
        self.stopping.set()
        if self.source is not None:
            self.source.join(PATIENCE)
        self.process.kill()
        self.process.wait()

    def close(self):
        self.stop()
        self.port.close()
        shutil.rmtree(self.folder)


SCRIPT = """settings.init.allow_root.set(true)
settings.log.file.set(false)
radio = playlist(mode="normal", "{folder}/list.m3u")
output.icecast(%mp3(bitrate=64), host="{host}", port={port}, password="{password}", mount="{mount}", fallible=true, radio)
"""


class Liquidsoap:
    """A Liquidsoap process that plays a song, a marker and another song to an Icecast, again and again."""

    #: The title and the seconds of each element.
    ELEMENTS = (("A song", 8), ("START_AD_BREAK", 8), ("Another song", 8))

    def __init__(self, icecast):
        self.folder = tempfile.mkdtemp(prefix="cuecast-liquidsoap.")
        with open(self.folder + "/list.m3u", "w", encoding="utf-8") as list_file:
            for number, (title, seconds) in enumerate(self.ELEMENTS):
                path = f"{self.folder}/{number}.wav"
                with wave.open(path, "wb") as file:
                    file.setparams((2, 2, 44_100, 0, "NONE", ""))
                    file.writeframes(bytes(4 * 44_100 * seconds))
                list_file.write(f'annotate:title="{title}",artist="{title}":{path}\n')
        host, port = icecast.address()
        with open(self.folder + "/radio.liq", "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(folder=self.folder, host=host, port=port, password=PASSWORD, mount=MOUNT[1:]))
        self.process = subprocess.Popen([LIQUIDSOAP, self.folder + "/radio.liq"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        icecast.wait_for_mount()

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


class RadioServer:
    """A server that answers `ICY 200 OK`; tests say what it plays, and may close all connections."""

    def __init__(self, interval=64, tls=None):
        self.interval, self.blocks, self.connections, self.lock = interval, [b"StreamTitle='A song';"], [], threading.Condition()
        #: What the next answers are; empty: the stream.
        self.answers = []
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                outer.answer(self)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads = True, True

            def handle_error(self, *_):
                pass  # The watcher closed its connection.

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            # The handshake is made by the thread of the connection.
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.server.server_address[1]}/live"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def answer(self, handler):
        while handler.rfile.readline().strip():
            pass
        with self.lock:
            self.connections.append(handler.connection)
            answer = self.answers.pop(0) if self.answers else None
        try:
            if answer is not None:
                handler.wfile.write(answer)
                return
            handler.wfile.write(f"ICY 200 OK\r\nicy-name:Tests\r\nicy-metaint:{self.interval}\r\n\r\n".encode())
            told = len(self.blocks) - 1
            while True:
                block = b""
                with self.lock:
                    if told < len(self.blocks):
                        block, told = self.blocks[told], told + 1
                    else:
                        self.lock.wait(0.05)
                units = (len(block) + 15) // 16
                handler.wfile.write(b"\xFF" * self.interval + bytes([units]) + block.ljust(16 * units, b"\0"))
        except OSError:
            pass

    def play(self, text):
        """Sends a block of metadata to everyone; new listeners get the last one."""
        with self.lock:
            self.blocks.append(text.encode())
            self.lock.notify_all()

    def drop(self):
        """Closes all connections."""
        with self.lock:
            connections, self.connections = self.connections, []
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.drop()

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The access modes of the listeners' ports: plain, TLS, tokens, behind a balancer, or with WebSocket.

A mode gives the gateway its settings, and the honest listeners their options."""
import contextlib, json, os, secrets, shutil, socket, subprocess, sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "Benchmarks"))

import measuring, tokens
from swarm import BALANCER, host_port

#: What the streams begin with that ask for a token.
GUARDED = "guarded-"


class AccessMode:
    """Nothing is asked for."""
    #: What the streams begin with of those that have one connection.
    stream_prefix = ""

    def __init__(self, folder, binary):
        self.folder, self.binary = folder, binary
        #: What goes behind the gateway's command.
        self.settings = []
        #: Words for the load tool: of all, and of those that have one connection.
        self.words, self.words_of_one = [], []
        #: What attacks are told.
        self.told = {}
        self.prepare()

    def prepare(self):
        pass

    def of_one(self, addresses):
        """The addresses of the honest listeners that have one connection."""
        return addresses

    def file(self, name):
        return os.path.join(self.folder, name)

    def set(self, **values):
        for name, value in values.items():
            self.settings += ["--set", f"listeners.{name.replace('_', '.')}={value}"]

    def secret(self, name, text):
        """A file that only its owner may read."""
        with open(os.open(self.file(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return self.file(name)

    @contextlib.contextmanager
    def honest(self, addresses):
        """The addresses that honest listeners use."""
        yield addresses


class Encrypted(AccessMode):
    """TLS, with a certificate that the honest listeners trust."""

    def prepare(self):
        certificate, key = measuring.certificate(self.folder)
        self.set(tls_certificateFile=certificate, tls_keyFile=key)
        self.words = ["--tls", "--listener-ca-file", certificate]


class Guarded(AccessMode):
    """Streams that ask for a token. Honest listeners with one connection listen to one, those with two to another that asks for none."""
    stream_prefix = GUARDED

    def command(self, *words):
        return subprocess.run([self.binary, "token", *words], check=True, capture_output=True, text=True).stdout

    def prepare(self):
        keys, secret = [], self.file("es256.json")
        for algorithm in ("ES256", "EdDSA"):
            path = self.file(algorithm.lower() + ".json")
            self.command("new-keys", "--out", path, "--algorithm", algorithm, "--key-id", algorithm)
            keys += json.loads(self.command("public", "--keys", path))["keys"]
        for key in keys:
            key["state"] = "verify-only"
        keys.append({"kty": "oct", "kid": "HS256", "alg": "HS256", "k": tokens.part(secrets.token_bytes(32)), "state": "verify-only"})
        self.set(tokenKeysFile=self.secret("keys.json", json.dumps({"keys": keys})), protectedStreams=GUARDED + "*",
                 sessionsPerSubjectMax=0)
        token = self.command("make", "--keys", secret, "--subject", "honest", "--stream", GUARDED + "*", "--expires-in", "24h").strip()
        self.words_of_one = ["--listener-token-file", self.secret("token", token + "\n")]
        # An attacker may listen too: it has true tokens of its own, and the public keys.
        own = lambda *words: self.command("make", "--keys", secret, "--subject", "attacker", "--expires-in", "24h", *words).strip()
        self.told = {"token": own("--stream", GUARDED + "*"), "other_stream_token": own("--stream", "elsewhere"),
                     "other_audience_token": own("--stream", GUARDED + "*", "--audience", "other"),
                     "other_issuer_token": own("--stream", GUARDED + "*", "--issuer", "other"),
                     "short_token": self.command("make", "--keys", secret, "--subject", "attacker", "--stream", GUARDED + "*",
                                                 "--expires-in", "1s").strip(),
                     "public_keys": [key for key in keys if key["kty"] != "oct"]}


class Balanced(AccessMode):
    """A balancer says who comes: HAProxy, by which the honest listeners come. No other client is let in."""

    def prepare(self):
        self.set(proxyProtocol_trusted=BALANCER)

    @contextlib.contextmanager
    def honest(self, addresses):
        program = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            raise OSError("haproxy is missing: run scripts/setup.sh test")
        found, parts, listening = dict(addresses), [], []
        for name in ("notices", "requests"):
            address = addresses.get(name)
            if not address:
                continue
            # HAProxy is given a socket that listens already: no port can be taken meanwhile.
            listener = socket.create_server(("127.0.0.1", 0), backlog=4_096)
            listener.set_inheritable(True)
            listening.append(listener)
            parts.append(f"listen {name}\n bind fd@{listener.fileno()}\n"
                         f" server gateway 127.0.0.1:{host_port(address)[1]} send-proxy-v2 source {BALANCER}\n")
            found[name] = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        path = self.file("haproxy.cfg")
        with open(path, "w") as file:
            file.write("defaults\n mode tcp\n timeout connect 1h\n timeout client 1h\n timeout server 1h\n" + "".join(parts))
        process = subprocess.Popen([program, "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   pass_fds=[each.fileno() for each in listening])
        try:
            yield found
        finally:
            process.terminate()
            process.wait()
            for each in listening:
                each.close()


class WithWebSocket(AccessMode):
    """A port for WebSocket, by which the honest listeners come that have one connection."""

    def prepare(self):
        self.set(webSocket="127.0.0.1:0")
        self.words_of_one = ["--websocket"]

    def of_one(self, addresses):
        address = addresses["websocket"].replace("ws://", "tcp://")
        return {**addresses, "notices": address, "requests": address}


ACCESS_MODES = {"plain": AccessMode, "tls": Encrypted, "tokens": Guarded, "proxy": Balanced, "websocket": WithWebSocket}

# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""One run with every secret that there is: none of them is in anything that the run leaves or says."""
import base64, contextlib, json, os, re, signal, socket, ssl, struct, subprocess, tempfile, time, unittest, unittest.mock, urllib.error, urllib.request

import zmq
import zmq.utils.z85

from harness import BINARY, PATIENCE, RUN_PATIENCE, LoggedGateway, ad, broadcast_pb2, listener_pb2, run_patiently, status_pb2, until
from test_curve import Keys
from test_tls import Certificate, RawListener, joined, port
from test_tokens import decoded, part, token_by

LOAD = os.path.join(os.path.dirname(BINARY), "cuecast-load")
OK = status_pb2.STATUS_CODE_OK


def forms(raw):
    """How a secret may look: as bytes, and as texts that bytes are written as."""
    found = [raw, raw.hex().encode(), raw.hex().upper().encode(), raw.hex(" ").encode(),
             base64.b64encode(raw).rstrip(b"="), base64.urlsafe_b64encode(raw).rstrip(b"=")]
    # Behind other bytes its base64 looks otherwise; what does not depend on them is in the middle.
    for before in (1, 2):
        inner = base64.b64encode(b"\0" * before + raw).rstrip(b"=")[4:-1]
        found += [inner, inner.replace(b"+", b"-").replace(b"/", b"_")]
    if len(raw) % 4 == 0:
        found.append(zmq.utils.z85.encode(raw))
    return found


class Search:
    """Looks for secrets in files below folders, and in what was said."""

    def __init__(self):
        self.secrets = {}

    def add(self, name, raw):
        self.secrets.setdefault(name, set()).update(forms(raw))
        assert len(raw) >= 16, name

    def add_text(self, name, text):
        """A secret that is text; also whatever its bytes may be written as."""
        self.add(name, text.encode())

    def add_token(self, name, token):
        """A token: whole, and the signature that makes it one."""
        self.add_text(name, token)
        signature = token.rsplit(".", 1)[1]
        self.secrets[name].add(signature.encode())
        self.add(name, decoded(signature))

    def found(self, texts):
        """(secret, where) of whatever is found."""
        return sorted({(name, where) for where, text in texts.items() for name, each in self.secrets.items()
                       if any(form in text for form in each)})


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Secrets(unittest.TestCase):
    def setUp(self):
        # Secrets lie in one folder; everything that a run writes goes to others, and those are searched.
        for name in ("keys", "written"):
            folder = tempfile.TemporaryDirectory(prefix=f"cuecast-{name}.")
            self.addCleanup(folder.cleanup)
            setattr(self, name, folder.name)
        self.search, self.said = Search(), []

    # MARK: What there is to keep

    def path(self, name):
        return os.path.join(self.keys, name)

    def write(self, name, text):
        path = self.path(name)
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        os.replace(path + ".new", path)
        return path

    def make_secrets(self):
        self.server, self.studio, self.stranger = (Keys(self.keys, name) for name in ("gateway", "studio", "stranger"))
        for keys in (self.server, self.studio, self.stranger):
            self.search.add(f"the secret key of {keys.name}", zmq.utils.z85.decode(keys.secret))
            self.search.secrets[f"the secret key of {keys.name}"].add(keys.secret[:39].encode())
        self.certificate = Certificate(self.keys)
        self.trusted = self.certificate.renew("secrets")
        self.add_private_key()
        self.listener_key = {"kid": "one", "k": part(os.urandom(32))}
        self.search.add("the listeners' key", decoded(self.listener_key["k"]))
        self.write_listener_keys()

    def add_private_key(self):
        pem = read(self.certificate.key).decode()
        der = base64.b64decode("".join(line for line in pem.splitlines() if "-" not in line))
        # The number that is the key: an octet string of 32 bytes behind the version of an ECPrivateKey. (RFC 5915)
        place = der.index(b"\x02\x01\x01\x04\x20") + 5
        self.search.add("the key of the certificate", der[place:place + 32])
        # The first line says only what kind of key it is.
        for line in pem.splitlines()[2:-1]:
            self.search.secrets["the key of the certificate"].add(line.encode()[:40])

    def listener_keys(self, **changes):
        return json.dumps({"keys": [{"kty": "oct", "alg": "HS256", "state": "signing", **self.listener_key, **changes}]})

    def write_listener_keys(self):
        self.write("listener-keys.json", self.listener_keys())

    def claims(self, **changes):
        return {"iss": "cuecast", "aud": "cuecast", "sub": "alice", "exp": int(time.time()) + 36_000, "streams": ["paid1"], **changes}

    # MARK: What is done

    def data(self, name=""):
        return os.path.join(self.gateway.folder, "data", name)

    def start(self, *more):
        broadcasters = self.write("broadcasters.yaml", json.dumps(
            {"broadcasters": [{"name": "studio", "keys": [self.studio.public], "streams": ["paid*", "open*"]}]}))
        arguments = [flag for setting in (
            "logLevel=trace", f"broadcasters.secretKeyFile={self.server.secret_file}", f"broadcasters.file={broadcasters}",
            f"listeners.tokenKeysFile={self.path('listener-keys.json')}", "listeners.protectedStreams=paid*",
            "http.openReads=metrics", *more) for flag in ("--set", setting)]
        self.gateway = LoggedGateway(self.written, *arguments)
        self.addCleanup(self.gateway.close)

    def command(self, *arguments, code=None, keys=None, server=None):
        """Runs a command; whatever it says is searched."""
        environment = dict(self.gateway.environment, CUECAST_DATA_DIR=self.data())
        if keys:
            environment.update(CUECAST_KEY_FILE=keys.secret_file, CUECAST_GATEWAY_KEY_FILE=(server or self.server).public_file)
        done = run_patiently([BINARY, *arguments], code, env=environment)
        self.said.append(done.stdout + done.stderr)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout

    def ask(self, path, token=None, method="GET", body=None, **headers):
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request(f"http://{self.gateway.addresses['http']}{path}", method=method, headers=headers, data=body)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                status, text = answer.status, str(answer.headers) + answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                status, text = error.code, str(error.headers) + error.read().decode()
        self.said.append(text)
        return status

    def tls(self):
        context = ssl.create_default_context(cadata=self.trusted)
        plain = socket.create_connection(("127.0.0.1", port(self.gateway.addresses["requests"])), timeout=PATIENCE)
        self.addCleanup(plain.close)
        connection = context.wrap_socket(plain, server_hostname="127.0.0.1")
        self.addCleanup(connection.close)
        return connection

    def publish(self, stream, break_id, keys=None, server=None, answered=True):
        keys = keys or self.studio
        requester = zmq.Context.instance().socket(zmq.REQ)
        self.addCleanup(requester.close)
        requester.linger, requester.rcvtimeo = 0, int(PATIENCE * 1_000)
        requester.curve_secretkey, requester.curve_publickey = keys.secret.encode(), keys.public.encode()
        requester.curve_serverkey = (server or self.server).public.encode()
        requester.connect(self.gateway.addresses["broadcast"])
        requester.send(broadcast_pb2.BroadcastRequest(request_id=1, publish=broadcast_pb2.Publish(
            stream=stream, break_id=break_id, pre_stream=True, advertisements=[ad("a"), ad("b")])).SerializeToString())
        if answered:
            reply = broadcast_pb2.BroadcastReply.FromString(requester.recv())
            self.said.append(str(reply))
            self.assertEqual(reply.status, OK, reply)

    def listener(self):
        """A listener by TLS that says what it is told to say; a connection may be lost before it is used."""
        last = None
        for _ in range(100):
            try:
                return RawListener(self.tls())
            except (EOFError, ConnectionError, ssl.SSLError) as error:
                last = error
        raise last

    def listen(self):
        """Listeners with tokens and tickets that are true, and with others."""
        self.publish("paid1", "b1")
        good = token_by(self.listener_key, self.claims())
        expired = token_by(self.listener_key, self.claims(exp=1))
        other = token_by(self.listener_key, self.claims(aud="another"))
        strange = token_by({"kid": "one", "k": part(os.urandom(32))}, self.claims())
        unnamed = token_by({**self.listener_key, "kid": "two"}, self.claims())
        for name, token in (("good", good), ("expired", expired), ("other", other), ("strange", strange), ("unnamed", unnamed)):
            self.search.add_token(f"the {name} token", token)
        listener = self.listener()
        join = lambda token, **fields: listener.ask(join=listener_pb2.Join(stream="paid1", token=token, push=True), **fields)
        for token in ("", "radio", good[:-3], good.rsplit(".", 1)[0], good + ".", expired, other, strange, unnamed):
            reply = join(token)
            self.said.append(str(reply))
            self.assertEqual(reply.status, status_pb2.STATUS_CODE_NOT_ALLOWED, reply)
        reply = join(good)
        self.assertEqual(reply.status, OK, reply)
        ticket = reply.joined.ticket
        self.search.add("the ticket", ticket)
        # The code that makes it one is its end.
        self.search.add("the code of the ticket", ticket[-16:])
        batch = listener.ask(get_batch=listener_pb2.GetBatch(stream="paid1", break_id="b1"), ticket=ticket)
        self.assertEqual(batch.status, OK, batch)
        self.said.append(str(batch.batch.advertisements))
        for bad in (b"", ticket[:-1], ticket[:-1] + bytes([ticket[-1] ^ 1]), ticket + b"\0"):
            refused = listener.ask(get_batch=listener_pb2.GetBatch(stream="paid1", break_id="b1"), ticket=bad)
            self.said.append(str(refused))
            self.assertNotEqual(refused.status, OK)
        delivery = batch.batch.delivery
        for sent, expected in ((delivery[:-1] + bytes([delivery[-1] ^ 1]), False), (delivery, True)):
            done = listener.ask(ticket=ticket, acknowledge=listener_pb2.Acknowledge(
                stream="paid1", break_id="b1", delivery=sent, outcomes=[listener_pb2.Outcome(
                    advertisement_id="a", kind=listener_pb2.OUTCOME_KIND_PLAYED, evidence=listener_pb2.EVIDENCE_REPORTED,
                    occurred_us=time.time_ns() // 1_000)]))
            self.said.append(str(done))
            self.assertEqual(done.status == OK, expected, done)
        # A listener that says a token where a stream's name belongs.
        strays = self.listener()
        self.said.append(str(strays.ask(join=listener_pb2.Join(stream=good, push=True))))
        return listener, good

    def broadcast(self):
        self.publish("open1", "b1")
        self.publish("open1", "b2", keys=self.stranger, answered=False)
        self.publish("open1", "b2", server=self.stranger, answered=False)
        self.command("breaks", keys=self.studio, code=0)
        self.command("breaks", keys=self.stranger, code=77)
        halved = self.write("halved.key", self.studio.secret[:39])
        self.command("breaks", "--key-file", halved, "--gateway-key-file", self.server.public_file, code=65)
        self.command("breaks", "--key-file=" + self.studio.secret, "--gateway-key-file", self.server.public_file, code=65)
        self.command("breaks", "--key-file", self.studio.secret_file, "--gateway-key-file", self.server.secret_file)

    def http(self):
        local = read(self.data("http-token")).decode().strip()
        self.search.add_token("the local token", local)
        for name in ("http-keys.json",):
            for key in json.loads(read(self.data(name)))["keys"]:
                self.search.add("the key of tokens for HTTP", decoded(key["k"]))
        key = json.loads(read(self.data("http-keys.json")))["keys"][0]
        claims = {"iss": "cuecast", "aud": "cuecast-http", "sub": "grafana", "exp": int(time.time()) + 3_600, "scope": "read"}
        made = token_by(key, claims)
        wrong = token_by({**key, "k": part(os.urandom(32))}, claims)
        for name, token in (("made", made), ("wrong", wrong)):
            self.search.add_token(f"the {name} token for HTTP", token)
        for token in (local, made, wrong, made[:-3], made.replace(".", ".x", 1), key["k"], None):
            for path, method in (("/v1/reports", "GET"), ("/v1/breaks?stream=open1", "GET"), ("/v1/reload", "POST"),
                                 ("/readyz", "GET"), ("/metrics", "GET")):
                self.ask(path, token, method)
        # Where it does not belong: as a name in an address, as a value and as a parameter's name, and as an address.
        for path in (f"/v1/reports/{made}/b1", f"/v1/reports?stream={made}", f"/v1/breaks?{made}=1&stream=open1&ticket={made}", f"/{made}",
                     f"/v1/reload?{made}"):
            for method in ("GET", "DELETE"):
                self.ask(path, local, method)
        self.ask("/v1/reload", "x", "POST", made.encode(), Cookie="token=" + made)
        self.assertEqual(self.ask("/v1/reports", local), 200)
        self.command("report", code=0)
        self.command("report", "--token-file", self.data("http-keys.json"), code=65)
        self.command("token", "public", "--keys", self.data("http-token"), code=65)

    def commands(self):
        self.command("token", "new-keys", "--out", self.path("more.json"), "--algorithm", "EdDSA", code=0)
        for key in json.loads(read(self.path("more.json")))["keys"]:
            self.search.add("the key of more tokens", decoded(key["d"]))
        self.command("token", "public", "--keys", self.path("more.json"), code=0)
        self.command("token", "rotate", "--keys", self.path("more.json"), "--algorithm", "ES256", code=0)
        for key in json.loads(read(self.path("more.json")))["keys"]:
            self.search.add("the key of more tokens", decoded(key["d"]))
        self.add_signing_keys()
        for command in ("list", "rotate"):
            self.command("keys", command, code=0)
            self.command("keys", command, "--json", code=0)
        self.add_signing_keys()
        for arguments in (("verify",), ("clock",), ("health",), ("capacity",), ("version",), ("reload",), ("reload", "--json"),
                          ("forget", "--session", os.urandom(16).hex(), "--dry-run"), ("publish", "--stream", "open1"),
                          ("check-config", "--set", "broadcasters.secretKeyFile=" + self.server.secret, "--set", "broadcasters.file=x")):
            self.command(*arguments)
        self.command("backup", "--to", os.path.join(self.gateway.folder, "backup"), code=0)

    def add_signing_keys(self):
        for secret in re.findall(rb"[0-9a-f]{64}", read(self.data("signing.keys"))):
            self.search.add("a key that signs", bytes.fromhex(secret.decode()))

    def broken_files(self):
        """Files that go wrong with a secret in them, each at a reload."""
        http, signing = self.data("http-keys.json"), self.data("signing.keys")
        key = json.loads(read(http))["keys"][0]["k"]
        secret = re.search(rb"[0-9a-f]{64}", read(signing)).group().decode()
        pem = read(self.certificate.key).decode()
        listeners, broadcasters = self.path("listener-keys.json"), self.path("broadcasters.yaml")
        for path, texts in (
                (http, lambda whole: (whole[:-3], whole.replace('"HS256"', f'"{key}"'), whole.replace("signing", key))),
                (listeners, lambda whole: (whole[:-4], self.listener_keys(state=self.listener_key["k"]),
                                           self.listener_keys(kid=self.listener_key["k"], alg=self.listener_key["k"]),
                                           json.dumps({self.listener_key["k"]: self.listener_key["k"]}))),
                (signing, lambda whole: (whole[:-9], whole.replace("signing", secret), whole + secret, whole.replace(secret, secret[:-2]))),
                (broadcasters, lambda whole: (self.studio.secret, whole.replace("studio", self.studio.secret + "~"),
                                              whole.replace(self.studio.public, self.studio.secret + "x"))),
                (self.certificate.key, lambda whole: (whole[:-60], whole.replace("-----", "--"), pem + pem, secret)),
                (self.certificate.certificate, lambda whole: (pem, whole[:-60] + pem)),
        ):
            whole = read(path).decode()
            mode = os.stat(path).st_mode & 0o777
            for text in texts(whole):
                with open(os.open(path, os.O_WRONLY | os.O_TRUNC), "w") as file:
                    file.write(text)
                os.chmod(path, mode)
                before = len(self.gateway.messages())
                self.gateway.process.send_signal(signal.SIGHUP)
                until("the file is read", lambda: re.search(
                    "(everything stays as it was|the configuration was read again).*SIGHUP", self.gateway.messages()[before:]))
                self.command("reload")
                self.ask("/readyz")
            with open(os.open(path, os.O_WRONLY | os.O_TRUNC), "w") as file:
                file.write(whole)
            os.chmod(path, mode)
        self.command("reload", code=0)

    def plain_clients(self, token):
        """The project's own listeners, which speak without TLS, at a gateway that does."""
        file = self.write("token", token + "\n")
        self.publish("open1", "load")
        self.command("listen", "--stream", "paid1", "--breaks", "1", "--speed", "100", "--token-file", file, "--json", code=0)
        self.command("listen", "--stream", "paid1", "--breaks", "1", code=77)
        self.command("listen", "--stream", "paid1", "--token-file", self.path("listener-keys.json"))
        load = subprocess.Popen([LOAD, "--stream", "open1", "--listeners", "5", "--follow", "--breaks", "1", "--json"],
                                env=self.gateway.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until("its listeners are there", lambda: self.gateway.metric("cuecast_listeners") >= 5)
        load.terminate()
        self.said.append(load.communicate(timeout=RUN_PATIENCE)[0])

    # MARK: Behind a balancer

    #: A client of the documentation's network (RFC 5737) on its way to the gateway, as the header of a balancer says it.
    CLIENT = socket.inet_aton("192.0.2.7") + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 40_000, 7_400)

    @staticmethod
    def header(rest, family=0x11, command=0x21):
        """A header of the PROXY protocol, version 2."""
        return b"\r\n\r\n\0\r\nQUIT\n" + bytes((command, family)) + struct.pack(">H", len(rest)) + rest

    def balanced(self, header):
        """A connection that a balancer makes, and which speaks TLS behind the header."""
        plain = socket.create_connection(("127.0.0.1", port(self.gateway.addresses["requests"])), timeout=PATIENCE)
        self.addCleanup(plain.close)
        plain.sendall(header)
        connection = ssl.create_default_context(cadata=self.trusted).wrap_socket(plain, server_hostname="127.0.0.1")
        self.addCleanup(connection.close)
        return connection

    def behind_a_balancer(self, token):
        """A listener by a balancer, and headers that are wrong, each with a token wherever a text may be."""
        field = lambda kind, value: bytes((kind,)) + struct.pack(">H", len(value)) + value
        said = token.encode()
        carries = b"".join(field(kind, said) for kind in (0x02, 0x05, 0xE0))
        listener = joined(lambda: self.balanced(self.header(self.CLIENT + carries)), "open1")
        reply = listener.ask(join=listener_pb2.Join(stream="paid1", token=token[:-3], push=True))
        self.assertNotEqual(reply.status, OK, reply)
        self.said.append(str(reply))
        rest = self.CLIENT
        for wrong in (b"PROXY TCP4 " + said + b" 192.0.2.1 40000 7400\r\n", said, self.header(rest + field(3, b"wrong") + field(2, said)),
                      self.header(rest + bytes((2,)) + struct.pack(">H", 9_999) + said), self.header(said[:216].ljust(216), family=0x31),
                      self.header(rest + field(2, said), command=0x2F), self.header(rest) + said):
            with socket.create_connection(("127.0.0.1", port(self.gateway.addresses["requests"])), timeout=PATIENCE) as peer:
                with contextlib.suppress(ConnectionError):
                    peer.sendall(wrong)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(4_096):
                        pass

    def test_a_balancer_and_a_crash_tell_no_secret(self):
        self.make_secrets()
        self.gateway = None
        # What the runtime of Swift prints of a crash, where a toolchain is installed: by itself, and as it was asked for.
        for settings, number in ((None, signal.SIGABRT), (None, signal.SIGSEGV), ("enable=yes,preset=full", signal.SIGSEGV)):
            with unittest.mock.patch.dict(os.environ):
                os.environ.pop("SWIFT_BACKTRACE", None)
                if settings:
                    os.environ["SWIFT_BACKTRACE"] = settings
                if self.gateway:
                    self.gateway.start()
                else:
                    self.start(f"listeners.tls.certificateFile={self.certificate.certificate}",
                               f"listeners.tls.keyFile={self.certificate.key}", "listeners.proxyProtocol.trusted=127.0.0.1")
            self.add_signing_keys()
            self.search.add_token("the local token", read(self.data("http-token")).decode().strip())
            token = token_by(self.listener_key, self.claims())
            self.search.add_token("the token", token)
            before = len(read(self.gateway.log))
            self.behind_a_balancer(token)
            # The gateway refuses the connections, and another thread writes the log: a crash may come between the two.
            until("the refusal of a header is logged", lambda: b"PROXY header" in read(self.gateway.log)[before:])
            self.gateway.stop(number)
            self.assertEqual(self.gateway.process.returncode, -number)
            printed = read(self.gateway.log)[before:]
            # Behind this word stand sixteen bytes of memory for each register.
            self.assertNotIn(b"Registers:", printed, settings)
        self.assertEqual(self.search.found(self.texts()), [])

    # MARK: What is searched

    def texts(self):
        """Everything that was said, and every file that was written but those that hold secrets because they are there for that."""
        texts = {"said": "".join(self.said).encode()}
        kept = {"http-keys.json", "http-token", "signing.keys"}
        for top in (self.gateway.folder, self.written):
            for folder, _, names in os.walk(top):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.isfile(path) and not (name in kept and os.path.basename(folder) in ("data", "backup")):
                        texts[os.path.relpath(path, top)] = read(path)
        return texts

    def test_no_secret_is_in_anything_that_a_whole_run_leaves(self):
        self.make_secrets()
        self.start(f"listeners.tls.certificateFile={self.certificate.certificate}", f"listeners.tls.keyFile={self.certificate.key}")
        listener, token = self.listen()
        self.broadcast()
        self.http()
        self.commands()
        self.broken_files()
        self.assertEqual(listener.ask(get_time=listener_pb2.GetTime()).status, OK, "it was served all the time")
        self.gateway.stop()
        # The same books without TLS, for clients that have none.
        settings = [each for each in self.gateway.arguments[1::2] if not each.startswith("listeners.tls.")]
        self.gateway.arguments = [flag for setting in settings for flag in ("--set", setting)]
        self.gateway.start()
        self.plain_clients(token)
        self.command("backup", "--to", os.path.join(self.gateway.folder, "second", "backup"))
        self.gateway.stop(signal.SIGKILL)
        # A start that finds half of a secret.
        whole = read(self.data("signing.keys"))
        with open(self.data("signing.keys"), "wb") as file:
            file.write(whole[:-9])
        self.command("serve", *[f for name in ("notices", "requests", "broadcast", "http")
                                for f in ("--" + name, self.gateway.addresses[name])])
        with open(self.data("signing.keys"), "wb") as file:
            file.write(whole)

        texts = self.texts()
        self.assertGreater(len(self.search.secrets), 15)
        self.assertIn("messages", texts)
        self.assertTrue(any("events.sqlite" in name for name in texts) and any("copies" in name or "ledger" in name for name in texts))
        # It was a run: what may be said was said.
        everything = b"".join(texts.values())
        for expected in (b"studio", b"by=local", b"cuecast_join_tokens_total", b"everything stays as it was", b"paid1",
                         b"cuecast_broadcast_authentications_total", b'path="/v1/reports/{stream}/{break}"', b"path=unknown",
                         b"query=stream "):
            self.assertIn(expected, everything)
        self.assertEqual(self.search.found(texts), [])

        # The search finds each of them in each of its forms, in a file and in what was said.
        planted = self.data("planted")
        for name, each in self.search.secrets.items():
            for number, form in enumerate(sorted(each)):
                with open(planted, "wb") as file:
                    file.write(b"before" + form + b"after")
                found = self.search.found({"data/planted": read(planted)})
                self.assertIn((name, "data/planted"), found, f"{name}, form {number}")
        self.assertNotEqual(self.search.found(self.texts()), [], "a file that is written into the searched folder is searched")
        os.remove(planted)
        self.said.append(f"a sentence with {self.studio.secret} in it")
        self.assertEqual(self.search.found(self.texts()), [("the secret key of studio", "said")])


if __name__ == "__main__":
    unittest.main()

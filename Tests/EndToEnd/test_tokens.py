# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Tokens over HTTP: the real binary, the files that it makes, and tokens that this file signs by itself."""
import base64, hashlib, hmac, json, os, socket, stat, subprocess, tempfile, time, unittest, urllib.error, urllib.request

import zmq

from harness import (BINARY, GENERATED, PATIENCE, RUN_PATIENCE, ROOT, Broadcaster, Gateway, LoggedGateway, ad, broadcast_pb2, listener_pb2,
                     notice_pb2, run_patiently, status_pb2, until)
import test_tls


def part(value):
    """JSON, or bytes, as a token has them (RFC 7515 section 2)."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token_by(key, claims, **header):
    """A token that is signed with a key for HS256, by nothing of ours."""
    text = part({"alg": "HS256", "kid": key["kid"], **header}) + "." + part(claims)
    return text + "." + part(hmac.new(decoded(key["k"]), text.encode(), hashlib.sha256).digest())


class TokenGateway(Gateway):
    """A gateway whose messages are kept, and whose reports need a token unless the arguments say otherwise."""

    def __init__(self, *arguments):
        self.log = None
        super().__init__("--set", "logLevel=info", *(arguments or ("--set", "http.openReads=metrics")))

    def start(self):
        self.log = os.path.join(self.folder, "messages")
        flags = [flag for name in ("notices", "requests", "broadcast", "http")
                 for flag in ("--" + name, self.addresses[name])]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--data-dir", self.folder + "/data", *flags, *self.arguments],
                stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), f"the gateway did not start: {line!r} {self.messages()}"
        self.addresses = dict(pair.split("=", 1) for pair in line.split()[1:])

    messages, hang_up, until_said = LoggedGateway.messages, LoggedGateway.hang_up, LoggedGateway.until_said

    def ask(self, path, token=None, method="GET", **headers):
        """The status, and the sentence where it is a refusal."""
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request(f"http://{self.addresses['http']}{path}", method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)["detail"]

    def file(self, name):
        return os.path.join(self.folder, "data", name)

    def text(self, name):
        with open(self.file(name)) as file:
            return file.read().strip()


class HTTPTokens(unittest.TestCase):
    def start(self, *arguments):
        gateway = TokenGateway(*arguments)
        self.addCleanup(gateway.close)
        return gateway

    def command(self, *arguments, code=0, **environment):
        done = run_patiently([BINARY, *arguments], code, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout.strip() if code == 0 else done.stderr

    def test_the_first_start_makes_a_token_that_commands_find(self):
        gateway = self.start()
        for name in ("http-keys.json", "http-token"):
            self.assertEqual(stat.S_IMODE(os.stat(gateway.file(name)).st_mode), 0o600, name)
        self.assertEqual(gateway.ask("/v1/reports")[0], 401)
        self.assertEqual(gateway.ask("/v1/reports", gateway.text("http-token"))[0], 200)
        address = {"CUECAST_HTTP": gateway.addresses["http"]}
        self.command("report", CUECAST_DATA_DIR=gateway.folder + "/data", **address)
        self.command("report", "--data-dir", gateway.folder + "/data", **address)
        self.command("report", "--token-file", gateway.file("http-token"), **address)
        error = self.command("report", "--data-dir", gateway.folder + "/none", code=77, **address)
        self.assertIn("This needs a token", error)
        os.chmod(gateway.file("http-token"), 0o644)
        error = self.command("report", CUECAST_TOKEN_FILE=gateway.file("http-token"), code=65, **address)
        self.assertIn("others may read or change it", error)
        error = self.command("report", "--http", "gateway.invalid:7480", "--token-file", gateway.file("http-token"), code=65)
        self.assertIn("a token is not sent to gateway.invalid", error)
        # A second start keeps the keys, and makes a token that is a secret again.
        keys, token = gateway.text("http-keys.json"), gateway.text("http-token")
        self.assertEqual(gateway.stop(), 0)
        gateway.start()
        self.assertEqual(gateway.text("http-keys.json"), keys)
        self.assertEqual(stat.S_IMODE(os.stat(gateway.file("http-token")).st_mode), 0o600)
        self.assertEqual(gateway.ask("/v1/reports", token)[0], 200)

    def test_reading_is_open_on_loopback_and_changing_is_not(self):
        gateway = self.start("--set", "http.openReads=auto")
        for path in ("/healthz", "/readyz", "/v1/reports", "/v1/breaks"):
            self.assertEqual(gateway.ask(path)[0], 200, path)
        self.assertEqual(gateway.ask("/v1/reload", method="POST"),
                         (401, "This needs a token: Authorization: Bearer TOKEN."))
        status, document = gateway.ask("/v1/reload", gateway.text("http-token"), method="POST")
        self.assertEqual((status, document["changed"]), (200, []))
        gateway.until_said("by=local")
        gateway.until_said("by=HTTP")
        self.assertEqual(gateway.ask("/v1/reload", gateway.text("http-token"), method="POST", Origin="http://evil.example"),
                         (403, "Pages of other origins may not ask."))
        self.assertEqual(gateway.ask("/healthz", Host="evil.example")[0], 421)
        done = subprocess.run([BINARY, "check-config", "--http", "0.0.0.0:7480", "--set", "http.openReads=all", "--set",
                               "allowUnencryptedRemote=true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 65)
        self.assertIn("http.openReads: it is all, and 0.0.0.0:7480 can be reached from other machines", done.stderr)

    def test_tokens_made_by_others_are_taken_by_their_claims(self):
        gateway = self.start()
        key = json.loads(gateway.text("http-keys.json"))["keys"][0]
        now = int(time.time())
        claims = {"iss": "cuecast", "aud": "cuecast-http", "sub": "grafana", "exp": now + 3_600, "scope": "read"}
        self.assertEqual(gateway.ask("/v1/reports", token_by(key, claims))[0], 200)
        self.assertEqual(gateway.ask("/v1/reload", token_by(key, claims), method="POST"), (403, "The token does not grant admin."))
        for change, sentence in (({"exp": now - 1}, "The token has expired."), ({"nbf": now + 600}, "The token is not valid yet."),
                                 ({"aud": "cuecast"}, "The token is for another audience."),
                                 ({"iss": "me"}, "The token is from another issuer.")):
            self.assertEqual(gateway.ask("/v1/reports", token_by(key, {**claims, **change})), (401, sentence))
        stranger = {"kid": key["kid"], "k": part(os.urandom(32))}
        self.assertEqual(gateway.ask("/v1/reports", token_by(stranger, claims)), (401, "The token's signature is wrong."))
        self.assertEqual(gateway.ask("/v1/reports", token_by(key, claims, alg="none")),
                         (401, "The token names another algorithm than its key has."))
        with urllib.request.urlopen(f"http://{gateway.addresses['http']}/metrics") as answer:
            text = answer.read().decode()
        for result in ("granted", "scope", "expired", "not_yet_valid", "wrong_audience", "wrong_issuer", "wrong_signature",
                       "wrong_algorithm"):
            self.assertIn(f'cuecast_http_authorizations_total{{result="{result}"}} 1\n', text)

    def test_keys_of_others_rotate_and_are_revoked_while_the_gateway_runs(self):
        gateway = self.start()
        keys, public = os.path.join(gateway.folder, "keys.json"), os.path.join(gateway.folder, "public.json")
        self.command("token", "new-keys", "--out", keys, "--algorithm", "EdDSA", "--key-id", "one")
        self.assertEqual(stat.S_IMODE(os.stat(keys).st_mode), 0o600)
        self.assertIn("never written over", self.command("token", "new-keys", "--out", keys, code=65))

        def publish():
            with open(public, "w") as file:
                file.write(self.command("token", "public", "--keys", keys))
        publish()
        with open(public) as file:
            self.assertNotIn('"d"', file.read())
        gateway.stop()
        gateway.arguments += ["--set", "http.tokenKeysFile=" + public]
        gateway.start()
        make = ["token", "make", "--keys", keys, "--subject", "ops", "--expires-in", "1h", "--scope", "read"]
        first = self.command(*make)
        self.assertEqual(gateway.ask("/v1/reports", first)[0], 200)
        self.command("token", "rotate", "--keys", keys, "--algorithm", "ES256", "--key-id", "two")
        second = self.command(*make, "--scope", "admin")
        self.assertEqual(gateway.ask("/v1/reports", second), (401, "The token names no key that is known here."))
        publish()
        gateway.hang_up("the configuration was read again")
        self.assertEqual([gateway.ask("/v1/reports", token)[0] for token in (first, second)], [200, 200])
        self.command("token", "revoke", "--keys", keys, "--key-id", "one")
        publish()
        self.assertEqual(gateway.ask("/v1/reload", second, method="POST")[0], 200)
        self.assertEqual(gateway.ask("/v1/reports", first), (401, "The token's key is revoked."))
        # What is wrong changes nothing, and who asks is told.
        with open(public, "a") as file:
            file.write("}")
        for said in (gateway.ask("/v1/reload", second, method="POST")[1],
                     self.command("reload", "--data-dir", gateway.folder + "/data", code=65)):
            self.assertRegex(said.lower(), "everything stays as it was: http.tokenkeysfile: .*public.json: it is not json")
        self.assertEqual(gateway.ask("/v1/reports", second)[0], 200)
        self.assertEqual([each["alarm"] for each in gateway.ask("/readyz")[1]["alarms"]], ["reload"])
        publish()
        os.chmod(public, 0o666)
        self.assertIn("others may change it", self.command("reload", "--data-dir", gateway.folder + "/data", code=65))
        os.chmod(public, 0o644)
        self.assertIn("read again", self.command("reload", "--data-dir", gateway.folder + "/data"))
        self.assertEqual(gateway.ask("/readyz")[1]["alarms"], [])

    def test_the_command_says_what_is_wrong_with_what_it_is_given(self):
        self.assertIn("Example: cuecast token make", self.command("token", "make", "--help"))
        folder = self.start().folder
        keys = os.path.join(folder, "k.json")
        self.command("token", "new-keys", "--out", keys, "--algorithm", "HS256")
        make = ["token", "make", "--keys", keys, "--subject", "a", "--expires-in", "1h"]
        for more in ([], ["--scope", "write"], ["--scope", "read", "--stream", "radio1"], ["--stream", "a b"],
                     ["--stream", "radio1", "--attribute", "device"], ["--scope", "publish:a*b"]):
            self.command(*make, *more, code=64)
        self.assertIn("no public part", self.command("token", "public", "--keys", keys, code=65))
        self.assertIn("no key of this id", self.command("token", "revoke", "--keys", keys, "--key-id", "x", code=65))
        os.chmod(keys, 0o640)
        self.assertIn("others may read or change it", self.command(*make, "--scope", "read", code=65))
        self.command("token", "new-keys", "--out", os.path.join(folder, "no/such/folder"), code=74)
        for bad in ("", "a b", "a\nb", "x" * 129):
            with self.subTest(bad=bad):
                none = os.path.join(folder, "none.json")
                self.assertIn("kid must be 1 to 128 visible characters",
                              self.command("token", "new-keys", "--out", none, "--key-id", bad, code=65))
                self.assertFalse(os.path.exists(none))
        self.command("token", "new-keys", "--out", os.path.join(folder, "long.json"), "--key-id", "x" * 128)

    def test_no_secret_is_in_anything_that_a_run_leaves(self):
        gateway = self.start()
        outputs, key = [], json.loads(gateway.text("http-keys.json"))["keys"][0]
        claims = {"iss": "cuecast", "aud": "cuecast-http", "sub": "grafana", "exp": int(time.time()) + 3_600, "scope": "read"}
        local, made, wrong = gateway.text("http-token"), token_by(key, claims), token_by(key, {**claims, "aud": "x"})
        reduced = token_by(key, {**claims, "scope": ""})
        for token in (local, made, wrong, reduced, made[:-3], made.replace(".", ".a", 1)):
            for path, method in (("/v1/reports", "GET"), ("/v1/breaks", "GET"), ("/v1/reload", "POST"), ("/readyz", "GET")):
                outputs.append(str(gateway.ask(path, token, method=method)))
        outputs.append(self.command("report", CUECAST_DATA_DIR=gateway.folder + "/data", CUECAST_HTTP=gateway.addresses["http"]))
        # What goes wrong with a secret in it: a token where a file belongs, keys where a token belongs, half of a file of keys.
        outputs.append(self.command("report", "--token-file", gateway.file("http-keys.json"), code=65,
                                    CUECAST_HTTP=gateway.addresses["http"]))
        outputs.append(self.command("token", "public", "--keys", gateway.file("http-token"), code=65))
        whole = gateway.text("http-keys.json")
        for text in (whole[:-3], whole.replace('"oct"', '"EC"'), whole.replace('"HS256"', f'"{key["k"]}"'),
                     whole.replace("signing", key["k"]), json.dumps({"keys": key["k"]})):
            with open(gateway.file("http-keys.json"), "w") as file:
                file.write(text)
            gateway.hang_up("everything stays as it was")
            outputs.append(self.command("reload", "--data-dir", gateway.folder + "/data", code=65))
            outputs.append(str(gateway.ask("/readyz")))
        with open(gateway.file("http-keys.json"), "w") as file:
            file.write(whole)
        gateway.hang_up("the configuration was read again")
        with urllib.request.urlopen(f"http://{gateway.addresses['http']}/metrics") as answer:
            outputs.append(answer.read().decode())
        backup = os.path.join(gateway.folder, "backup")
        outputs.append(self.command("backup", "--data-dir", gateway.folder + "/data", "--to", backup))
        gateway.stop()
        texts = {"output": "".join(outputs).encode()}
        for folder, _, names in os.walk(gateway.folder):
            for name in names:
                if name not in ("http-keys.json", "http-token"):
                    with open(os.path.join(folder, name), "rb") as file:
                        texts[os.path.join(folder, name)] = file.read()
        self.assertTrue(any(b"by=grafana" in text or b"by=local" in text for text in texts.values()), "the log names who asked")
        raw = decoded(key["k"])
        secrets = [key["k"].encode(), raw, raw.hex().encode()]
        secrets += [token.split(".")[2].encode() for token in (local, made, wrong, reduced)]
        for name, text in texts.items():
            for secret in secrets:
                self.assertNotIn(secret, text, name)


class Player:
    """A listener with one stock DEALER, on which notices are pushed."""

    def __init__(self, gateway):
        self.session, self.counter, self.notices = os.urandom(16), 0, []
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger, self.socket.rcvtimeo = 0, int(PATIENCE * 1_000)
        self.socket.connect(gateway.addresses["requests"])

    def send(self, **kind):
        self.counter += 1
        request = listener_pb2.Request(request_id=self.counter, session=self.session, **kind)
        self.socket.send_multipart([b"", request.SerializeToString()])

    def answer(self):
        while len(frames := self.socket.recv_multipart()) == 1:
            self.notices.append(notice_pb2.Notice.FromString(frames[0].split(b"\0", 1)[1]))
        return listener_pb2.Reply.FromString(frames[1])

    def join(self, token="", stream="paid1", **fields):
        self.send(join=listener_pb2.Join(stream=stream, token=token, push=True), **fields)
        return self.answer()

    def notice(self):
        while not (found := [each for each in self.notices if each.break_id]):
            self.notices.append(notice_pb2.Notice.FromString(self.socket.recv_multipart()[0].split(b"\0", 1)[1]))
        return found[0]

    def close(self):
        self.socket.close()


class JoinTokens(unittest.TestCase):
    """Joins to a stream that asks for a token, by stock sockets, with tokens that this file signs."""

    def setUp(self):
        self.key = {"kid": "one", "k": part(os.urandom(32))}
        self.gateway = TokenGateway("--set", "listeners.protectedStreams=paid*", "--set", "listeners.sessionsPerSubjectMax=2")
        self.addCleanup(self.gateway.close)
        self.gateway.stop()
        self.keys = os.path.join(self.gateway.folder, "listener-keys.json")
        self.write("signing")
        self.gateway.arguments += ["--set", "listeners.tokenKeysFile=" + self.keys]
        self.gateway.start()
        self.claims = {"iss": "cuecast", "aud": "cuecast", "sub": "alice", "exp": int(time.time()) + 3_600, "streams": ["paid1"]}

    def write(self, state):
        with open(os.open(self.keys + ".new", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            json.dump({"keys": [{"kty": "oct", "alg": "HS256", "state": state, **self.key}]}, file)
        os.replace(self.keys + ".new", self.keys)

    def player(self):
        player = Player(self.gateway)
        self.addCleanup(player.close)
        return player

    def metric(self, result):
        with urllib.request.urlopen(f"http://{self.gateway.addresses['http']}/metrics") as answer:
            return int(next(line for line in answer.read().decode().splitlines()
                            if line.startswith(f'cuecast_join_tokens_total{{result="{result}"}}')).split()[-1])

    def test_a_true_token_brings_notices_and_a_ticket(self):
        player = self.player()
        joined = player.join(token_by(self.key, self.claims))
        self.assertEqual(joined.status, status_pb2.STATUS_CODE_OK, joined)
        self.assertTrue(joined.joined.pushed)
        self.assertTrue(joined.joined.ticket)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        published = broadcaster.publish("paid1", "b1", [ad("a")], start=broadcast_pb2.Start(in_ms=1_000), duration_ms=3_600_000)
        self.assertEqual(published.status, status_pb2.STATUS_CODE_OK, published)
        self.assertEqual(player.notice().break_id, "b1")
        # Again with the ticket alone: the token is not looked at.
        before = self.metric("granted")
        again = player.join(ticket=joined.joined.ticket)
        self.assertEqual(again.status, status_pb2.STATUS_CODE_OK, again)
        self.assertEqual(self.metric("granted"), before)

    def test_an_answer_that_waited_for_its_token_gives_back_the_frame_before_the_delimiter(self):
        player = self.player()
        for number, token in enumerate((token_by(self.key, self.claims), token_by({**self.key, "k": part(os.urandom(32))}, self.claims))):
            frame = bytes((7, 0, number, 9))
            request = listener_pb2.Request(request_id=40 + number, session=player.session, join=listener_pb2.Join(
                stream="paid1", token=token, push=True))
            player.socket.send_multipart([frame, b"", request.SerializeToString()])
            while len(frames := player.socket.recv_multipart()) == 1:
                pass
            self.assertEqual(frames[:2], [frame, b""])
            reply = listener_pb2.Reply.FromString(frames[2])
            self.assertEqual(reply.request_id, 40 + number)
            self.assertEqual(reply.status, status_pb2.STATUS_CODE_NOT_ALLOWED if number else status_pb2.STATUS_CODE_OK, reply)

    def test_the_example_listens_with_a_token(self):
        file = os.path.join(self.gateway.folder, "token")
        with open(file, "w") as token:
            token.write(token_by(self.key, self.claims) + "\n")
        example = subprocess.Popen(
            ["/usr/bin/python3", os.path.join(ROOT, "Examples/pyzmq/one_connection.py"), "--stream", "paid1", "--requests",
             self.gateway.addresses["requests"], "--token-file", file, "--timeout", str(PATIENCE)],
            env={**os.environ, "PYTHONPATH": GENERATED}, stdout=subprocess.PIPE, text=True)
        until("the example listens", lambda: self.gateway_listeners() == 1)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        published = broadcaster.publish("paid1", "b", [ad("a")], pre_stream=True)
        self.assertEqual(published.status, status_pb2.STATUS_CODE_OK, published)
        printed = json.loads(example.communicate(timeout=RUN_PATIENCE)[0])
        self.assertEqual((example.returncode, printed["break"], printed["recorded"]), (0, "b", 1))

    def test_the_demo_player_listens_with_a_token_and_not_without(self):
        file = os.path.join(self.gateway.folder, "token")
        listen = [BINARY, "listen", "--stream", "paid1", "--breaks", "1", "--speed", "100", "--requests",
                  self.gateway.addresses["requests"], "--notices", self.gateway.addresses["notices"]]
        done = subprocess.run(listen, capture_output=True, text=True, timeout=RUN_PATIENCE)
        self.assertEqual(done.returncode, 77, done)
        self.assertIn("asks for a token", done.stderr)
        with open(file, "w") as token:
            token.write(token_by(self.key, self.claims))
        os.chmod(file, 0o644)
        self.assertEqual(subprocess.run([*listen, "--token-file", file], capture_output=True, timeout=RUN_PATIENCE).returncode, 65)
        os.chmod(file, 0o600)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)
        self.assertEqual(broadcaster.publish("paid1", "b", [ad("a")], pre_stream=True).status, status_pb2.STATUS_CODE_OK)
        done = subprocess.run([*listen, "--token-file", file], capture_output=True, text=True, timeout=RUN_PATIENCE)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.gateway.report("paid1", "b")["a"]["played"], 1)

    def test_every_other_token_is_refused_in_words_that_say_why(self):
        now = int(time.time())
        stranger = {"kid": "one", "k": part(os.urandom(32))}
        whole = token_by(self.key, self.claims)
        cases = [
            ("asks for a token", ""),
            ("cannot be understood", "radio"), ("cannot be understood", whole + "."),
            ("signature is wrong", token_by(stranger, self.claims)),
            ("signature is wrong", whole.rsplit(".", 1)[0] + "." + token_by(self.key, {**self.claims, "sub": "bob"}).rsplit(".", 1)[1]),
            ("another algorithm", token_by(self.key, self.claims, alg="none")),
            ("another algorithm", token_by(self.key, self.claims, alg="ES256")),
            ("names no key", token_by({**self.key, "kid": "two"}, self.claims)),
            ("has expired", token_by(self.key, {**self.claims, "exp": now - 1})),
            ("not valid yet", token_by(self.key, {**self.claims, "nbf": now + 600})),
            ("another audience", token_by(self.key, {**self.claims, "aud": "cuecast-http"})),
            ("another issuer", token_by(self.key, {**self.claims, "iss": "me"})),
            ("no right to the stream", token_by(self.key, {**self.claims, "streams": ["paid2"]})),
            ("no right to the stream", token_by(self.key, {name: self.claims[name] for name in ("iss", "aud", "sub", "exp")})),
        ]
        player = self.player()
        for sentence, token in cases:
            reply = player.join(token)
            self.assertEqual(reply.status, status_pb2.STATUS_CODE_NOT_ALLOWED, (sentence, reply))
            self.assertIn(sentence, reply.message)
            self.assertFalse(reply.joined.ticket)
        self.assertEqual(player.join(whole).status, status_pb2.STATUS_CODE_OK)
        # A withdrawn key counts from the next join on, and a file that is wrong changes nothing.
        self.write("revoked")
        self.gateway.hang_up("the configuration was read again")
        other = self.player()
        self.assertIn("key is revoked", other.join(whole).message)
        self.write("signing")
        self.gateway.hang_up("the configuration was read again")
        with open(self.keys, "w") as file:
            file.write("{")
        self.gateway.hang_up("listeners.tokenKeysFile: ")
        self.assertEqual(other.join(whole).status, status_pb2.STATUS_CODE_OK)

    def test_the_sessions_of_a_subject_are_limited(self):
        token = token_by(self.key, self.claims)
        players = [self.player() for _ in range(3)]
        self.assertEqual([player.join(token).status for player in players],
                         [status_pb2.STATUS_CODE_OK, status_pb2.STATUS_CODE_OK, status_pb2.STATUS_CODE_LIMIT_REACHED])
        more = token_by(self.key, {**self.claims, "sub": "bar", "sessions": 3})
        self.assertEqual([self.player().join(more).status for _ in range(4)],
                         [status_pb2.STATUS_CODE_OK] * 3 + [status_pb2.STATUS_CODE_LIMIT_REACHED])

    def test_who_is_gone_when_the_token_was_checked_takes_nothing(self):
        token = token_by(self.key, {**self.claims, "sub": "carol"})
        before, listening = self.metric("granted"), self.gateway_listeners()
        for _ in range(20):
            player = Player(self.gateway)
            for _ in range(16):
                player.send(join=listener_pb2.Join(stream="paid1", token=token, push=True))
            player.close()
        # The sessions that were begun are the connections' that were still there; the gateway serves on.
        until("tokens are checked", lambda: self.gateway.ask("/healthz")[0] == 200)
        player = self.player()
        reply = player.join(token_by(self.key, {**self.claims, "sub": "dave"}))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        self.assertGreater(self.metric("granted"), before)
        self.assertLessEqual(self.gateway_listeners(), listening + 3)

    def gateway_listeners(self):
        with urllib.request.urlopen(f"http://{self.gateway.addresses['http']}/metrics") as answer:
            return int(next(line for line in answer.read().decode().splitlines() if line.startswith("cuecast_listeners ")).split()[-1])


class ReloadedProtection(unittest.TestCase):
    """Streams that ask for a token from a reload on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-protection.")
        self.addCleanup(folder.cleanup)
        self.key = {"kid": "one", "k": part(os.urandom(32))}
        keys = os.path.join(folder.name, "listener-keys.json")
        with open(os.open(keys, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            json.dump({"keys": [{"kty": "oct", "alg": "HS256", "state": "signing", **self.key}]}, file)
        self.file = os.path.join(folder.name, "cuecast.yaml")
        self.protect("")
        self.gateway = TokenGateway("--config", self.file, "--set", "listeners.tokenKeysFile=" + keys)
        self.addCleanup(self.gateway.close)
        self.broadcaster = Broadcaster(self.gateway)
        self.addCleanup(self.broadcaster.close)

    def protect(self, patterns):
        with open(self.file, "w") as file:
            file.write(f"listeners:\n  protectedStreams: '{patterns}'\n")

    def publish(self, stream, break_id):
        published = self.broadcaster.publish(stream, break_id, [ad("a")])
        self.assertEqual(published.status, status_pb2.STATUS_CODE_OK, published)

    def joined(self, stream):
        address = ("127.0.0.1", int(self.gateway.addresses["requests"].rsplit(":", 1)[1]))
        listener = test_tls.joined(lambda: socket.create_connection(address, timeout=PATIENCE), stream)
        self.addCleanup(listener.close)
        return listener

    def test_a_file_that_says_nothing_any_more_opens_nothing(self):
        self.protect("paid*")
        self.gateway.hang_up("the configuration was read again")
        for text in ("", "# nothing\n", "{}\n"):
            with open(self.file, "w") as file:
                file.write(text)
            self.gateway.hang_up("the file has no setting any more")
            player = Player(self.gateway)
            self.addCleanup(player.close)
            self.assertEqual(player.join().status, status_pb2.STATUS_CODE_NOT_ALLOWED)
        self.protect("")
        self.gateway.hang_up("the configuration was read again")
        self.assertEqual(player.join().status, status_pb2.STATUS_CODE_OK)

    def test_who_showed_no_token_is_closed_and_who_shows_one_comes_in(self):
        paid, free = self.joined("paid1"), self.joined("free1")
        subscriber = zmq.Context.instance().socket(zmq.SUB)
        self.addCleanup(subscriber.close)
        subscriber.linger, subscriber.rcvtimeo = 0, int(PATIENCE * 1_000)
        subscriber.connect(self.gateway.addresses["notices"])
        for topic in (b"paid1\0", b"free1\0", b"~sync\0"):
            subscriber.subscribe(topic)
        while not subscriber.recv().startswith(b"~sync\0"):
            pass
        # What is wrong changes nothing.
        self.protect("paid*, a b")
        self.gateway.hang_up("everything stays as it was")
        self.publish("paid1", "b1")
        paid.notice("b1")
        while not subscriber.recv().startswith(b"paid1\0"):
            pass
        batch = paid.ask(get_batch=listener_pb2.GetBatch(stream="paid1", break_id="b1"))
        self.assertEqual(batch.status, status_pb2.STATUS_CODE_OK, batch)

        self.protect("paid*")
        self.gateway.hang_up("listeners.protectedStreams:  → paid*")
        with self.assertRaises((EOFError, ConnectionError)):
            paid.next(lambda flags, body: None)
        until("the closing is counted", lambda: self.closed() == 1)
        # Its next join needs a token, with push or without.
        player = Player(self.gateway)
        self.addCleanup(player.close)
        self.assertIn("asks for a token", player.join().message)
        self.publish("paid1", "b2")
        self.publish("free1", "b3")
        while (frame := subscriber.recv()).startswith(b"~sync\0") or notice_pb2.Notice.FromString(
                frame.split(b"\0", 1)[1]).break_id in ("", "b1"):
            pass
        self.assertTrue(frame.startswith(b"free1\0"), "a subscription hears a stream that asks for a token")
        free.notice("b3")
        claims = {"iss": "cuecast", "aud": "cuecast", "sub": "alice", "exp": int(time.time()) + 3_600, "streams": ["paid1"]}
        joined = player.join(token_by(self.key, claims))
        self.assertEqual(joined.status, status_pb2.STATUS_CODE_OK, joined)
        self.publish("paid1", "b4")
        self.assertEqual(player.notice().break_id, "b4")

        # And back, over HTTP; who has a ticket stays.
        self.protect("")
        status, document = self.gateway.ask("/v1/reload", self.gateway.text("http-token"), method="POST")
        self.assertEqual((status, document["changed"]), (200, ["listeners.protectedStreams: paid* → "]))
        self.assertEqual(self.joined("paid1").topic, b"paid1\0")
        player.notices.clear()
        self.publish("paid1", "b5")
        self.assertEqual(player.notice().break_id, "b5")
        self.assertEqual(self.closed(), 1)

    def closed(self):
        with urllib.request.urlopen(f"http://{self.gateway.addresses['http']}/metrics") as answer:
            return int(next(line for line in answer.read().decode().splitlines()
                            if line.startswith('cuecast_connections_closed_total{reason="expired"}')).split()[-1])


if __name__ == "__main__":
    unittest.main()

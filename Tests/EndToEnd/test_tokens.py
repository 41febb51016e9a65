# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Tokens over HTTP: the real binary, the files that it makes, and tokens that this file signs by itself."""
import base64, hashlib, hmac, json, os, signal, stat, subprocess, time, unittest, urllib.error, urllib.request

from harness import BINARY, PATIENCE, ROOT, Gateway, until


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

    def messages(self):
        with open(self.log) as file:
            return file.read()

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
                return error.code, json.load(error)["sentence"]

    def file(self, name):
        return os.path.join(self.folder, "data", name)

    def text(self, name):
        with open(self.file(name)) as file:
            return file.read().strip()

    def hang_up(self, expected):
        before = len(self.messages())
        self.process.send_signal(signal.SIGHUP)
        return until(expected, lambda: expected in self.messages()[before:])


class HTTPTokens(unittest.TestCase):
    def start(self, *arguments):
        gateway = TokenGateway(*arguments)
        self.addCleanup(gateway.close)
        return gateway

    def command(self, *arguments, code=0, **environment):
        done = subprocess.run([BINARY, *arguments], env={**os.environ, **environment}, capture_output=True, text=True,
                              timeout=PATIENCE)
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
        self.assertIn("by=local", gateway.messages())
        self.assertIn("by=HTTP", gateway.messages())
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


if __name__ == "__main__":
    unittest.main()

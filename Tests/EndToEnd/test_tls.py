# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Listeners by TLS: the real binary with a certificate, and Python's ssl with ZMTP as bytes."""
import os, socket, ssl, subprocess, sys, tempfile, unittest

from harness import BINARY, PATIENCE, ROOT, Broadcaster, LoggedGateway, ad, listener_pb2, notice_pb2, shaken_hands, status_pb2, until

sys.path.insert(0, os.path.join(ROOT, "Tests/Hostile"))
import zmtp


class Certificate:
    """A self-signed certificate for 127.0.0.1, and its key, in files that a gateway is told of."""

    def __init__(self, folder):
        self.certificate, self.key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")

    def renew(self, name):
        """Puts another one in its place; gives it as bytes."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-out", self.certificate,
                        "-keyout", self.key], check=True, capture_output=True)
        with open(self.certificate) as file:
            return ssl.PEM_cert_to_DER_cert(file.read())


class RawListener:
    """A listener of one connection that says everything itself: ZMTP as bytes on a socket that is connected already."""

    def __init__(self, connection):
        self.socket = connection
        self.reader = zmtp.Reader()
        self.session, self.counter = os.urandom(16), 0
        self.frames = []
        self.socket.sendall(zmtp.greeting() + zmtp.ready(b"DEALER"))

    def next(self, wanted):
        """The next frame for which `wanted` gives something; what comes before it is kept."""
        while True:
            for index, (flags, body) in enumerate(self.frames):
                if (found := wanted(flags, body)) is not None:
                    del self.frames[index]
                    return found
            data = self.socket.recv(65_536)
            if not data:
                raise EOFError("the gateway ended the connection")
            self.frames += self.reader.feed(data)

    def ask(self, **kind):
        self.counter += 1
        self.socket.sendall(zmtp.request(listener_pb2.Request(
            request_id=self.counter, session=self.session, **kind).SerializeToString()))
        body = self.next(lambda flags, body: body if flags & zmtp.FOLLOWS and not flags & zmtp.COMMAND else None)
        reply = listener_pb2.Reply.FromString(body)
        assert reply.request_id == self.counter
        return reply

    def join(self, stream):
        reply = self.ask(join=listener_pb2.Join(stream=stream, push=True))
        assert reply.status == status_pb2.STATUS_CODE_OK and reply.joined.pushed, reply
        self.topic = stream.encode() + b"\0"

    def notice(self, break_id):
        """Waits for the notice that a break is available."""
        def wanted(flags, body):
            if flags & (zmtp.FOLLOWS | zmtp.COMMAND | zmtp.MORE) or not body.startswith(self.topic):
                return None
            notice = notice_pb2.Notice.FromString(body[len(self.topic):])
            return notice if notice.break_id == break_id else None
        return self.next(wanted)

    def close(self):
        self.socket.close()


def joined(connect, stream):
    """A listener that has joined: on another connection where this machine stood still for the time that a handshake has."""
    for _ in range(100):
        try:
            listener = RawListener(connect())
            listener.join(stream)
            return listener
        except ssl.SSLCertVerificationError:
            raise
        except (EOFError, ConnectionError, ssl.SSLError) as error:
            last = error
    raise last


def port(endpoint):
    return int(endpoint.rsplit(":", 1)[1])


class EncryptedListeners(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-tls.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.files = Certificate(self.folder)
        self.first = self.files.renew("first")

    def start(self):
        gateway = LoggedGateway(self.folder, "--set", f"listeners.tls.certificateFile={self.files.certificate}",
                                "--set", f"listeners.tls.keyFile={self.files.key}")
        self.addCleanup(gateway.close)
        return gateway

    def connect(self, gateway, trusted, version=None):
        """A connection that goes on only where the gateway shows this certificate."""
        context = ssl.create_default_context(cadata=trusted)
        if version:
            context.minimum_version = context.maximum_version = version

        def connect():
            plain = socket.create_connection(("127.0.0.1", port(gateway.addresses["requests"])), timeout=PATIENCE)
            self.addCleanup(plain.close)
            return context.wrap_socket(plain, server_hostname="127.0.0.1")

        connection = shaken_hands(connect)
        self.addCleanup(connection.close)
        return connection

    def test_a_listener_has_its_break_by_either_version(self):
        gateway = self.start()
        listeners = [joined(lambda: self.connect(gateway, self.first, version), "radio1")
                     for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)]
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        broadcaster.publish("radio1", "b1", [ad("a")])
        for listener in listeners:
            self.assertEqual(listener.notice("b1").advertisement_count, 1)
            batch = listener.ask(get_batch=listener_pb2.GetBatch(stream="radio1", break_id="b1"))
            self.assertEqual(batch.status, status_pb2.STATUS_CODE_OK, batch)
            self.assertEqual([each.id for each in batch.batch.advertisements], ["a"])
        until("both are counted", lambda: gateway.metric("cuecast_tls_connections") == 2)
        self.assertGreaterEqual(gateway.metric('cuecast_tls_handshakes_total{result="done"}'), 2)

    def test_a_reload_keeps_connections_and_one_that_fails_changes_nothing(self):
        gateway = self.start()
        old = joined(lambda: self.connect(gateway, self.first), "radio1")
        second = self.files.renew("second")
        os.chmod(self.files.key, 0o644)
        self.assertIn("everything stays as it was", gateway.hang_up("others may read or change it"))
        self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 1)
        still = joined(lambda: self.connect(gateway, self.first), "radio1")
        os.chmod(self.files.key, 0o600)
        gateway.hang_up("the configuration was read again")
        self.assertEqual(gateway.metric('cuecast_alarm{alarm="reload"}'), 0)
        new = joined(lambda: self.connect(gateway, second), "radio1")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(gateway, self.first)
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        broadcaster.publish("radio1", "b1", [ad("a")])
        for listener in (old, still, new):
            listener.notice("b1")

    def test_a_gateway_with_a_certificate_has_no_plain_port(self):
        gateway = self.start()
        for name in ("notices", "requests"):
            with socket.create_connection(("127.0.0.1", port(gateway.addresses[name])), timeout=PATIENCE) as plain:
                plain.sendall(zmtp.greeting())
                # Nothing of ZMTP was said: not even a greeting.
                self.assertEqual(plain.recv(100), b"")
        until("both are told of", lambda: gateway.metric('cuecast_tls_handshakes_total{result="plaintext"}') == 2)

    def test_the_configuration_is_checked_before_a_start(self):
        os.chmod(self.files.key, 0o644)
        done = subprocess.run([BINARY, "check-config", "--set", f"listeners.tls.certificateFile={self.files.certificate}",
                               "--set", f"listeners.tls.keyFile={self.files.key}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 65)
        self.assertIn("listeners.tls.keyFile: " + self.files.key, done.stderr)


if __name__ == "__main__":
    unittest.main()

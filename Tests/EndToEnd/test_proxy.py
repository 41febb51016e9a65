# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Listeners behind balancers: the real binary behind HAProxy and nginx, as Debian has them."""
import os, shutil, socket, ssl, subprocess, tempfile, unittest

from harness import PATIENCE, Broadcaster, HeldPort, LoggedGateway, ad, listener_pb2, status_pb2, until
from test_tls import Certificate, joined, port

#: Where HAProxy says that clients come from: a network of documentation (RFC 5737), which is no real machine.
CLIENT = "192.0.2.7"
#: Longer than any test: what takes longer hangs elsewhere first.
TIMEOUTS = "timeout connect 1h\n timeout client 1h\n timeout server 1h\n timeout check 1h"


def program(name):
    """A server of Debian's, which is not on everybody's path."""
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    assert found, f"{name} is missing: run scripts/setup.sh test"
    return found


class Proxies(unittest.TestCase):
    """Servers of Debian's before a gateway."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cuecast-proxy.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *settings):
        gateway = LoggedGateway(self.folder, *(word for each in settings for word in ("--set", each)))
        self.addCleanup(gateway.close)
        return gateway

    def held(self):
        held = HeldPort()
        self.addCleanup(held.close)
        return held.address

    def run_server(self, *command, address):
        """Runs a server until the test is over; waits until it takes connections, and gives its process."""
        log = open(os.path.join(self.folder, os.path.basename(command[0]) + ".log"), "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

        def end():
            process.terminate()
            process.wait(PATIENCE)
        self.addCleanup(end)

        def listens():
            if process.poll() is not None:
                log.seek(0)
                raise AssertionError(f"{command[0]} ended: {log.read()}")
            host, number = address.rsplit(":", 1)
            with socket.socket() as probe:
                return probe.connect_ex((host, int(number))) == 0
        until(f"{command[0]} listens", listens)
        return process

    def connect(self, address, trusted=None):
        plain = socket.create_connection(("127.0.0.1", port(address)), timeout=PATIENCE)
        self.addCleanup(plain.close)
        if trusted is None:
            return plain
        connection = ssl.create_default_context(cadata=trusted).wrap_socket(plain, server_hostname="127.0.0.1")
        self.addCleanup(connection.close)
        return connection


class Balanced(Proxies):
    def haproxy(self, gateway, bind, server, source=CLIENT):
        """An HAProxy before the gateway; gives its address. `bind` and `server` are more words of these lines."""
        address, path = self.held(), os.path.join(self.folder, "haproxy.cfg")
        said = f" tcp-request connection set-src ipv4({source})\n" if source else ""
        with open(path, "w") as file:
            file.write(f"defaults\n mode tcp\n {TIMEOUTS}\n"
                       f"frontend listeners\n bind {address} {bind}\n{said} default_backend gateway\n"
                       f"backend gateway\n server one 127.0.0.1:{port(gateway.addresses['requests'])} {server}\n")
        self.run_server(program("haproxy"), "-db", "-f", path, address=address)
        return address

    def served(self, gateway, address, break_id, trusted=None):
        """A listener that comes by this address has its break, from notice to batch."""
        listener = joined(lambda: self.connect(address, trusted), "radio1")
        broadcaster = Broadcaster(gateway)
        self.addCleanup(broadcaster.close)
        reply = broadcaster.publish("radio1", break_id, [ad("a")])
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        listener.notice(break_id)
        batch = listener.ask(get_batch=listener_pb2.GetBatch(stream="radio1", break_id=break_id))
        self.assertEqual(batch.status, status_pb2.STATUS_CODE_OK, batch)

    def headers(self, gateway, result):
        return gateway.metric(f'cuecast_proxy_headers_total{{result="{result}"}}')

    def test_haproxy_passes_clients_on_and_looks_whether_the_gateway_answers(self):
        gateway = self.start("listeners.proxyProtocol.trusted=127.0.0.1", "allowUnencryptedRemote=true")
        address = self.haproxy(gateway, "", "send-proxy-v2 check inter 100ms")
        self.served(gateway, address, "b1")
        self.assertGreaterEqual(self.headers(gateway, "client"), 1)
        # Its checks are its own connections.
        until("HAProxy looks", lambda: self.headers(gateway, "balancer") + self.headers(gateway, "gone") > 2)
        self.assertEqual(self.headers(gateway, "no_signature"), 0)

    def test_what_haproxy_does_not_encrypt_is_not_taken_for_encrypted(self):
        files = Certificate(self.folder)
        trusted = files.renew("haproxy")
        both = os.path.join(self.folder, "both.pem")
        with open(both, "w") as file:
            for each in (files.certificate, files.key):
                with open(each) as part:
                    file.write(part.read())
        gateway = self.start("listeners.proxyProtocol.trusted=127.0.0.0/8, ::1")
        # A plain connection from elsewhere is refused, and logged with its own address.
        self.assertEqual(self.connect(self.haproxy(gateway, "", "send-proxy-v2")).recv(100), b"")
        until("it is counted", lambda: self.headers(gateway, "unencrypted") >= 1)
        until("it is told of", lambda: CLIENT in gateway.messages())
        # TLS that HAProxy ends and does not tell of is none that the gateway knows.
        address = self.haproxy(gateway, f"ssl crt {both}", "send-proxy-v2")
        self.assertEqual(self.connect(address, trusted).recv(100), b"")
        address = self.haproxy(gateway, f"ssl crt {both}", "send-proxy-v2-ssl")
        self.served(gateway, address, "b1", trusted)

    def test_tls_goes_through_haproxy_to_the_gateway(self):
        files = Certificate(self.folder)
        trusted = files.renew("gateway")
        gateway = self.start("listeners.proxyProtocol.trusted=127.0.0.1", f"listeners.tls.certificateFile={files.certificate}",
                             f"listeners.tls.keyFile={files.key}")
        # With a checksum, which HAProxy makes where it is asked for.
        address = self.haproxy(gateway, "", "send-proxy-v2 proxy-v2-options crc32c,unique-id")
        self.served(gateway, address, "b1", trusted)
        until("it is counted", lambda: gateway.metric("cuecast_tls_connections") == 1)
        self.assertEqual(self.headers(gateway, "checksum"), 0)

    def nginx(self, gateway, *lines):
        """An nginx before the gateway, as a proxy of streams; gives its address."""
        address, path = self.held(), os.path.join(self.folder, "nginx.conf")
        with open(path, "w") as file:
            file.write(f"load_module /usr/lib/nginx/modules/ngx_stream_module.so;\ndaemon off;\nmaster_process off;\n"
                       f"pid {self.folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
                       f"stream {{\n server {{\n listen {address};\n proxy_timeout 1h;\n"
                       f" proxy_pass 127.0.0.1:{port(gateway.addresses['requests'])};\n {' '.join(lines)}\n }}\n}}\n")
        self.run_server(program("nginx"), "-c", path, "-p", self.folder, address=address)
        return address

    def test_tls_goes_through_nginx_to_the_gateway(self):
        files = Certificate(self.folder)
        trusted = files.renew("gateway")
        gateway = self.start(f"listeners.tls.certificateFile={files.certificate}", f"listeners.tls.keyFile={files.key}")
        self.served(gateway, self.nginx(gateway), "b1", trusted)

    def test_nginx_writes_version_1_which_is_refused_and_counted(self):
        gateway = self.start("listeners.proxyProtocol.trusted=127.0.0.1")
        address = self.nginx(gateway, "proxy_protocol on;")
        connection = self.connect(address)
        self.assertEqual(connection.recv(100), b"")
        until("it is counted", lambda: self.headers(gateway, "no_signature") >= 1)
        until("it is told of", lambda: "does not begin with a PROXY header of version 2" in gateway.messages())

    def test_no_client_gets_in_past_the_balancer(self):
        gateway = self.start("listeners.proxyProtocol.trusted=192.0.2.0/24")
        self.assertEqual(self.connect(gateway.addresses["requests"]).recv(100), b"")
        until("it is counted", lambda: self.headers(gateway, "untrusted") == 1)


if __name__ == "__main__":
    unittest.main()

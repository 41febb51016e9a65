# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""deploy/fronts before a real gateway: HAProxy and nginx, as Debian has them."""
import asyncio, contextlib, http.client, http.server, json, os, shutil, ssl, subprocess, threading, unittest, urllib.error, urllib.request

from harness import PATIENCE, ROOT, Broadcaster, ad, broadcast_pb2, status_pb2, until
from test_proxy import Proxies, program
from test_tls import Certificate, port
from zws import Listener, Socket

NAME = "127.0.0.1"
#: Nothing is given up because the machine is slow, a check of HAProxy's neither.
PATIENT_HAPROXY = {"timeout connect 5s": "timeout connect 1h\n    timeout check 1h", "timeout http-request 10s": "timeout http-request 1h",
                   "timeout client 60s": "timeout client 1h", "timeout server 60s": "timeout server 1h", "timeout tunnel 60s": "timeout tunnel 1h"}
PATIENT_NGINX = {"client_header_timeout 10s": "client_header_timeout 1h", "proxy_connect_timeout 5s": "proxy_connect_timeout 60s",
                 "proxy_read_timeout 60s": "proxy_read_timeout 1h", "proxy_send_timeout 60s": "proxy_send_timeout 1h"}


class FrontTest(Proxies):
    """Runs the files of deploy/fronts."""

    def setUp(self):
        super().setUp()
        self.certificate = Certificate(self.folder)
        self.trusted = ssl.create_default_context(cadata=self.certificate.renew("front"))

    @staticmethod
    def read(path):
        with open(path) as file:
            return file.read()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return path

    def shipped(self, name, **places):
        """A file of deploy/fronts with other places and times: each must be there, or the file has changed and so must this."""
        text = self.read(os.path.join(ROOT, "deploy/fronts", name))
        for before, after in places.items():
            self.assertIn(before, text)
            text = text.replace(before, after)
        return text

    def run_front(self, name, gateway, web_socket="127.0.0.1:1", **places):
        """Runs a front before the server of HTTP there, and that of WebSocket, with further changes of its file; gives its address."""
        address = self.held()
        both = self.write("both.pem", self.read(self.certificate.certificate) + self.read(self.certificate.key))
        if name == "haproxy":
            text = self.shipped("haproxy.cfg", **{":443": address, "127.0.0.1:7480": gateway, "127.0.0.1:7403": web_socket,
                                                  "/etc/haproxy/cuecast.pem": both,
                                                  "log global": "log stdout format raw daemon", **PATIENT_HAPROXY, **places})
            self.front = self.run_server(program("haproxy"), "-db", "-f", self.write("haproxy.cfg", text), address=address)
        else:
            text = self.shipped("nginx.conf", **{
                "listen 443": f"listen {address}", "127.0.0.1:7480": gateway, "127.0.0.1:7403": web_socket,
                "gateway.example.com": NAME,
                "/etc/nginx/cuecast.pem": self.certificate.certificate, "/etc/nginx/cuecast.key": self.certificate.key,
                "/var/log/nginx/cuecast.log": os.path.join(self.folder, "nginx.access"), **PATIENT_NGINX, **places})
            self.write("site.conf", text)
            path = self.write("nginx.conf", f"daemon off;\nmaster_process off;\npid {self.folder}/nginx.pid;\nerror_log stderr;\n"
                                            f"events {{}}\nhttp {{\n include {self.folder}/site.conf;\n}}\n")
            self.front = self.run_server(program("nginx"), "-c", path, "-p", self.folder, address=address)
        self.log = os.path.join(self.folder, "haproxy.log" if name == "haproxy" else "nginx.access")
        return address


class Fronts(FrontTest):
    def connection(self, address):
        connection = http.client.HTTPSConnection(NAME, port(address), timeout=PATIENCE, context=self.trusted)
        self.addCleanup(connection.close)
        return connection

    def ask(self, address, path, method="GET", token=None, **headers):
        """Status, headers and body of an answer."""
        if token:
            headers["Authorization"] = "Bearer " + token
        connection = self.connection(address)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def check(self, name):
        # As deploy/fronts/README.md has it.
        self.gateway = self.start("http.openReads=health", f"http.hosts={NAME}")
        self.token = self.read(self.gateway.folder + "/data/http-token").strip()
        address = self.run_front(name, self.gateway.addresses["http"])
        status, headers, _ = self.ask(address, "/healthz")
        self.assertEqual(status, 200)
        self.assertIn("max-age", headers["Strict-Transport-Security"])
        # Reading needs a token although all requests come from this machine, and a name that is none of ours is refused.
        self.assertEqual(self.ask(address, "/v1/reports")[0], 401)
        status, headers, body = self.ask(address, "/v1/reports", token=self.token)
        self.assertEqual((status, json.loads(body)["balanced"]), (200, True))
        self.assertIsNone(headers["Content-Encoding"])
        self.assertIn(self.ask(address, "/v1/reports", token=self.token, Host="elsewhere.example")[0], (403, 404, 421))
        self.assertEqual(self.ask(address, "/v1/reload", "POST", token=self.token)[0], 200)
        # Tracking URLs lead to where the gateway was asked: through the front.
        connection = self.connection(address)
        connection.request("PUT", "/v1/streams/s/breaks/b", headers={
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"}, body=json.dumps({"duration": "50m", "ads": [
                {"id": "a", "duration": "50m", "media": [{"url": "https://cdn.example.com/a.mp3"}]}]}))
        self.assertEqual(connection.getresponse().status, 201)
        assets = json.loads(self.ask(address, "/v1/streams/s/asset-list?_HLS_primary_id=one")[2])["ASSETS"]
        url = assets[0]["X-AD-CREATIVE-SIGNALING"]["payload"][0]["tracking"][0]["urls"][0]
        self.assertTrue(url.startswith(f"https://{address}/v1/streams/s/breaks/b/track/"), url)
        self.assertEqual(self.ask(address, url.removeprefix(f"https://{address}"))[0], 204)
        # HTTP/2 to those who speak it, and TLS to all.
        context = ssl.create_default_context(cadata=self.read(self.certificate.certificate))
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.assertEqual(self.wrapped(address, context).selected_alpn_protocol(), "h2")
        if shutil.which("curl"):
            done = subprocess.run(["curl", "-sS", "--http2", "--cacert", self.certificate.certificate, "-o", "/dev/null", "-w",
                                   "%{http_version} %{http_code}", f"https://{address}/healthz"], capture_output=True, text=True)
            self.assertEqual(done.stdout, "2 200", done.stderr)
        with contextlib.suppress(ConnectionError, http.client.HTTPException, urllib.error.HTTPError):
            with urllib.request.urlopen(f"http://{address}/healthz", timeout=PATIENCE) as answer:
                self.fail(f"it answers in plain: {answer.status}")
        # Without a gateway the front says so, and goes on when it is back.
        self.gateway.stop()
        until("the front finds that it is gone", lambda: self.ask(address, "/healthz")[0] in (502, 503))
        self.gateway.start()
        until("the front finds it again", lambda: self.ask(address, "/healthz")[0] == 200)
        said = until("it is a log", lambda: "GET 401" in (said := self.read(self.log)) and said)
        self.assertNotIn(self.token, said)

    def run_between(self, name, web_socket):
        """Runs a proxy that speaks HTTP/1.1 in plain, as those of a data centre do, before the server of WebSocket there; gives its address."""
        address = self.held()
        if name == "haproxy":
            text = (f"defaults\n mode http\n timeout connect 1h\n timeout client 1h\n timeout server 1h\n timeout tunnel 1h\n"
                    f"listen between\n bind {address}\n server front {web_socket}\n")
            self.run_server(program("haproxy"), "-db", "-f", self.write("between.cfg", text), address=address)
        else:
            text = (f"daemon off;\nmaster_process off;\npid {self.folder}/between.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n access_log off;\n"
                    f" server {{\n  listen {address};\n  location / {{\n   proxy_pass http://{web_socket};\n   proxy_http_version 1.1;\n"
                    f"   proxy_set_header Upgrade $http_upgrade;\n   proxy_set_header Connection upgrade;\n   proxy_set_header Host $http_host;\n"
                    f"   proxy_read_timeout 1h;\n   proxy_send_timeout 1h;\n  }}\n }}\n}}\n")
            self.run_server(program("nginx"), "-c", self.write("between.conf", text), "-p", self.folder, address=address)
        return address

    def check_web_socket(self, name, between=None):
        """A listener of the web comes through the front, and through another proxy behind it; a page of another origin does not."""
        web_socket = self.held()
        self.gateway = self.start("http.openReads=health", f"http.hosts={NAME}", f"listeners.webSocket={web_socket}",
                                  "listeners.webSocketPath=/listen")
        address = self.run_front(name, self.gateway.addresses["http"],
                                 self.run_between(between, web_socket) if between else web_socket)
        broadcaster = Broadcaster(self.gateway)
        self.addCleanup(broadcaster.close)

        async def listen():
            async with Socket(f"wss://{address}/listen", ssl=self.trusted, origin=f"https://{address}") as connection:
                listener = Listener(connection, "radio1")
                await listener.join()
                reply = await asyncio.to_thread(lambda: broadcaster.publish("radio1", "b1", [ad("a", 1_500_000)]))
                self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
                self.assertEqual((await listener.next()).break_id, "b1")
                self.assertEqual(len((await listener.play("b1")).advertisements), 1)

        asyncio.run(listen())
        # So does the client library.
        player = self.gateway.listen("radio2", "--url", f"wss://{address}/listen", "--listener-ca-file",
                                     self.certificate.certificate, "--breaks", "1", "--speed", "1000000")
        self.addCleanup(lambda: player.process.poll() is None and player.kill())
        player.wait_for("joined")
        reply = broadcaster.publish("radio2", "b1", [ad("a", 1_500_000)], start=broadcast_pb2.Start(now=True))
        self.assertEqual(reply.status, status_pb2.STATUS_CODE_OK, reply)
        player.wait_for("outcome", outcome="played")
        player.wait_for("acknowledged")
        self.assertEqual(player.finish(), 0)
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "ZWS2.0",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": "https://evil.example"}
        status, _, said = self.ask(address, "/listen", **headers)
        self.assertEqual(status, 403, said)

    def test_haproxy_passes_web_socket_on(self):
        self.check_web_socket("haproxy")

    def test_nginx_passes_web_socket_on(self):
        self.check_web_socket("nginx")

    def test_haproxy_passes_web_socket_on_to_another_proxy(self):
        self.check_web_socket("haproxy", between="nginx")

    def test_nginx_passes_web_socket_on_to_another_proxy(self):
        self.check_web_socket("nginx", between="haproxy")

    def wrapped(self, address, context):
        connection = context.wrap_socket(self.connect(address), server_hostname=NAME)
        self.addCleanup(connection.close)
        return connection

    def check_stream(self, name):
        """An answer that goes on comes piece by piece, and what its address holds is in no log."""
        has_come, ticket = threading.Event(), "a-ticket-that-stays-secret"
        self.addCleanup(has_come.set)

        class Streaming(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                if self.path == "/healthz":
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for text in (b"data: one\n\n", b"data: two\n\n", b""):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
                    # A front that waits for more, or for the end, waits in vain.
                    if text and not has_come.wait(PATIENCE):
                        return

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Streaming)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        address = self.run_front(name, f"127.0.0.1:{server.server_port}")
        connection = self.connection(address)
        connection.request("GET", f"/v1/events?ticket={ticket}", headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, None))
        self.assertEqual(answer.readline(), b"data: one\n")
        has_come.set()
        self.assertEqual(answer.read(), b"\ndata: two\n\n")
        connection.close()
        said = until("the front has logged it", lambda: "GET 200" in (said := self.read(self.log)) and said)
        self.assertNotIn("ticket", said)

    def test_an_answer_that_goes_on_comes_through_haproxy_as_it_is_written(self):
        self.check_stream("haproxy")

    def test_an_answer_that_goes_on_comes_through_nginx_as_it_is_written(self):
        self.check_stream("nginx")

    def test_haproxy(self):
        self.check("haproxy")

    def test_nginx(self):
        self.check("nginx")


if __name__ == "__main__":
    unittest.main()

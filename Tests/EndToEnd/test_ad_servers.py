# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Ads from ad servers: `--vast-url`, `cuecast vast resolve`, and servers that do all that servers do.

    scripts/end-to-end.sh AdServers
    CUECAST_ANSWERS=all scripts/end-to-end.sh AdServers     with all 200 malformed answers; else with every fourth
"""
import concurrent.futures, gzip, json, os, random, re, socket, subprocess, tempfile, unittest, urllib.request

from ad_server import TRACK, AdServer, answer, inline, vast, wrapper
from harness import BINARY, PATIENCE, ROOT, Gateway
from test_https import Authority

VAST = os.path.join(ROOT, "Examples/two-ads.vast.xml")
#: Long enough for a busy machine, where a test is not about time.
UNHURRIED = ("--ad-server-time", "60s", "--ad-server-connect-time", "60s")


def run(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=max(PATIENCE, 120))


def resolve(source, *arguments, options=("--allow-private", *UNHURRIED), code=None):
    """What `cuecast vast resolve --json` says of an address."""
    done = run("vast", "resolve", source, *options, *arguments, "--json")
    assert done.returncode in (0, 65), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    found = json.loads(done.stdout)
    assert (done.returncode == 0) == bool(found["ads"]), done
    if code is not None:
        assert done.returncode == code, done
    return found


def reasons(found):
    """The names of the faults of documents, and of the reasons of ads that were left."""
    faults = [each["fault"]["reason"] for each in found["documents"] if "fault" in each]
    left = [ad["reason"] for each in found["documents"] for ad in each["ads"] if "reason" in ad]
    return faults + left


class AdServers(unittest.TestCase):
    def setUp(self):
        self.server = AdServer()
        self.addCleanup(self.server.close)

    def gateway(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        return gateway

    def wait(self, _):
        """Says nothing to a connection until the test is over."""
        self.server.over.wait()

    # MARK: What is published

    def test_a_break_has_the_ads_behind_a_wrapper_with_all_trackers(self):
        gateway = self.gateway()
        inside = ("<Creatives><Creative><Linear><TrackingEvents>"
                  f'<Tracking event="start">{TRACK}/wrapper/start</Tracking></TrackingEvents>'
                  f"<VideoClicks><ClickTracking>{TRACK}/wrapper/click</ClickTracking></VideoClicks></Linear></Creative></Creatives>")
        self.server.serve("/tag", vast(wrapper(self.server.url("/ad"), inside=inside, error=f"{TRACK}/wrapper/e?[ERRORCODE]")))
        self.server.serve("/ad", vast(inline("spot"), inline("other")))
        done = run_with(gateway, "publish", "--stream", "radio1", "--break", "noon", "--now", "--vast-url",
                        self.server.url("/tag?cb=[CACHEBUSTING]&t=[TIMESTAMP]&d=[BREAKMAXDURATION]&v=[VASTVERSIONS]"),
                        "--allow-private", "--duration", "90s", *UNHURRIED)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("took “spot”, 15 s, behind 1 wrapper", done.stderr)
        self.assertIn("ad 2 “other” with the id “other” on line 1 is not the one ad", done.stderr)
        self.assertNotIn("cb=", done.stderr)
        target, headers = self.server.asked[0]
        self.assertRegex(target, r"^/tag\?cb=\d{8}&t=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d{3}Z&d=90&v=2,3,5,6,7,8,11,12,13,14$")
        self.assertEqual((headers["accept-encoding"], headers["user-agent"].split("/")[0]), ("gzip", "cuecast"))
        document = gateway_text(gateway, "/v1/streams/radio1/vast?_HLS_primary_id=p&_HLS_start_offset=0")
        order = [document.index(url) for url in (f"{TRACK}/wrapper</Impression>", f"{TRACK}/spot</Impression>")]
        self.assertEqual(order, sorted(order))
        for url in ("/wrapper/start", "/wrapper/click", "/wrapper/e?[ERRORCODE]"):
            self.assertIn(TRACK + url, document)

    def test_a_list_is_filled_and_stays_as_it_is_where_the_server_gives_nothing(self):
        gateway = self.gateway()
        tag = ("--vast-url", self.server.url("/tag"), "--allow-private", *UNHURRIED)
        self.server.serve("/tag", vast(inline("one", place='sequence="1"'), inline("two", place='sequence="2"')))
        run_with(gateway, "lists", "put", "spots", *tag, code=0)
        before = json.loads(gateway.run("lists", "show", "spots", "--json"))
        self.assertEqual([ad["title"] for ad in before["ads"]], ["one", "two"])
        self.server.serve("/tag", vast(error=f"{TRACK}/none"))
        done = run_with(gateway, "lists", "put", "spots", *tag, code=65)
        self.assertIn("The document has no ad.", done.stderr)
        self.assertEqual(json.loads(gateway.run("lists", "show", "spots", "--json")), before)

    def test_each_fallback_stands_in_where_the_server_gives_nothing(self):
        gateway = self.gateway()
        gateway.run("lists", "put", "house", "--vast", VAST)
        ads = os.path.join(gateway.folder, "ads.json")
        with open(ads, "w") as file:
            json.dump({"ads": [{"id": "own", "title": "Own", "duration": "10s", "media": [
                {"url": "https://cdn.example.com/own.mp3", "type": "audio/mpeg"}]}]}, file)
        run_with(gateway, "lists", "put", "checked", "--ads", ads, code=0)
        self.server.serve("/tag", "", 500)
        for number, (option, value) in enumerate((("--fallback-vast", VAST), ("--fallback-ads", ads), ("--fallback-list", "house"))):
            done = run_with(gateway, "publish", "--stream", f"radio{number}", "--break", "noon", "--in", "60s", "--vast-url",
                            self.server.url("/tag"), "--allow-private", *UNHURRIED, option, value, "--json", code=0)
            self.assertIn("answers with status 500", done.stderr)
            self.assertIn("are taken instead", done.stderr)
            self.assertGreater(json.loads(done.stdout)["advertisements"], 0)
        done = run_with(gateway, "publish", "--stream", "radio1", "--break", "none", "--vast-url", self.server.url("/tag"),
                        "--allow-private", *UNHURRIED, code=65)
        self.assertIn("gave no ad", done.stderr)
        self.assertNotIn("none", [each["break"] for each in json.loads(gateway.run("breaks", "--json"))])

    def test_options_that_contradict_each_other_are_usage(self):
        url = self.server.url("/tag")
        for arguments in (("--vast-url", url, "--vast", VAST), ("--fallback-vast", VAST, "--vast", VAST), ("--vast-url", "nonsense"),
                          ("--vast-url", "ftp://a.example/x"), ("--vast-url", url, "--fallback-vast", VAST, "--fallback-list", "a"),
                          ("--vast-url", url, "--ad-server-time", "0s"), ("--vast-url", url, "--ad-server-time", "61s"),
                          ("--vast-url", url, "--ad-server-connect-time", "0s"), ("--vast-url", "http://a b/"),
                          ("--vast-url", "http://a.example/" + "x" * 4_096)):
            done = run("lists", "put", "spots", *arguments)
            self.assertEqual(done.returncode, 64, (arguments, done.stderr))
        for source in ("https://", "gopher://a.example/"):
            self.assertEqual(run("vast", "resolve", source).returncode, 64)
        done = run("vast", "resolve", "/no/such/file.xml")
        self.assertEqual((done.returncode, "/no/such/file.xml" in done.stderr), (65, True))
        done = run("vast", "resolve", VAST, "--ad-server-ca-file", VAST)
        self.assertEqual((done.returncode, "PEM" in done.stderr), (65, True))
        self.assertEqual(self.server.asked, [])

    # MARK: What is shown

    def test_the_tree_shows_each_document_and_each_ad(self):
        self.server.serve("/tag", vast(wrapper(self.server.url("/gone"), place='sequence="1"'),
                                       wrapper(self.server.url("/ad"), place='sequence="2"'), inline("spare"), inline("unneeded")))
        self.server.serve("/ad", vast(inline("spot", 30), version="3.0"))
        done = run("vast", "resolve", self.server.url("/tag"), "--allow-private", *UNHURRIED)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = re.sub(r"\d+ ms", "N ms", done.stdout.replace(str(self.server.port), "PORT"))
        size = {path: len(self.server.pages[path](None).split(b"\r\n\r\n", 1)[1]) for path in ("/tag", "/ad")}
        self.assertEqual(text, f"""\
http://127.0.0.1:PORT/tag
  status 200, N ms, {size['/tag']} bytes, VAST 4.2
  ad 1 on line 1 is a wrapper of:
    http://127.0.0.1:PORT/gone
      status 404, N ms
      no ads: http://127.0.0.1:PORT/gone answers with status 404. (VAST error 301)
  left: ad 1 on line 1 is a wrapper, and its address gave no ads: http://127.0.0.1:PORT/gone answers with status 404; in its place \
is “spare”. (VAST error 301)
  ad 2 on line 1 is a wrapper of:
    http://127.0.0.1:PORT/ad
      status 200, N ms, {size['/ad']} bytes, VAST 3.0
      taken: “spot”, 30 s
  taken: “spare”, 15 s
  left: ad 4 “unneeded” with the id “unneeded” on line 1 is a stand-alone ad that was not needed.
2 ads, 45 s, found in N ms; 2 left
""")

    def test_a_file_is_resolved_too(self):
        found = resolve(VAST)
        self.assertEqual(found["documents"][0]["document"], 0)
        self.assertNotIn("address", found["documents"][0])
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            self.server.serve("/ad", vast(inline("spot")))
            file.write(vast(wrapper(self.server.url("/ad"))))
            file.flush()
            self.assertEqual([ad["title"] for ad in resolve(file.name)["ads"]], ["spot"])

    def test_error_addresses_are_called_only_where_that_is_wanted(self):
        none = self.server.url("/none?code=[ERRORCODE]&cb=[CACHEBUSTING]")
        self.server.serve("/tag", vast(wrapper(self.server.url("/empty"), error=self.server.url("/wrapper?code=[ERRORCODE]")),
                                       inline("broken", media=False, error=self.server.url("/inline?code=[ERRORCODE]"))))
        self.server.serve("/empty", vast(error=none))
        for path in ("/none", "/inline"):
            self.server.serve(path, "", 204)
        self.server.serve("/wrapper", "", 500)

        def calls():
            return sorted(target for target, _ in self.server.asked if "code=" in target)

        found = resolve(self.server.url("/tag"), code=65)
        self.assertEqual((calls(), len(found["errorUrls"])), ([], 3))
        found = resolve(self.server.url("/tag"), "--report-errors", code=65)
        self.assertEqual(found["errorCalls"], {"called": 2, "failed": 1, "pastLimit": 0})
        self.assertRegex(" ".join(calls()), r"^/inline\?code=401 /none\?code=303&cb=\d{8} /wrapper\?code=303$")

    def test_no_more_error_addresses_are_called_than_the_limit(self):
        self.server.serve("/e", "")
        error = self.server.url("/e?[ERRORCODE]")
        self.server.serve("/tag", vast(*[inline(f"ad{n}", media=False, error=error, place=f'sequence="{n}"') for n in range(64)]))
        found = resolve(self.server.url("/tag"), "--report-errors", code=65)
        self.assertEqual(found["errorCalls"], {"called": 64, "failed": 0, "pastLimit": 0})
        self.server.serve("/tag", vast(*[inline(f"ad{n}", media=False, error=error, place=f'sequence="{n}"',
                                                inside=f"<Error>{error}</Error>" if n == 0 else "") for n in range(64)]))
        found = resolve(self.server.url("/tag"), "--report-errors", code=65)
        self.assertEqual(found["errorCalls"], {"called": 64, "failed": 0, "pastLimit": 1})

    # MARK: What servers do

    def test_gzip_is_read_and_bounded(self):
        document = vast(inline("spot")).encode()
        self.server.serve("/tag", gzip.compress(document), headers=["Content-Encoding: gzip"])
        found = resolve(self.server.url("/tag"), code=0)
        self.assertEqual(found["documents"][0]["bytes"], len(document))
        most = 1_048_576
        for size, reason in ((most, None), (most + 1, "tooLarge"), (64 * most, "tooLarge")):
            padded = gzip.compress(document + b" " * (size - len(document)))
            self.server.serve("/tag", padded, headers=["Content-Encoding: gzip"])
            self.assertEqual(reasons(resolve(self.server.url("/tag"))), [reason] if reason else [])
        self.server.serve("/tag", document, headers=["Content-Encoding: br"])
        self.assertIn("in the encoding br", resolve(self.server.url("/tag"))["documents"][0]["fault"]["sentence"])

    def test_an_answer_may_be_as_large_as_the_limit(self):
        document = vast(inline("spot")).encode()
        for size, reason in ((1_048_576, None), (1_048_577, "tooLarge")):
            padded = document + b" " * (size - len(document))
            self.server.serve("/length", padded)
            self.server.raw("/close", b"HTTP/1.1 200 OK\r\n\r\n" + padded)
            self.server.raw("/chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % size + padded + b"\r\n0\r\n\r\n")
            for path in ("/length", "/close", "/chunks"):
                self.assertEqual(reasons(resolve(self.server.url(path))), [reason] if reason else [], path)

    def test_endless_bodies_and_silence_end_in_time(self):
        def endless(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not self.server.over.wait(0.01):
                connection.sendall(b"<")

        def flood(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n<VAST>")
            while not self.server.over.is_set():
                connection.sendall(b" " * 65_536)

        def headers(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not self.server.over.is_set():
                connection.sendall(b"X: " + b"x" * 1_000 + b"\r\n")

        self.server.pages |= {"/slow": endless, "/flood": flood, "/headers": headers, "/silent": self.wait}
        hurried = ("--allow-private", "--ad-server-time", "500ms")
        self.assertEqual(reasons(resolve(self.server.url("/slow"), options=hurried)), ["timedOut"])
        self.assertEqual(reasons(resolve(self.server.url("/silent"), options=hurried)), ["timedOut"])
        self.assertEqual(reasons(resolve(self.server.url("/flood"))), ["tooLarge"])
        self.assertEqual(reasons(resolve(self.server.url("/headers"))), ["unavailable"])

    def test_the_time_is_for_all_requests_together(self):
        self.server.pages["/late"] = self.wait
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(vast(*[wrapper(self.server.url("/late"), place=f'sequence="{n}"') for n in range(20)], inline("spare")))
            file.flush()
            found = resolve(file.name, options=("--allow-private", "--ad-server-time", "1s"))
        # Eight at a time: if each had its own time, others would be asked behind the first eight.
        self.assertEqual(reasons(found), ["timedOut"] * 40)
        self.assertLessEqual(len(self.server.asked), 8)
        self.assertEqual([ad["title"] for ad in found["ads"]], ["spare"])

    def test_a_connection_that_is_not_taken_ends_in_its_own_time(self):
        # A queue that is full takes no connection.
        with socket.socket() as full, socket.socket() as first, socket.socket() as second:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            for each in (first, second):
                each.setblocking(False)
                each.connect_ex(full.getsockname())
            found = resolve(f"http://127.0.0.1:{full.getsockname()[1]}/", options=(
                "--allow-private", "--ad-server-time", "60s", "--ad-server-connect-time", "200ms"))
        self.assertEqual(reasons(found), ["timedOut"])
        self.assertIn("did not take the connection within 0.2 seconds", found["documents"][0]["fault"]["sentence"])

    def test_a_second_attempt_follows_what_may_pass(self):
        document = vast(inline("spot"))
        for first in (answer("", 503), answer("", 502), answer("", 504), b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<VAST"):
            turns = iter((first, answer(document)))
            self.server.pages["/tag"] = lambda _, turns=turns: next(turns)
            found = resolve(self.server.url("/tag"), code=0)
            self.assertEqual(found["documents"][0]["attempts"], 2, first)
        for status in (400, 404, 429, 500):
            self.server.serve("/tag", document, status)
            found = resolve(self.server.url("/tag"), code=65)
            self.assertEqual(found["documents"][0]["attempts"], 1, status)
        self.server.serve("/tag", document, 503)
        self.assertEqual(resolve(self.server.url("/tag"), code=65)["documents"][0]["attempts"], 2)

    def test_redirects_are_followed_up_to_the_limit(self):
        self.server.serve("/5", vast(inline("spot")))
        for number in range(5):
            self.server.redirect(f"/{number}", f"/{number + 1}", (301, 302, 303, 307, 308)[number])
        found = resolve(self.server.url("/0"), code=0)
        self.assertEqual(found["documents"][0]["redirects"], 5)
        self.server.redirect("/first", "/0")
        self.assertIn("more than 5 redirects", resolve(self.server.url("/first"))["documents"][0]["fault"]["sentence"])
        for target in ("file:///etc/passwd", "ftp://a.example/", "javascript:alert(1)", ""):
            self.server.redirect("/bad", target)
            self.assertEqual(reasons(resolve(self.server.url("/bad"))), ["refused"], target)

    def test_private_addresses_are_refused_unless_they_are_allowed(self):
        document = vast(inline("spot"))
        self.server.serve("/tag", document)
        for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "192.168.1.1", "[::ffff:10.0.0.1]", "0.0.0.0"):
            found = resolve(f"http://{host}:{self.server.port}/tag", options=UNHURRIED)
            self.assertEqual((reasons(found), found["documents"][0]["fault"]["errorCode"]), (["refused"], 300), host)
        self.assertEqual(self.server.asked, [])
        named = ("--allow-host", "127.0.0.1", *UNHURRIED)
        self.assertEqual(len(resolve(self.server.url("/tag"), options=named)["ads"]), 1)
        # What is allowed leads nowhere else: neither by a redirect, nor by a wrapper, nor to call an error.
        self.server.redirect("/redirect", self.server.url("/tag", host="localhost"))
        self.assertEqual(reasons(resolve(self.server.url("/redirect"), options=named)), ["refused"])
        inner = self.server.url("/tag", host="localhost")
        self.server.serve("/wrapper", vast(wrapper(inner, error=self.server.url("/error", host="localhost"))))
        found = resolve(self.server.url("/wrapper"), "--report-errors", options=named)
        self.assertEqual((reasons(found), found["errorCalls"]["failed"]), (["refused", "refused"], 1))
        self.assertNotIn("/error", [target for target, _ in self.server.asked])

    def test_a_user_in_an_address_is_refused(self):
        found = resolve(f"http://user:secret@127.0.0.1:{self.server.port}/tag")
        self.assertEqual(reasons(found), ["refused"])
        self.assertNotIn("secret", found["documents"][0]["fault"]["sentence"])

    def test_certificates_are_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            authority, certificate, key = Authority(folder), folder + "/server.pem", folder + "/server.key"
            authority.sign("IP:127.0.0.1", certificate, key)
            server = AdServer((certificate, key))
            self.addCleanup(server.close)
            server.serve("/tag", vast(inline("spot")))
            known = ("--ad-server-ca-file", authority.certificate)
            self.assertEqual(len(resolve(server.url("/tag"), *known)["ads"]), 1)
            sentence = resolve(server.url("/tag"))["documents"][0]["fault"]["sentence"]
            self.assertIn("is not trusted: its certificate has no trusted issuer", sentence)
            found = resolve(server.url("/tag", host="localhost"), *known)
            self.assertIn("is not trusted: its certificate is for another host", found["documents"][0]["fault"]["sentence"])
            # A certificate for a name is for that name, and one for an address for no name.
            authority.sign("DNS:localhost", certificate, key)
            named = AdServer((certificate, key))
            self.addCleanup(named.close)
            named.serve("/tag", vast(inline("spot")))
            self.assertEqual(len(resolve(named.url("/tag", host="localhost"), *known)["ads"]), 1)
            self.assertEqual(reasons(resolve(named.url("/tag"), *known)), ["unavailable"])
            # Not to less protection.
            self.server.serve("/tag", vast(inline("spot")))
            server.redirect("/down", self.server.url("/tag"))
            self.assertEqual(reasons(resolve(server.url("/down"), *known)), ["refused"])
            self.assertEqual(reasons(resolve(server.url("/tag").replace("https", "http"))), ["unavailable"])

    def test_loops_and_long_chains_end(self):
        self.server.serve("/a", vast(wrapper(self.server.url("/b"))))
        self.server.serve("/b", vast(wrapper(self.server.url("/a"))))
        self.assertEqual(reasons(resolve(self.server.url("/a"))), ["nothingTaken", "loop"])
        self.assertEqual(len(self.server.asked), 2)
        for number in range(7):
            self.server.serve(f"/{number}", vast(wrapper(self.server.url(f"/{number + 1}"))))
        self.server.serve("/deep", vast(wrapper(self.server.url("/0"))))
        found = resolve(self.server.url("/deep"))
        self.assertEqual(reasons(found)[-1], "tooManyWrappers")
        self.assertEqual(len(found["documents"]), 6)
        self.server.serve("/wide", vast(*[wrapper(self.server.url(f"/w?{n}"), place=f'sequence="{n}"') for n in range(40)]))
        self.server.serve("/w", vast(inline("spot")))
        found = resolve(self.server.url("/wide"))
        self.assertEqual((len(found["ads"]), reasons(found)), (31, ["tooManyDocuments"] * 9))

    # MARK: Malformed answers

    def malformed(self):
        """200 answers that give no ad: what is sent, and the reasons that there may be."""
        document = vast(inline("spot", error=f"{TRACK}/e")).encode()
        answers = []
        # Whatever a document is cut off at, and whatever is said of its length.
        for number in range(1, 61):
            cut = document[:number * (len(document) - 1) // 61]
            answers.append((answer(cut), {"malformed"}))
        for number in range(1, 21):
            whole = answer(document)
            answers.append((whole[:len(whole) - number * 20], {"unavailable"}))
        for status in (300, 304, 305, 400, 401, 403, 404, 405, 410, 418, 429, 451, 500, 501, 505, 511, 599, 201, 202, 206):
            answers.append((answer(document, status), {"unavailable"}))
        answers.append((answer("", 204), {"noAds"}))
        for text in ("", " ", "null", "{}", "no ad", "<", "<html><body>503</body></html>", "<!DOCTYPE html><html></html>", "<VAST/", "<VAST></Vast>",
                     "<VAST><Ad></VAST>", "<VAST>&nbsp;</VAST>", "<VAST>&undefined;</VAST>", "<VAST/><VAST/>", "<VAST a=1/>",
                     "\0", "\x7f", "<!DOCTYPE VAST [<!ENTITY a 'b'>]><VAST>&a;</VAST>", "GIF89a", "%PDF-1.4"):
            answers.append((answer(text), {"malformed", "notVAST"}))
        for text, reason in (("<rss/>", "notVAST"), ("<vast version='4.2'/>", "notVAST"), ("<DAAST/>", "notVAST"), ("<VMAP/>", "notVAST"),
                             ("<VideoAdServingTemplate/>", "unsupportedVersion"), ("<VAST version='1.0'/>", "unsupportedVersion"),
                             ("<VAST version='5.0'/>", "unsupportedVersion"), ("<VAST version='x'/>", "unsupportedVersion"),
                             ("<VAST version='4.2'/>", "noAds"), ("<VAST><Error>x</Error></VAST>", "noAds"),
                             ("<?xml version='1.0' encoding='EBCDIC'?><VAST/>", "unsupportedEncoding"),
                             ("<VAST>" + "<Ad/>" * 65 + "</VAST>", "tooLarge"), ("<a>" * 65 + "</a>" * 65, "tooLarge"),
                             ("<VAST>" + "<a/>" * 32_768 + "</VAST>", "tooLarge")):
            answers.append((answer(text), {reason}))
        for ad, reason in (("<Ad/>", "notOneAd"), ("<Ad><InLine/></Ad>", "noLinear"), (inline("x", media=False), "noMediaFile"),
                           (inline("x", seconds=0), "unusableDuration"), (inline("x").replace("00:00:15", "soon"), "unusableDuration"),
                           (inline("x").replace("00:00:15", "09:00:00"), "tooLong"), (inline("x").replace("https://cdn", "rtmp://cdn"), "noUsableMediaFile"),
                           (inline("x").replace("audio/mpeg", "application/javascript"), "needsFramework"),
                           (inline("x", place='conditionalAd="true"'), "conditional"), (wrapper(""), "noAddress"),
                           (wrapper("about:blank"), "noAddress"), (wrapper("/relative"), "unusableAddress"), (wrapper("data:,x"), "unusableAddress"),
                           (wrapper("http://a.example/" + "x" * 4_096), "addressTooLong"),
                           (inline("x", inside=f"<Impression>{TRACK}</Impression>" * 128), "tooManyTrackers"),
                           (wrapper("http://127.0.0.1:1/"), "unavailable")):
            answers.append((answer(vast(ad)), set(reason.split())))
        zipped = gzip.compress(document)
        for number in range(1, 21):
            broken = bytearray(zipped)
            broken = broken[:number * len(zipped) // 21] if number % 2 else broken[:-8] + bytes(8)
            answers.append((answer(bytes(broken), headers=["Content-Encoding: gzip"]), {"unavailable"}))
        for encoding in ("br", "deflate", "zstd", "compress", "gzip, gzip", "x", "\x01"):
            answers.append((answer(document, headers=[f"Content-Encoding: {encoding}"]), {"unavailable"}))
        for sent in (b"", b"\0" * 64, b"HTTP", b"HTTP/1.1\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"\x15\x03\x01\0\x02\x02\x28",
                     b"HTTP/1.1 abc OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
                     b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", b"HTTP/1.1 200 OK\r\n: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nX\0Y: z\r\n\r\n",
                     b"ICY 200 OK\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"):
            answers.append((sent, {"unavailable", "tooLarge", "malformed"}))
        generator = random.Random(39)
        while len(answers) < 200:
            spoiled = bytearray(document)
            for _ in range(3):
                spoiled[generator.randrange(len(spoiled))] = generator.choice(b"<>&\0\x80")
            answers.append((answer(bytes(spoiled)), None))
        return answers

    def test_malformed_answers_end_in_a_reason_and_in_the_fallback(self):
        gateway = self.gateway()
        answers = self.malformed()
        self.assertGreaterEqual(len(answers), 200)
        for number, (sent, _) in enumerate(answers):
            self.server.raw(f"/{number}", sent)

        def check(number):
            url, expected = self.server.url(f"/{number}"), answers[number][1]
            found = resolve(url)
            if expected is None and found["ads"]:
                return None  # What was spoiled did not matter.
            names = set(reasons(found))
            if not names or expected is not None and not names & expected:
                return f"{number}: {answers[number][0][:200]} ended in {names}, and not in {expected}"
            sentences = [each["fault"]["sentence"] for each in found["documents"] if "fault" in each] + [
                ad["sentence"] for each in found["documents"] for ad in each["ads"] if "sentence" in ad]
            if not all(sentence.strip() for sentence in sentences) or not sentences:
                return f"{number}: there is a reason without a sentence"
            done = run_with(gateway, "lists", "put", f"list{number % 8}", "--vast-url", url, "--allow-private", *UNHURRIED,
                            "--fallback-vast", VAST, "--json")
            if done.returncode != 0 or "are taken instead" not in done.stderr or json.loads(done.stdout)[0]["advertisements"] == 0:
                return f"{number}: the fallback did not stand in: {done}"
            return None

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tried = range(0, len(answers), 1 if os.environ.get("CUECAST_ANSWERS") == "all" else 4)
            failures = [failure for failure in pool.map(check, tried) if failure]
        self.assertEqual(failures, [])


def run_with(gateway, *arguments, code=None):
    """Runs a command against a gateway, and gives all that came of it."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=gateway.environment, timeout=max(PATIENCE, 120))
    assert code is None or done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def gateway_text(gateway, path):
    """What a gateway says over HTTP."""
    with urllib.request.urlopen(f"http://{gateway.addresses['http']}{path}", timeout=PATIENCE) as said:
        return said.read().decode()

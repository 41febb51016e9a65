// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CueWatching

/// Loading playlists from files, and watching them.
@Suite(.suiteLimit)
struct PlaylistFetcherTests {
    /// A folder that is removed at the end.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: self.url) }

        func write(_ name: String, _ text: String) throws -> URL {
            let file = self.url.appendingPathComponent(name)
            try Data(text.utf8).write(to: file, options: .atomic)
            return file
        }
    }

    private func kind(_ fetcher: PlaylistFetcher, _ url: URL) async -> String {
        do throws(PlaylistFetcher.Fault) {
            return "\(try await fetcher.load(url).bytes.count) bytes"
        } catch {
            #expect(!error.refusal.sentence.isEmpty)
            return error.kind
        }
    }

    @Test func `a file is read up to the limit, and nothing but a regular file is`() async throws {
        let folder = try Folder()
        var limits = PlaylistFetchLimits()
        limits.playlistBytesMax = 10
        let fetcher = PlaylistFetcher(hosts: HostRule(), limits: limits)
        #expect(await self.kind(fetcher, try folder.write("a", String(repeating: "x", count: 10))) == "10 bytes")
        #expect(await self.kind(fetcher, try folder.write("b", String(repeating: "x", count: 11))) == "size")
        #expect(await self.kind(fetcher, folder.url) == "file")
        #expect(await self.kind(fetcher, folder.url.appendingPathComponent("none")) == "file")
        #expect(await self.kind(fetcher, URL(fileURLWithPath: "/dev/zero")) == "file")
    }

    @Test func `hosts inside are refused before they are asked`() async throws {
        let fetcher = PlaylistFetcher(hosts: HostRule())
        for text in ["http://127.0.0.1:1/a", "https://[::1]/a", "http://169.254.169.254/latest", "http://10.1.2.3/a"] {
            #expect(await self.kind(fetcher, try #require(URL(string: text))) == "host", "\(text)")
        }
    }

    @Test func `a playlist leads to the web only, and never to less protection`() throws {
        let web = try #require(URL(string: "https://a.example/live/main.m3u8?token=1"))
        #expect(
            PlaylistFetcher.address("low.m3u8", relativeTo: web)?.absoluteString == "https://a.example/live/low.m3u8"
        )
        #expect(PlaylistFetcher.address("//b.example/low.m3u8", relativeTo: web)?.host() == "b.example")
        for text in ["http://a.example/low.m3u8", "file:///etc/passwd", "ftp://a.example/x", "data:,x"] {
            #expect(PlaylistFetcher.address(text, relativeTo: web) == nil, "\(text)")
        }
        let file = URL(fileURLWithPath: "/tmp/live/main.m3u8")
        #expect(PlaylistFetcher.address("low.m3u8", relativeTo: file)?.path == "/tmp/live/low.m3u8")
        #expect(web.shown == "https://a.example/live/main.m3u8")
    }

    @Test func `another rendition stands in, and a broken playlist does not end the watch`() async throws {
        let folder = try Folder()
        let master = try folder.write(
            "main.m3u8",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n"
        )
        _ = try folder.write("low.m3u8", "no playlist")
        let date = Timestamp.text(ofMilliseconds: Cues.noon)
        let high =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:\(date)\n#EXT-X-CUE-OUT:30\n#EXTINF:6,\na.ts\n"
        let lines = Mutex<[WatchLine]>([])
        let output = WatchOutput(line: { line in lines.withLock { $0.append(line) } }, complain: { _ in })
        // Time stands still, and a wait ends when the test says so.
        let clock = WatchClock(now: { Cues.noon }, sleep: { _ in try await Task.sleep(for: .milliseconds(1)) })
        let sender = SignalSender(receiver: nil, output: output, clock: clock)
        let target = PlaylistWatcher.Target(stream: "radio1", source: "playlist", urls: [master])
        let watcher = PlaylistWatcher(
            target,
            fetcher: PlaylistFetcher(hosts: HostRule()),
            sender: sender,
            clock: clock,
            endsWithPlaylist: true
        )
        let watching = Task { await watcher.run() }
        // Both renditions fail, for a different reason each, and are told once.
        try await until { lines.withLock { $0.count } == 2 }
        try await until { await sender.counts.repeatedFaults > 4 }
        _ = try folder.write("high.m3u8", high)
        try await until { lines.withLock { $0.last?.result } == .notSent }
        _ = try folder.write("high.m3u8", high + "#EXTINF:6,\nb.ts\n#EXT-X-ENDLIST\n")
        await watching.value
        #expect(lines.withLock { $0.map(\.result) } == [.refused, .refused, .notSent, .ignored])
        let codes = lines.withLock { $0.compactMap(\.reason) }
        #expect(codes[0].hasPrefix("BAD_SOURCE") && codes[1].hasPrefix("UNREACHABLE"), "\(codes)")
    }
}

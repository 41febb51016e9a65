// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CueWatching
import CuecastWire
import Foundation

struct WatchHLS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hls",
        abstract: "Watch live HLS playlists, and send the signals of their marks.",
        discussion: """
            Media and multivariant playlists are read again and again, as players do. Of a multivariant playlist one rendition is \
            watched, and another one is taken when it fails. A mark that stays in the playlist is one break.

            A line is printed for each thing that was seen: what it is, and what was sent, or why it was ignored. SIGTERM and SIGINT \
            end the watch; the counts are printed then. Addresses of private networks are asked only with --allow-private or \
            --allow-host.

            Example: cuecast watch hls https://encoder.example/live.m3u8 --stream sport1 --source playlist
            """
    )

    @Argument(help: "Addresses of the stream's playlist: http, https or file; the next one is taken when one fails.")
    var addresses: [String] = []

    @Option(
        help:
            "The stream; or STREAM=ADDRESS, also several times, to watch the playlists of many streams in one process."
    )
    var stream: [String]

    @Option(help: "The file of certificates (PEM) that https servers' are checked against; otherwise the system's.")
    var caFile: String?

    @OptionGroup var hosts: HostOptions
    @OptionGroup var segmentation: SegmentationOptions
    @OptionGroup var watch: WatchOptions

    func validate() throws {
        _ = try self.targets()
        _ = try self.fetcher()
    }

    func run() async throws {
        let targets = try self.targets()
        let fetcher = try self.fetcher()
        let endsWithPlaylist = self.watch.dryRun
        try await self.watch.run(targets.compactMap(\.watched)) { sender in
            await withTaskGroup(of: Void.self) { group in
                for target in targets {
                    let watcher = PlaylistWatcher(
                        target,
                        fetcher: fetcher,
                        sender: sender,
                        endsWithPlaylist: endsWithPlaylist
                    )
                    group.addTask { await watcher.run() }
                }
            }
        }
    }

    private func fetcher() throws -> PlaylistFetcher {
        let roots: [UInt8]?
        do throws(HTTPEndpoint.Fault) {
            roots = try self.caFile.map { (path) throws(HTTPEndpoint.Fault) in try HTTPEndpoint.certificates(path) }
        } catch {
            throw ValidationError("--ca-file: \(error)")
        }
        do throws(CueRefusal) {
            return try PlaylistFetcher(hosts: self.hosts.rule, roots: roots)
        } catch {
            throw ValidationError("--ca-file: \(error.sentence)")
        }
    }

    /// The streams with their addresses.
    private func targets() throws -> [PlaylistWatcher.Target] {
        var pairs: [(stream: String, addresses: [String])] = []
        for text in self.stream {
            if let equals = text.firstIndex(of: "=") {
                pairs.append((String(text[..<equals]), [String(text[text.index(after: equals)...])]))
            } else {
                pairs.append((text, self.addresses))
            }
        }
        let ofArguments = self.stream.count { !$0.contains("=") }
        guard ofArguments <= 1 else {
            throw ValidationError("Give one --stream with the addresses, or --stream STREAM=ADDRESS.")
        }
        guard ofArguments == 1 || self.addresses.isEmpty else {
            throw ValidationError("Say with --stream which stream the addresses are of.")
        }
        var seen: Set<String> = []
        return try pairs.map { stream, addresses in
            do {
                _ = try StreamID(stream)
            } catch {
                throw ValidationError("--stream: \(error)")
            }
            guard seen.insert(stream).inserted else { throw ValidationError("The stream \(stream) is there twice.") }
            guard !addresses.isEmpty else {
                throw ValidationError("Give an address of a playlist for the stream \(stream).")
            }
            let urls = try addresses.map { try Self.url($0) }
            return PlaylistWatcher.Target(
                stream: stream,
                source: self.watch.source,
                urls: urls,
                watched: try self.watch.source(
                    of: stream,
                    .hls,
                    at: urls.map(\.shown).joined(separator: " "),
                    choice: self.segmentation.choice
                )
            )
        }
    }

    /// An address; a text without a scheme is the path of a file.
    private static func url(_ text: String) throws -> URL {
        let url: URL?
        if text.hasPrefix("file:"), !text.hasPrefix("file://") {
            url = URL(fileURLWithPath: String(text.dropFirst(5)))
        } else if text.contains("://") {
            url = URL(string: text)
        } else {
            url = URL(fileURLWithPath: text)
        }
        guard let url, PlaylistFetcher.canLoad(url) else {
            throw ValidationError("\(text) is no address of a playlist: write http://…, https://… or file:…")
        }
        return url
    }
}

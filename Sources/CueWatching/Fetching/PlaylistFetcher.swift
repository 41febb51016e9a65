// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
package import Foundation
internal import HTTPFetching

/// The bounds of loading a playlist.
package struct PlaylistFetchLimits: Hashable, Sendable {
    /// The largest playlist, in bytes (8 MiB), as the reader of playlists has it.
    package var playlistBytesMax = PlaylistLimits().playlistBytesMax
    /// How long one load may take, with its redirects.
    package var loadTimeMax: Duration = .seconds(10)
    /// The most redirects of one load.
    package var redirectsMax = 5
    /// The most loads at a time, of all the streams of a watcher.
    package var loadsMax = 64
    /// The most connections to one host.
    package var connectionsPerHostMax = 16
    /// The most addresses of a host that are tried, where certificates of one's own count.
    package var addressesPerHostMax = 8

    /// The default limits.
    package init() {}
}

/// Loads playlists, by HTTP or from files, with bounds that hold whatever a server does.
package final class PlaylistFetcher: Sendable {
    /// A playlist as it was loaded.
    package struct Loaded: Sendable {
        package let bytes: [UInt8]
        /// Where it was in the end: addresses in it are relative to this one.
        package let url: URL
    }

    /// Why a playlist was not loaded.
    package struct Fault: Error, Hashable, Sendable {
        /// The name of the kind of fault: of each kind the first one is told.
        let kind: String
        let refusal: CueRefusal

        init(_ kind: String, _ refusal: CueRefusal) {
            self.kind = kind
            self.refusal = refusal
        }
    }

    private let hosts: HostRule
    private let limits: PlaylistFetchLimits
    private let fetcher: HTTPFetcher
    /// Asks by https where certificates of one's own count; `nil`: the machine's count.
    private let trusted: DirectConnection?
    private let gate: LoadGate

    /// A fetcher with connections of its own.
    ///
    /// - Parameters:
    ///   - hosts: which hosts may be asked.
    ///   - roots: certificates (PEM) that those of https servers are checked against; `nil`: the machine's.
    ///   - limits: the bounds.
    /// - Throws: ``CueRefusal`` where the certificates cannot be used.
    package init(
        hosts: HostRule,
        roots: [UInt8]?,
        limits: PlaylistFetchLimits = PlaylistFetchLimits()
    ) throws(CueRefusal) {
        do {
            self.trusted = try roots.map {
                try DirectConnection(
                    bounds: DirectConnection.Bounds(
                        addressesMax: limits.addressesPerHostMax,
                        connectTimeMax: limits.loadTimeMax,
                        bodyBytesMax: limits.playlistBytesMax
                    ),
                    headers: ["User-Agent": "cuecast", "Accept": Self.accepted],
                    roots: $0
                )
            }
        } catch {
            throw CueRefusal(.unreachable, "The certificates to check servers' cannot be read: \(error).")
        }
        self.hosts = hosts
        self.limits = limits
        self.fetcher = HTTPFetcher(connectionsPerHostMax: max(limits.connectionsPerHostMax, 1))
        self.gate = LoadGate(max(limits.loadsMax, 1))
    }

    /// A fetcher that trusts the machine's certificates.
    ///
    /// - Parameters:
    ///   - hosts: which hosts may be asked.
    ///   - limits: the bounds.
    package init(hosts: HostRule, limits: PlaylistFetchLimits = PlaylistFetchLimits()) {
        self.trusted = nil
        self.hosts = hosts
        self.limits = limits
        self.fetcher = HTTPFetcher(connectionsPerHostMax: max(limits.connectionsPerHostMax, 1))
        self.gate = LoadGate(max(limits.loadsMax, 1))
    }

    /// Whether an address is one that can be loaded.
    ///
    /// - Parameter url: the address.
    /// - Returns: whether it is of http or https with a host, or of a file.
    package static func canLoad(_ url: URL) -> Bool { url.isFileURL || HTTPFetcher.isWebAddress(url) }

    /// The address that a playlist names.
    ///
    /// - Parameters:
    ///   - text: the address as the playlist has it.
    ///   - base: where the playlist was.
    /// - Returns: the address; `nil`: it is none, or leads from the web to a file, or from https to http.
    static func address(_ text: String, relativeTo base: URL) -> URL? {
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL else { return nil }
        if base.isFileURL { return Self.canLoad(url) ? url : nil }
        return HTTPFetcher.mayFollow(url, from: base) ? url : nil
    }

    /// Loads a playlist.
    ///
    /// - Parameter url: where it is.
    /// - Returns: its bytes.
    /// - Throws: the fault.
    package func load(_ url: URL) async throws(Fault) -> Loaded {
        await self.gate.enter()
        let result: Result<Loaded, Fault>
        do throws(Fault) {
            result = .success(url.isFileURL ? try self.read(url) : try await self.get(url))
        } catch {
            result = .failure(error)
        }
        await self.gate.leave()
        return try result.get()
    }

    private func get(_ origin: URL) async throws(Fault) -> Loaded {
        var url = origin
        let deadline = ContinuousClock.now + self.limits.loadTimeMax
        for _ in 0...max(self.limits.redirectsMax, 0) {
            if let trusted = self.trusted, url.scheme?.lowercased() == "https" {
                let answer = try await self.get(url, by: trusted, until: deadline)
                guard let location = answer.location else { return try self.loaded(answer, url) }
                guard let target = Self.redirect(location, from: url) else {
                    throw Self.bad("redirect", "\(url.shown) leads to an address that may not be followed.")
                }
                url = target
                continue
            }
            if let refusal = await self.hosts.refusal(of: url.host() ?? "") { throw Fault("host", refusal) }
            var request = HTTPFetcher.Request(url, bodyBytesMax: self.limits.playlistBytesMax, deadline: deadline)
            request.headers["Accept"] = Self.accepted
            request.wantsBody = { [limits] head in
                head.status == 200 && head.bodyBytes.map { $0 <= Int64(limits.playlistBytesMax) } ?? true
            }
            let exchange = await self.fetcher.get(request)
            if let target = exchange.location {
                guard HTTPFetcher.mayFollow(target, from: url) else {
                    throw Self.bad("redirect", "\(url.shown) leads to an address that may not be followed.")
                }
                url = target
                continue
            }
            switch exchange.end {
            case .complete: break
            case .bodyRefused where exchange.head?.status == 200, .bodyTooLarge:
                throw self.tooLarge(url)
            case .bodyRefused: break
            case .tooSlow, .silent: throw self.tooSlow(url)
            case .cancelled: throw Self.lost("cancelled", "The watch ends.")
            case .failed(let error):
                throw Self.lost("connection", "\(url.shown) cannot be loaded: \(error.localizedDescription)")
            }
            guard let status = exchange.head?.status else {
                throw Self.lost("connection", "\(url.shown) did not answer.")
            }
            guard status == 200 else {
                throw Self.lost("status \(status)", "\(url.shown) answers with status \(status).")
            }
            return Loaded(bytes: exchange.body, url: url)
        }
        throw Self.bad("redirects", "\(origin.shown) leads over more than \(self.limits.redirectsMax) redirects.")
    }

    private static let accepted = "application/vnd.apple.mpegurl, application/x-mpegurl, */*"

    private func tooLarge(_ url: URL) -> Fault {
        Self.bad("size", "\(url.shown) has more than \(self.limits.playlistBytesMax) bytes.")
    }

    private func tooSlow(_ url: URL) -> Fault {
        Self.lost("time", "\(url.shown) did not answer within \(self.limits.loadTimeMax).")
    }

    /// Asks at the addresses of the host that may be asked, and at no other.
    private func get(
        _ url: URL,
        by trusted: DirectConnection,
        until deadline: ContinuousClock.Instant
    ) async throws(Fault) -> DirectConnection.Answer {
        guard let request = DirectConnection.Request(url, wantsBody: true) else {
            throw Self.bad("address", "\(url.shown) has a user name or a port that cannot be used.")
        }
        let addresses: [HostAddress]
        do throws(CueRefusal) {
            addresses = try await self.hosts.addresses(of: url.host() ?? "")
        } catch {
            throw Fault("host", error)
        }
        do throws(DirectConnection.Failure) {
            return try await trusted.get(request, at: addresses, until: deadline)
        } catch {
            switch error {
            case .timedOut: throw self.tooSlow(url)
            case .tooLarge: throw self.tooLarge(url)
            case .broken where Task.isCancelled: throw Self.lost("cancelled", "The watch ends.")
            case .broken(let end, _): throw Self.lost("connection", "\(url.shown) cannot be loaded: it \(end).")
            }
        }
    }

    private func loaded(_ answer: DirectConnection.Answer, _ url: URL) throws(Fault) -> Loaded {
        guard answer.status == 200 else {
            throw Self.lost("status \(answer.status)", "\(url.shown) answers with status \(answer.status).")
        }
        return Loaded(bytes: answer.body, url: url)
    }

    /// Where a redirect leads; `nil`: it may not be followed.
    private static func redirect(_ location: String, from url: URL) -> URL? {
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL,
            HTTPFetcher.mayFollow(target, from: url)
        else { return nil }
        return target
    }

    /// Reads a file; only a regular one, since others may never end.
    private func read(_ url: URL) throws(Fault) -> Loaded {
        let path = url.path(percentEncoded: false)
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw Self.bad("file", "\(path) is no regular file.")
            }
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            let bytes = try handle.read(upToCount: self.limits.playlistBytesMax + 1) ?? Data()
            guard bytes.count <= self.limits.playlistBytesMax else {
                throw Self.bad("size", "\(path) has more than \(self.limits.playlistBytesMax) bytes.")
            }
            return Loaded(bytes: Array(bytes), url: url)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Self.lost("file", "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private static func bad(_ kind: String, _ sentence: String) -> Fault {
        Fault(kind, CueRefusal(.badSource, sentence))
    }

    private static func lost(_ kind: String, _ sentence: String) -> Fault {
        Fault(kind, CueRefusal(.unreachable, sentence))
    }
}

extension URL {
    /// The address without what may be secret: a user, and a query, in which servers have tokens.
    package var shown: String {
        guard !self.isFileURL, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return self.path(percentEncoded: false)
        }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? "the address"
    }

    /// The address of the whole playlist, where this one asks for delta updates (`_HLS_skip`, draft-pantos-hls-rfc8216bis
    /// section 6.2.5.1); `nil`: it does not.
    var withoutDeltaUpdates: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true), let items = parts.queryItems,
            items.contains(where: { $0.name == "_HLS_skip" })
        else { return nil }
        let rest = items.filter { $0.name != "_HLS_skip" }
        parts.queryItems = rest.isEmpty ? nil : rest
        return parts.url
    }
}

/// Lets a number of loads run at a time; the others wait in order.
private actor LoadGate {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { self.free = count }

    func enter() async {
        guard self.free == 0 else {
            self.free -= 1
            return
        }
        await withCheckedContinuation { self.waiting.append($0) }
    }

    func leave() {
        if self.waiting.isEmpty { self.free += 1 } else { self.waiting.removeFirst().resume() }
    }
}

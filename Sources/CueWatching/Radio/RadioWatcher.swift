// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import CuecastWire
internal import NIOCore

/// The bounds of a ``RadioWatcher``.
package struct RadioWatcherLimits: Hashable, Sendable {
    /// How long an address is tried to be connected to.
    package var connectTimeMax: Duration = .seconds(10)
    /// How long the head of an answer may take, with the handshake of TLS.
    package var headTimeMax: Duration = .seconds(15)
    /// How long nothing may come until the watch connects again.
    package var stallMax: Duration = .seconds(30)
    /// The most redirects of one connection.
    package var redirectsMax = 5
    /// The wait after the first failure; it doubles with each further one.
    package var retryDelayFirst: Duration = .milliseconds(500)
    /// The longest wait after a failure.
    package var retryDelayMax: Duration = .seconds(30)
    /// The bounds of an answer.
    package var response = ICYResponseLimits()

    /// The default limits.
    package init() {}
}

/// Watches the metadata of a radio stream, as Icecast and SHOUTcast send it between the audio.
///
/// The audio is passed over as it comes. A server that closes the connection, is silent, or sends something else does not end the watch:
/// the fault is told once, and the watch connects again, later and later.
package struct RadioWatcher: Sendable {
    private enum Outcome {
        /// The stream ended after it had metadata.
        case ended(String)
        case redirect(String)
    }

    private let stream: String
    private let source: String
    private let address: RadioAddress
    private let hosts: HostRule
    private let sender: SignalSender
    private let roots: [UInt8]?
    private let watched: WatchedSource?
    private let clock: WatchClock
    private let limits: RadioWatcherLimits

    /// A watcher; ``run(rules:)`` watches.
    ///
    /// - Parameters:
    ///   - stream: The stream that the gateway knows.
    ///   - source: The name of the source.
    ///   - address: Where the radio stream is.
    ///   - hosts: Which hosts may be asked.
    ///   - sender: Is told what was seen.
    ///   - roots: The certificates (PEM) that the server's is checked against; `nil`: the system's.
    ///   - watched: Is told when audio with metadata comes; `nil`: that is not told.
    ///   - clock: The time.
    ///   - limits: The bounds.
    package init(
        stream: String,
        source: String,
        address: RadioAddress,
        hosts: HostRule,
        sender: SignalSender,
        roots: [UInt8]? = nil,
        watched: WatchedSource? = nil,
        clock: WatchClock = .system,
        limits: RadioWatcherLimits = RadioWatcherLimits()
    ) {
        self.stream = stream
        self.source = source
        self.address = address
        self.hosts = hosts
        self.sender = sender
        self.roots = roots
        self.watched = watched
        self.clock = clock
        self.limits = limits
    }

    /// Watches until the task is cancelled.
    ///
    /// - Parameter rules: Which metadata means ads; the first rule that fits counts.
    package func run(rules: [RadioRule] = RadioRule.ready) async {
        var signals = RadioSignals(stream: self.stream, source: self.source, rules: rules)
        var delay = self.limits.retryDelayFirst
        var told: CueRefusal?
        while !Task.isCancelled {
            var hadMetadata = false
            let refusal = await self.listen(&signals, &hadMetadata)
            guard !Task.isCancelled else { return }
            if hadMetadata {
                delay = self.limits.retryDelayFirst
                told = nil
            }
            self.watched?.trouble(refusal.sentence, atMilliseconds: self.clock.now())
            if refusal != told {
                told = refusal
                let seen = CueObservation(
                    stream: self.stream,
                    source: self.source,
                    seen: self.address.url.shown,
                    meaning: .refused(refusal)
                )
                await self.sender.take(seen)
            }
            // Many watchers of one server do not come back at once.
            let milliseconds = delay.inMicroseconds / 1_000
            let wait = Duration.milliseconds(Int64.random(in: milliseconds / 2...max(milliseconds, 1)))
            delay = min(delay * 2, self.limits.retryDelayMax)
            guard (try? await self.clock.sleep(wait)) != nil else { return }
        }
    }

    /// Connects, follows redirects, and listens until the connection ends.
    ///
    /// - Returns: Why it ended.
    private func listen(_ signals: inout RadioSignals, _ hadMetadata: inout Bool) async -> CueRefusal {
        var address = self.address
        do throws(CueRefusal) {
            for _ in 0...max(self.limits.redirectsMax, 0) {
                switch try await self.exchange(with: address, &signals, &hadMetadata) {
                case .ended(let reason): return CueRefusal(.unreachable, reason)
                case .redirect(let target): address = try RadioAddress(target, relativeTo: address)
                }
            }
        } catch {
            return error
        }
        return CueRefusal(.badSource, "The server leads over more than \(self.limits.redirectsMax) redirects.")
    }

    private func exchange(
        with address: RadioAddress,
        _ signals: inout RadioSignals,
        _ hadMetadata: inout Bool
    ) async throws(CueRefusal) -> Outcome {
        let channel = try await ByteConnection.open(
            to: try await self.hosts.addresses(of: address.host),
            port: address.port,
            serverName: address.isEncrypted ? address.host : nil,
            roots: self.roots,
            connectTimeMax: self.limits.connectTimeMax,
            silenceMax: self.limits.stallMax,
            now: self.clock.now
        )
        let deadline = self.clock.now() + Int(self.limits.headTimeMax.inMicroseconds / 1_000)
        var answer = RadioAnswer(limits: self.limits.response, headDeadline: deadline)
        var outcome: Result<Outcome, CueRefusal>?
        do {
            try await channel.executeThenClose { inbound, outbound in
                do {
                    try await outbound.write(ByteBuffer(string: address.request))
                } catch {
                    // The connection has ended. Its reason, such as a certificate that is not trusted, comes to those who read.
                    var arrivals = inbound.makeAsyncIterator()
                    _ = try await arrivals.next()
                    throw error
                }
                for try await arrival in inbound {
                    let taken = answer.take(arrival, stallMax: self.limits.stallMax)
                    // Titles may be minutes apart: a source is alive while its audio comes.
                    if taken.end == nil, answer.hasHead { self.watched?.heard(atMilliseconds: self.clock.now()) }
                    for (metadata, place, moment) in taken.metadata {
                        hadMetadata = true
                        if let seen = signals.observation(of: metadata, place: place, atMilliseconds: moment) {
                            await self.sender.take(seen)
                        }
                    }
                    if let end = taken.end {
                        outcome = end.map { $0.map(Outcome.redirect) ?? .ended("The stream has ended.") }
                        return
                    }
                }
            }
        } catch {
            // The outcome counts, not how the connection was closed behind it.
            outcome = outcome ?? .failure(CueRefusal(.unreachable, "The connection failed: \(error)."))
        }
        if let outcome { return try outcome.get() }
        return .ended(
            answer.hasHead ? "The server closed the connection." : "The server closed the connection without an answer."
        )
    }
}

/// The answer of a server, as it comes.
struct RadioAnswer {
    private var reader: ICYResponseReader
    private let headDeadline: Int
    /// Whether its head is complete.
    private(set) var hasHead = false

    init(limits: ICYResponseLimits, headDeadline: Int) {
        self.reader = ICYResponseReader(limits: limits)
        self.headDeadline = headDeadline
    }

    /// The metadata that came, and how the answer ends: with the address of a redirect, with none, or with a fault.
    typealias Taken = (metadata: [(ICYMetadata, Int, Int)], end: Result<String?, CueRefusal>?)

    mutating func take(_ arrival: Arrival, stallMax: Duration) -> Taken {
        guard case .bytes(let bytes, let moment) = arrival else {
            let seconds = stallMax.components.seconds
            return ([], .failure(CueRefusal(.unreachable, "Nothing has come for \(seconds) s.")))
        }
        let parts: [ICYResponseReader.Part]
        do throws(ICYResponseError) {
            parts = try self.reader.read(bytes)
        } catch {
            return ([], .failure(CueRefusal(.badSource, error.description)))
        }
        var taken: Taken = ([], nil)
        for part in parts {
            switch part {
            case .metadata(let metadata, let place): taken.metadata.append((metadata, place, moment))
            case .end: taken.end = taken.end ?? .success(nil)
            case .head(let head):
                self.hasHead = true
                taken.end = Self.end(at: head)
            }
        }
        if !self.hasHead, moment > self.headDeadline {
            taken.end = .failure(CueRefusal(.badSource, "The head of the answer takes too long (headTimeMax)."))
        }
        return taken
    }

    /// The end that a head is: a redirect, or a fault; `nil`: metadata follows.
    private static func end(at head: ICYResponseHead) -> Result<String?, CueRefusal>? {
        if let target = head.redirect { return .success(target) }
        guard head.status == 200 else {
            return .failure(CueRefusal(.unreachable, "The server answers with status \(head.status)."))
        }
        guard head.value(of: "icy-metaint").flatMap({ Int($0) }) ?? 0 > 0 else {
            let sentence = "The server sends no metadata between the audio: its answer has no icy-metaint."
            return .failure(CueRefusal(.badSource, sentence))
        }
        return nil
    }
}

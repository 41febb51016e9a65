// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Where a gateway listens.
public struct GatewayAddress: Hashable, Sendable, CustomStringConvertible {
    /// Where the notices come from, for instance `tcp://127.0.0.1:7400`.
    public var notices: String
    /// Where requests go, for instance `tcp://127.0.0.1:7401`.
    public var requests: String

    /// A gateway at two addresses of the transport's own kind.
    public init(notices: String, requests: String) {
        self.notices = notices
        self.requests = requests
    }

    /// A gateway at the default ports of `host`: 7400 for notices, 7401 for requests.
    public init(host: String) {
        self.init(notices: "tcp://\(host):7400", requests: "tcp://\(host):7401")
    }

    /// Both addresses.
    public var description: String { "\(self.notices), \(self.requests)" }
}

/// How the queue gives its advertisements to the app.
public enum HandOutMode: Hashable, Sendable, CaseIterable {
    /// One after the other: the next one follows when the current one is over. For the loop "get, play, get again".
    case afterPlaying
    /// All that are queued, as fast as they are asked for. For apps that make a playlist; only their reports count.
    case manual
}

/// What a client needs to know to listen to one stream.
public struct ListenerConfiguration: Sendable {
    /// Where the gateway listens.
    public var gateway: GatewayAddress
    /// The stream that is heard.
    public var stream: LiveStream
    /// How far behind live the listener hears the stream, to begin with; at most 1 h.
    public var delay: Duration
    /// How far behind live the listener may fall later; at most 1 h, and never less than `delay`.
    public var delayMax: Duration
    /// What the broadcaster may choose advertisements by, for instance device or region: at most 16 pairs, with at
    /// most 128 bytes in each key and value.
    public var attributes: [String: String]
    /// Name and version of the app, for the gateway's log; at most 128 bytes.
    public var client: String
    /// Gives the token for each join, where the gateway asks for one; at most 4,096 bytes.
    ///
    /// A closure and not a text, because tokens expire while listening goes on. When it throws, the join is tried again
    /// later. It is cancelled when the client stops.
    public var tokenProvider: (@Sendable () async throws -> String)?
    /// How the queue gives its advertisements to the app.
    public var handOut: HandOutMode
    /// How long to wait for what.
    public var timings: ListenerTimings
    /// How many events are kept for each reader that does not read them; 256.
    ///
    /// Later ones are dropped and counted.
    public var eventsBufferedMax: Int
    /// How many outcomes that are not confirmed yet are kept; 4,096.
    ///
    /// Of more, the oldest are given up.
    public var outcomesKeptMax: Int

    /// A configuration with the defaults for all that is not given.
    public init(
        gateway: GatewayAddress = GatewayAddress(host: "127.0.0.1"),
        stream: LiveStream,
        delay: Duration = .zero,
        delayMax: Duration = .zero,
        attributes: [String: String] = [:],
        client: String = "cuecast-swift",
        tokenProvider: (@Sendable () async throws -> String)? = nil,
        handOut: HandOutMode = .afterPlaying,
        timings: ListenerTimings = ListenerTimings()
    ) {
        self.gateway = gateway
        self.stream = stream
        self.delay = delay
        self.delayMax = delayMax
        self.attributes = attributes
        self.client = client
        self.tokenProvider = tokenProvider
        self.handOut = handOut
        self.timings = timings
        self.eventsBufferedMax = 256
        self.outcomesKeptMax = 4_096
    }
}

/// Why a client could not be made or started.
@nonexhaustive
public enum CuecastError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A value of the configuration breaks the rule that the sentence names.
    case invalidConfiguration(String)
    /// The client listens already.
    case alreadyStarted
    /// Another client listens with the same `AdvertisementCenter`.
    case advertisementsInUse

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidConfiguration(let sentence): "The configuration is not valid: \(sentence)"
        case .alreadyStarted: "The client listens already."
        case .advertisementsInUse: "Another client listens with the same AdvertisementCenter."
        }
    }
}

/// What the decisions need of a configuration, checked.
struct ListenerSettings: Sendable {
    let stream: StreamID
    let attributes: [String: String]
    let client: String
    let usesToken: Bool
    let handOut: HandOutMode
    let timings: ListenerTimings
    let outcomesKeptMax: Int
    var delay: ListenerDelay

    init(_ configuration: ListenerConfiguration) throws(CuecastError) {
        do throws(WireError) {
            self.stream = try StreamID(configuration.stream.id)
        } catch {
            throw .invalidConfiguration(error.description)
        }
        let delayMax = Duration.milliseconds(WireLimits.delayMillisecondsMax)
        for (name, delay) in [("delay", configuration.delay), ("delayMax", configuration.delayMax)] {
            guard delay >= .zero, delay <= delayMax else {
                throw .invalidConfiguration("\(name) is from 0 to \(delayMax), and this is \(delay).")
            }
        }
        guard configuration.attributes.count <= WireLimits.attributesMax else {
            throw .invalidConfiguration(
                "at most \(WireLimits.attributesMax) attributes, and these are \(configuration.attributes.count)."
            )
        }
        let texts = configuration.attributes.flatMap { [$0.key, $0.value] } + [configuration.client]
        for text in texts where !Self.isPlainText(text) {
            throw .invalidConfiguration(
                "attributes and the client's name have at most \(WireLimits.attributeBytesMax) bytes each and no "
                    + "control characters."
            )
        }
        for (name, number) in [
            ("eventsBufferedMax", configuration.eventsBufferedMax), ("outcomesKeptMax", configuration.outcomesKeptMax),
        ] {
            guard number >= 1, number <= 1_000_000 else {
                throw .invalidConfiguration("\(name) is from 1 to 1,000,000, and this is \(number).")
            }
        }
        try Self.check(configuration.timings)
        self.attributes = configuration.attributes
        self.client = configuration.client
        self.usesToken = configuration.tokenProvider != nil
        self.handOut = configuration.handOut
        self.timings = configuration.timings
        self.outcomesKeptMax = configuration.outcomesKeptMax
        self.delay = ListenerDelay(now: configuration.delay, max: configuration.delayMax)
    }

    /// Sets the delay, within what the gateway takes.
    mutating func setDelay(_ delay: Duration) {
        let delay = min(max(delay, .zero), .milliseconds(WireLimits.delayMillisecondsMax))
        self.delay = ListenerDelay(now: delay, max: self.delay.max)
    }

    private static func isPlainText(_ text: String) -> Bool {
        text.utf8.count <= WireLimits.attributeBytesMax
            && text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x0A || $0 == 0x09 }
    }

    private static func check(_ timings: ListenerTimings) throws(CuecastError) {
        let day = Duration.seconds(86_400)
        let all: [(String, Duration, Duration, Duration)] = [
            ("connectTimeout", timings.connectTimeout, .milliseconds(1), day),
            ("subscriptionTimeout", timings.subscriptionTimeout, .milliseconds(1), day),
            ("requestTimeout", timings.requestTimeout, .milliseconds(1), day),
            ("retryDelayFirst", timings.retryDelayFirst, .milliseconds(1), day),
            ("retryDelayMax", timings.retryDelayMax, timings.retryDelayFirst, day),
            ("preStreamWait", timings.preStreamWait, .zero, day),
            ("stopWait", timings.stopWait, .zero, .milliseconds(900)),
            ("playedToleranceBeforeEnd", timings.playedToleranceBeforeEnd, .zero, day),
            ("handOutGrace", timings.handOutGrace, .zero, day),
            ("outcomeUnknownAfter", timings.outcomeUnknownAfter, .zero, day),
            ("clockSampleInterval", timings.clockSampleInterval, .milliseconds(100), day),
            ("clockErrorMax", timings.clockErrorMax, .milliseconds(1), day),
        ]
        for (name, value, least, most) in all where value < least || value > most {
            throw .invalidConfiguration("timings.\(name) is from \(least) to \(most), and this is \(value).")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

    /// A gateway at one address for both, for instance `wss://ads.example.com/listen`.
    public init(url: String) {
        self.init(notices: url, requests: url)
    }

    /// Both addresses; one where they are the same.
    public var description: String {
        self.notices == self.requests ? self.notices : "\(self.notices), \(self.requests)"
    }
}

/// How the queue gives its advertisements to the app.
public enum HandOutMode: Hashable, Sendable, CaseIterable {
    /// One after the other: the next one follows when the current one is over. For the loop "get, play, get again".
    case afterPlaying
    /// All that are queued, as fast as they are asked for. For apps that make a playlist; only their reports count.
    case manual
}

/// How many connections a client has to its gateway.
@_spi(Tuning) public enum ListenerConnections: Hashable, Sendable, CaseIterable {
    /// One, which carries requests, replies and notices.
    ///
    /// A second one is made where the gateway answers that it sends no notices on it, and where the transport cannot
    /// take them (``ListenerTransport/takesPush``). The client finds that out by itself and misses nothing.
    case one
    /// Two: notices come on a connection of their own.
    case two
}

/// Where a client keeps its session and the outcomes that the gateway has not confirmed.
public enum ListenerStorage: Hashable, Sendable {
    /// In memory: they are lost when the app ends.
    case memory
    /// In one file, which is made where there is none, with its folder; a second one beside it, with `.lock` at the end of its
    /// name, keeps others from using it at the same time. One file serves all streams of one gateway.
    case file(path: String)

    /// As ``file(path:)``, for a file URL.
    ///
    /// A client with a URL of another kind refuses to be made.
    public static func file(at url: URL) -> ListenerStorage {
        .file(path: url.isFileURL ? url.path(percentEncoded: false) : url.absoluteString)
    }
}

/// A client's configuration for listening to one stream.
public struct ListenerConfiguration: Sendable {
    /// Where the gateway listens.
    public var gateway: GatewayAddress
    /// Where else it listens, or others that share its event log; at most 16.
    ///
    /// They are tried in turn when the one before cannot be reached or asks to go away. Gateways of one event log also name each other:
    /// those addresses are tried behind these ones, where they are of the scheme of ``gateway``, and are kept in memory only.
    public var alternativeGateways: [GatewayAddress]
    /// How many connections the client has to the gateway; one.
    @_spi(Tuning) public var connections: ListenerConnections
    /// The stream that is heard.
    public var stream: LiveStream
    /// How far behind live the listener hears the stream, to begin with; at most 1 h.
    public var delay: Duration
    /// How far behind live the listener may fall later; at most 1 h, and never less than `delay`.
    public var delayMax: Duration
    /// The attributes by which the broadcaster may choose advertisements, for instance device or region: at most 16 pairs, with at
    /// most 128 bytes in each key and value.
    public var attributes: [String: String]
    /// Name and version of the app, for the gateway's log; at most 128 bytes.
    public var client: String
    /// Gives the token for each join, where the gateway asks for one; at most 4,096 bytes.
    ///
    /// A closure and not a text, because tokens expire while listening goes on. When it throws, the join is tried again
    /// later. It is cancelled when the client stops.
    public var tokenProvider: (@Sendable () async throws -> String)?
    /// Whether the advertisements of a break are to be fetched, asked once when the break becomes known; `nil`: always.
    ///
    /// For ad-free subscribers. A break that is declined is ``ListenerEvent/missed(_:reason:)``, and nothing is told to the
    /// gateway. It is cancelled when the client stops.
    public var fetchPolicy: (@Sendable (AdvertisementBreak) async -> Bool)?
    /// How the queue gives its advertisements to the app.
    public var handOut: HandOutMode
    /// Where the session and what the gateway has not confirmed are kept.
    public var storage: ListenerStorage
    /// Whether and how the tracking URLs of advertisements are called; `nil`: not at all.
    public var tracking: TrackingConfiguration?
    /// The listener's consent, for the macros of tracking URLs; it can also deny tracking.
    ///
    /// ``CuecastClient/setConsent(_:)`` changes it later. Where there is a ``consentProvider``, neither counts.
    public var consent: ListenerConsent?
    /// Gives what the listener agrees to at this moment, where another part of the app keeps that; `nil`: ``consent`` counts.
    ///
    /// Asked again and again, on any thread: before each call of a tracking URL, and whenever something happens that can make
    /// one due. So it must answer at once from what is in memory, and must not use the client.
    public var consentProvider: (@Sendable () -> ListenerConsent?)?
    /// How long to wait for what.
    @_spi(Tuning) public var timings: ListenerTimings
    /// How many events are kept for each reader that does not read them; 256.
    ///
    /// Later ones are dropped and counted.
    @_spi(Tuning) public var eventsBufferedMax: Int
    /// How many outcomes that are not confirmed yet are kept; 4,096.
    ///
    /// Of more, the oldest are given up.
    @_spi(Tuning) public var outcomesKeptMax: Int
    /// How many bytes these may take together; 1 MiB.
    ///
    /// Of more, the oldest are given up.
    @_spi(Tuning) public var outboxBytesMax: Int

    /// A configuration with the defaults for all that is not given.
    public init(
        gateway: GatewayAddress = GatewayAddress(host: "127.0.0.1"),
        stream: LiveStream,
        delay: Duration = .zero,
        delayMax: Duration = .zero,
        attributes: [String: String] = [:],
        client: String = "cuecast-swift",
        tokenProvider: (@Sendable () async throws -> String)? = nil,
        storage: ListenerStorage = .memory
    ) {
        self.gateway = gateway
        self.stream = stream
        self.delay = delay
        self.delayMax = delayMax
        self.attributes = attributes
        self.client = client
        self.tokenProvider = tokenProvider
        self.handOut = .afterPlaying
        self.storage = storage
        self.timings = ListenerTimings()
        self.alternativeGateways = []
        self.connections = .one
        self.fetchPolicy = nil
        self.tracking = nil
        self.consent = nil
        self.consentProvider = nil
        self.eventsBufferedMax = 256
        self.outcomesKeptMax = 4_096
        self.outboxBytesMax = 1_048_576
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
    /// Another client, perhaps of another process, uses the file.
    case storageInUse(path: String)

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidConfiguration(let sentence): "The configuration is not valid: \(sentence)"
        case .alreadyStarted: "The client listens already."
        case .advertisementsInUse: "Another client listens with the same AdvertisementCenter."
        case .storageInUse(let path): "Another client uses the file \(path)."
        }
    }
}

extension CuecastError: LocalizedError {
    /// The same sentence.
    public var errorDescription: String? { self.description }
}

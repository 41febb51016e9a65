// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The parts of a configuration that decisions need, checked.
struct ListenerSettings: Sendable {
    var stream: StreamID
    let attributes: [String: String]
    let client: String
    /// The most addresses beside the first.
    static let alternativeGatewaysMax = 16

    let usesToken: Bool
    /// Whether the notices are to come on the connection of the requests.
    let usesPush: Bool
    let asksApp: Bool
    let gatewayCount: Int
    /// The addresses of other gateways that may be learnt.
    let learning: AddressLearning
    let handOut: HandOutMode
    let timings: ListenerTimings
    let outcomesKeptMax: Int
    let outboxBytesMax: Int
    let tracking: TrackingConfiguration?
    var consent: ListenerConsent?
    var delay: ListenerDelay

    /// - Parameters:
    ///   - configuration: the app's configuration.
    ///   - takesPush: whether the transport supports push.
    /// - Throws: the rule that the configuration breaks.
    init(_ configuration: ListenerConfiguration, takesPush: Bool = true) throws(CuecastError) {
        self.stream = try Self.streamID(of: configuration.stream)
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
        guard configuration.outboxBytesMax >= 4_096, configuration.outboxBytesMax <= 1 << 30 else {
            throw .invalidConfiguration(
                "outboxBytesMax is from 4,096 to \(1 << 30), and this is \(configuration.outboxBytesMax)."
            )
        }
        guard configuration.alternativeGateways.count <= Self.alternativeGatewaysMax else {
            throw .invalidConfiguration(
                "at most \(Self.alternativeGatewaysMax) alternative gateways, and these are "
                    + "\(configuration.alternativeGateways.count)."
            )
        }
        if case .file(let path) = configuration.storage, path.isEmpty || path.contains("://") {
            throw .invalidConfiguration("the storage is a path or a file URL, and this is \"\(path)\".")
        }
        try Self.check(configuration.timings)
        self.attributes = configuration.attributes
        self.client = configuration.client
        self.usesToken = configuration.tokenProvider != nil
        self.usesPush = takesPush && configuration.connections == .one
        self.handOut = configuration.handOut
        self.timings = configuration.timings
        self.outcomesKeptMax = configuration.outcomesKeptMax
        self.outboxBytesMax = configuration.outboxBytesMax
        self.tracking = configuration.tracking
        self.consent = configuration.consent
        self.asksApp = configuration.fetchPolicy != nil
        self.gatewayCount = 1 + configuration.alternativeGateways.count
        self.learning = AddressLearning(configuration)
        self.delay = ListenerDelay(now: configuration.delay, max: configuration.delayMax)
    }

    static func streamID(of stream: LiveStream) throws(CuecastError) -> StreamID {
        do throws(WireError) {
            return try StreamID(stream.id)
        } catch {
            throw .invalidConfiguration(error.description)
        }
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
            ("stopLimit", timings.stopLimit, timings.stopWait, day),
            ("storageWait", timings.storageWait, .zero, day),
            ("playedToleranceBeforeEnd", timings.playedToleranceBeforeEnd, .zero, day),
            ("handOutGrace", timings.handOutGrace, .zero, day),
            ("outcomeUnknownAfter", timings.outcomeUnknownAfter, .zero, day),
            ("clockSampleInterval", timings.clockSampleInterval, .milliseconds(100), day),
            ("clockErrorMax", timings.clockErrorMax, .milliseconds(1), day),
            ("sessionResumeMax", timings.sessionResumeMax, .zero, day),
            ("outboxAgeMax", timings.outboxAgeMax, .seconds(1), day * 7),
        ]
        for (name, value, least, most) in all where value < least || value > most {
            throw .invalidConfiguration("timings.\(name) is from \(least) to \(most), and this is \(value).")
        }
    }
}

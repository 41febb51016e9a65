// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@_spi(Tuning) @testable import Cuecast

/// How notices come to a listener.
enum NoticePath: CaseIterable, Sendable {
    /// On the connection of the join.
    case pushed
    /// By a subscription: the app wants two connections.
    case subscribed
    /// By a subscription, because the gateway is an older one that does not push.
    case fellBack

    var connections: ListenerConnections { self == .subscribed ? .two : .one }

    /// Whether the gateway is one that pushes.
    var isPushing: Bool { self != .fellBack }

    /// How many joins it takes on a new connection.
    func joins(isFirstConnection: Bool = true) -> Int { self == .fellBack && isFirstConnection ? 2 : 1 }
}

/// The gateway's clock at local instant 0.
let gatewayStart = Timestamp(microseconds: 1_750_000_000_000_000)

/// So many seconds after the beginning, locally.
func local(_ seconds: Double) -> LocalInstant { .start + .seconds(seconds) }

/// So many seconds after the beginning, by the gateway's clock.
func gateway(_ seconds: Double) -> Timestamp { gatewayStart + .seconds(seconds) }

/// The three clocks so many seconds after the beginning, with clocks that agree.
func moment(_ seconds: Double, delay: Double = 0) -> Moment {
    Moment(now: local(seconds), gateway: gateway(seconds), delay: .seconds(delay))
}

func stream(_ text: String = "radio1") -> StreamID {
    guard let id = try? StreamID(text) else { preconditionFailure("not a stream id: \(text)") }
    return id
}

func breakID(_ text: String) -> BreakID {
    guard let id = try? BreakID(text) else { preconditionFailure("not a break id: \(text)") }
    return id
}

func adID(_ text: String) -> AdvertisementID {
    guard let id = try? AdvertisementID(text) else { preconditionFailure("not an advertisement id: \(text)") }
    return id
}

func content(_ id: String, seconds: Double = 10) -> AdvertisementContent {
    AdvertisementContent(
        id: adID(id),
        title: "Title of \(id)",
        duration: .seconds(seconds),
        media: [.init(url: "https://media.example/\(id).mp3", type: "audio/mpeg")]
    )
}

func advertisement(_ id: String, break name: String = "b1", seconds: Double = 10) -> Advertisement {
    Advertisement(
        content(id, seconds: seconds),
        breakID: breakID(name),
        delivery: [1, 2, 3],
        position: .init(index: 1, count: 1)
    )
}

func position(_ sequence: UInt64, epoch: UInt64 = 7) -> Position { Position(epoch: epoch, sequence: sequence) }

/// A notice of a break that starts and lasts so many seconds by the gateway's clock.
func notice(
    _ sequence: UInt64,
    _ kind: Notice.Kind = .available,
    break name: String = "b1",
    epoch: UInt64 = 7,
    start: Double? = 10,
    duration: Double? = 30,
    window: (Double, Double)? = (0, 0),
    expires: Double? = nil,
    preStream: Bool = false,
    exact: Bool = false,
    endMode: EndMode = .cut,
    cancelReason: CancelReason? = nil
) -> Notice {
    Notice(
        position: position(sequence, epoch: epoch),
        kind: kind,
        breakID: kind == .head ? nil : breakID(name),
        start: start.map(gateway),
        duration: duration.map { .seconds($0) },
        window: window.map { RequestWindow(from: gateway($0.0), by: gateway($0.1)) },
        expires: gateway(expires ?? (start ?? 0) + (duration ?? 300)),
        advertisementCount: 3,
        sent: gateway(0),
        preStream: preStream,
        exact: exact,
        endMode: endMode,
        cancelReason: cancelReason
    )
}

func head(_ sequence: UInt64, epoch: UInt64 = 7) -> Notice {
    .head(position(sequence, epoch: epoch), sent: gateway(0))
}

func batch(_ ads: [AdvertisementContent], skipped: Int = 0, delivery: [UInt8] = [1, 2, 3]) -> ListenerReply.Batch {
    ListenerReply.Batch(delivery: delivery, skipped: skipped, advertisements: ads)
}

/// Timings without jitter worth mentioning, so that a test can say when something happens.
func shortRetries() -> ListenerTimings {
    var timings = ListenerTimings()
    timings.retryDelayFirst = .milliseconds(1)
    timings.retryDelayMax = .milliseconds(2)
    return timings
}

extension Backoff {
    static var testing: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(30)) }
}

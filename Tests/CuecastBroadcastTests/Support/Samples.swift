// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import CuecastZeroMQ

extension AdvertisementDescription {
    static func spot(_ id: String = "spot", seconds: Int = 10) -> AdvertisementDescription {
        AdvertisementDescription(
            id: id,
            title: "Title of \(id)",
            duration: .seconds(seconds),
            media: [MediaFile(url: "https://cdn.example/\(id).mp3", type: "audio/mpeg")]
        )
    }
}

extension AdBreak {
    static func sample(_ id: String = "noon", start: Start = .in(.seconds(60))) -> AdBreak {
        AdBreak(stream: "radio1", id: id, start: start, duration: .seconds(10), advertisements: [.spot()])
    }
}

/// A client of a gateway that gives up only where a test tells it to, however slow the machine is.
func makeClient(
    _ endpoint: String,
    timeout: Duration = .seconds(3_600),
    attemptTimeout: Duration = .seconds(3_600),
    transport: any BroadcastTransport = BroadcastZeroMQTransport()
) -> BroadcastClient {
    var configuration = BroadcastConfiguration(endpoint: endpoint)
    configuration.timeout = timeout
    configuration.attemptTimeout = attemptTimeout
    configuration.retryDelayFirst = .milliseconds(10)
    configuration.retryDelayMax = .milliseconds(50)
    return BroadcastClient(configuration: configuration, transport: transport)
}

/// The error that a call ends with.
func failure<Value>(_ body: () async throws(BroadcastError) -> Value) async -> BroadcastError? {
    do throws(BroadcastError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

/// The transport of ZeroMQ, whose lost and failed connections a test can wait for.
struct WatchedTransport: BroadcastTransport {
    private let inner: BroadcastZeroMQTransport
    private let sink: AsyncStream<String>.Continuation
    /// Why each connection ended.
    let closed: AsyncStream<String>

    init(keys: BroadcastKeys? = nil) {
        self.inner = BroadcastZeroMQTransport(keys: keys)
        (self.closed, self.sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(16))
    }

    func connect(
        to endpoint: String,
        receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void
    ) -> any BroadcastConnection {
        self.inner.connect(to: endpoint) { [sink] event in
            if case .closed(let reason) = event { sink.yield(reason) }
            receive(event)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import CuecastBroadcast

/// Carries a broadcaster's requests over ZeroMQ, to endpoints such as `tcp://127.0.0.1:7402`.
///
/// ```swift
/// let client = BroadcastClient(configuration: configuration, transport: BroadcastZeroMQTransport())
/// ```
public struct BroadcastZeroMQTransport: BroadcastTransport {
    private let runtime: ZeroMQRuntime
    private let keys: BroadcastKeys?

    /// A transport on a runtime.
    ///
    /// - Parameters:
    ///   - keys: by which this broadcaster and its gateway know each other; nil: nothing is encrypted, which a gateway takes only
    ///     where it does not tell broadcasters apart. With keys, data is sent only to the gateway that has the other key.
    ///   - runtime: the context and thread to use; all transports of a process may share one.
    public init(keys: BroadcastKeys? = nil, runtime: ZeroMQRuntime = .shared) {
        self.runtime = runtime
        self.keys = keys
    }

    /// Begins to make one connection, and returns at once.
    ///
    /// - Parameters:
    ///   - endpoint: `tcp://HOST:PORT`.
    ///   - receive: is told everything about the connection, on the runtime's thread.
    /// - Returns: The connection, which need not be made yet.
    public func connect(
        to endpoint: String,
        receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void
    ) -> any BroadcastConnection {
        BroadcastZeroMQConnection.start(
            endpoint: endpoint,
            keys: self.keys,
            runtime: self.runtime,
            receive: receive
        )
    }
}

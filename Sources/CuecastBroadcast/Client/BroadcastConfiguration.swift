// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where the gateway is and how patient the client is with it.
public struct BroadcastConfiguration: Hashable, Sendable {
    /// Where broadcasters ask, in the form that the transport knows, such as `tcp://127.0.0.1:7402`.
    public var endpoint: String
    /// The token that proves the right to publish, at most 4,096 bytes; empty if the gateway requires none.
    public var token: String
    /// How long a call tries, with all its attempts (default 15 s).
    public var timeout: Duration
    /// How long one attempt waits for its reply before the request is sent again (default 3 s).
    public var attemptTimeout: Duration
    /// The longest wait before the second attempt (default 100 ms); doubles with each attempt.
    ///
    /// Every wait is chosen at random up to the limit, so that clients that failed together do not come back together.
    public var retryDelayFirst: Duration
    /// The longest wait before any attempt (default 2 s).
    public var retryDelayMax: Duration

    /// A configuration with the usual patience.
    ///
    /// - Parameter endpoint: where broadcasters ask.
    public init(endpoint: String = "tcp://127.0.0.1:7402") {
        self.endpoint = endpoint
        self.token = ""
        self.timeout = .seconds(15)
        self.attemptTimeout = .seconds(3)
        self.retryDelayFirst = .milliseconds(100)
        self.retryDelayMax = .seconds(2)
    }
}

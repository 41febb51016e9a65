// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Tuning) package import Cuecast

// What tests of clients need so that they depend on no time, beside a gateway.

extension ListenerTimings {
    /// Sets timeouts of an hour, so that a slow machine fails no test.
    ///
    /// A test that waits an hour for a gateway in memory has found a mistake.
    package mutating func waitForAll() {
        self.connectTimeout = .seconds(3_600)
        self.subscriptionTimeout = .seconds(3_600)
        self.requestTimeout = .seconds(3_600)
        self.preStreamWait = .seconds(3_600)
        self.stopLimit = .seconds(3_600)
        self.storageWait = .seconds(3_600)
        self.handOutGrace = .seconds(3_600)
    }
}

extension ListenerEvents {
    /// Reads events until one matches; `nil`: there are no more.
    package func first<Value>(_ match: (ListenerEvent) -> Value?) async -> Value? {
        for await event in self {
            if let value = match(event) { return value }
        }
        return nil
    }
}

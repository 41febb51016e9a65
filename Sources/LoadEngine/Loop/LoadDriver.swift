// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The use that a load test makes of its connections; everything happens on the thread of its ``LoadLoop``.
///
/// A final class: the loop is specialised for it, so that no call on the hot path is dynamic.
package protocol LoadDriver: AnyObject {
    /// The handshake is done: subscriptions and requests may go.
    func ready(_ connection: Connection, in loop: LoadLoop<Self>)

    /// A message came: on SUB its only frame, on REQ and DEALER the body behind the empty delimiter.
    ///
    /// The bytes are valid during the call only.
    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<Self>)

    /// A message of one frame came on DEALER, where replies have two: a notice that the peer sends unasked.
    ///
    /// The bytes are valid during the call only. A driver that does not implement it takes none: the connection ends.
    func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<Self>)

    /// A connection ended, and not by `loop.close(_:)`.
    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<Self>)

    /// A timer is due.
    func fired(_ timer: TimerToken, in loop: LoadLoop<Self>)

    /// SIGINT or SIGTERM came, where the loop listens for them.
    func interrupted(in loop: LoadLoop<Self>)
}

extension LoadDriver {
    package func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<Self>) {
        loop.refuse(connection)
    }

    package func interrupted(in loop: LoadLoop<Self>) { loop.stop() }
}

/// The token by which a driver knows a timer.
///
/// Timers cannot be taken back: a driver passes over those that it no longer wants.
package struct TimerToken: Hashable, Sendable {
    package var kind: UInt32
    package var value: UInt32

    package init(kind: UInt32, value: UInt32 = 0) {
        self.kind = kind
        self.value = value
    }
}

/// How a ``LoadLoop`` works.
package struct LoopSettings: Sendable {
    /// The longest frame that is taken from a peer, in bytes.
    package var frameBytesMax = 2 * 1_048_576
    /// The most that is read from one connection at a time, in bytes.
    package var readBytesMax = 262_144
    /// How connections to encrypted endpoints are encrypted.
    package var encryption = Encryption()
    /// Whether SIGINT and SIGTERM are taken from the process and given to the driver.
    package var handlesSignals = false

    package init() {}
}

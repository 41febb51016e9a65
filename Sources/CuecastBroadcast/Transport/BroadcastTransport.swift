// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Carries request frames from a broadcaster to its gateway, and reply frames back.
///
/// A transport makes connections; what they carry is fixed by `proto/cuecast/v1/broadcast.proto` and is opaque to it. The
/// one for ZeroMQ is `BroadcastZeroMQTransport` of the module `CuecastZeroMQ`.
public protocol BroadcastTransport: Sendable {
    /// Begins to make one connection, and returns at once.
    ///
    /// - Parameters:
    ///   - endpoint: where to; the transport says what its endpoints look like.
    ///   - receive: is told everything about this connection. It is called from any thread, but never for two events at
    ///     a time, and in the order of events; it does not block. It may be called before this method returns. The last
    ///     event is `closed`, and always comes.
    /// - Returns: The connection, which need not be made yet.
    func connect(
        to endpoint: String,
        receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void
    ) -> any BroadcastConnection
}

/// One connection to a gateway.
///
/// All methods return at once, may be called from any thread, also from within `receive`, and take effect in the order of
/// the calls. After `closed` they do nothing. A connection is never used again: the client makes another one, after a wait
/// of its own choice, so a transport must not reconnect by itself.
public protocol BroadcastConnection: AnyObject, Sendable {
    /// Sends one request frame, of at most 1,048,576 bytes.
    ///
    /// Where it cannot be sent it is dropped: the client asks again.
    func send(_ request: [UInt8])

    /// Ends the connection and frees all that belongs to it; `closed` follows within a second.
    ///
    /// Drops what is not sent.
    func close()
}

/// The events that a connection reports to the client.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum BroadcastConnectionEvent: Hashable, Sendable {
    /// Requests can be sent from now on.
    case connected
    /// One reply frame, of at most 1,114,112 bytes.
    case reply([UInt8])
    /// The gateway does not let this client in, and would not the next time, for a reason in a few words. `closed` follows.
    case refused(reason: String)
    /// The connection is gone or could not be made, for a reason in a few words. Nothing follows.
    case closed(reason: String)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Carries frames between a listener and its gateway: notices one way, requests and replies both ways.
///
/// A transport makes connections; what they carry is fixed by the protocol files of `proto/cuecast/v1` and is opaque to
/// it. The modules `CuecastNIO` and `CuecastZeroMQ` have one each, and `CuecastTesting` one for tests.
///
/// To write one, import the module as `@_spi(Transports) import Cuecast`: what a transport does may change in a minor version.
public protocol ListenerTransport: Sendable {
    /// Whether its connections pass on notices that come by the request channel, and make the subscription channel only when
    /// there is something to subscribe to; `false` unless the transport says otherwise.
    ///
    /// Then one channel is enough for a listener (``ListenerConnections/one``). The request channel must take frames at
    /// any time: over ZeroMQ a DEALER socket can, a REQ socket cannot.
    @_spi(Transports) var takesPush: Bool { get }

    /// Begins to make one connection, and returns at once.
    ///
    /// - Parameters:
    ///   - gateway: where to; the transport says what its addresses look like.
    ///   - receive: is told everything about this connection. It is called from any thread, but never for two events at
    ///     a time, and in the order of events; it does not block. It may be called before this method returns. The last
    ///     event is `closed`, and always comes.
    /// - Returns: The connection, which need not be made yet.
    @_spi(Transports) func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection

    /// Begins to tell when the device's network comes, goes or becomes another one, where the transport can know; `nil` unless
    /// it says otherwise.
    ///
    /// The client then does what ``CuecastClient/networkChanged(isAvailable:)`` says, by itself.
    ///
    /// - Parameter changed: is told whether there is a network; called from any thread, and does not block.
    /// - Returns: What ends it.
    @_spi(Transports) func watchNetwork(changed: @escaping @Sendable (_ isAvailable: Bool) -> Void)
        -> (any NetworkWatch)?
}

extension ListenerTransport {
    /// `false`: two channels, and notices come by the subscription channel.
    @_spi(Transports) public var takesPush: Bool { false }

    /// A connection that is closed at once.
    @_spi(Transports) public func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        receive(.closed(reason: "the transport makes no connections"))
        return ClosedConnection()
    }

    /// `nil`: it does not know of the network.
    @_spi(Transports) public func watchNetwork(changed: @escaping @Sendable (_ isAvailable: Bool) -> Void)
        -> (any NetworkWatch)?
    { nil }
}

/// A connection that could not even begin.
package final class ClosedConnection: ListenerConnection {
    package init() {}
    package func subscribe(to topic: [UInt8]) {}
    package func unsubscribe(from topic: [UInt8]) {}
    package func send(_ request: [UInt8]) {}
    package func close() {}
}

/// Tells of changes of the device's network, until it is ended.
@_spi(Transports) public protocol NetworkWatch: Sendable {
    /// Nothing more is told, and what belonged to it is freed.
    func end()
}

/// One connection to a gateway: a request channel and a subscription channel, which live and die together.
///
/// The request channel is made first. Where ``ListenerTransport/takesPush`` is `true` the subscription channel is made at the
/// first `subscribe`, which may never come; otherwise it may be made together with the other.
///
/// All methods return at once, may be called from any thread, also from within `receive`, and take effect in the order
/// of the calls. After `closed` they do nothing. A connection is never used again: the client makes another one, after
/// a wait of its own choice, so a transport must not reconnect by itself.
@_spi(Transports) public protocol ListenerConnection: AnyObject, Sendable {
    /// Receives notices whose frame begins with `topic` by the subscription channel, from some moment on.
    ///
    /// The order matters: when a notice of a later subscription arrives, every earlier subscription of this connection
    /// is in effect. That is how the client proves that it misses nothing.
    func subscribe(to topic: [UInt8])

    /// Receives notices of `topic` no more, from some moment on.
    func unsubscribe(from topic: [UInt8])

    /// Sends one request frame. Where it cannot be sent it is dropped: the client asks again.
    func send(_ request: [UInt8])

    /// Ends the connection and frees all that belongs to it; `closed` follows within a second. Drops what is not sent.
    func close()
}

/// The events that a connection reports to the client.
@_spi(Transports)
@nonexhaustive
public enum ListenerConnectionEvent: Hashable, Sendable {
    /// Requests can be sent: the request channel is connected, and the subscription channel where it is made with it.
    case connected
    /// A notice: one frame of the subscription channel, or one of the request channel that is no reply; at most 1,024 bytes.
    /// Longer ones are dropped by the transport.
    ///
    /// A transport that buffers bounds its buffer; when that is full it drops the newest and says so with
    /// `noticesDropped`. The client finds out what it missed.
    case notice([UInt8])
    /// This many notices were dropped, where the transport can know.
    case noticesDropped(Int)
    /// So many messages were neither a notice nor a reply and were dropped, where the transport can know.
    case messagesDropped(Int)
    /// A reply: one frame of the request channel, at most 1,114,112 bytes; longer ones are dropped by the transport.
    case reply([UInt8])
    /// The connection is gone or could not be made, for a reason in a few words. Nothing follows.
    case closed(reason: String)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import GatewayCore
internal import Synchronization
package import SystemSupport

/// A listener whose connection another server accepted: it gets its stream's notices as server-sent events.
///
/// That server has answered its request up to here, and hands the socket over (``EdgeShared/serve(_:on:isChunked:)``). The loop
/// only writes: a peer that sends something more is closed. Leases, rights and reasons to end are the listener's to know.
package protocol EventListener: AnyObject, Sendable {
    var stream: StreamID { get }
    var address: PeerAddress { get }

    /// A loop has the connection, and writes every notice above `last` from now on; called once, on the loop's thread.
    ///
    /// - Parameter connection: ends the connection; to be kept until then.
    /// - Returns: the events to send first.
    func begin(_ connection: EventConnection) -> EventBeginning

    /// The loop has closed the connection; called once, on the loop's thread.
    ///
    /// - Parameter reason: why; `nil`: the peer is gone, or the listener has ended before.
    func lost(_ reason: EdgeClosing?)

    /// No loop serves the connection.
    ///
    /// - Returns: the text of its last event.
    func dropped() -> [UInt8]
}

/// The beginning of a loop's work for an ``EventListener``.
package enum EventBeginning: Sendable {
    /// The events that it has not sent, and the sequence up to which the listener has everything then.
    case events([[UInt8]], last: UInt64)
    /// It has ended meanwhile: the text of its last event.
    case ended([UInt8])
}

/// The connection of an ``EventListener`` in a loop, for other threads.
package struct EventConnection: Sendable {
    fileprivate let inbox: EdgeInbox
    fileprivate let peer: EdgePeer

    init(_ inbox: EdgeInbox, _ peer: EdgePeer) {
        self.inbox = inbox
        self.peer = peer
    }

    /// Ends it.
    ///
    /// - Parameter text: its last event.
    package func end(_ text: [UInt8]) { self.inbox.end(self.peer, text) }
}

/// The text of a notice as a server-sent event, made once for all loops, when the first one needs it.
final class EventText: Sendable {
    private let notice: Notice
    private let text = Mutex<[UInt8]?>(nil)

    init(_ notice: Notice) {
        self.notice = notice
    }

    func bytes(_ make: (Notice) -> [UInt8]) -> [UInt8] {
        self.text.withLock { text in
            if let text { return text }
            let made = make(self.notice)
            text = made
            return made
        }
    }
}

/// The state of a connection that a loop writes server-sent events to.
struct EventLink {
    let listener: any EventListener
    let framing: NoticeFraming
}

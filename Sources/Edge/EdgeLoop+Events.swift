// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import GatewayCore
internal import SystemSupport

/// Connections that another server accepted and answered, and whose listeners get notices as server-sent events.
///
/// They hear a stream as a connection of ZMTP does, in a ring of their own framing. The loop reads nothing of them.
extension EdgeLoop {
    /// So many reads at the most empty the kernel's buffer before a connection is closed whose peer gets its last event.
    private static let readsBeforeClosing = 8

    /// A connection is handed over.
    func open(_ arrival: EdgeInbox.EventArrival) {
        let (listener, framing) = (arrival.listener, arrival.framing)
        let index = self.connections.add()
        self.connections.slots[index].phase = .ready
        self.connections.slots[index].descriptor = arrival.descriptor
        self.connections.slots[index].address = listener.address
        self.connections.slots[index].since = self.now
        self.connections.slots[index].isUsed = true
        self.connections.slots[index].look.isDeprioritised = false
        self.connections.slots[index].events = EventLink(listener: listener, framing: framing)
        let begun = listener.begin(EventConnection(self.shared.inboxes[self.number], self.connections.peer(at: index)))
        self.look(at: index)
        guard self.connections.slots[index].phase != .free else { return }
        switch begun {
        case .ended(let text): self.endEvents(index, text)
        case .events(let texts, let last):
            self.subscribe(index, to: listener.stream, framing)
            self.follow(last, index)
            var bytes: [UInt8] = []
            for text in texts { framing.append(event: text, to: &bytes) }
            if !bytes.isEmpty { self.write(bytes.span, index) }
        }
    }

    /// The listener of a connection has ended: its last event goes out, and the connection is closed.
    func endEvents(_ peer: EdgePeer, _ text: [UInt8]) {
        guard let index = self.connections.place(of: peer) else { return }
        self.endEvents(index, text)
    }

    private func endEvents(_ index: Int, _ text: [UInt8]) {
        guard self.connections.slots[index].phase == .ready, let framing = self.connections.slots[index].events?.framing
        else { return }
        // What waits in the ring is not sent any more; an event that is begun is finished.
        while let subscription = self.connections.slots[index].subscriptions.last {
            self.unsubscribe(index, subscription.stream)
        }
        self.connections.slots[index].phase = .ending
        self.connections.slots[index].since = self.now
        let bytes = framing.framed(event: text) + framing.end
        self.write(bytes.span, index)
        guard self.connections.slots[index].phase != .free, self.connections.slots[index].output.isEmpty else { return }
        self.closeEnded(index)
    }

    /// Whether the last event of a connection has taken too long.
    func isOverdue(_ index: Int) -> Bool {
        self.now >= self.connections.slots[index].since + UInt64(self.settings.farewellMax.inMicroseconds) * 1_000
    }

    /// Closes a connection whose last event was sent.
    func closeEnded(_ index: Int) {
        // Unread bytes would make the kernel reset the connection, and the event might not arrive.
        for _ in 0..<Self.readsBeforeClosing where self.readAway(index) > 0 {}
        self.close(index)
    }

    /// The peer of a connection sent something, or has gone.
    ///
    /// It has its answer: there is nothing that it may ask on this connection.
    func readEvents(_ index: Int) {
        let count = self.readAway(index)
        if count < 0, System.wouldBlock(count) { return }
        guard count <= 0 || self.connections.slots[index].phase == .ready else { return }
        self.close(index)
    }

    private func readAway(_ index: Int) -> Int {
        System.read(
            self.connections.slots[index].descriptor,
            into: &self.buffers.plain,
            at: 0,
            bytesMax: ReadBuffers.readBytesMax
        )
    }

    // MARK: - Notices

    /// Puts a notice into the rings of those who hear it as an event.
    func append(_ notice: EdgeNotice, toEventsOf id: StreamID) {
        for framing in NoticeFraming.events {
            guard let stream = self.fanOut.stream(id, framing) else { continue }
            let text = notice.text.bytes(self.shared.eventText)
            self.append(framing.framed(event: text), notice.sequence, to: stream)
        }
    }

    /// Repeats a position to those who hear it as an event.
    func append(_ head: Notice, toEventsOf id: StreamID) {
        var text: [UInt8]?
        for framing in NoticeFraming.events {
            guard let stream = self.fanOut.stream(id, framing) else { continue }
            let made = text ?? self.shared.eventText(head)
            text = made
            self.append(framing.framed(event: made), head.position.sequence, to: stream)
            self.metrics.count(.headsSent)
        }
    }
}

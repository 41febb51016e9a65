// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import SystemSupport
internal import ZMTP

extension LoadLoop {
    // MARK: - Sending, for drivers

    /// Sends bytes that are framed already, for instance of a ``WireRequest``.
    ///
    /// They are written at once; what the kernel does not take waits. Only after `ready`.
    package func send(_ wire: Span<UInt8>, on connection: Connection) {
        guard let index = self.index(of: connection), self.slots[index].phase == .ready else { return }
        self.write(wire, connection, index)
    }

    /// Sends a request, as a REQ socket does: an empty delimiter frame and this body.
    package func sendRequest(_ body: [UInt8], on connection: Connection) {
        var wire: [UInt8] = []
        Outgoing.appendRequest(body, to: &wire)
        self.send(wire.span, on: connection)
    }

    /// Asks for the messages that begin with `topic`.
    package func subscribe(_ topic: [UInt8], on connection: Connection) {
        self.sendSubscription(topic, cancel: false, on: connection)
    }

    /// Ends a subscription.
    package func unsubscribe(_ topic: [UInt8], on connection: Connection) {
        self.sendSubscription(topic, cancel: true, on: connection)
    }

    private func sendSubscription(_ topic: [UInt8], cancel: Bool, on connection: Connection) {
        guard let index = self.index(of: connection) else { return }
        var wire: [UInt8] = []
        Outgoing.appendSubscription(
            topic,
            cancel: cancel,
            asCommand: self.slots[index].session.subscribesByCommand,
            to: &wire
        )
        self.send(wire.span, on: connection)
    }

    // MARK: - Writing

    /// Writes frames of ZMTP: over WebSocket each is a masked message.
    func write(_ frames: Span<UInt8>, _ connection: Connection, _ index: Int) {
        guard let client = self.slots[index].webSocket else { return self.writeWire(frames, connection, index) }
        let bytes = client.masked(frames)
        self.writeWire(bytes.span, connection, index)
    }

    /// Writes what the kernel takes and keeps the rest; encrypts it before, where the connection is by TLS.
    func writeWire(_ bytes: Span<UInt8>, _ connection: Connection, _ index: Int) {
        guard let session = self.slots[index].encryption else { return self.put(bytes, connection, index) }
        self.writeEncrypted(bytes, connection, index, session)
    }

    /// Writes bytes as they are.
    func put(_ bytes: Span<UInt8>, _ connection: Connection, _ index: Int) {
        guard self.slots[index].output.isEmpty else {
            System.append(bytes, to: &self.slots[index].output)
            return
        }
        var written = System.write(self.slots[index].descriptor, bytes)
        if written == bytes.count { return }
        if written < 0 {
            guard System.wouldBlock(written) else {
                return self.endLater(connection, Self.end(ofInputOutput: written, "send"))
            }
            written = 0
        }
        System.append(bytes.extracting(written..<bytes.count), to: &self.slots[index].output)
        self.watch(connection, index)
    }

    /// Writes what was kept.
    func flush(_ index: Int) {
        let connection = self.connection(at: index)
        let output = self.slots[index].output
        guard !output.isEmpty else { return }
        let sent = self.slots[index].outputSent
        let written = System.write(self.slots[index].descriptor, output.span.extracting(sent..<output.count))
        if written < 0 {
            if !System.wouldBlock(written) { self.end(connection, Self.end(ofInputOutput: written, "send")) }
            return
        }
        if sent + written == output.count {
            self.slots[index].output = []
            self.slots[index].outputSent = 0
            self.watch(connection, index)
        } else {
            self.slots[index].outputSent = sent + written
        }
    }

    // MARK: - Reading

    /// Reads once what is there, and hands out every whole message of it.
    func read(_ index: Int) {
        guard self.slots[index].phase != .free, !self.slots[index].isPaused else { return }
        let kept = self.slots[index].input.count
        if kept > 0 {
            self.buffer.replaceSubrange(0..<kept, with: self.slots[index].input)
        }
        if let session = self.slots[index].encryption { return self.readEncrypted(index, session, behind: kept) }
        if let client = self.slots[index].webSocket { return self.readFrames(index, client, behind: kept) }
        let count = System.read(
            self.slots[index].descriptor,
            into: &self.buffer,
            at: kept,
            bytesMax: self.settings.readBytesMax
        )
        guard count > 0 else {
            if count < 0 && System.wouldBlock(count) { return }
            let end: ConnectionEnd = count == 0 ? .closedByPeer : Self.end(ofInputOutput: count, "recv")
            return self.end(self.connection(at: index), end)
        }
        self.now = .now()
        self.take(kept + count, of: self.connection(at: index), index, kept: kept)
    }

    func take(_ count: Int, of connection: Connection, _ index: Int, kept: Int) {
        // One more reference to the bytes: nothing is read into them meanwhile, so nothing is copied.
        let buffer = self.buffer
        let bytes = buffer.span.extracting(0..<count)
        var offset = 0
        while self.slots[index].generation == connection.generation {
            switch self.slots[index].session.next(in: bytes, at: &offset) {
            case .frame(let body, let more):
                switch self.part(of: body.count, more: more, index) {
                case .delimiter: continue
                case .body: self.driver.received(bytes.extracting(body), on: connection, in: self)
                case .notice: self.driver.pushed(bytes.extracting(body), on: connection, in: self)
                case .unexpected: return self.end(connection, .unexpectedMessage)
                }
            case .needsMore:
                if offset < count {
                    self.slots[index].input = Array(buffer[offset..<count])
                } else if kept > 0 {
                    self.slots[index].input = []
                }
                return
            case .greeted:
                let ready = self.slots[index].session.ready()
                self.write(ready.span, connection, index)
            case .ready:
                self.slots[index].phase = .ready
                self.driver.ready(connection, in: self)
            case .ping(let context):
                var pong: [UInt8] = []
                Outgoing.appendPong(context: Array(buffer[context]), to: &pong)
                self.write(pong.span, connection, index)
            case .pong, .subscribe, .cancel: continue
            case .failed(let error): return self.end(connection, .violation(error))
            }
        }
    }

    /// Which part of a message a frame is: on SUB all of it, on REQ and DEALER the empty delimiter or the body, on DEALER
    /// also a notice.
    @inline(__always)
    private func part(of count: Int, more: Bool, _ index: Int) -> MessagePart {
        if self.slots[index].kind == .sub { return more ? .unexpected : .body }
        if self.slots[index].isInMessage {
            self.slots[index].isInMessage = false
            return more ? .unexpected : .body
        }
        guard more else { return self.slots[index].kind == .dealer ? .notice : .unexpected }
        guard count == 0 else { return .unexpected }
        self.slots[index].isInMessage = true
        return .delimiter
    }

    static func end(ofInputOutput result: Int, _ operation: String) -> ConnectionEnd {
        System.isReset(result) ? .closedByPeer : .system(operation: operation, code: Int32(clamping: -result))
    }
}

private enum MessagePart {
    case delimiter
    case body
    /// A whole message that is no reply.
    case notice
    /// It has no place there.
    case unexpected
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import SystemSupport
internal import TLS
internal import ZMTP

/// Connections of an endpoint for WebSocket: WebSocket is between the socket (or TLS) and ``EdgeConnection``, which sees ZMTP.
///
/// Everything that came is unmasked at once, so that what waits is ZMTP in ``EdgeSlot/input``, as it is without WebSocket. What is
/// sent differs only in the headers of frames.
extension EdgeLoop {
    /// So many reads at the most empty the kernel's buffer before a connection is closed for a reason that its peer gets.
    private static let readsBeforeClosing = 8

    // MARK: - Reading

    /// Reads once what is there, unmasks it, and handles every whole message of it.
    ///
    /// - Parameters:
    ///   - index: a connection over WebSocket that is not encrypted here.
    ///   - kept: so many bytes of ZMTP are at the beginning of the buffer already.
    func readFrames(_ index: Int, _ kept: Int) {
        let count = System.read(
            self.connections.slots[index].descriptor,
            into: &self.buffers.frames,
            at: 0,
            bytesMax: ReadBuffers.readBytesMax
        )
        guard count > 0 else {
            if count < 0, System.wouldBlock(count) {
                self.keepInput(index, kept, from: 0)
            } else {
                self.close(index)
            }
            return
        }
        self.handleFrames(index, count, kept)
    }

    /// Handles what came, which is in the buffer for frames.
    ///
    /// - Parameters:
    ///   - index: a connection over WebSocket.
    ///   - count: so many bytes came.
    ///   - kept: so many bytes of ZMTP are at the beginning of the buffer already.
    ///   - isLast: whether the peer has ended the session of TLS.
    func handleFrames(_ index: Int, _ count: Int, _ kept: Int, isLast: Bool = false) {
        guard let link = self.connections.slots[index].webSocket else { return }
        let generation = self.connections.slots[index].generation
        var (offset, end) = (0, kept)
        if link.isUpgrading {
            let taken = self.upgrade(index, link, count)
            guard self.connections.slots[index].generation == generation, let taken else { return }
            offset = taken
        }
        let ending = self.unmask(index, link, count, from: offset, to: &end)
        guard self.connections.slots[index].generation == generation else { return }
        self.hold(link.countBytes())
        guard self.connections.slots[index].generation == generation else { return }
        if end > 0 { self.handleInput(index, end, isLast: isLast || ending != nil) }
        guard let ending, self.connections.slots[index].generation == generation else { return }
        // What was asked before is answered.
        self.flushAnswers()
        guard self.connections.slots[index].generation == generation else { return }
        switch ending {
        case .peer(let code):
            self.sayClose(index, link, code)
            self.close(index)
        case .failure(let failure): self.close(index, .webSocket(failure))
        }
    }

    /// Why nothing more is read from a connection.
    private enum FramesEnd {
        /// Its peer closes, with this code.
        case peer(UInt16?)
        case failure(WebSocketFailure)
    }

    /// Unmasks what came, and answers control frames.
    ///
    /// Of several pings that came at once the last one is answered, as RFC 6455 allows (section 5.5.3); all of them count as messages.
    private func unmask(
        _ index: Int,
        _ link: WebSocketLink,
        _ count: Int,
        from start: Int,
        to end: inout Int
    ) -> FramesEnd? {
        let generation = self.connections.slots[index].generation
        var offset = start
        var pong: [UInt8]?
        var ending: FramesEnd?
        while ending == nil {
            // One more reference to the bytes, given back at once: nothing is copied.
            let frames = self.buffers.frames
            let event = link.frames
                .next(in: frames.span.extracting(0..<count), at: &offset, into: &self.buffers.plain, at: &end)
            switch event {
            case .needsMore:
                if let pong { self.sendControl(.pong, pong, index) }
                return nil
            case .ping(let payload):
                pong = payload
                self.takeAllowance(index)
            case .pong: self.takeAllowance(index)
            case .close(let code): ending = .peer(code)
            case .failed(let failure): ending = .failure(failure)
            }
            // It is closed where the poller cannot be told.
            guard self.connections.slots[index].generation == generation else { return nil }
        }
        return ending
    }

    /// Reads a request, and answers it.
    ///
    /// - Returns: how many of the bytes that came belong to it; `nil`: it has not come in full, or the connection is closed.
    private func upgrade(_ index: Int, _ link: WebSocketLink, _ count: Int) -> Int? {
        guard let endpoint = self.shared.endpoints[Int(self.connections.slots[index].endpoint)].webSocket else {
            return nil
        }
        do throws(WebSocketRefusal) {
            guard let (upgrade, taken) = try link.takeRequest(self.buffers.frames[0..<count], at: endpoint) else {
                self.hold(link.countBytes())
                return nil
            }
            let generation = self.connections.slots[index].generation
            self.hold(link.countBytes())
            guard self.connections.slots[index].generation == generation else { return nil }
            link.isUpgradeCounted = true
            self.metrics.count(.webSocketUpgrades, .done)
            self.connections.slots[index].connection = EdgeConnection(overWebSocket: upgrade.mechanism)
            self.write(upgrade.answer.span, index)
            return taken
        } catch .notHTTP
            where link.firstByte == Self.recordOfHandshake && !self.connections.slots[index].isByTLS
        {
            self.close(index, .encrypted)
        } catch {
            self.close(index, .upgrade(error))
        }
        return nil
    }

    // MARK: - Writing

    /// Writes frames of ZMTP that are sent rarely, as the connection has them.
    func writeFrames(_ frames: [UInt8], _ index: Int) {
        guard self.connections.slots[index].webSocket != nil else { return self.write(frames.span, index) }
        var bytes: [UInt8] = []
        ZWSFraming.append(zmtp: frames, to: &bytes)
        self.write(bytes.span, index)
    }

    private func sendControl(_ opcode: WebSocketFrameHeader.Opcode, _ payload: [UInt8], _ index: Int) {
        var bytes: [UInt8] = []
        ZWSFraming.appendControl(opcode, payload, to: &bytes)
        self.write(bytes.span, index)
    }

    /// Writes what waits for a connection on one stream up to a cursor, for as long as the kernel takes it.
    func writeNotices(_ index: Int, _ number: Int, overWebSocketUntil end: NoticeRing.Cursor) {
        guard self.connections.slots[index].session == nil else {
            return self.writeEncryptedNotices(index, number, overWebSocketUntil: end)
        }
        let stream = self.connections.slots[index].subscriptions[number].stream
        let descriptor = self.connections.slots[index].descriptor
        while self.connections.slots[index].subscriptions[number].cursor.place < end {
            let cursor = self.connections.slots[index].subscriptions[number].cursor.place
            self.webSocketNotices.prepare(stream, behind: cursor, bytesMax: Self.noticesBytesMax)
            let notices = self.webSocketNotices
            let written = stream.ring.withPending(cursor) { bodies in
                System.write(descriptor, notices.pieces.span, headers: notices.headers.span, bodies: bodies)
            }
            if written == notices.byteCount {
                self.connections.slots[index].subscriptions[number].cursor.place = notices.next
                continue
            }
            guard written >= 0 else {
                return System.wouldBlock(written) ? self.fallBehind(index, number) : self.close(index)
            }
            // A message that is begun has to be finished, whatever becomes of the ring.
            let (rest, next) = notices.rest(after: written)
            self.connections.slots[index].subscriptions[number].cursor.place = next
            if !rest.isEmpty { self.keep(rest.span, index) }
            if self.connections.slots[index].phase != .free { self.fallBehind(index, number) }
            return
        }
    }

    /// The same for a connection that is encrypted: its pieces are put together for it alone, as they are encrypted for it alone.
    private func writeEncryptedNotices(_ index: Int, _ number: Int, overWebSocketUntil end: NoticeRing.Cursor) {
        let generation = self.connections.slots[index].generation
        let stream = self.connections.slots[index].subscriptions[number].stream
        while self.connections.slots[index].subscriptions[number].cursor.place < end {
            guard self.connections.slots[index].output.isEmpty else { return self.fallBehind(index, number) }
            let cursor = self.connections.slots[index].subscriptions[number].cursor.place
            self.webSocketNotices.prepare(stream, behind: cursor, bytesMax: Self.noticePieceBytesMax)
            var piece: [UInt8] = []
            piece.reserveCapacity(self.webSocketNotices.byteCount)
            self.webSocketNotices.append(to: &piece)
            self.connections.slots[index].subscriptions[number].cursor.place = self.webSocketNotices.next
            self.write(piece.span, index)
            guard self.connections.slots[index].generation == generation else { return }
        }
    }

    // MARK: - The end

    /// Sends a close frame, after which nothing is sent.
    private func sayClose(_ index: Int, _ link: WebSocketLink, _ code: UInt16?, _ reason: String = "") {
        guard link.isOpen else { return }
        link.close()
        var bytes: [UInt8] = []
        ZWSFraming.appendClose(code, reason, to: &bytes)
        self.writeLast(bytes, index)
    }

    /// Writes the last bytes of a connection, where what was sent before has gone; what the kernel does not take is dropped.
    private func writeLast(_ bytes: [UInt8], _ index: Int) {
        guard self.connections.slots[index].output.isEmpty else { return }
        var bytes = bytes
        if let session = self.connections.slots[index].session {
            guard session.isOpen, (try? session.write(bytes.span)) != nil else { return }
            bytes = self.buffers.pipe.takeOutput()
        }
        _ = System.write(self.connections.slots[index].descriptor, bytes.span)
    }

    /// Tells the peer why its connection ends, where what was sent before has gone.
    ///
    /// - Parameters:
    ///   - index: a connection that is about to end.
    ///   - reason: why; `nil`: its peer is gone, or the gateway stops.
    func endWebSocket(_ index: Int, _ reason: EdgeClosing?) {
        guard let link = self.connections.slots[index].webSocket else { return }
        if case .upgrade(let refusal)? = reason, link.isUpgrading {
            link.close()
            self.writeLast(refusal.answer, index)
        } else {
            guard link.isOpen else { return }
            let text = reason.map { "\($0)" } ?? "the gateway ends the connection"
            self.sayClose(index, link, reason?.closeCode ?? 1_001, text)
        }
        guard reason != nil else { return }
        // Unread bytes would make the kernel reset the connection, and the reason might not arrive.
        for _ in 0..<Self.readsBeforeClosing {
            let count = System.read(
                self.connections.slots[index].descriptor,
                into: &self.buffers.frames,
                at: 0,
                bytesMax: self.buffers.frames.count
            )
            guard count > 0 else { return }
        }
    }

    /// Counts a request that comes to nothing, once.
    ///
    /// - Parameters:
    ///   - index: a connection that is about to end.
    ///   - reason: why; `nil`: its peer is gone, or the gateway stops.
    func noteUpgradeEnd(_ index: Int, _ reason: EdgeClosing?) {
        guard let link = self.connections.slots[index].webSocket, !link.isUpgradeCounted,
            !self.connections.slots[index].awaitsHeader,
            !self.connections.slots[index].isByTLS || self.connections.slots[index].session?.isOpen == true
        else { return }
        link.isUpgradeCounted = true
        switch reason {
        case .upgrade(let refusal): self.metrics.count(.webSocketUpgrades, refusal.metricLabel)
        case .handshake: self.metrics.count(.webSocketUpgrades, .late)
        case nil: self.metrics.count(.webSocketUpgrades, .gone)
        default: self.metrics.count(.webSocketUpgrades, .refused)
        }
    }
}

extension WebSocketRefusal {
    /// The metric label that counts it.
    var metricLabel: MetricLabel {
        switch self {
        case .notHTTP, .malformedLine, .httpVersion, .body, .field: .malformed
        case .headTooLong, .tooManyLines: .tooLong
        case .method, .noUpgrade: .noUpgrade
        case .version: .version
        case .subprotocol: .subprotocol
        case .path: .path
        case .origin: .origin
        }
    }
}

extension EdgeClosing {
    /// The code of the close frame that tells it (RFC 6455 section 7.4.1).
    var closeCode: UInt16 {
        switch self {
        case .webSocket(let failure): failure.closeCode
        case .violation: 1_002
        case .memory: 1_013
        default: 1_008
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import SystemSupport
internal import TLS

/// Connections of an endpoint with a certificate: TLS is between the socket and ``EdgeConnection``, which sees plain bytes.
///
/// Everything that came is decrypted at once, so that what waits is plain in ``EdgeSlot/input`` and encrypted in
/// ``EdgeSlot/output``, and both count as they do without TLS. A step of a handshake takes as long as many messages; no connection
/// takes more than one of them in a row, and notices have their turn between them as they do between reads.
extension EdgeLoop {
    /// So many bytes of notices are encrypted at the most before the kernel has taken them: what is encrypted has to be sent, and
    /// is kept for each connection by itself.
    static let noticePieceBytesMax = 16_384

    /// The first byte of a TLS connection; the gateway sends nothing before the peer has sent it.
    static let recordOfHandshake: UInt8 = 0x16

    // MARK: - Reading

    /// Reads once what is there, decrypts it, and handles every whole message of it.
    ///
    /// - Parameters:
    ///   - index: a connection by TLS.
    ///   - kept: so many plain bytes are at the beginning of the buffer already.
    func readEncrypted(_ index: Int, _ kept: Int) {
        let count = System.read(
            self.connections.slots[index].descriptor,
            into: &self.buffers.pipe.input,
            at: 0,
            bytesMax: TLSPipe.inputBytesMax
        )
        guard count > 0 else {
            if count < 0, System.wouldBlock(count) {
                self.keepInput(index, kept, from: 0)
            } else {
                self.close(index)
            }
            return
        }
        self.handleEncrypted(index, count, kept)
    }

    /// Handles what came, which is in the pipe.
    func handleEncrypted(_ index: Int, _ count: Int, _ kept: Int) {
        self.buffers.pipe.received(count)
        let generation = self.connections.slots[index].generation
        do throws(TLSFailure) {
            guard let session = try self.session(of: index) else { return self.close(index) }
            guard try self.shakeHands(index, session) else { return }
            let isOverWebSocket = self.connections.slots[index].webSocket != nil
            let (end, hasEnded) =
                isOverWebSocket
                ? try session.readAll(into: &self.buffers.frames, at: 0)
                : try session.readAll(into: &self.buffers.plain, at: kept)
            // OpenSSL answers by itself where the peer changes its keys.
            self.sendPipe(index)
            guard self.connections.slots[index].generation == generation else { return }
            self.noteMemory(of: session, index)
            guard self.connections.slots[index].generation == generation else { return }
            if isOverWebSocket {
                self.handleFrames(index, end, kept, isLast: hasEnded)
            } else if end > 0 {
                self.handleInput(index, end, isLast: hasEnded)
            }
            guard hasEnded, self.connections.slots[index].generation == generation else { return }
            self.flushAnswers()
            if self.connections.slots[index].generation == generation { self.close(index) }
        } catch {
            // The peer gets the reason if the protocol can carry it.
            self.sendPipe(index)
            if self.connections.slots[index].generation == generation { self.close(index, .encryption(error)) }
        }
    }

    /// The session of a connection, which begins with its first bytes: a silent connection costs none.
    private func session(of index: Int) throws(TLSFailure) -> TLSSession? {
        if let session = self.connections.slots[index].session { return session }
        guard self.buffers.pipe.input[0] == Self.recordOfHandshake else { throw .plaintext }
        guard let identity = self.shared.endpoints[Int(self.connections.slots[index].endpoint)].identity else {
            return nil
        }
        let session = TLSSession(identity.current, through: self.buffers.pipe)
        self.connections.slots[index].session = session
        return session
    }

    /// - Returns: whether the handshake is done, and the connection still there.
    private func shakeHands(_ index: Int, _ session: TLSSession) throws(TLSFailure) -> Bool {
        guard !session.isOpen else { return true }
        let generation = self.connections.slots[index].generation
        let isDone = try session.shakeHands()
        self.sendPipe(index)
        guard self.connections.slots[index].generation == generation else { return false }
        guard isDone else {
            self.noteMemory(of: session, index)
            return false
        }
        self.metrics.count(.encryptionHandshakes, .done)
        self.shared.cells.encrypted.add()
        self.greet(index)
        return self.connections.slots[index].generation == generation
    }

    /// Counts what the session keeps of what its peer sent.
    private func noteMemory(of session: TLSSession, _ index: Int) {
        let bytes = session.bytesHeld
        let change = bytes - self.connections.slots[index].sessionBytes
        self.connections.slots[index].sessionBytes = bytes
        self.hold(change)
    }

    // MARK: - Writing

    /// Encrypts bytes and writes what the kernel takes of them.
    func writeEncrypted(_ bytes: Span<UInt8>, _ index: Int, _ session: TLSSession) {
        do throws(TLSFailure) {
            try session.write(bytes)
        } catch {
            return self.close(index, .encryption(error))
        }
        self.sendPipe(index)
    }

    /// Sends what the session of a connection has to say.
    private func sendPipe(_ index: Int) {
        let bytes = self.buffers.pipe.takeOutput()
        guard !bytes.isEmpty else { return }
        self.put(bytes.span, index)
        self.buffers.pipe.reuse(bytes)
    }

    /// Writes what waits for a connection on one stream up to a cursor, in pieces, for as long as the kernel takes them.
    func writeNotices(_ index: Int, _ number: Int, through session: TLSSession, until end: NoticeRing.Cursor) {
        let generation = self.connections.slots[index].generation
        let stream = self.connections.slots[index].subscriptions[number].stream
        while self.connections.slots[index].subscriptions[number].cursor.place < end {
            guard self.connections.slots[index].output.isEmpty else { return self.fallBehind(index, number) }
            let cursor = self.connections.slots[index].subscriptions[number].cursor.place
            let (count, next) = stream.ring.wholeFrames(behind: cursor, bytesMax: Self.noticePieceBytesMax)
            do throws(TLSFailure) {
                try stream.ring.withPending(cursor) { (bytes) throws(TLSFailure) in
                    try session.write(bytes.extracting(0..<count))
                }
            } catch {
                return self.close(index, .encryption(error))
            }
            self.connections.slots[index].subscriptions[number].cursor.place = next
            self.sendPipe(index)
            guard self.connections.slots[index].generation == generation else { return }
        }
    }

    // MARK: - The end

    /// Tells the peer that nothing more comes, where what was sent before has gone.
    func endSession(_ index: Int) {
        guard let session = self.connections.slots[index].session, session.isOpen else { return }
        self.shared.cells.encrypted.add(-1)
        guard self.connections.slots[index].output.isEmpty else { return }
        session.end()
        let bytes = self.buffers.pipe.takeOutput()
        if !bytes.isEmpty { _ = System.write(self.connections.slots[index].descriptor, bytes.span) }
    }

    /// Counts a handshake that comes to nothing, or what ends a session after it, once.
    ///
    /// - Parameters:
    ///   - index: a connection that is about to end.
    ///   - reason: why; `nil`: its peer is gone, or the gateway stops.
    func noteSessionEnd(_ index: Int, _ reason: EdgeClosing?) {
        guard self.connections.slots[index].isByTLS else { return }
        self.connections.slots[index].isByTLS = false
        switch reason {
        case .encryption(let failure): self.metrics.count(.encryptionHandshakes, failure.metricLabel)
        case _ where self.connections.slots[index].session?.isOpen == true: break
        case .handshake: self.metrics.count(.encryptionHandshakes, .late)
        case nil: self.metrics.count(.encryptionHandshakes, .gone)
        default: self.metrics.count(.encryptionHandshakes, .refused)
        }
    }
}

extension TLSFailure {
    /// The metric label that counts it.
    var metricLabel: MetricLabel {
        switch self {
        case .plaintext: .plaintext
        case .version: .version
        case .cipher: .cipher
        case .alert: .alert
        case .tooLong: .tooLong
        case .renegotiation: .renegotiation
        case .keyUpdates: .keyUpdates
        case .violation: .violation
        }
    }
}

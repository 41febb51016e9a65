// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import SystemSupport
internal import TLS

// Connections by TLS: it stands between the socket and ZMTP, which sees plain bytes.
extension LoadLoop {
    /// Says the first words of a handshake.
    func beginEncryption(_ connection: Connection, _ index: Int, _ session: TLSSession) {
        self.pipe.received(0)
        do throws(TLSFailure) {
            _ = try session.shakeHands()
        } catch {
            self.endLater(connection, .encryption(error))
        }
        self.sendPipe(connection, index)
    }

    /// Reads once what is there, decrypts it behind what was kept, and hands out every whole message of it.
    func readEncrypted(_ index: Int, _ session: TLSSession, behind kept: Int) {
        let connection = self.connection(at: index)
        let count = System.read(
            self.slots[index].descriptor,
            into: &self.pipe.input,
            at: 0,
            bytesMax: min(self.settings.readBytesMax, TLSPipe.inputBytesMax)
        )
        guard count > 0 else {
            if count < 0 && System.wouldBlock(count) { return }
            return self.end(connection, count == 0 ? .closedByPeer : Self.end(ofInputOutput: count, "recv"))
        }
        self.now = .now()
        self.pipe.received(count)
        do throws(TLSFailure) {
            guard try self.shakeHands(connection, index, session) else { return }
            guard self.slots[index].webSocket == nil else {
                let (count, hasEnded) = try session.readAll(into: &self.frames, at: 0)
                self.sendPipe(connection, index)
                if count > 0 { self.takeFrames(count, of: connection, index, behind: kept) }
                if hasEnded { self.end(connection, .closedByPeer) }
                return
            }
            let (end, hasEnded) = try session.readAll(into: &self.buffer, at: kept)
            self.sendPipe(connection, index)
            if end > kept { self.take(end, of: connection, index, kept: kept) }
            if hasEnded { self.end(connection, .closedByPeer) }
        } catch {
            // The peer gets the reason if the protocol can carry it.
            self.sendPipe(connection, index)
            self.end(connection, session.distrust.map { .untrusted(reason: $0) } ?? .encryption(error))
        }
    }

    /// - Returns: whether the handshake is done; ZMTP's then begins.
    private func shakeHands(
        _ connection: Connection,
        _ index: Int,
        _ session: TLSSession
    ) throws(TLSFailure) -> Bool {
        guard self.slots[index].phase == .encrypting else { return true }
        let isDone = try session.shakeHands()
        self.sendPipe(connection, index)
        if isDone { self.greet(connection) }
        return isDone
    }

    func writeEncrypted(_ bytes: Span<UInt8>, _ connection: Connection, _ index: Int, _ session: TLSSession) {
        do throws(TLSFailure) {
            try session.write(bytes)
        } catch {
            self.endLater(connection, .encryption(error))
        }
        self.sendPipe(connection, index)
    }

    /// Sends what the session of a connection has to say.
    private func sendPipe(_ connection: Connection, _ index: Int) {
        let bytes = self.pipe.takeOutput()
        guard !bytes.isEmpty else { return }
        self.put(bytes.span, connection, index)
        self.pipe.reuse(bytes)
    }

    /// Tells the peer that nothing more comes, where what was sent before has gone.
    func endSession(_ index: Int) {
        guard let session = self.slots[index].encryption else { return }
        self.slots[index].encryption = nil
        guard self.slots[index].output.isEmpty else { return }
        session.end()
        let bytes = self.pipe.takeOutput()
        if !bytes.isEmpty { _ = System.write(self.slots[index].descriptor, bytes.span) }
    }
}

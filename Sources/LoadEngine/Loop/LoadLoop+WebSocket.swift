// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import SystemSupport
internal import TLS
internal import ZMTP

// Connections over WebSocket: it stands between the socket, or TLS, and ZMTP.
extension LoadLoop {
    /// Sends the request, behind which ZMTP begins.
    func askForWebSocket(_ connection: Connection, _ index: Int) {
        guard let endpoint = self.slots[index].endpoint, let path = endpoint.webSocketPath else { return }
        if self.frames.isEmpty {
            let bytes = max(self.settings.readBytesMax, TLSPipe.inputBytesMax + TLSSession.recordBytesMax)
            self.frames = [UInt8](repeating: 0, count: bytes)
        }
        let client = WebSocketClient(
            host: "\(endpoint.host):\(endpoint.port)",
            path: path,
            frameBytesMax: self.settings.frameBytesMax,
            seed: UInt32(truncatingIfNeeded: connection.key &* 2_654_435_761)
        )
        self.slots[index].webSocket = client
        let request = client.request
        self.writeWire(request.span, connection, index)
    }

    /// Reads once what is there, and hands out every whole message of it.
    func readFrames(_ index: Int, _ client: WebSocketClient, behind kept: Int) {
        let connection = self.connection(at: index)
        let count = System.read(
            self.slots[index].descriptor,
            into: &self.frames,
            at: 0,
            bytesMax: self.settings.readBytesMax
        )
        guard count > 0 else {
            if count < 0 && System.wouldBlock(count) { return }
            return self.end(connection, count == 0 ? .closedByPeer : Self.end(ofInputOutput: count, "recv"))
        }
        self.now = .now()
        self.takeFrames(count, of: connection, index, behind: kept)
    }

    /// Reads the frames of what came, and hands out every whole message of it.
    func takeFrames(_ count: Int, of connection: Connection, _ index: Int, behind kept: Int) {
        guard let client = self.slots[index].webSocket else { return }
        var start = 0
        if client.isWaitingForAnswer {
            let answer = self.frames
            switch client.takeAnswer(answer.span.extracting(0..<count)) {
            case .done: return
            case .ended(let end): return self.end(connection, end)
            case .opened(let byteCount):
                start = byteCount
                let ready = self.slots[index].session.ready()
                self.write(ready.span, connection, index)
            }
        }
        // One more reference to the bytes: nothing is read into them meanwhile, so nothing is copied.
        let frames = self.frames
        var (end, pongs) = (kept, [[UInt8]]())
        let reading = client.unmask(
            frames.span.extracting(start..<count),
            into: &self.buffer,
            at: &end,
            pongs: &pongs
        )
        for payload in pongs {
            let pong = client.pong(payload)
            self.writeWire(pong.span, connection, index)
        }
        if end > kept { self.take(end, of: connection, index, kept: kept) }
        if case .ended(let reason) = reading { self.end(connection, reason) }
    }
}

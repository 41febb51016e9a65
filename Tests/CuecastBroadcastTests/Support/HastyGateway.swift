// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ZeroMQ

/// A server that hangs up on everybody who sends a whole greeting, and always before it has told its mechanism: what libzmq's
/// servers do by chance to who has another one.
actor HastyGateway {
    /// The bytes for a peer that sends the beginning of a greeting and no more.
    enum Greeting: Hashable, Sendable {
        /// A greeting, in two pieces.
        case mechanism(String)
        /// That of version 2, which has none.
        case version2
        case rubbish
        case hangUp

        static let samples: [Greeting] = [
            .mechanism("NULL"), .mechanism("CURVE"), .mechanism("PLAIN"), .version2, .rubbish, .hangUp,
        ]

        /// An empty piece hangs up.
        fileprivate var pieces: [[UInt8]] {
            switch self {
            case .mechanism(let name):
                let name = Array(name.utf8)
                return [
                    HastyGateway.signature, [3, 1] + name + [UInt8](repeating: 0, count: 20 - name.count + 32),
                ]
            case .version2: return [HastyGateway.signature + [1, 5, 0, 0]]
            case .rubbish: return [Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)]
            case .hangUp: return [[]]
            }
        }
    }

    private static let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F]
    private static let greetingBytes = 64

    private let thread: PollingThread
    private let socket: Socket
    private let greeting: Greeting
    private var frames = FrameBuffer(framesMax: 2)
    /// How many bytes came on each connection.
    private var counts: [[UInt8]: Int] = [:]

    nonisolated let endpoint: String
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

    private init(
        thread: PollingThread,
        socket: consuming sending Socket,
        endpoint: String,
        greeting: Greeting
    ) {
        self.thread = thread
        self.socket = socket
        self.endpoint = endpoint
        self.greeting = greeting
    }

    isolated deinit {}  // The socket is closed on its thread.

    /// Runs one while `body` runs.
    static func with(_ greeting: Greeting, _ body: @Sendable (HastyGateway) async throws -> Void) async throws {
        let thread = try PollingThread(name: "hasty-gateway")
        let socket = try Socket(.stream, in: Context())
        let endpoint = try socket.bind("tcp://127.0.0.1:*")
        let gateway = HastyGateway(thread: thread, socket: socket, endpoint: endpoint, greeting: greeting)
        await gateway.start()
        do {
            try await body(gateway)
            await thread.stop()
        } catch {
            await thread.stop()
            throw error
        }
    }

    private func start() {
        self.thread.attach(self.socket, for: self) { $0.drain() }
    }

    private func drain() {
        while (try? self.socket.receive(into: &self.frames)) == .message {
            let (peer, piece) = (self.frames.bytes(at: 0), self.frames.bytes(at: 1))
            guard !piece.isEmpty else {
                self.counts[peer] = self.counts[peer] == nil ? 0 : nil
                continue
            }
            let before = self.counts[peer] ?? 0
            let count = before + piece.count
            self.counts[peer] = count
            if before == 0, count == Self.signature.count {
                // A client of libzmq: it goes on when it knows the version, and with the version it sends all the rest.
                self.send(Self.signature + [3], to: peer)
            } else if before == 0, count == Self.signature.count + 1 {
                for piece in self.greeting.pieces { self.send(piece, to: peer) }
            } else if count == Self.greetingBytes {
                self.send([], to: peer)
            }
        }
    }

    private func send(_ piece: [UInt8], to peer: [UInt8]) {
        guard (try? self.socket.send(peer, more: true)) == .sent else { return }
        _ = try? self.socket.send(piece)
    }
}

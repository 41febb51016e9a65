// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZeroMQ

/// Finds out which security mechanism a server has, over a connection of its own.
///
/// A server of libzmq hangs up on a client that has another mechanism, and mostly before it has told its own: what comes of the
/// handshake says it by chance only. But a peer that sends the beginning of a greeting up to the version, and no more, is sent
/// a whole greeting and waited for (RFC 23, "Greeting").
///
/// To be used on the polling thread. Dropping it closes the connection.
final class MechanismProbe {
    /// The signature and the major version, 3.
    private static let beginning: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3]
    /// Where a greeting has the mechanism's name: behind the signature and the two numbers of the version.
    private static let nameBytes = 12..<32
    /// How many pieces of what the server sends wait to be read; a greeting may come in a few.
    private static let piecesWaitingMax: Int32 = 8

    private let socket: Socket
    private let answer: (String?) -> Void
    private var frames = FrameBuffer(framesMax: 2)
    private var isConnected = false
    private var greeting: [UInt8] = []

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - endpoint: `tcp://HOST:PORT`; libzmq has no bare connections of other kinds.
    ///   - resources: the context, and the thread.
    ///   - answer: is told the name, for instance `CURVE`, or `nil` where the peer names none; on the thread, after this call, and
    ///     the first time counts. A server that says nothing at all is for the caller to give up.
    /// - Throws: where there are too many sockets or descriptors, or the endpoint is none.
    init(
        of endpoint: String,
        on resources: ZeroMQRuntime.Resources,
        answer: @escaping (String?) -> Void
    ) throws(ZeroMQError) {
        self.socket = try Socket(.stream, in: resources.context)
        self.answer = answer
        try self.socket.set(.reconnectInterval, to: nil)
        try self.socket.set(.receiveHighWaterMark, to: Self.piecesWaitingMax)
        try self.socket.startMonitor([.closed, .disconnected], on: resources.thread) { [weak self] event in
            guard event.change != .monitorStopped, let self else { return }
            // Input before the end counts.
            self.read()
            self.answer(nil)
        }
        resources.thread.attach(self.socket) { [weak self] in self?.read() }
        try self.socket.connect(endpoint)
    }

    /// Reads what has come: pieces of the stream behind the connection's id, and an empty one when the connection is made.
    private func read() {
        do throws(ZeroMQError) {
            for _ in 0..<Self.piecesWaitingMax {
                guard try self.socket.receive(into: &self.frames) == .message, self.frames.count == 2 else { return }
                let piece = self.frames.bytes(at: 1)
                if !self.isConnected {
                    self.isConnected = true
                    _ = try self.socket.send(self.frames.bytes(at: 0), more: true)
                    _ = try self.socket.send(Self.beginning)
                } else if !piece.isEmpty {
                    self.greeting += piece.prefix(Self.nameBytes.upperBound - self.greeting.count)
                    self.look()
                }
            }
        } catch {
            self.answer(nil)
        }
    }

    private func look() {
        // Before version 3 there are no mechanisms.
        let isGreeting =
            self.greeting.first == 0xFF
            && (self.greeting.count < 10 || self.greeting[9] & 1 == 1)
            && (self.greeting.count < 11 || self.greeting[10] >= 3)
        guard isGreeting else { return self.answer(nil) }
        guard self.greeting.count == Self.nameBytes.upperBound else { return }
        self.answer(String(decoding: self.greeting[Self.nameBytes].prefix { $0 != 0 }, as: UTF8.self))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import SystemSupport

/// The notices of one listener as server-sent events (HTML, section "Server-sent events").
///
/// Where the connection is plain a loop of the edge has it after the first event, and writes the others. Else they are written here,
/// and the reader is closed with the last reference, also if its answer is never written.
final class ListenerEvents: Sendable {
    /// How long the last event may take before the answer is cut off.
    private static let farewell: Duration = .seconds(1)

    private let session: SessionID
    private let subscription: ListenerEntrance.Subscription
    private let listeners: ListenerEntrance

    /// Joins.
    ///
    /// - Throws: the problem that stands against it.
    init(
        joining join: ListenerRequest.Join,
        of session: SessionID,
        from address: PeerAddress,
        at listeners: ListenerEntrance
    ) async throws(Problem) {
        do throws(Refusal) {
            self.subscription = try await listeners.listen(join, of: session, from: address)
        } catch {
            throw Problem(error)
        }
        self.session = session
        self.listeners = listeners
    }

    deinit { self.listeners.close(self.subscription.reader) }

    /// Writes events until one side ends the connection, or a loop has it.
    ///
    /// A peer that is stuck does not delay the end: its answer is cut off.
    func write(to writer: HTTPStreamWriter) async throws {
        let reader = self.subscription.reader
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await self.writeAll(to: writer) }
            tasks.addTask {
                _ = await reader.ended()
                try await Task.sleep(for: Self.farewell)
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    private func writeAll(to writer: HTTPStreamWriter) async throws {
        let (joined, reader) = (self.subscription.joined, self.subscription.reader)
        try await writer.write(
            ListenerEventText.joined(joined, of: self.session, at: self.subscription.gatewayTime)
        )
        if self.listeners.handsOver, let socket = await writer.takeSocket() {
            return self.listeners.serve(reader, on: socket.descriptor, isChunked: socket.isChunked)
        }
        while true {
            switch await reader.next() {
            case .notices(let notices):
                try await writer.write(notices.flatMap { $0.encoded(ListenerEventText.notice) })
            case .ended(let end): return try await writer.write(ListenerEventText.end(end))
            }
        }
    }
}

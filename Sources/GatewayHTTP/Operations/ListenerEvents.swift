// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import SystemSupport

/// The notices of one listener as server-sent events (HTML, section "Server-sent events").
///
/// Its reader is closed with the last reference, also if its answer is never written.
final class ListenerEvents: Sendable {
    /// How long the last event may take before the answer is cut off.
    private static let farewell: Duration = .seconds(1)
    /// The time after which a client without own settings reconnects, in milliseconds.
    private static let retryMilliseconds = 2_000

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

    /// Writes events until one side ends the connection.
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
        let joined = JoinedDocument(self.subscription.joined, of: self.session, at: self.subscription.gatewayTime)
        try await writer.write(
            Array("retry: \(Self.retryMilliseconds)\n".utf8)
                + Self.event("joined", id: "\(self.subscription.joined.head)", HTTPAnswer.encoded(joined))
        )
        while true {
            switch await self.subscription.reader.next() {
            case .notices(let notices):
                try await writer.write(notices.flatMap { $0.encoded(Self.event) })
            case .ended(let end):
                let document = EndDocument(end)
                return try await writer.write(
                    Self.event("end", id: document.finalEventID, HTTPAnswer.encoded(document))
                )
            }
        }
    }

    /// A notice as an event, made once for all readers.
    private static func event(_ notice: Notice) -> [UInt8] {
        self.event(
            notice.kind == .head ? "head" : "notice",
            id: "\(notice.position)",
            HTTPAnswer.encoded(NoticeDocument(notice))
        )
    }

    /// Whether the id of a reader's last event says that it must not listen again.
    static func isFinal(_ lastEvent: String) -> Bool { lastEvent.hasPrefix(EndDocument.finalPrefix) }

    /// JSON has no line breaks, so that the data is one line.
    private static func event(_ name: String, id: String?, _ data: [UInt8]) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        return Array("\(id)event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}

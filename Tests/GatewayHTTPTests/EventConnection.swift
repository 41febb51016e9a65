// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization

/// Server-sent events as they come over one connection; for one task at a time.
final class EventConnection: Sendable {
    struct Event: Hashable, Sendable {
        /// The id that the reader has after it.
        let id: String
        let name: String
        let data: String

        func decoded<Document: Decodable>(as type: Document.Type = Document.self) throws -> Document {
            try JSONDecoder().decode(type, from: Data(self.data.utf8))
        }
    }

    private struct State {
        /// The received bytes that are not read yet.
        var raw: [UInt8] = []
        var head: String?
        var text = ""
        var lastID = ""
    }

    private let connection: HTTPConnection
    private let state = Mutex(State())

    /// Asks.
    init(_ peer: HTTPPeer, _ target: String, headers: [String: String] = [:]) throws {
        self.connection = try peer.connect()
        try self.connection.send(HTTPPeer.request(target, headers: headers))
    }

    /// The id of the last event that came, or of what was before the first.
    var lastID: String { self.state.withLock(\.lastID) }

    /// The answer's head.
    func head() async throws -> String {
        while true {
            if let head = self.state.withLock(\.head) { return head }
            guard try await self.receive() else { throw HTTPPeer.Failure(what: "closed before its head") }
        }
    }

    /// The next event; `nil`: there are no more.
    func next() async throws -> Event? {
        while true {
            if let event = self.state.withLock({ Self.take(&$0) }) { return event }
            guard try await self.receive() else { return nil }
        }
    }

    /// The next event of a name that is as it is waited for; others are passed over.
    func next(_ name: String, where isWanted: (Event) throws -> Bool = { _ in true }) async throws -> Event {
        while let event = try await self.next() {
            if event.name == name, try isWanted(event) { return event }
        }
        throw HTTPPeer.Failure(what: "closed before an event \(name)")
    }

    private func receive() async throws -> Bool {
        let connection = self.connection
        let part = try await onThread { try connection.receive() }
        self.state.withLock { state in
            state.raw += part
            Self.unwrap(&state)
        }
        return !part.isEmpty
    }

    /// Takes head and chunks off (RFC 9112 section 7.1).
    private static func unwrap(_ state: inout State) {
        let lineEnd = Array("\r\n".utf8)
        if state.head == nil {
            guard let end = state.raw.firstRange(of: lineEnd + lineEnd) else { return }
            state.head = String(decoding: state.raw[..<end.lowerBound], as: UTF8.self)
            state.raw.removeSubrange(..<end.upperBound)
        }
        while let end = state.raw.firstRange(of: lineEnd),
            let count = Int(String(decoding: state.raw[..<end.lowerBound], as: UTF8.self), radix: 16),
            state.raw.count >= end.upperBound + count + lineEnd.count
        {
            state.text += String(decoding: state.raw[end.upperBound..<(end.upperBound + count)], as: UTF8.self)
            state.raw.removeSubrange(..<(end.upperBound + count + lineEnd.count))
        }
    }

    /// The next whole event (HTML, section "Interpreting an event stream").
    private static func take(_ state: inout State) -> Event? {
        while let end = state.text.range(of: "\n\n") {
            let lines = state.text[..<end.lowerBound].split(separator: "\n")
            var (name, data) = ("message", "")
            for line in lines {
                if line.hasPrefix("id: ") { state.lastID = String(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { data += line.dropFirst(6) }
            }
            state.text.removeSubrange(..<end.upperBound)
            if !data.isEmpty { return Event(id: state.lastID, name: name, data: data) }
        }
        return nil
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.suiteLimit)
struct EventReaderTests {
    private func read(_ text: String, eventBytesMax: Int = 1_000) throws -> [ServerEvent] {
        var reader = EventReader(eventBytesMax: eventBytesMax)
        return try reader.take(text.utf8)
    }

    @Test(arguments: [
        ("data: x\n\n", [ServerEvent(name: "message", data: "x")]),
        ("event: break\ndata: {}\n\n", [ServerEvent(name: "break", data: "{}")]),
        // The examples of the specification.
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerEvent(name: "message", data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            ["first event", "second event", " third event"].map { ServerEvent(name: "message", data: $0) }
        ),
        ("data\n\ndata\ndata\n\ndata:", ["", "\n"].map { ServerEvent(name: "message", data: $0) }),
        ("data:test\n\ndata: test\n\n", ["test", "test"].map { ServerEvent(name: "message", data: $0) }),
        // Lines end in three ways, and an event without data is none.
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"].map { ServerEvent(name: "message", data: $0) }),
        ("event: x\n\ndata: y\n\n", [ServerEvent(name: "message", data: "y")]),
        ("\u{FEFF}data: x\n\n", [ServerEvent(name: "message", data: "x")]),
        ("retry: 2000\nid: 1:2\n\nother: x\n\n", []),
    ])
    func `events are read`(text: String, events: [ServerEvent]) throws {
        #expect(try self.read(text) == events)
    }

    @Test func `events are the same in whatever pieces they come`() throws {
        var random = SeededGenerator(for: "pieces of events")
        let lines = [
            "data: x", "data:", "data", "event: break", "event:", ": comment", "id: 1", "", "", "日本", "data: 日本",
            "x: y",
        ]
        for _ in 0..<1_000 {
            let text = random.list(0...30) { $0.pick(lines) + $0.pick(["\n", "\r", "\r\n"]) }.joined()
            let whole = try self.read(text)
            var reader = EventReader(eventBytesMax: 1_000)
            var events: [ServerEvent] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let piece = rest.prefix(random.number(1...5))
                events += try reader.take(piece)
                rest = rest.dropFirst(piece.count)
            }
            #expect(events == whole)
        }
    }

    @Test(arguments: [0, 1])
    func `an event at the limit is read, and one byte more is not`(beyond: Int) {
        // The name is kept too.
        let data = String(repeating: "x", count: 100 - "bdata:".utf8.count + beyond)
        let text = "event:b\ndata:\(data)\n\n"
        if beyond == 0 {
            #expect(throws: Never.self) { try self.read(text, eventBytesMax: 100) }
        } else {
            #expect(throws: EventReader.TooLarge.self) { try self.read(text, eventBytesMax: 100) }
        }
    }

    @Test func `the rest of incomplete events does not add up`() throws {
        let comments = String(repeating: ": \(String(repeating: "x", count: 90))\n", count: 1_000)
        let events = String(repeating: "data: \(String(repeating: "x", count: 90))\n\n", count: 1_000)
        #expect(try self.read(comments + events, eventBytesMax: 100).count == 1_000)
        let empty = String(repeating: "data\n", count: 1_000)
        #expect(throws: EventReader.TooLarge.self) { try self.read(empty, eventBytesMax: 100) }
    }

    // MARK: - From a server

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

    private func readEvents(
        _ server: RawServer,
        eventBytesMax: Int = 1_000,
        silenceMax: Duration = .seconds(3_600),
        until last: String = "last"
    ) async throws -> (HTTPExchange.Answer, [String]) {
        var limits = HTTPExchange.Limits()
        limits.silenceMax = silenceMax
        limits.answerBytesMax = eventBytesMax
        let events = Mutex<[String]>([])
        let answer = try await HTTPExchange.readEvents(
            "/v1/events",
            at: HTTPEndpoint(NetworkAddress(host: "127.0.0.1", port: server.port)),
            limits: limits
        ) { event in
            events.withLock { $0.append(event.data) }
            return event.data != last
        }
        return (answer, events.withLock { $0 })
    }

    @Test func `events come until one is not wanted`() async throws {
        let server = try RawServer { peer in
            peer.send(Self.head + "data: one\n\nda")
            peer.send("ta: last\n\ndata: more\n\n")
            peer.waitForEnd()
        }
        let (answer, events) = try await self.readEvents(server)
        #expect(answer.status == 200 && events == ["one", "last"])
    }

    @Test func `an answer without events is given as it is`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 401 Unauthorized\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\nno")
        }
        let (answer, events) = try await self.readEvents(server)
        #expect(answer.status == 401 && answer.body == Data("no".utf8) && events.isEmpty)
    }

    @Test func `a server that ends in between is told as that`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\ndata: one\n\n")
        }
        await #expect {
            _ = try await self.readEvents(server)
        } throws: { error in
            guard case .unreachable = error as? HTTPExchange.Failure else { return false }
            return true
        }
    }

    @Test func `a server that says nothing any more is given up`() async throws {
        let server = try RawServer { peer in
            peer.send(Self.head + "data: one\n\n")
            peer.waitForEnd()
        }
        await #expect(throws: HTTPExchange.Failure.silent(.milliseconds(200))) {
            _ = try await self.readEvents(server, silenceMax: .milliseconds(200))
        }
    }

    @Test func `an event that is too large ends it`() async throws {
        let server = try RawServer { peer in
            peer.send(Self.head + "data: " + String(repeating: "x", count: 1_000))
            peer.waitForEnd()
        }
        await #expect(throws: HTTPExchange.Failure.tooLarge(bytes: 1_000)) { _ = try await self.readEvents(server) }
    }
}

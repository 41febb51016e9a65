// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import HTTPTypes
import Hummingbird
import NIOCore

/// An operation's answer, before it is HTTP.
package struct HTTPAnswer: Sendable {
    package enum Body: Sendable {
        /// All of it at once.
        case bytes([UInt8])
        /// Piece by piece, for as long as the closure runs; the answer ends when it returns.
        ///
        /// The closure is cancelled when the peer goes and when the server shuts down.
        case stream(StreamKind, @Sendable (HTTPStreamWriter) async throws -> Void)
    }

    var status: HTTPResponse.Status
    /// The media type; empty: there is no body.
    var type: String
    var body: Body
    /// Further header fields.
    var headers: HTTPFields

    init(_ status: HTTPResponse.Status = .ok, type: String, body: Body, headers: HTTPFields = [:]) {
        self.status = status
        self.type = type
        self.body = body
        self.headers = headers
    }

    /// There is nothing to say.
    static let nothing = HTTPAnswer(.noContent, type: "", body: .bytes([]))

    static func text(_ text: String, type: String) -> HTTPAnswer {
        HTTPAnswer(type: type, body: .bytes(Array(text.utf8)))
    }

    static func json(
        _ document: some Encodable,
        status: HTTPResponse.Status = .ok,
        type: String = MediaType.json,
        headers: HTTPFields = [:]
    ) -> HTTPAnswer {
        HTTPAnswer(status, type: type, body: .bytes(Self.encoded(document)), headers: headers)
    }

    /// A document as JSON on one line, with its keys in order.
    static func encoded(_ document: some Encodable) -> [UInt8] { document.json }

    static func problem(_ problem: Problem, requestID: String) -> HTTPAnswer {
        .json(
            problem.document(requestID: requestID),
            status: problem.status,
            type: MediaType.problem,
            headers: problem.headers
        )
    }
}

/// The media types of bodies.
enum MediaType {
    static let json = "application/json"
    static let problem = "application/problem+json"
    static let text = "text/plain"
    static let form = "application/x-www-form-urlencoded"
    static let metrics = "text/plain; version=0.0.4; charset=utf-8"
    static let csv = "text/csv; charset=utf-8; header=present"
    static let lines = "application/x-ndjson"
    static let events = "text/event-stream"
    static let vast = "application/xml"
    /// Another name of the same type (RFC 7303 section 9.2), by which most ad servers call it.
    static let textVAST = "text/xml"

    /// Whether a caller prefers one of two types (RFC 9110 section 12.5.1); a type that it does not name is not preferred.
    static func prefers(_ type: String, to other: String, in accept: String) -> Bool {
        var weights: [String: Double] = [:]
        for range in accept.split(separator: ",") {
            weights[Self.essence(range)] = Self.parameter("q", of: range).map { Double($0) ?? 0 } ?? 1
        }
        guard let own = weights[type], own > 0 else { return false }
        return own > weights[other] ?? 0 || weights[other] == nil
    }

    /// The encoding that a type names (RFC 9110 section 8.3.2); `nil`: it names none.
    static func charset(of type: String) -> String? {
        self.parameter("charset", of: type).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of a type's first parameter of a name, without its quotes (RFC 9110 section 5.6.6); `nil`: it has none.
    private static func parameter(_ name: String, of type: some StringProtocol) -> String? {
        for parameter in type.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == name else { continue }
            return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
        }
        return nil
    }

    /// Without parameters, in lower case.
    static func essence(_ type: some StringProtocol) -> String {
        (type.split(separator: ";", maxSplits: 1).first ?? "").trimmingCharacters(in: .whitespaces).lowercased()
    }
}

/// Where the pieces of an answer go.
///
/// Writing waits until the peer takes more, so that what waits is bounded; a peer that takes nothing for `exchangeTimeout` is
/// closed.
///
/// Safety: `writer` is used by the task that makes the answer, and by its parent once that task has ended: never by two at a time.
package final class HTTPStreamWriter: @unchecked Sendable {
    private var writer: any ResponseBodyWriter
    private let channel: any Channel
    private var isTaken = false

    /// - Parameters:
    ///   - writer: takes the pieces.
    ///   - channel: of the request.
    init(_ writer: any ResponseBodyWriter, on channel: any Channel) {
        self.writer = writer
        self.channel = channel
    }

    /// Sends a piece, and returns once there is room for the next.
    ///
    /// - Throws: where the peer is gone, and `CancellationError` where the server shuts down.
    package func write(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        try await self.writer.write(ByteBuffer(bytes: bytes))
    }

    /// Takes the socket once everything that was written is sent; nothing is written here any more.
    ///
    /// - Returns: `nil` where the answer has to go on here.
    func takeSocket() async -> TakenSocket? {
        let socket = await TakenSocket.take(of: self.channel)
        self.isTaken = socket != nil
        return socket
    }

    /// Ends the answer, unless it goes on elsewhere.
    func finish() async throws {
        if !self.isTaken { try await self.writer.finish(nil) }
    }
}

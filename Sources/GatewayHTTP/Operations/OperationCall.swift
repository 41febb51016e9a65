// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes
import TokenFormats

/// One request, parsed as far as possible without its operation: the principal, and known and complete parameters.
package struct OperationCall: Sendable {
    let operation: Operation
    let request: Request
    /// The id by which it is found again.
    let requestID: String
    /// The principal; `nil` if the operation required none.
    let principal: HTTPPrincipal?
    let query: OperationQuery
    /// The address and port of the peer, for logs and audit.
    let peer: String
    /// When it came, by the gateway's clock.
    let received: Timestamp
    /// Its trace; `nil`: it is not traced.
    let trace: RequestTrace?
    /// The values in its path, decoded.
    let path: [String: String]

    fileprivate let tools: RequestTools
    fileprivate let channel: any Channel

    init(
        _ operation: Operation,
        _ request: Request,
        _ context: OperationContext,
        principal: HTTPPrincipal?,
        query: OperationQuery,
        at received: Timestamp,
        _ tools: RequestTools
    ) throws(Problem) {
        self.operation = operation
        self.request = request
        self.requestID = context.requestID
        self.principal = principal
        self.query = query
        self.peer = context.peer
        self.received = received
        self.trace = context.trace?.begun
        self.tools = tools
        self.channel = context.channel
        var path: [String: String] = [:]
        for (name, value) in context.parameters {
            guard let value = String(value).removingPercentEncoding else {
                throw .badRequest("The path has a % that begins no character.")
            }
            path[String(name)] = value
        }
        self.path = path
    }

    /// The address of the peer; `nil`: it is gone.
    var remoteAddress: SocketAddress? { self.channel.remoteAddress }

    /// Whether it came by TLS.
    var isEncrypted: Bool { self.tools.isEncrypted }

    /// The stream in the path.
    func stream() throws(Problem) -> StreamID {
        try Problem.check { () throws(WireError) in try StreamID(self.path["stream"] ?? "") }
    }

    /// The break in the path.
    func breakKey() throws(Problem) -> BreakKey {
        try Problem.check { () throws(WireError) in
            BreakKey(stream: try StreamID(self.path["stream"] ?? ""), id: try BreakID(self.path["break"] ?? ""))
        }
    }

    /// The id of a break in the path of a group.
    func breakID() throws(Problem) -> BreakID {
        try Problem.check { () throws(WireError) in try BreakID(self.path["break"] ?? "") }
    }

    /// The ad list in the path.
    func adList() throws(Problem) -> AdListName {
        try Problem.check { () throws(WireError) in try AdListName(self.path["name"] ?? "") }
    }

    /// The caller, as the rules for broadcasters know it: its streams are those that its token names.
    func broadcaster() throws(Problem) -> BroadcastPrincipal {
        guard let principal = self.principal else { throw HTTPRefusal.noToken.problem }
        return BroadcastPrincipal(name: principal.name, streams: principal.scopes.publish)
    }

    /// For an operation whose access is `ticket`: asks for what `read` needs, where there is no ticket.
    func requireRead() async throws {
        try await self.tools.rights.requireRead(self.request)
    }

    /// Uses up a ticket for events.
    ///
    /// - Returns: the header by which it was asked for; `nil`: it needed none.
    /// - Throws: a problem where it is not good.
    func take(_ ticket: String, of tickets: EventTickets) throws(Problem) -> String? {
        guard let right = tickets.take(ticket, at: self.received) else { throw self.tools.rights.refused(.ticket) }
        self.tools.rights.granted()
        return right.authorization
    }

    /// Whether the header of an earlier request still grants reading: a token may have expired, its key may be revoked, or open
    /// access may have ended.
    func mayStillRead(by authorization: String?) async -> Bool {
        await self.tools.rights.mayStillRead(by: authorization)
    }

    /// Does what takes some work when it is its turn, on the threads of those who read: health is answered meanwhile.
    ///
    /// - Throws: the errors of `body`, and a problem where too many wait.
    func onReaders<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await self.tools.readers.run(body)
    }

    /// Does what takes some work for a piece of an answer that goes on: in turn with the others, and never turned away; how many such
    /// answers there are is bounded.
    ///
    /// - Throws: the errors of `body`.
    func onReadersForPiece<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await self.tools.readers.runPiece(body)
    }

    /// Whether it says that a body comes.
    var hasBody: Bool {
        self.request.headers[.contentType] != nil || self.request.headers[.transferEncoding] != nil
            || (self.request.headers[.contentLength].flatMap { Int($0) } ?? 0) > 0
    }

    /// The query as it was sent, for operations that take any parameters.
    var rawQuery: Substring {
        let target = self.request.head.path ?? ""
        return target.firstIndex(of: "?").map { target[target.index(after: $0)...] } ?? ""
    }

    /// The value of a header field; `nil`: there is none.
    func header(_ name: HTTPField.Name) -> String? { self.request.headers[name] }

    /// The media type of the body, without parameters; the operation's first where the request names none.
    var contentType: String {
        let contents = self.operation.body?.contents ?? []
        return MediaType.essence(self.request.headers[.contentType] ?? contents.first?.type ?? "")
    }

    /// The whole body.
    ///
    /// - Throws: a problem where it is larger than the operation takes, or where too much of other bodies waits.
    func body() async throws -> [UInt8] { try await self.body(bytesMax: self.operation.body?.bytesMax ?? 0) }

    /// The longest body that is read of an operation that takes none, in bytes.
    private static let emptyBodyBytesMax = 64

    /// Requires an empty body: a client that sends one to an operation without a body expects an effect that it would not have.
    ///
    /// An object without members is accepted: some clients send it with every request.
    ///
    /// - Throws: a problem if the body has content.
    func requireNoBody() async throws {
        let said = try await self.body(bytesMax: Self.emptyBodyBytesMax).filter { !" \t\r\n".utf8.contains($0) }
        guard said.isEmpty || said == Array("{}".utf8) else { throw Problem.badRequest("This takes no body.") }
    }

    private func body(bytesMax: Int) async throws -> [UInt8] {
        if let said = self.request.headers[.contentLength].flatMap({ Int($0) }), said > bytesMax {
            throw Self.tooLarge(bytesMax)
        }
        if self.request.headers[.expect]?.lowercased() == "100-continue" {
            // A client that waits for it would wait long (RFC 9110 section 10.1.1).
            let head = HTTPResponsePart.head(HTTPResponse(status: .continue))
            self.channel.writeAndFlush(head, promise: nil)
        }
        var bytes: [UInt8] = []
        let share = self.tools.bodies.share()
        var parts = self.request.body.makeAsyncIterator()
        while true {
            let part: ByteBuffer?
            do {
                part = try await parts.next()
            } catch {
                // The caller has cut it off, or violates RFC 9112 section 7.1.
                throw Problem.badRequest("The body cannot be read: it is cut off, or is not as HTTP has it.")
            }
            guard let part else { break }
            guard bytes.count + part.readableBytes <= bytesMax else { throw Self.tooLarge(bytesMax) }
            try share.add(part.readableBytes)
            bytes += part.readableBytesView
        }
        return bytes
    }

    private static func tooLarge(_ bytesMax: Int) -> Problem {
        Problem(.reason(.tooLarge), "The body has more than \(bytesMax) bytes.")
    }
}

/// The data about a request beside its head and body.
struct OperationContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The id by which the request is found again.
    var requestID = ""
    /// The trace that it may belong to; `nil`: none.
    var trace: HTTPTrace?

    init(source: Source) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.channel = source.channel
    }

    /// The address and port of the peer.
    var peer: String {
        guard let address = self.channel.remoteAddress, let host = address.ipAddress else { return "" }
        let port = address.port ?? 0
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

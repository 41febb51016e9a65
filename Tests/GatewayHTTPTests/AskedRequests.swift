// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayHTTP
import Synchronization
import Testing

/// The requests of broadcasters that reached the gateway.
final class AskedRequests: Sendable {
    struct One: Sendable {
        let request: BroadcastRequest
        let principal: BroadcastPrincipal
        let origin: HTTPRequestOrigin
    }

    private let all = Mutex<[One]>([])

    func add(_ one: One) { self.all.withLock { $0.append(one) } }
    var last: One? { self.all.withLock(\.last) }
    var count: Int { self.all.withLock(\.count) }
}

extension HTTPPeer {
    /// A request with a body in JSON, unless the headers say otherwise.
    func ask(_ method: String, _ target: String, body: String, headers: [String: String]) async throws -> Answer {
        var all = ["Host": "test", "Connection": "close", "Content-Length": "\(body.utf8.count)"]
        if !body.isEmpty { all["Content-Type"] = "application/json" }
        let lines = all.merging(headers) { $1 }.map { "\($0): \($1)\r\n" }.joined()
        return try await self.send("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(body)")
    }

    /// Asks as `ask` does, and expects a status.
    func expect(
        _ status: Int,
        _ method: String,
        _ target: String,
        body: String,
        headers: [String: String],
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await self.ask(method, target, body: body, headers: headers)
        #expect(answer.status == status, "\(method) \(target)", sourceLocation: location)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HTTPTypes
import Hummingbird

/// Says which pages may ask: those that the gateway serves, and for listeners' operations those of the origins that are listed.
struct RequestOrigins: Sendable {
    private let rights: RequestRights
    private let table: OperationTable

    /// - Parameters:
    ///   - rights: the origins that are listed at present.
    ///   - table: which operations are a listener's.
    init(_ rights: RequestRights, _ table: OperationTable) {
        self.rights = rights
        self.table = table
    }

    /// Refuses a page that may not ask for an operation.
    func check(_ request: Request, for operation: Operation) throws(Problem) {
        if operation.access == .listener {
            try self.checkListener(request)
        } else {
            try self.check(request)
        }
    }

    /// Refuses a page that the gateway has not served.
    func check(_ request: Request) throws(Problem) {
        guard let origin = request.headers[.origin] else { return }
        guard HTTPHosts.isSameOrigin(origin, as: request.head.authority) else { throw self.rights.refused(.origin) }
    }

    /// Listeners' operations are open to pages of the origins that are listed.
    private func checkListener(_ request: Request) throws(Problem) {
        guard let origin = request.headers[.origin] else { return }
        guard self.rights.access.listenerOrigins.headers(for: origin) != nil else { return try self.check(request) }
    }

    /// The fields about origins in answers to a listener's operation, problems too; `nil`: the operation is not a listener's.
    func fields(of request: Request) -> HTTPFields? {
        guard !self.table.listenerMethods(at: request.pathWithoutQuery).isEmpty else { return nil }
        // Caches keep answers to pages of different origins apart (Fetch standard, "CORS protocol and HTTP caches").
        var fields: HTTPFields = [.vary: "Origin"]
        if let origin = request.headers[.origin],
            let allowed = self.rights.access.listenerOrigins.headers(for: origin)
        {
            fields.append(contentsOf: allowed)
        }
        return fields
    }

    /// The answer to a browser that asks whether a page may ask (Fetch standard, "CORS-preflight request"); `nil`: it may not.
    func preflight(_ request: Request) throws(Problem) -> Response? {
        guard request.method == .options, request.headers[.origin] != nil else { return nil }
        let methods = self.table.listenerMethods(at: request.pathWithoutQuery)
        guard !methods.isEmpty else { return nil }
        try self.checkListener(request)
        return Response(status: .noContent, headers: ListenerOrigins.preflight(methods))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayDocuments
import HTTPTypes
import Hummingbird

/// The rules for the head of every request, for all operations.
struct RequestHeadRules: Sendable {
    private let configuration: GatewayHTTPConfiguration
    private let rights: RequestRights
    private let origins: RequestOrigins

    /// - Parameters:
    ///   - configuration: the bounds.
    ///   - rights: the hosts that are the gateway's.
    ///   - origins: which pages may ask.
    init(_ configuration: GatewayHTTPConfiguration, _ rights: RequestRights, _ origins: RequestOrigins) {
        self.configuration = configuration
        self.rights = rights
        self.origins = origins
    }

    func check(_ request: Request) throws(Problem) {
        try self.checkBounds(of: request)
        try Self.checkCodings(of: request)
        try self.checkHost(of: request)
        // The router would pass over empty parts: one thing has one path.
        let path = request.pathWithoutQuery
        if path != "/", !path.hasPrefix("/") || path.hasSuffix("/") || path.contains("//") {
            try self.origins.check(request)
            throw Problem.noSuchPath
        }
    }

    private func checkBounds(of request: Request) throws(Problem) {
        let target = request.head.path ?? "/"
        guard target.utf8.count <= self.configuration.targetBytesMax else {
            throw Problem(
                .targetTooLong,
                "The limit targetBytesMax is \(self.configuration.targetBytesMax) bytes."
            )
        }
        // A head of HTTP/2 has come in full where its bytes fit, however many fields they are.
        // A client may split `Cookie`; it is one field (RFC 9113 section 8.2.3).
        let furtherCookies = max(0, request.headers[values: .cookie].count - 1)
        guard request.headers.count - furtherCookies <= self.configuration.headerFieldsMax else {
            throw Problem(
                .reason(.tooLarge),
                "The limit headerFieldsMax is \(self.configuration.headerFieldsMax) header fields.",
                status: .requestHeaderFieldsTooLarge
            )
        }
    }

    private static func checkCodings(of request: Request) throws(Problem) {
        // What was packed besides would be read as it is (RFC 9112 section 6.1).
        let codings = request.headers[values: .transferEncoding]
        guard codings.allSatisfy({ $0.lowercased() == "chunked" }), codings.count <= 1 else {
            throw Problem(
                .reason(.unsupported),
                "Of all transfer codings only chunked is known, once.",
                status: .notImplemented
            )
        }
    }

    private func checkHost(of request: Request) throws(Problem) {
        // A proxy may have looked at another one (RFC 9112 section 3.2). Over HTTP/2 a host may stand in either place, or the same
        // in both (RFC 9113 section 8.3.1).
        let further = request.headers[values: .furtherHost]
        let host = request.head.authority ?? further.first
        guard further.allSatisfy({ $0 == host }) else {
            throw Problem.badRequest("The request names more than one host.")
        }
        guard self.rights.access.hosts.contains(host) else { throw self.rights.refused(.host) }
    }
}

extension Problem {
    static let noSuchPath = Problem.notFound("There is no such path; GET /v1 lists them.")
}

extension Request {
    /// The path without the query, which may contain secrets.
    var pathWithoutQuery: Substring {
        (self.head.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
    }
}

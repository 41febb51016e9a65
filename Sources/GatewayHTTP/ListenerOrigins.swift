// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HTTPTypes

/// The origins whose pages may ask what listeners ask (Fetch standard, "CORS protocol"); nothing else of the API is open to them.
///
/// No cookies are taken, and none are let through: a page can only send what it has, a token or a ticket.
package struct ListenerOrigins: Hashable, Sendable {
    /// Whether pages of every origin may.
    private let isOpen: Bool
    private let origins: Set<String>

    /// - Parameter origins: such as `https://radio.example`; `*` alone: every one.
    package init(_ origins: some Sequence<String> = []) {
        let all = Set(origins.map { $0.lowercased() })
        self.isOpen = all.contains("*")
        self.origins = all
    }

    /// What the head of an answer says to a page; `nil`: pages of this origin may not ask.
    func headers(for origin: String) -> HTTPFields? {
        guard self.isOpen || self.origins.contains(origin.lowercased()) else { return nil }
        return [
            .accessControlAllowOrigin: self.isOpen ? "*" : origin,
            .vary: "Origin",
            .accessControlExposeHeaders: "X-Request-Id, Retry-After, traceresponse",
        ]
    }

    /// What the answer to a browser that asks before says besides.
    static func preflight(_ methods: [HTTPRequest.Method]) -> HTTPFields {
        [
            .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
            .accessControlAllowHeaders: "authorization, content-type, last-event-id, traceparent",
            .accessControlMaxAge: "7200",
        ]
    }
}

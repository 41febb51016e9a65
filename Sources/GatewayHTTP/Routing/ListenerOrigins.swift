// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Gateway
import HTTPTypes

/// The origins whose pages may call the operations of listeners (Fetch standard, "CORS protocol").
///
/// Nothing else of the API is open to them. A page may send its request with credentials, as advertising libraries do (VAST 3.0, section 2.1.5.2). That gives it no right: the
/// gateway reads no cookie and no other credential that a browser adds by itself. A page has only a token or a ticket of its own.
package struct ListenerOrigins: Hashable, Sendable {
    private let patterns: Set<OriginPattern>

    /// - Parameter patterns: the rules; a page of any of them may listen.
    package init(_ patterns: some Sequence<OriginPattern> = []) {
        self.patterns = Set(patterns)
    }

    /// The header fields that let a page read an answer; `nil`: pages of this origin may not ask.
    ///
    /// The answer names the caller's origin and never `*`, with which browsers refuse credentials.
    func headers(for origin: String) -> HTTPFields? {
        guard let page = try? WebOrigin(origin), self.patterns.contains(where: { $0.matches(page) }) else { return nil }
        return [
            .accessControlAllowOrigin: origin,
            .accessControlAllowCredentials: "true",
            .accessControlExposeHeaders: "X-Request-Id, Retry-After, Location, traceresponse",
        ]
    }

    /// The further header fields of the answer to a preflight.
    static func preflight(_ methods: [HTTPRequest.Method]) -> HTTPFields {
        [
            .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
            .accessControlAllowHeaders: Self.allowedHeaders.joined(separator: ", "),
            .accessControlMaxAge: "7200",
        ]
    }

    /// The headers that a page may add.
    ///
    /// The gateway reads some; common libraries add the others to every request, and it ignores them. With credentials a browser does
    /// not take `*` here.
    private static let allowedHeaders = [
        // Read by the gateway.
        "x-request-id", "authorization", "content-type", "last-event-id", "traceparent",
        // Caches.
        "cache-control", "if-modified-since", "if-none-match", "pragma", "range",
        // Traces of other systems (W3C Trace Context and Baggage; B3; Sentry, Datadog, New Relic, Elastic).
        "tracestate", "baggage", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags",
        "sentry-trace", "x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-origin", "x-datadog-sampling-priority",
        "newrelic", "elastic-apm-traceparent", "x-correlation-id",
        // Libraries that fetch.
        "accept", "accept-language", "content-language", "x-requested-with",
    ]
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HTTPTypes

/// Fields of heads that the library of HTTP types does not name.
extension HTTPField.Name {
    /// Whether a proxy gathers an answer before it passes it on.
    static let accelBuffering = named("X-Accel-Buffering")
    /// How a front was asked (RFC 7239).
    static let forwarded = named("Forwarded")
    /// By which scheme a front was asked, for fronts that do not write `Forwarded`.
    static let forwardedProto = named("X-Forwarded-Proto")
    /// Further `Host` fields; the first one of HTTP/1.1, and `:authority` of HTTP/2, are in `HTTPRequest.authority`.
    static let furtherHost = named("Host")
    /// The id of the last event that a reader has (HTML, "Server-sent events").
    static let lastEventID = named("Last-Event-ID")
    /// Where else to look (RFC 8288).
    static let link = named("Link")
    /// The policy for the address that a page sends to the next one (W3C Referrer Policy, section 4.1).
    static let referrerPolicy = named("Referrer-Policy")
    /// `X-Request-Id`, which no standard has and which proxies and clients agree on.
    static let requestID = named("X-Request-Id")
    /// The caller's span (W3C Trace Context, section 3.2).
    static let traceParent = named("traceparent")
    /// The gateway's span (W3C Trace Context, editor's draft, "Traceresponse Header").
    static let traceResponse = named("traceresponse")

    private static func named(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("the name of a header is wrong") }
        return name
    }
}

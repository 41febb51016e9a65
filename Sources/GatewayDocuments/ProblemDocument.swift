// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The word for programs in every answer that is no success: the reason codes of the wire, and those that only HTTP has.
///
/// The list is closed: programs decide by it, and `docs/reference/http.md` says what each means.
package enum ProblemCode: Hashable, Sendable {
    /// A reason code of the wire, the same as over ZeroMQ.
    case reason(StatusCode)
    /// There is no token, or it is not taken.
    case unauthorized
    /// The path is there, and the method is not.
    case methodNotAllowed
    /// Path and query together are too long.
    case targetTooLong
    /// The body is of a kind that is not taken.
    case mediaTypeNotTaken
    /// The gateway is not known by the host name that was asked for.
    case hostNotKnown
    /// A page of another origin asks.
    case originNotAllowed
    /// The new configuration has faults, and nothing changes.
    case notReloaded
    /// It was asked in plain, and speaks TLS.
    case encrypted
    /// The records after a position are not kept any more.
    case positionGone

    /// Every code, for tests and for `/openapi.json`.
    package static let all: [ProblemCode] =
        StatusCode.allCases.filter { $0 != .ok }.map(Self.reason) + [
            .unauthorized, .methodNotAllowed, .targetTooLong, .mediaTypeNotTaken, .hostNotKnown, .originNotAllowed,
            .notReloaded, .encrypted, .positionGone,
        ]

    package var name: String {
        switch self {
        case .reason(let status): status.name
        case .unauthorized: "UNAUTHORIZED"
        case .methodNotAllowed: "METHOD_NOT_ALLOWED"
        case .targetTooLong: "TARGET_TOO_LONG"
        case .mediaTypeNotTaken: "MEDIA_TYPE_NOT_TAKEN"
        case .hostNotKnown: "HOST_NOT_KNOWN"
        case .originNotAllowed: "ORIGIN_NOT_ALLOWED"
        case .notReloaded: "NOT_RELOADED"
        case .encrypted: "ENCRYPTED"
        case .positionGone: "POSITION_GONE"
        }
    }

    /// Whether the same request can succeed later, without being changed.
    package var canRetry: Bool {
        if case .reason(let status) = self { return status.canRetry }
        return false
    }
}

/// The content of every answer but a success, as `application/problem+json` (RFC 9457).
///
/// `type` is always `about:blank`: the code says more than an address could.
package struct ProblemDocument: GatewayDocument {
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var code: String
    package var retryable: Bool
    package var requestId: String?
    package var goOnFrom: String?

    package init(
        _ code: ProblemCode,
        _ detail: String,
        title: String,
        status: Int,
        requestId: String?,
        goOnFrom: String?
    ) {
        self.type = "about:blank"
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code.name
        self.retryable = code.canRetry
        self.requestId = requestId
        self.goOnFrom = goOnFrom
    }

    package static let documentDescription = DocumentDescription(
        name: "Problem",
        meaning: "The content of every answer but a success (RFC 9457).",
        fields: [
            DocumentField("type", .text, "Always about:blank."),
            DocumentField("title", .text, "The status in words."),
            DocumentField("status", .integer(400...599), "The status of HTTP."),
            DocumentField("detail", .text, "One sentence for people."),
            DocumentField("code", .oneOf(ProblemCode.all.map(\.name)), "The word for programs."),
            DocumentField(
                "retryable",
                .flag,
                "Whether the same request can succeed later, without being changed."
            ),
            .optional("requestId", .text, "As the header X-Request-Id and the gateway's messages have it."),
            .optional("goOnFrom", .text, "With POSITION_GONE: the value of `from` to use instead."),
        ]
    )
}

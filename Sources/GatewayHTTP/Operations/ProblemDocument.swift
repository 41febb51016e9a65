// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HTTPTypes

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

    /// The status of HTTP that goes with a code, unless a place has a better one: the one table.
    package var httpStatus: HTTPResponse.Status {
        switch self {
        case .reason(let status): status.httpStatus
        case .unauthorized: .unauthorized
        case .methodNotAllowed: .methodNotAllowed
        case .targetTooLong: .uriTooLong
        case .mediaTypeNotTaken: .unsupportedMediaType
        case .hostNotKnown: .misdirectedRequest
        case .originNotAllowed: .forbidden
        case .notReloaded: .unprocessableContent
        case .encrypted: .badRequest
        case .positionGone: .gone
        }
    }

    /// Whether the same request can succeed later, without being changed.
    package var canRetry: Bool {
        if case .reason(let status) = self { return status.canRetry }
        return false
    }
}

extension StatusCode {
    /// The status of HTTP by which a reason code is told.
    package var httpStatus: HTTPResponse.Status {
        switch self {
        case .ok: .ok
        case .invalid, .unsupported, .deliveryInvalid: .badRequest
        case .tooLarge: .contentTooLarge
        case .notFound: .notFound
        case .conflict, .breakOverlap, .wrongState, .tooLate: .conflict
        // Understood, and against the gateway's rules at present.
        case .startInPast, .tooFarAhead, .leadTimeTooShort: .unprocessableContent
        case .breakTooOld: .gone
        case .revisionConflict: .preconditionFailed
        case .notAllowed: .forbidden
        case .rateLimited: .tooManyRequests
        case .limitReached, .draining, .unavailable: .serviceUnavailable
        }
    }
}

/// The body of each unsuccessful answer, as `application/problem+json` (RFC 9457).
///
/// `type` is always `about:blank`: the code says more than an address could.
package struct ProblemDocument: Codable, Hashable, Sendable {
    package var type: String
    /// The status in words.
    package var title: String
    /// The status of HTTP.
    package var status: Int
    /// One sentence for people.
    package var detail: String
    /// The word for programs: one of `ProblemCode`.
    package var code: String
    /// Whether the same request can succeed later, without being changed.
    package var retryable: Bool
    /// The id of the request, as the header `X-Request-Id` and the gateway's messages have it.
    package var requestId: String?
    /// Where reading can go on, of a position that is gone.
    package var goOnFrom: String?

    package init(
        _ code: ProblemCode,
        _ detail: String,
        status: HTTPResponse.Status? = nil,
        requestId: String? = nil,
        goOnFrom: String? = nil
    ) {
        let status = status ?? code.httpStatus
        self.type = "about:blank"
        self.title = status.reasonPhrase
        self.status = status.code
        self.detail = detail
        self.code = code.name
        self.retryable = code.canRetry
        self.requestId = requestId
        self.goOnFrom = goOnFrom
    }
}

/// Why a request is not answered with what it asks for.
package struct Problem: Error {
    let status: HTTPResponse.Status
    let code: ProblemCode
    /// One sentence for people.
    let sentence: String
    /// Further header fields of the answer.
    let headers: HTTPFields
    /// Where reading can go on, of a position that is gone.
    let goOnFrom: String?
    /// Whether the rules that hold for every entrance decided so: then it is in the audit.
    private(set) var isDecided = false

    init(
        _ code: ProblemCode,
        _ sentence: String,
        status: HTTPResponse.Status? = nil,
        _ headers: HTTPFields = [:],
        goOnFrom: String? = nil
    ) {
        self.status = status ?? code.httpStatus
        self.code = code
        self.sentence = sentence
        self.headers = headers
        self.goOnFrom = goOnFrom
    }

    /// A refusal by the rules that hold for every entrance.
    init(_ refusal: Refusal) {
        var headers: HTTPFields = [:]
        if refusal.retryAfter > .zero {
            // In whole seconds (RFC 9110 section 10.2.3), and not too early.
            headers[.retryAfter] = "\((refusal.retryAfter.inMicroseconds + 999_999) / 1_000_000)"
        }
        self.init(.reason(refusal.status), refusal.sentence, headers)
        self.isDecided = true
    }

    static func badRequest(_ sentence: String) -> Problem { Problem(.reason(.invalid), sentence) }

    static func notFound(_ sentence: String) -> Problem { Problem(.reason(.notFound), sentence) }

    /// A violation of a rule of the wire is a bad request.
    static func check<Value>(_ value: () throws(WireError) -> Value) throws(Problem) -> Value {
        do throws(WireError) {
            return try value()
        } catch {
            throw Problem(.reason(error.status), error.description)
        }
    }

    func document(requestID: String) -> ProblemDocument {
        ProblemDocument(
            self.code,
            self.sentence,
            status: self.status,
            requestId: requestID,
            goOnFrom: self.goOnFrom
        )
    }
}

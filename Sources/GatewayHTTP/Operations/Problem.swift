// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
package import CuecastWire
package import GatewayDocuments
package import HTTPTypes

extension ProblemCode {
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

extension ProblemDocument {
    /// - Parameters:
    ///   - code: the word for programs.
    ///   - detail: one sentence for people.
    ///   - status: the status of HTTP; `nil`: the one that goes with the code.
    ///   - requestId: the id of the request.
    ///   - goOnFrom: where reading can go on, of a position that is gone.
    package init(
        _ code: ProblemCode,
        _ detail: String,
        status: HTTPResponse.Status? = nil,
        requestId: String? = nil,
        goOnFrom: String? = nil
    ) {
        let status = status ?? code.httpStatus
        self.init(
            code,
            detail,
            title: status.reasonPhrase,
            status: status.code,
            requestId: requestId,
            goOnFrom: goOnFrom
        )
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

    /// A fault of a document is a bad request.
    static func reading<Value>(_ read: () throws(DocumentFault) -> Value) throws(Problem) -> Value {
        do throws(DocumentFault) {
            return try read()
        } catch {
            throw Problem(.reason(error.isTooLarge ? .tooLarge : .invalid), error.description)
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The closed list of answers; `proto/cuecast/v1/status.proto` says when each is given.
package enum StatusCode: Int, CaseIterable, Sendable {
    case ok = 1
    case invalid = 2
    case unsupported = 3
    case tooLarge = 4
    case notFound = 5
    case conflict = 6
    case breakOverlap = 7
    case startInPast = 8
    case tooFarAhead = 9
    case leadTimeTooShort = 10
    case wrongState = 11
    case tooLate = 12
    case breakTooOld = 13
    case deliveryInvalid = 14
    case notAllowed = 15
    case rateLimited = 16
    case limitReached = 17
    case draining = 18
    case unavailable = 19
    case revisionConflict = 20

    /// The name on the wire without its prefix, for instance `BREAK_OVERLAP`.
    package var name: String {
        switch self {
        case .ok: "OK"
        case .invalid: "INVALID"
        case .unsupported: "UNSUPPORTED"
        case .tooLarge: "TOO_LARGE"
        case .notFound: "NOT_FOUND"
        case .conflict: "CONFLICT"
        case .breakOverlap: "BREAK_OVERLAP"
        case .startInPast: "START_IN_PAST"
        case .tooFarAhead: "TOO_FAR_AHEAD"
        case .leadTimeTooShort: "LEAD_TIME_TOO_SHORT"
        case .wrongState: "WRONG_STATE"
        case .tooLate: "TOO_LATE"
        case .breakTooOld: "BREAK_TOO_OLD"
        case .deliveryInvalid: "DELIVERY_INVALID"
        case .notAllowed: "NOT_ALLOWED"
        case .rateLimited: "RATE_LIMITED"
        case .limitReached: "LIMIT_REACHED"
        case .draining: "DRAINING"
        case .unavailable: "UNAVAILABLE"
        case .revisionConflict: "REVISION_CONFLICT"
        }
    }

    /// Whether the same request can succeed later, without being changed.
    package var canRetry: Bool {
        switch self {
        case .rateLimited, .limitReached, .draining, .unavailable: true
        case .ok, .invalid, .unsupported, .tooLarge, .notFound, .conflict, .breakOverlap, .startInPast, .tooFarAhead,
            .leadTimeTooShort, .wrongState, .tooLate, .breakTooOld, .deliveryInvalid, .notAllowed,
            .revisionConflict:
            false
        }
    }
}

/// A status with its sentence: how every request ends that is not done.
package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    package let status: StatusCode
    /// One sentence for people, which names what was wrong.
    package let sentence: String
    /// Not before this much time has passed, where a retry can help.
    package let retryAfter: Duration

    package init(_ status: StatusCode, _ sentence: String, retryAfter: Duration = .zero) {
        self.status = status
        self.sentence = sentence
        self.retryAfter = retryAfter
    }

    package init(_ error: WireError) {
        self.init(error.status, error.description)
    }

    package var description: String { "\(self.status.name): \(self.sentence)" }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why the gateway did not do what it was asked.
public struct BroadcastRefusal: Error, Hashable, Sendable {
    /// The kind of refusal, from the closed list of the protocol (`proto/cuecast/v1/status.proto`).
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// The request breaks a rule that the sentence names.
        case invalid = "INVALID"
        /// The gateway does not know this kind of request.
        case unsupported = "UNSUPPORTED"
        /// A limit on sizes or counts in one request was passed.
        case tooLarge = "TOO_LARGE"
        /// There is no such stream or break.
        case notFound = "NOT_FOUND"
        /// The break exists with other content; the sentence names the field.
        case conflict = "CONFLICT"
        /// Another break of the stream holds part of that time.
        case breakOverlap = "BREAK_OVERLAP"
        /// The start is over.
        case startInPast = "START_IN_PAST"
        /// The start is further ahead than the gateway plans.
        case tooFarAhead = "TOO_FAR_AHEAD"
        /// The start leaves less lead than the gateway asks for.
        case leadTimeTooShort = "LEAD_TIME_TOO_SHORT"
        /// The state of the break does not allow this any more, or not yet.
        case wrongState = "WRONG_STATE"
        /// It is too late for this.
        case tooLate = "TOO_LATE"
        /// The break is older than the gateway keeps.
        case breakTooOld = "BREAK_TOO_OLD"
        /// A delivery is not of this session; broadcasters do not get it.
        case deliveryInvalid = "DELIVERY_INVALID"
        /// The sender may not do this.
        case notAllowed = "NOT_ALLOWED"
        /// More requests than one sender may make.
        case rateLimited = "RATE_LIMITED"
        /// A limit of the gateway is reached.
        case limitReached = "LIMIT_REACHED"
        /// The gateway is stopping.
        case draining = "DRAINING"
        /// Something that the gateway needs does not work at present.
        case unavailable = "UNAVAILABLE"
        /// The break has another revision than the expected one.
        case revisionConflict = "REVISION_CONFLICT"
    }

    /// The kind of refusal.
    public var status: Status
    /// One sentence for people, which names what was wrong.
    public var sentence: String
    /// Whether the same request can succeed later.
    public var canRetry: Bool
    /// How long to wait at least before it is tried again.
    public var retryAfter: Duration
    /// The id of the request: the gateway's messages about it have the same one.
    ///
    /// `nil` in a refusal that no gateway gave.
    public var requestID: UInt64?

    /// A refusal.
    public init(status: Status, sentence: String, canRetry: Bool = false, retryAfter: Duration = .zero) {
        self.status = status
        self.sentence = sentence
        self.canRetry = canRetry
        self.retryAfter = retryAfter
    }
}

extension BroadcastRefusal {
    /// Whether the gateway can take the same request soon: it was not able to at that moment.
    ///
    /// A limit of breaks stays reached until some of them are over.
    package var mayBeTriedSoon: Bool { self.canRetry && self.status != .limitReached }
}

extension BroadcastRefusal: CustomStringConvertible {
    /// The status, the sentence and the id of the request, as in
    /// `CONFLICT: The break noon exists already with another duration. (request 7204418)`.
    public var description: String {
        "\(self.status.rawValue): \(self.sentence)" + (self.requestID.map { " (request \($0))" } ?? "")
    }
}

/// Why a request to the gateway did not succeed.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum BroadcastError: Error, Hashable, Sendable {
    /// The gateway understood and refused.
    case refused(BroadcastRefusal)
    /// The value breaks a rule; nothing was sent.
    case invalid(field: String, reason: String)
    /// The value passes a limit; nothing was sent.
    case tooLarge(limit: String, maximum: Int, found: Int)
    /// No reply came in time. Whether the request took effect is not known; to publish, punch, postpone, end or cancel again with the
    /// same values is safe.
    case timedOut(after: Duration)
    /// No connection could be made, or it broke, each time that it was tried.
    case unreachable(reason: String)
    /// The gateway's reply cannot be understood: it speaks another version.
    case unreadableReply(reason: String)
    /// The task was cancelled. Whether the request took effect is not known.
    case cancelled
    /// The client is closed.
    case closed
}

extension BroadcastError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .invalid(let field, let reason): "The field \(field) is not valid: \(reason)."
        case .tooLarge(let limit, let maximum, let found):
            "The limit \(limit) is \(maximum), and this has \(found)."
        case .timedOut(let after): "The gateway did not reply within \(after)."
        case .unreachable(let reason): "The gateway cannot be reached: \(reason)."
        case .unreadableReply(let reason): "The gateway's reply cannot be understood: \(reason)"
        case .cancelled: "The request was cancelled."
        case .closed: "The client is closed."
        }
    }
}

extension BroadcastRefusal: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { self.description }
}

extension BroadcastError: LocalizedError {
    /// The same sentence.
    public var errorDescription: String? { self.description }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayDocuments
import HTTPTypes

// What the codes of answers say, for the people who write clients, in Markdown. `docs/reference/status-codes.md` is made from it.

extension ProblemCode {
    /// The number of HTTP's status.
    package var httpCode: Int { self.httpStatus.code }

    /// The meaning of the code.
    package var meaning: String {
        switch self {
        case .reason(let status): status.meaning
        case .unauthorized: "the request has no token, or the gateway does not accept it"
        case .methodNotAllowed: "the path exists, but not with this method"
        case .targetTooLong: "path and query together are too long"
        case .mediaTypeNotTaken: "the body has a `Content-Type` that the path does not accept"
        case .hostNotKnown: "the request uses a host name that is not in `http.hosts`"
        case .originNotAllowed: "a page of another origin sent the request"
        case .notReloaded: "the files that a reload read have faults; the gateway continues as before"
        case .encrypted: "the request is plain HTTP, and the port speaks TLS"
        case .positionGone: "the log no longer has the records behind this position"
        }
    }

    /// The advice for a client that gets the code.
    package var advice: String {
        switch self {
        case .reason(let status): status.advice
        case .unauthorized: "send a token ([Tokens](../operations/tokens.md#refusals))"
        case .methodNotAllowed: "use a method that the header `Allow` names"
        case .targetTooLong: "shorten the query"
        case .mediaTypeNotTaken: "send the type that [the HTTP API](http.md) names"
        case .hostNotKnown: "add the name to `http.hosts`"
        case .originNotAllowed: "add the origin to `http.listenerOrigins`"
        case .notReloaded: "correct the faults that `detail` names, and reload again"
        case .encrypted: "use `https://`"
        case .positionGone: "continue from `goOnFrom`"
        }
    }
}

extension StatusCode {
    /// The meaning of the code.
    package var meaning: String {
        switch self {
        case .ok: "done; for an acknowledgement: recorded durably"
        case .invalid: "the request is malformed, or breaks a rule that the sentence names"
        case .unsupported: "the gateway does not know this kind of request"
        case .tooLarge: "the request exceeds a named limit on sizes or counts in one request"
        case .notFound: "there is no such stream, break or advertisement"
        case .conflict: "the break exists with other content; the sentence names the field"
        case .breakOverlap: "another break of the stream has a part of this interval"
        case .startInPast: "the start is over"
        case .tooFarAhead: "the start is further ahead than `breaks.startAheadMax`"
        case .leadTimeTooShort: "the start leaves less time than `breaks.leadTimeMin`"
        case .wrongState: "the state of the break does not allow this change any more, or not yet"
        case .tooLate: "this listener can no longer play anything of the break"
        case .breakTooOld: "the break is older than the gateway keeps; the acknowledgement is not counted"
        case .deliveryInvalid: "the delivery of an acknowledgement is missing, or is not of this session and break"
        case .notAllowed: "the sender may not do this"
        case .rateLimited: "the session or address sends more than its limit a second"
        case .limitReached: "a named limit of the gateway, for instance of listeners or streams, is reached"
        case .draining: "the gateway is stopping"
        case .unavailable: "a part that the gateway needs does not work at present; nothing was recorded"
        case .revisionConflict: "the break has another revision than the request expects; the sentence names both"
        }
    }

    /// The advice for a client that gets the code.
    package var advice: String {
        switch self {
        case .ok: ""
        case .invalid: "correct the request"
        case .unsupported: "upgrade the gateway, or do not use this request"
        case .tooLarge: "send less in one request ([limits](limits-of-messages.md))"
        case .notFound: "check the ids"
        case .conflict: "send the same content, or update the break"
        case .breakOverlap: "choose another start, or end the other break"
        case .startInPast: "choose a later start"
        case .tooFarAhead: "publish later"
        case .leadTimeTooShort: "choose a later start"
        case .wrongState: "list the break, and decide by its state"
        case .tooLate: "wait for the next break"
        case .breakTooOld: "drop the acknowledgement"
        case .deliveryInvalid: "acknowledge with the delivery that came with the batch"
        case .notAllowed: "use a key or a token with this right"
        case .rateLimited: "send less; repeat after the time that the answer names"
        case .limitReached: "repeat later; an operator can [raise the limit](limits.md)"
        case .draining: "connect to another gateway, or repeat later"
        case .unavailable: "repeat later"
        case .revisionConflict: "read the break again, and decide by its revision"
        }
    }
}

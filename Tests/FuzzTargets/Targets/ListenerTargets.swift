// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import TestSupport

/// The content of a request by which both ways of reading are compared.
private struct RequestContent: Equatable {
    var id: UInt64
    var session: SessionID
    var stream: String
    var breakID: String
    var delay: Duration = .zero
    var delivery: [UInt8] = []
    var advertisementIDs: [String] = []
    var outcomes: [OutcomeDetails] = []

    /// `nil` where it is none that may be read in place.
    init?(_ request: ListenerRequest) {
        self.id = request.id
        self.session = request.session
        let key: BreakKey
        switch request.kind {
        case .getBatch(let get):
            key = get.key
            self.delay = get.delay.now
        case .acknowledge(let acknowledge):
            key = acknowledge.key
            self.delivery = acknowledge.delivery
            self.advertisementIDs = acknowledge.outcomes.map(\.advertisementID.description)
            self.outcomes = acknowledge.outcomes.map(\.details)
        case .join, .getTime, .leave: return nil
        }
        (self.stream, self.breakID) = (key.stream.description, key.id.description)
    }

    /// `nil` where an id is none: the gateway compares what was read in place with ids that are.
    init?(_ scanned: ScannedRequest, _ outcomes: [ScannedRequest.Outcome], in frame: [UInt8]) {
        func text(_ range: Range<Int>) -> String? { String(validating: frame[range], as: UTF8.self) }
        guard let stream = text(scanned.stream), (try? StreamID(stream)) != nil,
            let breakID = text(scanned.breakID), (try? BreakID(breakID)) != nil
        else { return nil }
        self.id = scanned.id
        self.session = scanned.session
        (self.stream, self.breakID) = (stream, breakID)
        switch scanned.kind {
        case .getBatch: self.delay = scanned.delay
        case .acknowledge:
            self.delivery = Array(frame[scanned.delivery])
            for outcome in outcomes {
                guard let id = text(outcome.advertisementID), (try? AdvertisementID(id)) != nil else { return nil }
                self.advertisementIDs.append(id)
            }
            self.outcomes = outcomes.map(\.details)
        }
    }
}

/// Checks that reading a request in place agrees with reading it in full, and that it is the same once it is written again.
private func checkRequest(_ frame: [UInt8]) throws(Broken) {
    let decoded = try reread(
        frame,
        decode: { (bytes) throws(WireError) in try ListenerRequest(decoding: bytes) },
        encode: { $0.encoded() }
    )
    let id = ListenerRequest.requestID(of: frame)
    if let decoded { try insist(id == decoded.id, "the id is \(decoded.id), and answers would carry \(id)") }
    _ = RequestEnvelope.refusal(of: .unsupported, in: frame, on: .listeners)
    var scanned = ScannedRequest()
    var outcomes: [ScannedRequest.Outcome] = []
    guard scanned.scan(frame.span, outcomes: &outcomes) else { return }
    guard let content = RequestContent(scanned, outcomes, in: frame) else { return }
    guard let decoded else { throw Broken(sentence: "read in place as \(content), and refused in full") }
    let expected = RequestContent(decoded)
    try insist(content == expected, "read in place as \(content), in full as \(String(describing: expected))")
    // It is kept in the log as it came, and nothing else.
    let rewritten = decoded.encoded()
    var again = ScannedRequest()
    try insist(
        again.scan(rewritten.span, outcomes: &outcomes),
        "what was read in place is written so that it cannot be"
    )
    try insist(
        RequestContent(again, outcomes, in: rewritten) == content,
        "what was read in place is written as something else"
    )
}

/// Compares the load tool's reading of a reply with the players'.
private func checkReply(_ frame: [UInt8]) throws(Broken) {
    let decoded = try reread(
        frame,
        decode: { (bytes) throws(WireError) in try ListenerReply(decoding: bytes) },
        encode: { $0.encoded() }
    )
    _ = ReplyHead(frame.span)
    guard let scanned = ScannedReply(frame.span) else { return }
    let joined: ScannedJoin?
    let batch: ScannedBatch?
    switch scanned.body {
    case .joined(let range): (joined, batch) = (ScannedJoin(range, in: frame.span), nil)
    case .batch(let range): (joined, batch) = (nil, ScannedBatch(range, in: frame.span))
    case .acknowledged, .none: (joined, batch) = (nil, nil)
    }
    guard let decoded else { return }
    try insist(scanned.requestID == decoded.requestID, "another request: \(scanned.requestID)")
    try insist(scanned.gatewayTime == decoded.gatewayTime, "another time: \(scanned.gatewayTime)")
    if case .refused(let refusal) = decoded.body {
        try insist(!scanned.isDone, "done, and refused with \(refusal)")
        if let known = StatusCode(rawValue: scanned.status) {
            try insist(known == refusal.status, "the status is \(refusal.status), and not \(known)")
        }
        try insist(.microseconds(scanned.retryAfter) == refusal.retryAfter, "again after \(scanned.retryAfter) µs")
        return
    }
    try insist(scanned.isDone, "the status is \(scanned.status), and done in full")
    switch (decoded.body, scanned.body) {
    case (.joined(let expected), .joined):
        guard let joined else { return }
        try insist(
            joined.kind == expected.kind.rawValue && joined.head == expected.head
                && joined.hasNotices == !expected.notices.isEmpty && joined.instance == expected.instance
                && .microseconds(joined.headInterval) == expected.headInterval
                && Array(frame[joined.ticket]) == expected.ticket,
            "\(joined) in place, \(expected) in full"
        )
    case (.batch(let expected), .batch):
        guard let batch else { return }
        try insist(
            Array(frame[batch.delivery]) == expected.delivery && batch.start == expected.start
                && batch.skipped == expected.skipped && batch.exact == expected.exact
                && batch.advertisementCount == expected.advertisements.count,
            "\(batch) in place, \(expected) in full"
        )
    case (.acknowledged(let expected), .acknowledged(let found)):
        try insist(found == expected, "\(found) recorded in place, \(expected) in full")
    case (.done, .none): break
    default: throw Broken(sentence: "\(scanned.body) in place, \(decoded.body) in full")
    }
}

extension FuzzTarget {
    /// A listener's request: read in place, it is what it is in full.
    static let listenerRequest = FuzzTarget(
        name: "listener-request",
        sample: { $0.listenerRequest().encoded() },
        change: { FieldTree.changedMessage($0[...], &$1) },
        fault: { input in firstBroken { () throws(Broken) in try checkRequest(input) } }
    )

    /// A reply to a listener: what the load tool reads of it is what players read.
    static let listenerReply = FuzzTarget(
        name: "listener-reply",
        sample: { $0.listenerReply().encoded() },
        change: { FieldTree.changedMessage($0[...], &$1) },
        fault: { input in firstBroken { () throws(Broken) in try checkReply(input) } }
    )
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// A request of a broadcaster who is known, ready to be decided.
struct AdmittedRequest: Sendable {
    let request: BroadcastRequest
    let principal: BroadcastPrincipal
    /// How large it is as a frame.
    let bytes: Int
    let waiting: WaitingBroadcaster
    /// The gateway's clock when it came: starts that are said as a time from now count from then.
    let reading: ClockReading
    /// Counts the requests that the desk has taken.
    let number: UInt64

    /// The stream that it would change; `nil`: it changes nothing, or is not allowed to, whatever is on its way to the board.
    var stream: StreamID? {
        guard let stream = self.request.kind.changedStream, self.principal.mayPublish(on: stream) else { return nil }
        return stream
    }
}

/// Requests that wait until the board has the earlier entries of their stream, because those may change the answer.
///
/// For example, a broadcaster that publishes a break and cancels it at once, without waiting, means the break that is being
/// published. The requests of each stream are decided in the order in which they came.
struct ParkedRequests {
    /// The most bytes of requests that wait.
    let entryBytesWaitingMax: Int
    /// The most requests that wait.
    let entriesWaitingMax: Int

    private var waiting: [StreamID: [AdmittedRequest]] = [:]
    private(set) var count = 0
    private var bytes = 0

    init(entriesWaitingMax: Int, entryBytesWaitingMax: Int) {
        self.entriesWaitingMax = entriesWaitingMax
        self.entryBytesWaitingMax = entryBytesWaitingMax
    }

    /// Whether a request waits about a stream: what comes later waits behind it.
    func holds(_ stream: StreamID) -> Bool { !self.waiting.isEmpty && self.waiting[stream] != nil }

    /// Has a request wait, unless too many do: then it says which limit is reached.
    mutating func park(_ request: AdmittedRequest, of stream: StreamID) -> LimitName? {
        guard self.count < self.entriesWaitingMax else { return .entriesWaitingMax }
        guard self.bytes + request.bytes <= self.entryBytesWaitingMax else { return .entryBytesWaitingMax }
        self.waiting[stream, default: []].append(request)
        self.count += 1
        self.bytes += request.bytes
        return nil
    }

    /// Decides those of a stream in their order, until one has to wait for longer.
    ///
    /// - Parameters:
    ///   - stream: of which.
    ///   - decide: tells whether it has decided a request.
    mutating func release(_ stream: StreamID, _ decide: (AdmittedRequest) -> Bool) {
        guard let requests = self.waiting.removeValue(forKey: stream) else { return }
        let decided = requests.firstIndex { !decide($0) } ?? requests.count
        self.count -= decided
        self.bytes -= requests[..<decided].reduce(0) { $0 + $1.bytes }
        if decided < requests.count { self.waiting[stream] = Array(requests[decided...]) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport
internal import ZMTP

/// The requests of a broadcaster, in order, with as many in flight as the gateway accepts.
struct PublicationQueue {
    /// How many requests of one DEALER may be under way (`docs/broadcasters/zeromq.md`).
    static let inFlightMax = 32

    private var waiting: [[UInt8]] = []
    private var nextWaiting = 0
    private var lastID: UInt64 = 0
    private(set) var inFlight = 0
    /// The first refusal, as a sentence.
    private(set) var refusal: String?

    /// Whether everything was answered.
    var isDone: Bool { self.inFlight == 0 && self.nextWaiting == self.waiting.count }

    mutating func add(_ kind: BroadcastRequest.Kind) {
        self.lastID += 1
        var wire: [UInt8] = []
        Outgoing.appendRequest(BroadcastRequest(id: self.lastID, kind: kind).encoded(), to: &wire)
        self.waiting.append(wire)
    }

    /// Sends what may be sent, in one piece.
    mutating func send<Driver>(
        on connection: Connection,
        in loop: LoadLoop<Driver>,
        inFlightMax: Int = Self.inFlightMax
    ) {
        let count = min(self.waiting.count - self.nextWaiting, inFlightMax - self.inFlight)
        guard count > 0 else { return }
        var wire: [UInt8] = []
        for each in self.waiting[self.nextWaiting..<self.nextWaiting + count] { wire += each }
        self.nextWaiting += count
        self.inFlight += count
        if self.nextWaiting == self.waiting.count {
            self.waiting = []
            self.nextWaiting = 0
        }
        loop.send(wire.span, on: connection)
    }

    /// Takes in the reply to one request.
    mutating func take(_ reply: Span<UInt8>) {
        self.inFlight -= 1
        guard let head = ReplyHead(reply) else {
            self.refusal = self.refusal ?? "the gateway's answer to a publication cannot be read"
            return
        }
        guard head.status != StatusCode.ok.rawValue else { return }
        var bytes: [UInt8] = []
        System.append(reply, to: &bytes)
        if case .refused(let refusal)? = try? BroadcastReply(decoding: bytes).body {
            self.refusal = self.refusal ?? "the gateway refused a publication: \(refusal)"
        } else {
            self.refusal = self.refusal ?? "the gateway refused a publication with status \(head.status)"
        }
    }
}

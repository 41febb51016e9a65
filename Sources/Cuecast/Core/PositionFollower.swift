// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Applies a stream's notices in order, each once, and knows when one is missing.
///
/// A notice is applied only if its sequence is the next one. Anything else of the same stream (a gap, another epoch) ends
/// the following until a join says what was missed; what arrives meanwhile waits here.
struct PositionFollower: Sendable {
    /// The most notices that wait for a join.
    ///
    /// One more is dropped, which the next join notices as a gap.
    static let waitingNoticesMax = 512
    /// How many head intervals of silence mean that the connection is lost.
    static let silenceHeadIntervals = 2.5

    /// Why a join is needed.
    enum Loss: Hashable, Sendable {
        case gap
        case epoch
        /// The gateway's answer to a join contradicts itself or the position that was sent.
        case inconsistentAnswer
    }

    /// The result of a notice or an answer.
    struct Step: Hashable, Sendable {
        /// Notices to apply now, in order.
        var apply: [Notice] = []
        /// Set where the position was lost just now.
        var lost: Loss?
        /// Whether what was missing has arrived after all, so that no join is needed any more.
        var recovered = false
    }

    private enum State: Hashable, Sendable {
        /// No answer on this connection yet.
        case unjoined
        case following
        /// A notice is missing; no join has been sent for it yet.
        case gap
        /// A join is under way; its answer is relative to `last`, which therefore stays.
        case joining
    }

    private var state = State.unjoined
    private var waiting: [Notice] = []
    /// The highest sequence seen in the current epoch.
    private var seen: UInt64 = 0
    private var headInterval = Duration.seconds(5)
    private var heard: LocalInstant?

    /// The last position that was applied.
    private(set) var last: Position?
    /// How many waiting notices were dropped because there were too many.
    private(set) var dropped = 0

    /// When the silence has lasted too long; `nil` while no notice is expected.
    var silenceDeadline: LocalInstant? {
        guard self.state != .unjoined, let heard else { return nil }
        return heard + self.headInterval * Self.silenceHeadIntervals
    }

    /// The connection is gone.
    ///
    /// The next notice needs a join. The position stays.
    mutating func disconnected() {
        self.state = .unjoined
        self.waiting = []
        self.heard = nil
    }

    /// A join is sent now; `last` is the position that it carries.
    mutating func joinSent() {
        self.state = .joining
    }

    /// The join got no answer that counts; another one follows.
    mutating func joinFailed() {
        guard self.state == .joining else { return }
        self.state = self.heard == nil ? .unjoined : .gap
        self.seen = .max  // A notice may have been dropped meanwhile: only a join can tell.
    }

    /// Notices were dropped before they came here: only a join can tell which.
    mutating func noticesDropped() -> Step {
        guard self.state == .following || self.state == .gap else { return Step() }
        let isNew = self.state == .following
        self.state = .gap
        self.seen = .max
        return Step(lost: isNew ? .gap : nil)
    }

    mutating func received(_ notice: Notice, now: LocalInstant) -> Step {
        if self.heard != nil { self.heard = now }
        switch self.state {
        case .unjoined, .joining:
            self.wait(notice)
            return Step()
        case .following: return self.follow(notice)
        case .gap:
            self.wait(notice)
            if notice.position.epoch == self.last?.epoch { self.seen = max(self.seen, notice.position.sequence) }
            var step = self.applyWaiting()
            if let last = self.last, last.sequence >= self.seen, self.waiting.isEmpty {
                self.state = .following
                step.recovered = true
            }
            return step
        }
    }

    private mutating func follow(_ notice: Notice) -> Step {
        guard let last = self.last, last.epoch == notice.position.epoch else {
            self.state = .gap
            self.seen = .max  // nothing that arrives in the old epoch can close this
            self.wait(notice)
            return Step(lost: .epoch)
        }
        guard notice.position.sequence > last.sequence else { return Step() }
        self.seen = notice.position.sequence
        if notice.kind != .head, notice.position.sequence == last.sequence &+ 1 {
            self.last = notice.position
            return Step(apply: [notice])
        }
        self.state = .gap
        self.wait(notice)
        return Step(lost: .gap)
    }

    /// The answer to the join that was sent last.
    ///
    /// - Returns: The notices of the answer and those that waited, where the answer is consistent. The notices of a
    ///   snapshot are the latest of each open break: their sequences have gaps, and some may have been applied before.
    mutating func joined(_ joined: ListenerReply.Joined, now: LocalInstant) -> Step {
        self.headInterval = min(max(joined.headInterval, .milliseconds(100)), .seconds(600))
        self.heard = now
        guard let base = self.base(of: joined) else {
            self.last = nil
            self.state = .gap
            self.seen = .max
            self.waiting = []
            return Step(lost: .inconsistentAnswer)
        }
        self.last = joined.head
        self.seen = joined.head.sequence
        self.state = .following
        var step = Step(apply: base)
        let rest = self.applyWaiting()
        step.apply += rest.apply
        if !self.waiting.isEmpty || self.seen > (self.last?.sequence ?? 0) {
            self.state = .gap
            step.lost = .gap
        }
        return step
    }

    /// The answer's notices, or `nil` where the answer cannot be.
    private func base(of joined: ListenerReply.Joined) -> [Notice]? {
        switch joined.kind {
        case .snapshot: return joined.notices
        case .current: return joined.head == self.last && joined.notices.isEmpty ? [] : nil
        case .recovered:
            guard var expected = self.last else { return nil }
            for notice in joined.notices {
                expected = Position(epoch: expected.epoch, sequence: expected.sequence &+ 1)
                guard notice.position == expected, notice.kind != .head else { return nil }
            }
            return expected == joined.head ? joined.notices : nil
        }
    }

    private mutating func wait(_ notice: Notice) {
        guard notice.kind != .head else { return }
        guard self.waiting.count < Self.waitingNoticesMax else {
            self.dropped += 1
            return
        }
        self.waiting.append(notice)
    }

    /// Applies what waited and follows without a gap; keeps what lies behind one; drops what was applied already.
    private mutating func applyWaiting() -> Step {
        guard let epoch = self.last?.epoch else { return Step() }
        var step = Step()
        self.waiting.sort { $0.position.sequence < $1.position.sequence }
        var kept: [Notice] = []
        for notice in self.waiting where notice.position.epoch == epoch {
            let sequence = self.last?.sequence ?? 0
            self.seen = max(self.seen, notice.position.sequence)
            if notice.position.sequence <= sequence { continue }
            if notice.position.sequence == sequence &+ 1 {
                self.last = notice.position
                step.apply.append(notice)
            } else {
                kept.append(notice)
            }
        }
        self.waiting = kept
        return step
    }
}

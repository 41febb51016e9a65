// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@testable import Cuecast

/// A gateway of one stream in memory: it follows the wire contract and keeps count of what listeners told it.
struct ScriptedGateway: Sendable {
    struct Break: Sendable {
        var notice: Notice
        var advertisements: [AdvertisementContent]
        var isOver = false
    }

    /// How many notices can be recovered; older positions get a snapshot.
    var historyMax = 20
    var instance: UInt64 = 100
    var epoch: UInt64 = 7
    var headInterval = Duration.seconds(5)
    /// How far behind the listeners may be: breaks stay in snapshots that much longer.
    var delayMax = Duration.zero
    var ticket: [UInt8] = [0xAA]
    /// Refuses the next requests for which it gives a refusal.
    var refuse: @Sendable (ListenerRequest) -> Refusal? = { _ in nil }

    private(set) var sequence: UInt64 = 0
    private(set) var history: [Notice] = []
    private(set) var breaks: [BreakID: Break] = [:]
    /// What was told about each advertisement, every time.
    private(set) var outcomes: [AdvertisementKey: [Outcome]] = [:]
    private(set) var delivered: Set<AdvertisementKey> = []
    private(set) var requests: [ListenerRequest] = []

    var head: Position { Position(epoch: self.epoch, sequence: self.sequence) }

    // MARK: The broadcaster's side

    /// Publishes a break and gives its notice.
    mutating func publish(
        _ name: String,
        _ advertisements: [AdvertisementContent],
        start: Timestamp?,
        window: RequestWindow? = nil,
        expires: Timestamp,
        preStream: Bool = false,
        exact: Bool = false,
        endMode: EndMode = .cut,
        duration: Duration? = nil,
        at now: Timestamp
    ) -> Notice {
        let total = advertisements.reduce(Duration.zero) { $0 + $1.duration }
        let notice = self.next(
            Notice(
                position: self.head,
                kind: .available,
                breakID: breakID(name),
                start: start,
                duration: preStream ? nil : duration ?? total,
                window: window,
                expires: expires,
                advertisementCount: advertisements.count,
                sent: now,
                preStream: preStream,
                exact: exact,
                endMode: endMode
            )
        )
        self.breaks[breakID(name)] = Break(notice: notice, advertisements: advertisements)
        return notice
    }

    /// Changes a break and gives the notice; `nil` where there is nothing to change.
    mutating func change(_ name: String, _ kind: Notice.Kind, _ change: (inout Notice) -> Void) -> Notice? {
        guard var entry = self.breaks[breakID(name)], !entry.isOver else { return nil }
        var notice = entry.notice
        notice.kind = kind
        change(&notice)
        entry.notice = self.next(notice)
        entry.isOver = kind == .cancelled
        self.breaks[breakID(name)] = entry
        return entry.notice
    }

    private mutating func next(_ notice: Notice) -> Notice {
        self.sequence += 1
        var notice = notice
        notice.position = self.head
        self.history.append(notice)
        if self.history.count > self.historyMax { self.history.removeFirst() }
        return notice
    }

    /// Begins another run; without its history where that is lost.
    mutating func restart(losesHistory: Bool) {
        self.instance += 1
        guard losesHistory else { return }
        self.epoch += 1
        self.sequence = 0
        self.history = []
    }

    // MARK: The listeners' side

    mutating func answer(_ frame: [UInt8], at now: Timestamp) -> [UInt8] {
        do throws(WireError) {
            let request = try ListenerRequest(decoding: frame)
            self.requests.append(request)
            let body = self.refuse(request).map(ListenerReply.Body.refused) ?? self.body(for: request, at: now)
            return ListenerReply(requestID: request.id, gatewayTime: now, body: body).encoded()
        } catch {
            let id = ListenerRequest.requestID(of: frame)
            return ListenerReply(requestID: id, gatewayTime: now, body: .refused(Refusal(error))).encoded()
        }
    }

    private mutating func body(for request: ListenerRequest, at now: Timestamp) -> ListenerReply.Body {
        switch request.kind {
        case .join(let join): .joined(self.joined(join, at: now))
        case .getBatch(let get): self.batch(get, session: request.session, at: now)
        case .acknowledge(let acknowledge): self.record(acknowledge)
        case .getTime, .leave: .done
        }
    }

    private func joined(_ join: ListenerRequest.Join, at now: Timestamp) -> ListenerReply.Joined {
        var joined = ListenerReply.Joined(
            kind: .snapshot,
            head: self.head,
            notices: [],
            instance: self.instance,
            headInterval: self.headInterval,
            lease: .seconds(300),
            ticket: self.ticket
        )
        if let last = join.last, last.epoch == self.epoch, last.sequence <= self.sequence {
            let missed = self.history.filter { $0.position.sequence > last.sequence }
            if last == self.head {
                joined.kind = .current
                return joined
            }
            if missed.count == Int(self.sequence - last.sequence) {
                joined.kind = .recovered
                joined.notices = missed
                return joined
            }
        }
        joined.notices = self.breaks.values.filter { self.isOpen($0, at: now) }.map(\.notice)
            .sorted { $0.position.sequence < $1.position.sequence }
        // Breaks of an earlier epoch are given the position at which this epoch knows them.
        joined.notices = joined.notices.map { notice in
            var notice = notice
            if notice.position.epoch != self.epoch { notice.position = Position(epoch: self.epoch, sequence: 0) }
            return notice
        }
        return joined
    }

    private func isOpen(_ entry: Break, at now: Timestamp) -> Bool {
        guard !entry.isOver else { return false }
        let notice = entry.notice
        if notice.preStream || notice.start == nil { return now < notice.expires }
        return now < (notice.end ?? notice.expires) + self.delayMax
    }

    private mutating func batch(
        _ get: ListenerRequest.GetBatch,
        session: SessionID,
        at now: Timestamp
    ) -> ListenerReply.Body {
        guard let entry = self.breaks[get.key.id] else { return .refused(Refusal(.notFound, "No such break.")) }
        guard self.isOpen(entry, at: now) else { return .refused(Refusal(.tooLate, "It is over.")) }
        var skipped = 0
        if let start = entry.notice.start {
            var end = start
            for advertisement in entry.advertisements {
                end = end + advertisement.duration
                guard end <= now - get.delay.now else { break }
                skipped += 1
            }
        }
        let rest = Array(entry.advertisements[skipped...])
        guard !rest.isEmpty else { return .refused(Refusal(.tooLate, "Nothing is left.")) }
        for each in rest { self.delivered.insert(AdvertisementKey(breakID: get.key.id, id: each.id)) }
        return .batch(
            ListenerReply.Batch(
                delivery: self.delivery(session, get.key.id),
                start: entry.notice.start,
                duration: entry.notice.duration,
                skipped: skipped,
                endMode: entry.notice.endMode,
                exact: entry.notice.exact,
                advertisements: rest
            )
        )
    }

    private func delivery(_ session: SessionID, _ id: BreakID) -> [UInt8] {
        Array(session.bytes.prefix(8)) + Array(id.description.utf8.prefix(40))
    }

    private mutating func record(_ acknowledge: ListenerRequest.Acknowledge) -> ListenerReply.Body {
        guard acknowledge.delivery.count > 8 else { return .refused(Refusal(.deliveryInvalid, "It is missing.")) }
        for outcome in acknowledge.outcomes {
            let key = AdvertisementKey(breakID: acknowledge.key.id, id: outcome.advertisementID)
            self.outcomes[key, default: []].append(outcome)
        }
        return .acknowledged(recorded: acknowledge.outcomes.count)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@testable import Cuecast

/// Sees all that a listener does and says what must never be.
struct Witness {
    private(set) var broken: [String] = []
    private(set) var handedOut: Set<Advertisement> = []
    private(set) var ready: Set<Advertisement> = []
    private(set) var outcomes: [Advertisement: AdvertisementOutcome] = [:]
    private(set) var unknown: Set<Advertisement> = []
    private(set) var acknowledged: Set<String> = []
    private(set) var announced: Set<String> = []
    private(set) var resolved: Set<String> = []
    private(set) var givenUp: [String] = []
    var kept: Set<UInt64> = []
    var inFlightMax = 0
    var preStreamSettled = 0
    var stopped = 0
    var wakes = 0

    mutating func saw(_ event: ListenerEvent) {
        if self.stopped > 0 { self.broken.append("an event after the end: \(event)") }
        switch event {
        case .announced(let each): self.announced.insert(each.id)
        case .ready(_, let advertisements):
            for each in advertisements where !self.ready.insert(each).inserted {
                self.broken.append("\(each) was given twice")
            }
        case .available(let each, let advertisements):
            self.resolved.insert(each.id)
            for each in advertisements where self.handedOut.contains(each) || self.outcomes[each] != nil {
                self.broken.append("\(each) was queued after it was done")
            }
        case .missed(let each, _): self.resolved.insert(each.id)
        case .withdrawn(let withdrawal): self.resolved.insert(withdrawal.breakID)
        case .outcome(let outcome):
            if self.outcomes.updateValue(outcome, forKey: outcome.advertisement) != nil {
                self.broken.append("\(outcome.advertisement) has two outcomes")
            }
            if outcome.heard < .zero || outcome.heard > outcome.advertisement.exactDuration {
                self.broken.append("\(outcome.advertisement) was heard for \(outcome.heard)")
            }
        case .outcomeUnknown(let each):
            if !self.unknown.insert(each).inserted { self.broken.append("\(each) is unknown twice") }
        case .acknowledged(let id, let adIDs): self.acknowledged.formUnion(adIDs.map { "\(id)/\($0)" })
        case .acknowledgementGivenUp(_, let adIDs, let reason): self.givenUp.append("\(adIDs): \(reason)")
        case .notUnderstood(let what): self.broken.append("not understood: \(what)")
        default: break
        }
    }

    mutating func handedOut(
        _ advertisement: Advertisement,
        core: ListenerCore,
        now: LocalInstant,
        gatewayTime: Timestamp
    ) {
        if !self.handedOut.insert(advertisement).inserted {
            self.broken.append("\(advertisement) was handed out twice")
        }
        if self.outcomes[advertisement] != nil {
            self.broken.append("\(advertisement) was handed out after its outcome")
        }
        // What the listener knows of the break; the gateway may know more, which takes time to arrive.
        guard let notice = core.book.entries[advertisement.key.breakID]?.notice, !notice.preStream,
            let end = notice.end, let bound = core.clock.errorBound(at: now)
        else { return }
        let playhead = gatewayTime - core.settings.delay.now
        if playhead > end + bound + .milliseconds(100) {
            self.broken.append("\(advertisement) was handed out \(playhead - end) after its break")
        }
    }

    /// A listener that believes to be at the gateway's position knows the same breaks as the gateway.
    mutating func compare(_ core: ListenerCore, with gateway: ScriptedGateway, at now: Timestamp) {
        guard case .joined = core.connection.state, core.follower.last == gateway.head else { return }
        for (id, known) in core.book.entries {
            // What is queued may just have ended, and then a snapshot says nothing of it any more.
            guard let truth = gateway.breaks[id], known.phase != .queued else { continue }
            if truth.isOver || truth.notice.start != known.notice.start
                || truth.notice.duration?.inMilliseconds != known.notice.duration?.inMilliseconds
            {
                self.broken.append("what is believed of \(id) is not true")
            }
        }
        for (id, truth) in gateway.breaks where !truth.isOver && !truth.notice.preStream {
            guard truth.notice.kind != .ended, now < truth.notice.end ?? truth.notice.expires else { continue }
            if !self.announced.contains(id.description) { self.broken.append("\(id) is not known") }
        }
    }

    /// What must hold when everything has calmed down and the listener has stopped; `open` are the breaks to come then.
    func finalFaults(gateway: ScriptedGateway, open: Set<String>) -> [String] {
        var faults = self.broken
        for each in self.ready {
            switch (self.outcomes[each] != nil, self.unknown.contains(each)) {
            case (false, false): faults.append("\(each) was lost without an event")
            case (true, true): faults.append("\(each) is known and unknown")
            default: break
            }
        }
        for each in self.handedOut where !self.ready.contains(each) { faults.append("\(each) came from nowhere") }
        for (each, outcome) in self.outcomes {
            let told = gateway.outcomes[each.key] ?? []
            if told.isEmpty { faults.append("the outcome of \(each) never arrived") }
            if !self.acknowledged.contains("\(each)") { faults.append("the outcome of \(each) was not confirmed") }
            if Set(told).count > 1 { faults.append("\(each) was told in two ways") }
            // The wire counts milliseconds.
            var expected = outcome.wire(occurred: told.first?.occurred ?? gatewayStart)
            expected.heard = .milliseconds(expected.heard.inMilliseconds)
            if let first = told.first, first != expected { faults.append("\(each) was told as something else") }
        }
        for id in self.announced where !self.resolved.contains(id) && !open.contains(id) {
            faults.append("\(id) came to nothing")
        }
        if !self.givenUp.isEmpty { faults.append("given up: \(self.givenUp)") }
        if !self.kept.isEmpty { faults.append("\(self.kept.count) outcomes were kept after their confirmation") }
        if self.inFlightMax > RequestTable.inFlightMax { faults.append("\(self.inFlightMax) requests in flight") }
        if self.preStreamSettled != 1 { faults.append("start() would return \(self.preStreamSettled) times") }
        if self.stopped != 1 { faults.append("stopped \(self.stopped) times") }
        return faults
    }
}

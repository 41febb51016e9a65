// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Calls tracking URLs: each at most once for each session, advertisement, event and URL.
///
/// It has no clock and does no I/O. Trackers whose event happened go in, from `TrackingEvents`; call `due(now:wall:)` after
/// each input and at `nextDeadline(now:)`, and perform the actions in order. An entry must be kept
/// before the action after it is performed: that is what makes "at most once" true for an app that dies at any moment.
struct TrackingQueue: Sendable {
    enum Action: Hashable, Sendable {
        /// Keep this, also over the app's death.
        case journal(TrackingEntry)
        /// Make one attempt; how it ended comes back by `finished`.
        case send(TrackingRequest)
        /// Tell the app.
        case status(TrackingStatus)
        /// Entries of these calls are not needed any more.
        case forget([UInt64])
    }

    /// A call that is not over.
    fileprivate struct Pending: Sendable {
        let intent: TrackingEntry.Intent
        var attempts = 0
        var isInFlight = false
        var notBefore: LocalInstant?
        var retries: Backoff
    }

    private let configuration: TrackingConfiguration
    private let limits: TrackingLimits
    private(set) var consent: ListenerConsent?
    private var pending: [UInt64: Pending] = [:]
    private var inFlightCount = 0
    /// The keys of all calls that are known, over or not.
    private var keys: Set<UInt64> = []
    /// Those that are over, oldest first; `nil`: nothing of it is in the journal.
    private var over: [(id: UInt64?, key: UInt64)] = []
    private var lastID: UInt64 = 0
    /// The actions that an earlier life left, before anything else.
    private var restored: [Action] = []

    /// A queue that goes on where the entries of a journal end, in the order in which they were written.
    ///
    /// A call that was intended and not begun is made. One whose attempt was under way is uncertain and not made again.
    init(
        configuration: TrackingConfiguration,
        consent: ListenerConsent? = nil,
        restoring entries: [TrackingEntry] = []
    ) {
        self.configuration = configuration
        self.limits = configuration.limits.checked
        self.consent = consent
        self.restore(entries)
    }

    /// The listener has agreed to something else: calls that wait are given up where that denies them.
    mutating func set(consent: ListenerConsent?) -> [Action] {
        self.consent = consent
        guard self.isDenied else { return [] }
        return self.pending.values.filter { !$0.isInFlight }.map(\.intent.id).sorted()
            .flatMap { self.end($0, .failed(.denied)) }
    }

    private var isDenied: Bool { self.consent?.deniesTracking == true }

    /// How many calls are not over.
    var count: Int { self.pending.count }

    /// Whether an attempt is under way.
    var isSending: Bool { self.inFlightCount > 0 }

    /// The calls at which an attempt is under way.
    var sending: [UInt64] { self.pending.values.filter(\.isInFlight).map(\.intent.id).sorted() }

    // MARK: Intending

    /// Takes calls on, each once; none that the listener denies at this moment.
    mutating func call(
        _ all: [TrackingEvents.Due],
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        guard !self.isDenied else { return [] }
        return all.flatMap { self.call($0, at: moment, jitter: &jitter) }
    }

    private mutating func call(
        _ due: TrackingEvents.Due,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        let (advertisement, tracker) = (due.advertisement, due.tracker)
        let offset = tracker.event == "progress" ? "\(tracker.offset?.inMicroseconds ?? 0)" : ""
        let key = StableHash.hash(
            [moment.session.bytes]
                + [advertisement.breakID, advertisement.adID, tracker.event, tracker.url, offset].map { Array($0.utf8) }
        )
        guard self.keys.insert(key).inserted else { return [] }
        let macros = TrackingMacros(
            facts: due.facts,
            cacheBuster: UInt32.random(in: 0...99_999_999, using: &jitter),
            userAgent: self.userAgent,
            appBundle: self.configuration.appBundle,
            consent: self.consent
        )
        let url = macros.replaced(in: tracker.url)
        self.lastID += 1
        let intent = TrackingEntry.Intent(
            id: self.lastID,
            key: key,
            session: moment.session,
            breakID: advertisement.breakID,
            adID: advertisement.adID,
            event: tracker.event,
            url: url ?? tracker.url,
            wall: moment.wall
        )
        let call = Pending(intent: intent, retries: self.backoff)
        guard url != nil else {
            let rule = "with its macros replaced it is longer than \(TrackingMacros.urlBytesMax) bytes"
            return [.status(call.status(.failed(.notSendable(rule))))] + self.remember(key, id: nil)
        }
        var actions: [Action] = []
        if self.pending.count >= self.limits.pendingMax {
            guard let oldest = self.pending.values.filter({ !$0.isInFlight }).map(\.intent.id).min() else {
                return [.status(call.status(.failed(.tooManyPending)))] + self.remember(key, id: nil)
            }
            actions += self.end(oldest, .failed(.tooManyPending))
        }
        self.pending[intent.id] = call
        return actions + [.journal(.intended(intent)), .status(call.status(.pending))]
    }

    private var backoff: Backoff {
        Backoff(first: self.limits.retryDelayFirst, longest: self.limits.retryDelayMax)
    }

    // MARK: Sending

    /// The actions that are due now, by the local clock and a wall clock, which is the same one at each call.
    mutating func due(now: LocalInstant, wall: Timestamp) -> [Action] {
        var actions = self.restored
        self.restored = []
        guard !self.pending.isEmpty, self.inFlightCount < self.limits.inFlightMax else { return actions }
        let ready = self.pending.values.filter { !$0.isInFlight && ($0.notBefore ?? now) <= now }
            .sorted { $0.intent.id < $1.intent.id }
        for call in ready {
            guard wall - call.intent.wall <= self.limits.ageMax else {
                actions += self.end(call.intent.id, .failed(.tooOld))
                continue
            }
            guard self.inFlightCount < self.limits.inFlightMax else { continue }
            actions += self.begin(call)
        }
        return actions
    }

    /// When `due` has something to do.
    func nextDeadline(now: LocalInstant) -> LocalInstant? {
        if !self.restored.isEmpty { return now }
        guard self.inFlightCount < self.limits.inFlightMax else { return nil }
        return self.pending.values.lazy.filter { !$0.isInFlight }.map { $0.notBefore ?? now }.min()
    }

    private mutating func begin(_ call: Pending) -> [Action] {
        var call = call
        call.attempts += 1
        call.isInFlight = true
        call.notBefore = nil
        self.inFlightCount += 1
        self.pending[call.intent.id] = call
        let request = TrackingRequest(
            id: call.intent.id,
            url: call.intent.url,
            userAgent: self.userAgent,
            event: call.intent.event,
            breakID: call.intent.breakID,
            adID: call.intent.adID,
            attempt: call.attempts
        )
        return [
            .status(call.status(.sending)), .journal(.sending(id: call.intent.id, attempt: call.attempts)),
            .send(request),
        ]
    }

    /// Without control characters: it becomes a line of a header.
    private var userAgent: String {
        String(
            String.UnicodeScalarView(self.configuration.userAgent.unicodeScalars.filter { !$0.properties.isControl })
        )
    }

    /// Attempt number `attempt` at a call ended.
    mutating func finished(
        _ id: UInt64,
        _ result: TrackingResult,
        now: LocalInstant,
        wall: Timestamp,
        jitter: inout JitterSource
    ) -> [Action] {
        guard var call = self.pending[id], call.isInFlight else { return [] }
        call.isInFlight = false
        self.inFlightCount -= 1
        self.pending[id] = call
        var last: String
        var wait = Duration.zero
        switch result {
        case .answered(let status, _) where (200..<400).contains(status):
            return self.end(id, .sent(status: status))
        // 408 Request Timeout and 429 Too Many Requests (RFC 9110, section 15.5.9; RFC 6585, section 4) and the server's
        // own failures say that it did not take the call.
        case .answered(let status, let retryAfter) where status == 408 || status == 429 || (500..<600).contains(status):
            last = "the server answered with status \(status)"
            wait = max(.zero, retryAfter ?? .zero)
        case .answered(let status, _): return self.end(id, .failed(.refused(status: status)))
        case .couldNotConnect(let reason): last = reason
        case .uncertain(let reason): return self.end(id, .uncertain(reason))
        case .notSendable(let reason): return self.end(id, .failed(.notSendable(reason)))
        }
        // It was denied while the attempt was under way.
        guard !self.isDenied else { return self.end(id, .failed(.denied)) }
        guard call.attempts < self.limits.attemptsMax else { return self.end(id, .failed(.attemptsExhausted(last))) }
        // The age bounds the wait: a server that asks for a longer one ends the call.
        guard wall - call.intent.wall + wait <= self.limits.ageMax else { return self.end(id, .failed(.tooOld)) }
        call.notBefore = now + call.retries.next(using: &jitter, atLeast: wait)
        self.pending[id] = call
        return [.journal(.waiting(id: id, attempt: call.attempts)), .status(call.status(.pending))]
    }

    // MARK: The end of a call

    /// Tells the app first and writes the journal then.
    ///
    /// An app that is killed in between hears of the end again from its next run; the other way round it might never hear.
    private mutating func end(_ id: UInt64, _ state: TrackingStatus.State) -> [Action] {
        guard let call = self.pending.removeValue(forKey: id) else { return [] }
        let outcome: TrackingEntry.Outcome
        switch state {
        case .sent: outcome = .sent
        case .uncertain: outcome = .uncertain
        case .failed, .pending, .sending: outcome = .failed
        }
        return [.status(call.status(state)), .journal(.finished(id: id, key: call.intent.key, outcome: outcome))]
            + self.remember(call.intent.key, id: id)
    }

    private mutating func remember(_ key: UInt64, id: UInt64?) -> [Action] {
        self.over.append((id, key))
        guard self.over.count > self.limits.rememberedMax else { return [] }
        let oldest = self.over.removeFirst()
        self.keys.remove(oldest.key)
        return oldest.id.map { [.forget([$0])] } ?? []
    }

    // MARK: After the app died

    private mutating func restore(_ entries: [TrackingEntry]) {
        var known: Set<UInt64> = []
        var begun: Set<UInt64> = []
        var finished: Set<UInt64> = []
        for entry in entries {
            self.lastID = max(self.lastID, entry.id)
            known.insert(entry.id)
            switch entry {
            case .intended(let intent):
                guard self.keys.insert(intent.key).inserted else { continue }
                self.pending[intent.id] = Pending(intent: intent, retries: self.backoff)
            case .sending(let id, let attempt):
                self.pending[id]?.attempts = attempt
                begun.insert(id)
            case .waiting(let id, let attempt):
                self.pending[id]?.attempts = attempt
                begun.remove(id)
            case .finished(let id, let key, _):
                self.pending[id] = nil
                guard finished.insert(id).inserted else { continue }
                self.keys.insert(key)
                self.restored += self.remember(key, id: id)
            }
        }
        for id in self.pending.keys.sorted() {
            if begun.contains(id) {
                self.restored += self.end(id, .uncertain("the app ended while it was sent"))
            } else if self.isDenied {
                self.restored += self.end(id, .failed(.denied))
            } else if let call = self.pending[id] {
                self.restored.append(.status(call.status(.pending)))
            }
        }
        let remembered = Set(self.over.compactMap(\.id)).union(self.pending.keys)
        let stray = known.subtracting(remembered).subtracting(self.restored.flatMap(\.forgotten)).sorted()
        if !stray.isEmpty { self.restored.append(.forget(stray)) }
    }
}

extension TrackingQueue.Pending {
    func status(_ state: TrackingStatus.State) -> TrackingStatus {
        TrackingStatus(
            id: self.intent.id,
            event: self.intent.event,
            url: self.intent.url,
            breakID: self.intent.breakID,
            adID: self.intent.adID,
            state: state,
            attempts: self.attempts
        )
    }
}

extension TrackingQueue.Action {
    /// The calls that are forgotten by it.
    fileprivate var forgotten: [UInt64] {
        if case .forget(let ids) = self { ids } else { [] }
    }
}

extension Unicode.Scalar.Properties {
    /// C0, DEL or C1.
    fileprivate var isControl: Bool { self.generalCategory == .control }
}

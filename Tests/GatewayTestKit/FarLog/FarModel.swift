// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import TestSupport

/// A log far away that several gateways share, as pure values: time is virtual, and the same seed and the same calls come to the same.
///
/// ```swift
/// var far = FarModel(.stormy, seed: seed)
/// let (one, other) = (far.addGateway(), far.addGateway())
/// let append = far.append([1], id: AppendID(origin: 7, number: 1), to: .breaks, by: one)
/// while let effects = far.step() { … }
/// ```
package struct FarModel: Sendable {
    /// What a step comes to.
    package enum Effect: Sendable {
        /// The answer to an append comes to its gateway.
        case answered(UInt64, by: Int, Result<UInt64, EventLogError>)
        /// A gateway can read more of a lane.
        case shown(Lane, to: Int)
    }

    private enum Event {
        case store(Append)
        case answer(UInt64, by: Int, Result<UInt64, EventLogError>)
        case show(Lane, through: UInt64, to: Int)
    }

    private struct Append {
        let number: UInt64
        let gateway: Int
        let lane: Lane
        let id: AppendID?
        let record: [UInt8]
        /// `nil`: the answer is lost.
        let wayBack: Duration?
    }

    private struct Due {
        let at: Duration
        let order: UInt64
        let event: Event
    }

    private struct LaneState {
        var records: [LoggedRecord] = []
        var head: UInt64 = 0
        /// Records before it were pruned.
        var firstKept: UInt64 = 1
        /// The offsets of appends with an id, as long as the log is open.
        var appends: [AppendID: UInt64] = [:]
    }

    private struct View {
        let lagMilliseconds: Int
        /// Up to where it can read.
        var shown: [Lane: UInt64] = [:]
        /// When it could read the newest record that it can, or will be able to, read.
        var newestShow: [Lane: Duration] = [:]
        var newestStore: [Lane: Duration] = [:]
        var newestAnswer: Duration = .zero
        /// Sees nothing new until it is released.
        var isHeld = false
        var held: [Lane: UInt64] = [:]
    }

    /// The instant of the log's clock at which virtual time begins.
    package static let begin = Timestamp(microseconds: 1_790_000_000_000_000)

    package var conditions: FarConditions
    package let identity: LogIdentity
    /// How far virtual time has gone.
    package private(set) var now: Duration = .zero
    private var generator: SeededGenerator
    private var lanes: [Lane: LaneState] = [:]
    private var views: [View] = []
    private var events: [Due] = []
    private var order: UInt64 = 0
    private var newestAppend: UInt64 = 0
    /// The appends that are not answered, with their gateways.
    private var open: [UInt64: Int] = [:]
    private var strangerNumber: UInt64 = 0

    /// - Parameters:
    ///   - conditions: how it behaves.
    ///   - seed: of everything that is left to chance.
    ///   - identity: which history it is.
    package init(_ conditions: FarConditions, seed: UInt64, identity: LogIdentity = LogIdentity()) {
        self.conditions = conditions
        self.identity = identity
        self.generator = SeededGenerator(seed: seed)
    }

    /// Another gateway uses the log: it can read all that is there.
    ///
    /// - Returns: its number.
    package mutating func addGateway() -> Int {
        let range = self.conditions.lagMilliseconds
        var view = View(lagMilliseconds: Int.random(in: range, using: &self.generator))
        view.shown = self.lanes.mapValues(\.head)
        self.views.append(view)
        return self.views.count - 1
    }

    // MARK: - Appending

    /// Appends a record.
    ///
    /// - Parameters:
    ///   - record: the bytes.
    ///   - id: the writer and its number; kept with the record.
    ///   - lane: to which lane.
    ///   - gateway: which one appends.
    /// - Returns: the number by which its answer is found.
    package mutating func append(_ record: [UInt8], id: AppendID?, to lane: Lane, by gateway: Int) -> UInt64 {
        self.newestAppend += 1
        let number = self.newestAppend
        self.open[number] = gateway
        let fate = Int.random(in: 0..<1_000, using: &self.generator)
        let isLost = fate < self.conditions.lostPerMille
        let isAnswerLost = fate < self.conditions.lostPerMille + self.conditions.lostAnswersPerMille
        var at = self.now + self.way()
        if self.conditions.keepsOrder { at = max(at, self.views[gateway].newestStore[lane] ?? .zero) }
        let append = Append(
            number: number,
            gateway: gateway,
            lane: lane,
            id: id,
            record: record,
            wayBack: isAnswerLost ? nil : self.way()
        )
        if !isLost {
            self.views[gateway].newestStore[lane] = at
            self.plan(.store(append), at: at)
        }
        self.plan(.answer(number, by: gateway, .failure(.unanswered)), at: self.now + self.conditions.answerWithin)
        return number
    }

    /// How long one way takes.
    private mutating func way() -> Duration {
        let range = self.conditions.wayMilliseconds
        var longest = range.lowerBound
        // As often within ten times the shortest as beyond it, and so on.
        while longest < range.upperBound, Bool.random(using: &self.generator) { longest *= 10 }
        longest = min(max(longest, range.lowerBound), range.upperBound)
        return .milliseconds(Int.random(in: range.lowerBound...longest, using: &self.generator))
    }

    private mutating func plan(_ event: Event, at instant: Duration) {
        self.order += 1
        let place = self.events.partitioningPlace { $0.at > instant }
        self.events.insert(Due(at: instant, order: self.order, event: event), at: place)
    }

    /// How many appends of a gateway are not answered.
    package func openCount(of gateway: Int) -> Int { self.open.values.count { $0 == gateway } }

    // MARK: - Time

    /// When something happens next; `nil`: nothing does.
    package var nextAt: Duration? { self.events.first?.at }

    /// Lets time go on to what happens next.
    ///
    /// - Returns: what it comes to; `nil`: nothing happens any more.
    package mutating func step() -> [Effect]? {
        guard !self.events.isEmpty else { return nil }
        let due = self.events.removeFirst()
        self.now = due.at
        switch due.event {
        case .store(let append):
            self.store(append)
            return []
        case .answer(let number, let gateway, let result):
            guard self.open.removeValue(forKey: number) != nil else { return [] }
            return [.answered(number, by: gateway, result)]
        case .show(let lane, let offset, let gateway):
            guard !self.views[gateway].isHeld else {
                self.views[gateway].held[lane] = offset
                return []
            }
            self.views[gateway].shown[lane] = offset
            return [.shown(lane, to: gateway)]
        }
    }

    /// Lets time go on without anything happening.
    package mutating func wait(until instant: Duration) {
        precondition(self.nextAt.map { instant <= $0 } ?? true, "something happens before")
        self.now = max(self.now, instant)
    }

    private mutating func store(_ append: Append) {
        let lane = append.lane
        let offset: UInt64
        if let id = append.id, let known = self.lanes[lane]?.appends[id] {
            offset = known
        } else {
            if Int.random(in: 0..<1_000, using: &self.generator) < self.conditions.strangersPerMille {
                self.strangerNumber += 1
                self.store([], id: AppendID(origin: 1, number: self.strangerNumber), in: lane)
            }
            offset = self.store(append.record, id: append.id, in: lane)
            if let id = append.id { self.lanes[lane]?.appends[id] = offset }
        }
        guard let wayBack = append.wayBack else { return }
        var at = self.now + wayBack
        if self.conditions.keepsOrder { at = max(at, self.views[append.gateway].newestAnswer) }
        self.views[append.gateway].newestAnswer = at
        self.plan(.answer(append.number, by: append.gateway, .success(offset)), at: at)
    }

    @discardableResult
    private mutating func store(_ bytes: [UInt8], id: AppendID?, in lane: Lane) -> UInt64 {
        let previous = self.lanes[lane]?.head ?? 0
        var offset = max(previous, self.identity.current.base) + 1
        if Int.random(in: 0..<1_000, using: &self.generator) < self.conditions.jumpsPerMille {
            offset += UInt64.random(in: 1...max(1, self.conditions.jumpMax), using: &self.generator)
        }
        let mark = id.map { AppendMark($0, at: Self.begin + self.now) }
        self.lanes[lane, default: LaneState()].records
            .append(LoggedRecord(offset: offset, previous: previous, bytes: bytes, mark: mark))
        self.lanes[lane, default: LaneState()].head = offset
        for gateway in self.views.indices {
            let most = self.views[gateway].lagMilliseconds
            let lag = Int.random(in: most / 2...most, using: &self.generator)
            let at = max(self.now + .milliseconds(lag), self.views[gateway].newestShow[lane] ?? .zero)
            self.views[gateway].newestShow[lane] = at
            self.plan(.show(lane, through: offset, to: gateway), at: at)
        }
        return offset
    }

    // MARK: - Reading

    /// A gateway sees nothing new from now on, or sees again what there is.
    ///
    /// - Returns: the lanes of which it can read more now.
    package mutating func hold(_ isHeld: Bool, _ gateway: Int) -> [Lane] {
        self.views[gateway].isHeld = isHeld
        guard !isHeld else { return [] }
        defer { self.views[gateway].held = [:] }
        for (lane, offset) in self.views[gateway].held { self.views[gateway].shown[lane] = offset }
        return Array(self.views[gateway].held.keys)
    }

    /// The newest record of a lane, whether a gateway can read it already or not.
    package func head(of lane: Lane) -> UInt64 { self.lanes[lane]?.head ?? 0 }

    /// The newest record of a lane that a gateway can read.
    package func shown(_ lane: Lane, to gateway: Int) -> UInt64 { self.views[gateway].shown[lane] ?? 0 }

    /// The first record of a lane that was not pruned.
    package func firstKept(of lane: Lane) -> UInt64 { self.lanes[lane]?.firstKept ?? 1 }

    /// Records that a gateway can read.
    package func records(
        _ lane: Lane,
        after offset: UInt64,
        by gateway: Int,
        recordsMax: Int = .max,
        bytesMax: Int = .max
    ) -> [LoggedRecord] {
        let last = self.shown(lane, to: gateway)
        var records: [LoggedRecord] = []
        var bytes = 0
        let all = self.lanes[lane]?.records ?? []
        for record in all[all.partitioningPlace { $0.offset > offset }...] {
            guard record.offset <= last else { break }
            records.append(record)
            bytes += record.bytes.count
            if records.count >= recordsMax || bytes >= bytesMax { break }
        }
        return records
    }

    /// Everything in a lane that was not pruned.
    package func everything(in lane: Lane) -> [LoggedRecord] { self.lanes[lane]?.records ?? [] }

    /// Forgets records.
    package mutating func prune(_ lane: Lane, through offset: UInt64) {
        guard var each = self.lanes[lane] else { return }
        each.records.removeAll { $0.offset <= offset }
        each.firstKept = max(each.firstKept, min(offset, each.head) + 1)
        self.lanes[lane] = each
    }

    // MARK: - Opening again

    /// The same history, where no append is known by its id any more.
    mutating func forgetIDs() {
        for lane in self.lanes.keys { self.lanes[lane]?.appends = [:] }
    }

    /// The same history in a new epoch, as after a restore.
    func restored() -> FarModel {
        let known = self.lanes.values.map(\.head).max() ?? 0
        let identity = self.identity.continued(
            epoch: .random(in: 1 ... .max),
            base: max(known, self.identity.current.base) + EventLogLimits.epochOffsetStep,
            last: self.lanes.mapValues(\.head)
        )
        var next = FarModel(self.conditions, seed: 0, identity: identity)
        next.generator = self.generator
        next.lanes = self.lanes
        next.now = self.now
        next.forgetIDs()
        return next
    }
}

extension Array {
    /// The first place whose element, and all behind it, are as asked.
    fileprivate func partitioningPlace(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

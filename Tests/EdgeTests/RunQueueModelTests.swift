// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

@testable import Edge

/// The order in which a loop serves its connections, beside a model of the kernel's lists of what is ready.
@Suite(.suiteLimit)
struct RunQueueModelTests {
    @Test func `no entry starves, is lost or comes twice, and quiet ones wait one slice of each class`() throws {
        let model = try LoopModel(SeededGenerator(for: "run queue"))
        for _ in 0..<10_000 { model.takeRandomStep() }
        model.drain()
        #expect(model.isDone, "what came was served")
        let counts = model.counts
        #expect(counts.values.allSatisfy { $0 > 10 }, "all of it has happened: \(counts)")
        #expect(counts.count == 12)
    }

    @Test func `connections that always have more share the slice of the busy ones`() throws {
        let model = try LoopModel(SeededGenerator(for: "busy for ever"))
        model.keepBusy(20)
        for _ in 0..<10_000 { model.takeRandomStep(onlyQuiet: true) }
        #expect(model.served.count == 20)
        let most = model.served.values.max() ?? 0
        #expect(model.served.values.allSatisfy { $0 > 0 && $0 + 1 >= most }, "\(model.served)")
    }

    @Test func `left-over events come first at the next look`() {
        var events = ReadyEvents()
        func look() -> [Int] {
            events.begin()
            for number in 0..<5 { events.append(number, key: UInt64(100 + number)) }
            return (0..<2).compactMap { _ in events.next() }
        }
        #expect(look() == [0, 1])
        #expect(events.leaveRest() == 2)
        #expect(look() == [2, 3])
        #expect(events.leaveRest() == 4)
        #expect(look() == [4, 0])
        #expect(events.leaveRest() == 1)
        // A look that tells of nothing forgets nothing.
        events.begin()
        #expect(events.leaveRest() == nil)
        #expect(look() == [1, 2])
        // All have had their turn: the poller's order counts.
        while events.next() != nil {}
        #expect(events.leaveRest() == nil)
        #expect(look() == [0, 1])
    }

    @Test func `busy connections get the whole iteration after a second without quiet ones`() {
        for (age, isMixed) in [(RunQueue.quietMemory - 1, true), (RunQueue.quietMemory, false)] {
            var queue = RunQueue()
            queue.noteQuietActivity(at: 0)
            queue.beginIteration(at: age, isFull: false)
            for number in 0..<3 { queue.found(number, .busy, key: UInt64(number), at: age) }
            #expect(queue.handled(untilBusyFor: RunQueue.slice, from: age) == (isMixed ? 1 : 3))
            #expect(queue.isMixed == isMixed)
        }
    }
}

extension RunQueue {
    /// How many events are handled, where each takes so long.
    fileprivate mutating func handled(untilBusyFor each: UInt64, from start: UInt64) -> Int {
        var (now, count) = (start, 0)
        while let step = self.next(at: now) {
            guard case .handle = step else { continue }
            count += 1
            now += each
        }
        return count
    }
}

/// A loop without sockets: what the run queue orders is done on numbers, and each step takes a random time.
private final class LoopModel {
    /// The kinds of work on which steps spend their time.
    enum Work: Hashable { case reading, busy, deprioritised, queuedPeers, notices, other }

    struct Connection {
        var isQuiet = false
        /// It always has more.
        var isEndless = false
        var isDeprioritised = false
        var isClosing = false
        var isQueued = false
        /// Messages that came and were not handled.
        var messages = 0
        /// The longest that it may wait yet, in iterations, once it is ready.
        var iterationsLeft: Int?
        /// The time spent on each work when it became ready.
        var spentBefore: [Work: UInt64] = [:]
        var slicesBefore = 0
        /// Whether busy connections waited for quiet ones all the time since then.
        var isMixed = true
    }

    static let busyTurn = EdgeSettings.messagesPerTurnMax
    static let stepMax: UInt64 = 100_000
    static let endpoint = 1_000

    var generator: SeededGenerator
    var queue = RunQueue()
    var now: UInt64 = 1
    var connections: [Connection]
    /// The kernel's ready lists of both pollers, by connection.
    var ready: [Int] = []
    var readyDeprioritised: [Int] = []
    /// The reported and unhandled events of the last polls, by event number.
    var told: [Int: Int] = [:]
    var toldBusy: Set<Int> = []
    var reportedDeprioritised: [Int: Int] = [:]
    var postpone: Int?
    var isInIteration = false
    let streams: [EdgeStream]
    /// The queued streams, and for how many more iterations each may wait.
    var queued: [ObjectIdentifier: Int] = [:]
    /// By stream and slot: up to where a connection has everything.
    var cursors: [[NoticeRing.Cursor]]
    var spent: [Work: UInt64] = [:]
    var slices = 0
    /// How often it has happened.
    var counts: [String: Int] = [:]
    /// How often each connection that always has more was read from.
    var served: [Int: Int] = [:]

    init(_ generator: SeededGenerator) throws {
        self.generator = generator
        self.connections = (0..<50).map { Connection(isQuiet: $0 < 20, isDeprioritised: $0 >= 40) }
        let total = EdgeStream.Total()
        self.streams = try (0..<4)
            .map { EdgeStream(id: try StreamID("radio\($0)"), ringBytesMax: 1 << 20, total: total) }
        self.cursors = self.streams.map { _ in [NoticeRing.Cursor](repeating: 0, count: 40) }
        for stream in self.streams { for slot in 0..<UInt32(40) { _ = stream.add(slot) } }
    }

    var isDone: Bool {
        self.connections.allSatisfy { $0.messages == 0 && !$0.isQueued && $0.iterationsLeft == nil }
            && self.queued.isEmpty
            && self.streams.allSatisfy { !$0.isInRound && $0.ring.count == 0 }
    }

    // MARK: - What comes

    func takeRandomStep(onlyQuiet: Bool = false) {
        switch self.generator.number(0...29) {
        case 0...2: self.come(self.generator.number(0...19), messages: 1)
        case 3...6 where !onlyQuiet: self.come(self.generator.number(20...39), messages: self.generator.number(1...99))
        case 7 where !onlyQuiet: self.come(self.generator.number(40...49), messages: 1)
        case 8 where !onlyQuiet: self.connectionArrives()
        case 9...10 where !onlyQuiet: self.publish(self.generator.number(0...3), self.generator.number(1...10))
        case 11 where !onlyQuiet: self.leave(self.generator.number(20...39))
        case 12 where !onlyQuiet && self.generator.number(0...29) == 15:
            // Nothing happens for long: then busy connections have all of the iteration.
            self.now += RunQueue.quietMemory
        default: self.goOn()
        }
    }

    func keepBusy(_ count: Int) {
        for index in 20..<20 + count {
            self.connections[index].isEndless = true
            self.come(index, messages: 1)
        }
    }

    func drain() {
        var iterations = 10_000
        while iterations > 0, !self.isDone || self.isInIteration {
            if !self.isInIteration { iterations -= 1 }
            self.goOn()
        }
    }

    private func come(_ index: Int, messages: Int) {
        self.connections[index].messages += messages
        guard !self.connections[index].isQueued, !self.isReady(index) else { return }
        self.becomeReady(index)
    }

    private func isReady(_ index: Int) -> Bool { self.ready.contains(index) || self.readyDeprioritised.contains(index) }

    private func becomeReady(_ index: Int) {
        if self.connections[index].isDeprioritised {
            self.readyDeprioritised.append(index)
        } else {
            self.ready.append(index)
        }
        self.connections[index].iterationsLeft = self.iterationsMax
        self.connections[index].spentBefore = self.spent
        self.connections[index].slicesBefore = self.slices
        self.connections[index].isMixed = true
    }

    /// Each iteration serves at least one entry of each class, in the order of their arrival.
    private var iterationsMax: Int { self.connections.count + 3 }

    private func connectionArrives() {
        if !self.readyDeprioritised.contains(Self.endpoint) { self.readyDeprioritised.append(Self.endpoint) }
    }

    private func leave(_ index: Int) {
        guard !self.connections[index].isDeprioritised, !self.connections[index].isQueued else { return }
        self.connections[index].isClosing = true
        if !self.isReady(index) { self.becomeReady(index) }
    }

    private func publish(_ stream: Int, _ count: Int) {
        for _ in 0..<count { self.streams[stream].append([0, 1, 7]) }
        self.queue.noticesCame(count)
        guard self.streams[stream].beginRound() else { return }
        self.queue.append(self.streams[stream])
        #expect(self.queued.updateValue(10, forKey: ObjectIdentifier(self.streams[stream])) == nil)
    }

    // MARK: - The loop

    /// A look at the poller, or one step.
    private func goOn() {
        guard self.isInIteration else { return self.beginRound() }
        guard let step = self.queue.next(at: self.now) else { return self.endRound() }
        switch step {
        case .handle(let event):
            guard let index = self.take(event, from: &self.told) else { return }
            self.connections[index].isQuiet ? self.handleQuiet(index) : self.handleBusy(index)
        case .deprioritise(let event):
            guard let index = self.take(event, from: &self.told) else { return }
            self.count("closing")
            self.connections[index].isDeprioritised = true
            self.ready.removeAll { $0 == index }
            self.readyDeprioritised.append(index)
            self.connections[index].iterationsLeft = self.iterationsMax
        case .postpone(let event):
            #expect(self.told[event] != nil && self.postpone == nil)
            self.postpone = event
            self.count("put off")
        case .pollDeprioritised:
            self.count("deprioritised looks")
            self.reportedDeprioritised = Dictionary(
                uniqueKeysWithValues: self.readyDeprioritised.prefix(32).enumerated().map { ($0, $1) }
            )
            self.readyDeprioritised = Array(self.readyDeprioritised.dropFirst(32) + self.readyDeprioritised.prefix(32))
            for (event, index) in self.reportedDeprioritised.sorted(by: { $0.key < $1.key }) {
                self.queue.foundDeprioritised(event, key: UInt64(index))
            }
        case .handleDeprioritised(let event):
            guard let index = self.take(event, from: &self.reportedDeprioritised) else { return }
            self.handleDeprioritised(index)
        case .takeTurn(let peer): self.takeTurn(Int(peer.index))
        case .endPass: self.spend(.other)
        case .takeInbox: self.slices += 1
        case .coalesceNotices:
            self.count("gatherings")
            self.publish(0, 9)
        case .write(let stream): self.write(stream)
        }
    }

    private func beginRound() {
        // The kernel passes over what is not ready any more, and keeps the order of what is.
        let most = self.queue.isMixed ? 256 : 64
        let told = self.ready.prefix(most)
        self.told = Dictionary(uniqueKeysWithValues: told.enumerated().map { ($0, $1) })
        self.ready = Array(self.ready.dropFirst(most) + told)
        self.isInIteration = true
        self.postpone = nil
        self.toldBusy = []
        self.queue.beginIteration(at: self.now, isFull: told.count == most)
        for (event, index) in told.enumerated() {
            let connection = self.connections[index]
            let finding: RunQueue.Finding = connection.isClosing ? .closing : connection.isQuiet ? .quiet : .busy
            if finding == .busy { self.toldBusy.insert(event) }
            self.queue.found(event, finding, key: UInt64(index), at: self.now)
        }
        if !self.readyDeprioritised.isEmpty { self.queue.foundDeprioritised() }
    }

    private func endRound() {
        self.isInIteration = false
        // Nothing was told that did not have its turn, unless it was put off.
        #expect(self.told.isEmpty == (self.postpone == nil))
        #expect(self.toldBusy.isSuperset(of: self.told.keys))
        for index in self.connections.indices {
            guard let left = self.connections[index].iterationsLeft else { continue }
            #expect(left > 0, "connection \(index) has waited for too many iterations")
            self.connections[index].iterationsLeft = left - 1
            if !self.queue.isMixed { self.connections[index].isMixed = false }
        }
        for (stream, left) in self.queued {
            #expect(left > 0, "a stream has waited for too many iterations")
            self.queued[stream] = left - 1
        }
        if !self.queue.hasWork { #expect(self.queued.isEmpty && !self.connections.contains(where: \.isQueued)) }
    }

    /// The connection of an event, the first time that it is handled.
    private func take(_ event: Int, from told: inout [Int: Int]) -> Int? {
        let index = told.removeValue(forKey: event)
        #expect(index != nil, "an event is handled once, and only where it was told")
        return index
    }

    private func spend(_ work: Work) {
        let time = self.generator.number(1_000...Self.stepMax)
        self.now += time
        self.spent[work, default: 0] += time
    }

    private func count(_ what: String) { self.counts[what, default: 0] += 1 }

    private func handleQuiet(_ index: Int) {
        self.count("quiet")
        let connection = self.connections[index]
        let waited = self.spent.merging(connection.spentBefore) { $0 - $1 }
        let most = RunQueue.slice + Self.stepMax
        #expect(waited[.deprioritised, default: 0] <= most)
        #expect(waited[.queuedPeers, default: 0] <= most)
        if connection.isMixed { #expect(waited[.busy, default: 0] <= most) }
        #expect(waited[.notices, default: 0] <= most * UInt64(self.slices - connection.slicesBefore + 1))
        self.spend(.reading)
        self.settle(index)
    }

    /// A connection has nothing more to be read.
    private func settle(_ index: Int) {
        self.connections[index].messages = 0
        self.connections[index].iterationsLeft = nil
        self.ready.removeAll { $0 == index }
        self.readyDeprioritised.removeAll { $0 == index }
        if self.connections[index].isClosing, !self.connections[index].isDeprioritised { self.becomeReady(index) }
    }

    private func handleBusy(_ index: Int) {
        self.count("busy")
        self.spend(.busy)
        guard !self.connections[index].isEndless else {
            self.served[index, default: 0] += 1
            self.connections[index].iterationsLeft = self.iterationsMax
            return
        }
        self.connections[index].messages -= min(self.connections[index].messages, Self.busyTurn)
        guard self.connections[index].messages > 0 else { return self.settle(index) }
        // The kernel has the rest of long messages; the loop has that of short ones, and they wait in its queue.
        if self.generator.number(0...3) == 2 {
            self.ready.removeAll { $0 == index }
            self.enqueue(index)
        } else {
            self.connections[index].iterationsLeft = self.iterationsMax
        }
    }

    private func handleDeprioritised(_ index: Int) {
        self.spend(.deprioritised)
        guard index != Self.endpoint else {
            self.count("endpoints")
            if self.generator.bool() { self.readyDeprioritised.removeAll { $0 == Self.endpoint } }
            return
        }
        self.count("deprioritised")
        self.settle(index)
        guard self.connections[index].isClosing else { return }
        self.count("left")
        // Another connection takes its place.
        self.connections[index].isClosing = false
        self.connections[index].isDeprioritised = false
    }

    private func enqueue(_ index: Int) {
        #expect(!self.connections[index].isQueued)
        self.connections[index].isQueued = true
        self.connections[index].iterationsLeft = self.iterationsMax
        self.queue.enqueue(EdgePeer(index: UInt32(index), generation: 0))
    }

    private func takeTurn(_ index: Int) {
        self.count("queuedPeers")
        self.spend(.queuedPeers)
        #expect(self.connections[index].isQueued, "it is queued once")
        self.connections[index].isQueued = false
        self.connections[index].messages -= min(self.connections[index].messages, Self.busyTurn)
        if self.connections[index].messages > 0 { self.enqueue(index) } else { self.settle(index) }
    }

    private func write(_ stream: EdgeStream) {
        self.count("writes")
        self.spend(.notices)
        #expect(self.queued.removeValue(forKey: ObjectIdentifier(stream)) != nil, "it stands in the queue once")
        let number = self.streams.firstIndex { $0 === stream } ?? 0
        var left = 16
        while left > 0, let slot = stream.next() {
            left -= 1
            self.cursors[number][Int(slot)] = stream.ring.end
        }
        self.queue.hadTurn(stream)
        if stream.isInRound { self.queued[ObjectIdentifier(stream)] = 10 } else { self.count("rounds of streams") }
    }
}

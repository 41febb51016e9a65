// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@_spi(Diagnostics) @testable import Cuecast

private typealias Life = SessionLife<Int>

private let inUse = CuecastError.storageInUse(path: "/a")

/// The events of a session.
private enum Event: Hashable {
    case startWaitOver
    case call(Int)
    case begin
    case fileInUse
    case connecting(Int)
    case closed(Int)
    case stop(SessionEnding)
    case coreStopped
    case fileClosed
    case limitReached
    case freed

    /// One of each kind.
    static let all: [Event] = [
        .startWaitOver, .call(8), .begin, .fileInUse, .connecting(3), .closed(1), .stop(.stopped), .coreStopped,
        .fileClosed, .limitReached, .freed,
    ]

    func happen(to life: inout Life, callsMax: Int = 3) -> Answer {
        switch self {
        case .startWaitOver: return life.startWaitOver() ? .startReturns : .nothing
        case .call(let call): return life.keeps(call, callsMax: callsMax) ? .keepsCall : .nothing
        case .begin: return life.begin().map { .begins($0) } ?? .nothing
        case .fileInUse: return life.fileInUse(inUse) ? .frees : .nothing
        case .connecting(let attempt):
            life.connecting(attempt)
            return .nothing
        case .closed(let attempt): return life.closed(attempt) ? .frees : .nothing
        case .stop(let ending): return life.stop(ending) ? .stopsFirst : .nothing
        case .coreStopped: return life.coreStopped() ? .frees : .nothing
        case .fileClosed: return life.fileClosed() ? .frees : .nothing
        case .limitReached: return life.limitReached().map { .freesWithout($0) } ?? .nothing
        case .freed: return life.freed().map { .ended($0) } ?? .nothing
        }
    }
}

/// The actions that the session requests of the engine.
private enum Answer: Equatable {
    case nothing
    case startReturns
    case keepsCall
    case begins(Life.Beginning)
    case stopsFirst
    case frees
    case freesWithout(Life.Shortfall)
    case ended(SessionEnding)
}

@Suite(.suiteLimit)
struct SessionLifeTests {
    private static func reading(
        _ calls: [Int] = [7],
        isStartAwaited: Bool = true,
        ending: SessionEnding? = nil
    ) -> Life {
        .reading(.init(calls: calls, isStartAwaited: isStartAwaited, ending: ending))
    }

    private static func holding(_ connections: Set<Int>, isFileHeld: Bool = true) -> Life.Holdings {
        .init(connections: connections, isFileHeld: isFileHeld)
    }

    /// A state, and each event that changes something in it: to which state, with which answer.
    private typealias Row = (state: Life, changes: [Event: (state: Life, answer: Answer)])

    private static let table: [Row] = [
        (
            reading(),
            [
                .startWaitOver: (reading(isStartAwaited: false), .startReturns),
                .call(8): (reading([7, 8]), .keepsCall),
                .begin: (.running(holding([])), .begins(.start([7]))),
                .fileInUse: (.freeing(.failed(inUse)), .frees),
                .stop(.stopped): (reading(ending: .stopped), .stopsFirst),
            ]
        ),
        (
            reading(isStartAwaited: false),
            [
                .call(8): (reading([7, 8], isStartAwaited: false), .keepsCall),
                .begin: (.running(holding([])), .begins(.start([7]))),
                .stop(.stopped): (reading(isStartAwaited: false, ending: .stopped), .stopsFirst),
            ]
        ),
        (
            reading(ending: .replaced),
            [
                .startWaitOver: (reading(isStartAwaited: false, ending: .replaced), .startReturns),
                .call(8): (reading([7, 8], ending: .replaced), .keepsCall),
                .begin: (.stopping(.replaced, holding([])), .begins(.stop)),
                .fileInUse: (.freeing(.failed(inUse)), .frees),
                .limitReached: (.freeing(.replaced), .freesWithout(.init(missing: [.storage], isReading: true))),
            ]
        ),
        (
            reading(isStartAwaited: false, ending: .replaced),
            [
                .call(8): (reading([7, 8], isStartAwaited: false, ending: .replaced), .keepsCall),
                .begin: (.stopping(.replaced, holding([])), .begins(.stop)),
                .limitReached: (.freeing(.replaced), .freesWithout(.init(missing: [.storage], isReading: true))),
            ]
        ),
        (
            .running(holding([1, 2])),
            [
                .connecting(3): (.running(holding([1, 2, 3])), .nothing),
                .closed(1): (.running(holding([2])), .nothing),
                .stop(.stopped): (.stopping(.stopped, holding([1, 2])), .stopsFirst),
                .coreStopped: (.closing(.stopped, holding([1, 2])), .nothing),
            ]
        ),
        (
            .stopping(.replaced, holding([1])),
            [
                .connecting(3): (.stopping(.replaced, holding([1, 3])), .nothing),
                .closed(1): (.stopping(.replaced, holding([])), .nothing),
                .coreStopped: (.closing(.replaced, holding([1])), .nothing),
                .limitReached: (
                    .freeing(.replaced), .freesWithout(.init(missing: [.transport, .storage], isReading: false))
                ),
            ]
        ),
        (
            .closing(.replaced, holding([1])),
            [
                .connecting(3): (.closing(.replaced, holding([1, 3])), .nothing),
                .closed(1): (.closing(.replaced, holding([])), .nothing),
                .fileClosed: (.closing(.replaced, holding([1], isFileHeld: false)), .nothing),
                .limitReached: (
                    .freeing(.replaced), .freesWithout(.init(missing: [.transport, .storage], isReading: false))
                ),
            ]
        ),
        (
            .closing(.replaced, holding([])),
            [
                .connecting(3): (.closing(.replaced, holding([3])), .nothing),
                .fileClosed: (.freeing(.replaced), .frees),
                .limitReached: (.freeing(.replaced), .freesWithout(.init(missing: [.storage], isReading: false))),
            ]
        ),
        (
            .closing(.replaced, holding([1], isFileHeld: false)),
            [
                .connecting(3): (.closing(.replaced, holding([1, 3], isFileHeld: false)), .nothing),
                .closed(1): (.freeing(.replaced), .frees),
                .limitReached: (.freeing(.replaced), .freesWithout(.init(missing: [.transport], isReading: false))),
            ]
        ),
        (.freeing(.replaced), [.freed: (.over, .ended(.replaced))]),
        (.over, [:]),
    ]

    @Test func `every event in every state does what the table says, and nothing else`() {
        for row in Self.table {
            for event in Event.all {
                var life = row.state
                let answer = event.happen(to: &life)
                let expected = row.changes[event] ?? (row.state, .nothing)
                #expect(life == expected.state, "\(event) in \(row.state)")
                #expect(answer == expected.answer, "\(event) in \(row.state)")
            }
            #expect(row.changes.keys.allSatisfy { Event.all.contains($0) }, "a row names an event that is not tried")
        }
    }

    @Test func `a session begins with the reading of its file`() {
        #expect(Life() == Self.reading([]))
    }

    @Test func `the app is told idle before the session begins, stopping until it is over, and then stopped`() {
        for row in Self.table {
            let expected: ConnectionState =
                switch row.state {
                case .reading(let reading) where reading.ending == nil: .idle
                case .over: .stopped
                default: .stopping
                }
            #expect(row.state.connectionState == expected)
            #expect(row.state.isOver == (expected == .stopped))
        }
    }

    @Test func `the file is the session's until the journal has let go of it`() {
        for row in Self.table {
            let isHeld =
                switch row.state {
                case .closing(_, let holdings): holdings.isFileHeld
                case .freeing, .over: false
                default: true
                }
            #expect(row.state.isFileHeld == isHeld)
        }
    }

    @Test func `as many calls wait as may, and of one more the latest is dropped`() {
        var life = Life()
        let waits = (1...4).map { life.keeps($0, callsMax: 3) }
        #expect(waits == [true, true, true, true], "the core gets none of them yet")
        let beginning = life.begin()
        #expect(beginning == .start([1, 2, 3]))
        let waitsLater = life.keeps(5, callsMax: 3)
        #expect(!waitsLater)
    }

    // MARK: Random steps

    @Test func `ten thousand random steps keep every promise`() {
        var generator = SeededGenerator(for: "session life")
        var history = LifeHistory()
        for _ in 0..<10_000 { history.step(&generator) }
        #expect(history.faults == [])
        #expect(history.endings == [.stopped, .replaced, .failed(inUse)], "the steps reach every end")
        #expect(history.shortfalls.count == 4, "and every shortfall")
    }
}

/// One session after another, with what must be true of each.
private struct LifeHistory {
    /// The facts about a session from the events alone.
    private struct Facts {
        var calls: [Int] = []
        var hasBegun = false
        var hasStartReturned = false
        /// The first end that was asked for.
        var asked: SessionEnding?
        var connections: Set<Int> = []
        var hasCoreStopped = false
        var isFileClosed = false
        /// How often the engine was told to free the session.
        var freed = 0
        var rank = 0
    }

    private static let callsMax = 3

    private var life = Life()
    private var facts = Facts()
    private var number = 0
    private(set) var faults: [String] = []
    private(set) var endings: Set<SessionEnding> = []
    private(set) var shortfalls: Set<Life.Shortfall> = []

    mutating func step(_ generator: inout SeededGenerator) {
        self.number += 1
        let event: Event =
            switch Int.random(in: 0..<24, using: &generator) {
            case 0: .startWaitOver
            case 1, 2, 3: .call(self.number)
            case 4, 5: .begin
            case 6: .fileInUse
            case 7, 8, 9: .connecting(Int.random(in: 1...4, using: &generator))
            case 10, 11, 12, 13, 14: .closed(Int.random(in: 1...4, using: &generator))
            case 15: .stop(generator.bool() ? .stopped : .replaced)
            case 16, 17: .coreStopped
            case 18, 19: .fileClosed
            case 20: .limitReached
            default: .freed
            }
        // The engine has no core, no connections and nothing that ends them before the session begins.
        switch event {
        case .connecting, .coreStopped: if !self.facts.hasBegun { return }
        case .fileClosed: if !self.facts.hasCoreStopped { return }
        default: break
        }
        let before = self.life
        let answer = event.happen(to: &self.life, callsMax: Self.callsMax)
        self.check(event, before, answer)
        guard self.life.isOver, !before.isOver else { return }
        if self.facts.freed != 1 { self.fault("was freed \(self.facts.freed) times") }
        self.tryEverything()
        (self.life, self.facts) = (Life(), Facts())
    }

    private mutating func fault(_ text: String) { self.faults.append("step \(self.number): \(text)") }

    private mutating func check(_ event: Event, _ before: Life, _ answer: Answer) {
        let isLate = self.facts.freed > 0
        switch event {
        case .call(let call) where !self.facts.hasBegun && !isLate:
            if answer != .keepsCall { self.fault("a call did not wait") }
            if self.facts.calls.count < Self.callsMax { self.facts.calls.append(call) }
        case .connecting(let attempt) where !isLate: self.facts.connections.insert(attempt)
        case .closed(let attempt): self.facts.connections.remove(attempt)
        case .stop(let ending):
            let isFirst = self.facts.asked == nil && !self.facts.hasCoreStopped && !isLate
            if (answer == .stopsFirst) != isFirst { self.fault("\(event) in \(before): \(answer)") }
            if isFirst { self.facts.asked = ending }
        case .coreStopped: self.facts.hasCoreStopped = true
        case .fileClosed: self.facts.isFileClosed = true
        default: break
        }
        switch answer {
        case .nothing, .keepsCall, .stopsFirst: break
        case .startReturns:
            if self.facts.hasStartReturned || self.facts.hasBegun { self.fault("start returned twice") }
            self.facts.hasStartReturned = true
        case .begins(let beginning):
            if self.facts.hasBegun || isLate { self.fault("began twice, or after the end") }
            let expected: Life.Beginning = self.facts.asked == nil ? .start(self.facts.calls) : .stop
            if beginning != expected { self.fault("began with \(beginning), not \(expected)") }
            self.facts.hasBegun = true
        case .frees:
            self.facts.freed += 1
            if event == .fileInUse {
                if self.facts.hasStartReturned { self.fault("no caller took the error") }
            } else if !self.facts.hasCoreStopped || !self.facts.isFileClosed || !self.facts.connections.isEmpty {
                self.fault("\(event) in \(before) ended what was still open")
            }
        case .freesWithout(let shortfall):
            self.facts.freed += 1
            self.shortfalls.insert(shortfall)
            if self.facts.asked == nil, !self.facts.hasCoreStopped { self.fault("ended without a request") }
            if shortfall.missing.contains(.transport) == self.facts.connections.isEmpty {
                self.fault("connections \(self.facts.connections), told \(shortfall)")
            }
            if shortfall.missing.contains(.storage) == self.facts.isFileClosed { self.fault("told \(shortfall)") }
        case .ended(let ending):
            self.endings.insert(ending)
            if case .failed = ending { break }
            if ending != self.facts.asked ?? .stopped { self.fault("ended as \(ending)") }
        }
        if self.life.rank < self.facts.rank { self.fault("\(event) led back from \(before) to \(self.life)") }
        self.facts.rank = self.life.rank
    }

    /// Nothing changes a session that is over.
    private mutating func tryEverything() {
        for event in Event.all {
            if event.happen(to: &self.life) != .nothing || !self.life.isOver { self.fault("\(event) after the end") }
        }
    }
}

extension SessionLife {
    /// States only come in this order.
    fileprivate var rank: Int {
        switch self {
        case .reading: 0
        case .running: 1
        case .stopping: 2
        case .closing: 3
        case .freeing: 4
        case .over: 5
        }
    }
}

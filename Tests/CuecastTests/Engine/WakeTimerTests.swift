// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@testable import Cuecast

/// A timer whose tasks do nothing: tests say when it fires.
private final class ManualTimer {
    private(set) var timer = WakeTimer()
    /// The arguments of every timer; the last one is the current one.
    private(set) var begun: [(number: Int, wake: LocalInstant, task: Task<Void, Never>)] = []

    /// - Returns: Whether another timer was begun.
    func want(_ seconds: Double?) -> Bool {
        let before = self.begun.count
        self.timer.want(seconds.map { local($0) }) { number, wake in
            let task = Task {}
            self.begun.append((number, wake, task))
            return task
        }
        return self.begun.count > before
    }

    func fires(_ number: Int? = nil) -> Bool {
        self.timer.fires(number: number ?? self.begun.last?.number ?? 0)
    }

    func fired() -> LocalInstant? { self.timer.fired() }

    func end() { self.timer.end() }
}

@Suite(.suiteLimit)
struct WakeTimerTests {
    @Test func `a timer begins when it is wanted, and an earlier one takes its place`() {
        let timer = ManualTimer()
        #expect(!timer.want(nil))
        #expect(timer.want(5))
        #expect(timer.begun.last?.wake == local(5))
        #expect(!timer.want(5) && !timer.want(6) && !timer.want(nil), "it fires too early rather than too late")
        #expect(timer.want(4.999))
        #expect(timer.begun.map(\.task.isCancelled) == [true, false])
        #expect(!timer.fires(timer.begun[0].number), "another one has its place")
        #expect(timer.fires())
    }

    @Test func `while it fires, what is wanted last is when it fires again, in the same task`() {
        let timer = ManualTimer()
        #expect(timer.want(5) && timer.fires())
        #expect(!timer.want(7) && !timer.want(9))
        #expect(timer.fired() == local(9))
        #expect(!timer.want(9))
        #expect(timer.want(8), "it is a timer as any other")
    }

    @Test func `a timer that nothing waits for is over, and another one begins when it is wanted`() {
        let timer = ManualTimer()
        #expect(timer.want(5) && timer.fires() && !timer.want(7) && !timer.want(nil))
        #expect(timer.fired() == nil)
        #expect(!timer.fires(), "its task is over")
        #expect(timer.want(6))
        #expect(timer.begun.map(\.number) == [1, 2])
    }

    @Test func `after the end none fires and none begins`() {
        let timer = ManualTimer()
        #expect(timer.want(5))
        timer.end()
        #expect(timer.begun.last?.task.isCancelled == true)
        #expect(!timer.fires() && !timer.want(1))
        let firing = ManualTimer()
        #expect(firing.want(5) && firing.fires())
        firing.end()
        #expect(!firing.want(6) && firing.fired() == nil)
    }

    @Test func `the core is never woken later than it wants, whatever the order of events`() {
        var generator = SeededGenerator(for: "wake timer")
        let timer = ManualTimer()
        var isFiring = false
        /// When the core is woken next, as far as it was promised.
        var fireAt: LocalInstant?
        for step in 0..<10_000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                let wake = generator.maybe { Double(Int.random(in: 0...50, using: &$0)) }
                let hasBegun = timer.want(wake)
                #expect(!(isFiring && hasBegun), "one task at a time, step \(step)")
                if isFiring {
                    fireAt = wake.map { local($0) }
                } else if let wake {
                    if hasBegun { fireAt = timer.begun.last?.wake }
                    #expect(fireAt.map { $0 <= local(wake) } == true, "step \(step)")
                }
            case 2:
                let number = Int.random(
                    in: max(1, timer.begun.count - 2)...max(1, timer.begun.count),
                    using: &generator
                )
                let fires = timer.fires(number)
                #expect(fires == (!isFiring && fireAt != nil && number == timer.begun.count), "step \(step)")
                if fires { (isFiring, fireAt) = (true, nil) }
            default:
                let next = timer.fired()
                #expect(next == (isFiring ? fireAt : nil), "step \(step)")
                isFiring = false
            }
        }
    }
}

@Suite(.suiteLimit)
struct ActionQueueTests {
    private func topics(_ actions: [ListenerCore.Action]) -> [[UInt8]] {
        actions.map { if case .subscribe(let topic) = $0 { topic } else { [] } }
    }

    @Test func `the first that adds performs, until nothing waits`() {
        var queue = ActionQueue()
        var performs = [queue.add([]), queue.add([.subscribe([1]), .subscribe([2])]), queue.add([.subscribe([3])])]
        #expect(performs == [false, true, false], "there is nothing at first, and one performs later")
        var taken = [queue.take()]
        performs = [queue.add([.subscribe([4])])]
        #expect(performs == [false], "the first still performs")
        taken += [queue.take(), queue.take()]
        #expect(taken.map(self.topics) == [[[1], [2], [3]], [[4]], []])
        performs = [queue.add([.subscribe([5])])]
        #expect(performs == [true])
    }
}

@Suite(.suiteLimit)
struct GateTests {
    @Test func `all that wait pass when it opens, and later ones at once`() async {
        let gate = Gate<Int>()
        async let first = gate.passed()
        async let second = gate.passed()
        gate.open(1)
        gate.open(2)
        #expect(await [first, second] == [1, 1], "the first value counts")
        #expect(await gate.passed() == 1)
    }
}

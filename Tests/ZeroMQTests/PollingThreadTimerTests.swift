// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct PollingThreadTimerTests {
    @Test func `timers run in the order of their deadlines, whatever the order of scheduling`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            let milliseconds = [40, 0, 30, 10, 20, 5, 35, 15, 25]
            await witness.run { witness in
                let now = ContinuousClock.now
                for delay in milliseconds {
                    thread.schedule(at: now.advanced(by: .milliseconds(delay)), for: witness) { witness in
                        #expect(ContinuousClock.now >= now.advanced(by: .milliseconds(delay)))
                        witness.note("\(delay)")
                    }
                }
            }
            await witness.wait(forEntries: milliseconds.count)
            #expect(await witness.log == milliseconds.sorted().map { "\($0)" })
        }
    }

    @Test func `timers of one deadline run in the order of scheduling`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            await witness.run { witness in
                let deadline = ContinuousClock.now
                for number in 0..<100 {
                    thread.schedule(at: deadline, for: witness) { $0.note("\(number)") }
                }
            }
            await witness.wait(forEntries: 100)
            #expect(await witness.log == (0..<100).map { "\($0)" })
        }
    }

    @Test func `a cancelled timer does not run`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            await witness.run { witness in
                let soon = ContinuousClock.now.advanced(by: .milliseconds(1))
                // Enough to make the queue clean up.
                let timers = (0..<500)
                    .map { number in
                        thread.schedule(at: soon, for: witness) { $0.note("\(number)") }
                    }
                for (number, timer) in timers.enumerated() where number % 5 != 0 {
                    timer.cancel()
                    timer.cancel()
                    #expect(timer.isCancelled)
                }
            }
            await witness.wait(forEntries: 100)
            #expect(await witness.log == stride(from: 0, to: 500, by: 5).map { "\($0)" })
        }
    }

    @Test func `a timer cancels another that is due in the same pass, and itself`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            await witness.run { witness in
                let now = ContinuousClock.now
                let box = Timers()
                thread.schedule(at: now) {
                    for timer in box.timers { timer.cancel() }
                    witness.assumeIsolated { $0.note("first") }
                }
                box.timers.append(thread.schedule(at: now, for: witness) { $0.note("cancelled") })
                let ticks = Timers()
                let tick = thread.tick(every: .milliseconds(1)) {
                    for timer in ticks.timers { timer.cancel() }
                    witness.assumeIsolated { $0.note("tick") }
                }
                ticks.timers.append(tick)
                thread.schedule(at: now.advanced(by: .milliseconds(20)), for: witness) { $0.note("last") }
            }
            await witness.wait(forEntries: 3)
            #expect(await witness.log == ["first", "tick", "last"])
        }
    }

    final class Timers {
        var timers: [PollingThread.Timer] = []
    }

    @Test func `a tick repeats until it is cancelled`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            let start = ContinuousClock.now
            await witness.run { witness in
                _ = thread.tick(every: .milliseconds(2), for: witness) { $0.note("tick") }
            }
            await witness.wait(forEntries: 10)
            // A tick is never early; how late it is depends on the machine.
            #expect(ContinuousClock.now >= start.advanced(by: .milliseconds(20)))
        }
    }

    @Test func `ticks that the thread was too busy for are left out`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            await witness.run { witness in
                _ = thread.tick(every: .milliseconds(5), for: witness) { witness in
                    witness.note("tick")
                    // As long as ten periods.
                    let end = ContinuousClock.now.advanced(by: .milliseconds(50))
                    while witness.log.count == 1, ContinuousClock.now < end {}
                    if witness.log.count == 1 { thread.schedule(at: .now, for: witness) { $0.note("between") } }
                }
            }
            await witness.wait(forEntries: 3)
            // Had they been made up for, nine ticks would be due before what was scheduled last.
            #expect(await witness.log.prefix(3) == ["tick", "between", "tick"])
        }
    }

    @Test func `a timer that schedules another in the past does not keep the rest from running`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            await witness.run { witness in
                Self.scheduleForever(on: thread, for: witness)
                thread.schedule(at: .now.advanced(by: .milliseconds(2)), for: witness) { $0.note("timer") }
                _ = Task { witness.note("job") }
            }
            await witness.wait(forEntries: 2)
            #expect(Set(await witness.log) == ["timer", "job"])
        }
    }

    private static func scheduleForever(on thread: PollingThread, for witness: Witness) {
        let past = ContinuousClock.now.advanced(by: .seconds(-60))
        thread.schedule(at: past, for: witness) { _ in Self.scheduleForever(on: thread, for: witness) }
    }

    @Test func `a thread with nothing to do sleeps until its next timer`() async throws {
        try await withPollingThread { thread in
            let witness = Witness(on: thread)
            let before = await witness.run { witness in
                thread.schedule(at: .now.advanced(by: .milliseconds(100)), for: witness) { $0.note("due") }
                return thread.wakeUps
            }
            while await witness.log.isEmpty { await witness.wait(forEntries: 1) }
            // The jobs of this test wake it a few times; polling without a wait would be thousands.
            #expect(thread.wakeUps - before < 20)
        }
    }

    @Test func `the handlers of an owner that is gone do nothing`() async throws {
        try await withPollingThread { thread in
            weak var gone: Witness?
            do {
                let owner = Witness(on: thread)
                gone = owner
                await owner.run { owner in
                    _ = thread.tick(every: .milliseconds(1), for: owner) { $0.note("tick") }
                }
            }
            let other = Witness(on: thread)
            await other.run { other in
                _ = thread.schedule(at: .now.advanced(by: .milliseconds(5)), for: other) { $0.note("after") }
            }
            await other.wait(forEntries: 1)
            #expect(gone == nil)
        }
    }
}

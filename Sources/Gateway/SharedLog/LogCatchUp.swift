// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// Tells when the board has all that a shared log had at a moment.
///
/// A request may name what another gateway has told its listener. Before it is refused because the board does not know that, it waits
/// here: the log is asked for its newest record, and the board has to have that one. So "there is no such break" is true, and no
/// answer comes from the past. All that wait at a time are one question to the log.
package final class LogCatchUp: BoardObserver {
    typealias Done = @Sendable (_ isCaughtUp: Bool) -> Void

    /// How long a request waits for the board before it is refused (2 s).
    package static let behindWaitMax: Duration = .seconds(2)

    /// Those who wait for one answer of the log.
    fileprivate struct Batch {
        /// The newest record of the log when it was asked; `nil`: it has not answered.
        var head: UInt64?
        var done: [Done] = []
    }

    fileprivate struct State {
        /// By when they began.
        var batches: [UInt64: Batch] = [:]
        /// The batch that still takes those who come: the log is not asked for it yet.
        var open: UInt64?
        var newest: UInt64 = 0
        var isAsking = false
    }

    private let log: any EventLog
    private let holder: BoardHolder
    private let waitMax: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - log: which several gateways share.
    ///   - holder: has the newest board.
    ///   - waitMax: how long a request waits.
    init(log: any EventLog, holder: BoardHolder, waitMax: Duration = LogCatchUp.behindWaitMax) {
        self.log = log
        self.holder = holder
        self.waitMax = waitMax
    }

    /// Waits until the board has what the log has now.
    ///
    /// - Parameter done: called once, on any thread, also before this returns: with `false` where that took too long.
    func wait(_ done: @escaping Done) {
        let (number, asks) = self.state.withLock { state -> (begun: UInt64?, asks: Bool) in
            if let open = state.open {
                state.batches[open]?.done.append(done)
                return (nil, false)
            }
            state.newest += 1
            state.open = state.newest
            state.batches[state.newest] = Batch(done: [done])
            defer { state.isAsking = true }
            return (state.newest, !state.isAsking)
        }
        guard let number else { return }
        Task {
            try? await Task.sleep(for: self.waitMax)
            self.giveUp(number)
        }
        if asks { Task { await self.ask() } }
    }

    /// Asks the log for all that wait, and again for those who came meanwhile.
    private func ask() async {
        while let number = self.state.withLock({ $0.close() }) {
            let head = try? await self.log.head(of: .breaks)
            self.state.withLock { $0.batches[number]?.head = head ?? .max }
            self.look(at: self.holder.offset)
        }
    }

    /// Answers those that the board is far enough for.
    private func look(at offset: UInt64) {
        let done = self.state.withLock { state in
            let ready = state.batches.filter { $0.value.head.map { $0 <= offset } ?? false }
            for number in ready.keys { state.batches[number] = nil }
            return ready.sorted { $0.key < $1.key }.flatMap(\.value.done)
        }
        for each in done { each(true) }
    }

    private func giveUp(_ number: UInt64) {
        let batch = self.state.withLock { state in
            if state.open == number { state.open = nil }
            return state.batches.removeValue(forKey: number)
        }
        for each in batch?.done ?? [] { each(false) }
    }

    package func applied(_ results: [EntryResult], of id: AppendID?, board: Board) {
        guard self.state.withLock({ !$0.batches.isEmpty }) else { return }
        self.look(at: board.offset)
    }
}

extension LogCatchUp.State {
    /// Takes no more into the batch that is open.
    ///
    /// - Returns: its number; `nil`: no one waits.
    fileprivate mutating func close() -> UInt64? {
        defer { self.open = nil }
        if self.open == nil { self.isAsking = false }
        return self.open
    }
}

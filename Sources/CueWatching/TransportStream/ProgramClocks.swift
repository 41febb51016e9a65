// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// The clocks of a stream's programs by the wall clock, and what was told of the programs.
struct ProgramClocks: Hashable, Sendable {
    private struct Watched: Hashable {
        /// When a value came last, or when its silence was told.
        var heard: Int?
        var isSilent = false
    }

    private var clocks: [Int: PCRWallClock] = [:]
    /// The clocks of programs with cues.
    private var watched: [Int: Watched] = [:]
    private var told = ""
    private var messages = 0
    private var begin: Int?
    private var hasToldLack = false

    /// The clock on a PID; `nil`: no value came.
    func clock(of pid: Int) -> PCRWallClock? { self.clocks[pid] }

    mutating func take(_ reading: PCRReading, of pid: Int, atMilliseconds now: Int) {
        self.clocks[pid, default: PCRWallClock()].take(reading, atMilliseconds: now)
        self.watched[pid]?.heard = now
        self.watched[pid]?.isSilent = false
    }

    /// Forgets the clocks on other PIDs.
    mutating func keep(_ pids: Set<Int>) { self.clocks = self.clocks.filter { pids.contains($0.key) } }

    /// Waits for the clocks on these PIDs.
    mutating func watch(_ pids: Set<Int>) {
        self.watched = pids.reduce(into: [:]) { $0[$1] = self.watched[$1] ?? Watched() }
    }

    /// The PIDs whose clocks are silent for too long, each once in a silence.
    mutating func silentClocks(at now: Int, max: Int) -> [Int] {
        var silent: [Int] = []
        for (pid, each) in self.watched where !each.isSilent {
            guard let heard = each.heard else {
                self.watched[pid]?.heard = now
                continue
            }
            guard now - heard > max else { continue }
            self.watched[pid]?.isSilent = true
            silent.append(pid)
        }
        return silent.sorted()
    }

    /// Whether the stream goes on for so long without cues; told once.
    mutating func lacksCues(at now: Int, for max: Int, hasCues: Bool) -> Bool {
        let begin = self.begin ?? now
        self.begin = begin
        guard !hasCues, !self.hasToldLack, now - begin > max else { return false }
        self.hasToldLack = true
        return true
    }

    /// A sentence about the programs with cues; `nil`: it was told, or enough was told.
    mutating func news(of programs: [TransportProgram], max: Int) -> String? {
        guard !programs.isEmpty else { return nil }
        let text =
            programs.map { program in
                let pids = program.cuePIDs.map(String.init).joined(separator: ", ")
                let clock = program.clockPID.map { "the clock on PID \($0)" } ?? "no clock"
                return "program \(program.number) has cues on PID \(pids) and \(clock)"
            }
            .joined(separator: "; ")
        guard text != self.told, self.messages < max else { return nil }
        self.told = text
        self.messages += 1
        return "In the stream, \(text)." + (self.messages == max ? " Further changes are not told." : "")
    }
}

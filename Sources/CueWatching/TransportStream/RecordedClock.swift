// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// The wall clock of a stream that is recorded: its first program clock is at a given moment, and it goes as that clock goes.
struct RecordedClock: Hashable, Sendable {
    private static let ticksPerMillisecond = 27_000

    /// Where the stream is now, in milliseconds since 1970.
    private(set) var milliseconds: Int
    /// Whether a value of the clock came.
    var hasBegun: Bool { self.pid != nil }

    /// The PID of the clock that counts: the first one that came.
    private var pid: Int?
    private var run: Int?
    /// The moment at which the run of the clock began.
    private var runBegin: Int

    init(startMilliseconds: Int) {
        self.milliseconds = startMilliseconds
        self.runBegin = startMilliseconds
    }

    /// Takes a value of a program's clock.
    mutating func take(_ reading: PCRReading, of pid: Int) {
        guard self.pid == nil || self.pid == pid else { return }
        self.pid = pid
        if self.run != reading.run {
            // After a jump of the clock the stream goes on where it was.
            self.runBegin = self.milliseconds - reading.ticks / Self.ticksPerMillisecond
            self.run = reading.run
        }
        self.milliseconds = self.runBegin + reading.ticks / Self.ticksPerMillisecond
    }

    /// The programs are others: another clock may count from here on.
    mutating func keep(_ pids: Set<Int>) {
        guard let pid = self.pid, !pids.contains(pid) else { return }
        self.pid = nil
        self.run = nil
    }
}

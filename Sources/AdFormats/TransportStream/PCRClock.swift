// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A value of a program's clock (ISO/IEC 13818-1 section 2.4.2.2).
public struct PCRReading: Hashable, Sendable {
    /// The base: 33 bits that count 90,000 times a second, as `pts_time` of SCTE-35 does.
    public var base: Int
    /// How often the clock of 27 MHz has ticked since the first value of this run, with all wraps.
    public var ticks: Int
    /// Counts the runs of the clock: values of two runs have nothing to do with each other.
    public var run: Int

    /// A value.
    public init(base: Int, ticks: Int, run: Int) {
        self.base = base
        self.ticks = ticks
        self.run = run
    }
}

/// Follows one program's clock through its wraps and jumps.
struct PCRClock: Hashable, Sendable {
    /// How far the clock may go between two values, in ticks: 10 s.
    ///
    /// A longer step is a jump.
    static let stepTicksMax = 270_000_000
    /// Where the clock wraps, in ticks: after about 26.5 h.
    static let wrapTicks = 300 << 33

    private var last: Int?
    private(set) var reading = PCRReading(base: 0, ticks: 0, run: 0)
    /// Whether a value came.
    var hasValue: Bool { self.last != nil }

    /// Takes the next value.
    ///
    /// - Parameters:
    ///   - base: The base, in 90 kHz.
    ///   - extension: The extension, in 27 MHz.
    ///   - isMarked: Whether the packet says that the clock is another one.
    /// - Returns: The clock now.
    mutating func take(base: Int, extension: Int, isMarked: Bool) -> PCRReading {
        let raw = base * 300 + min(`extension`, 299)
        if let last = self.last {
            let step = raw >= last ? raw - last : raw - last + Self.wrapTicks
            if isMarked || step > Self.stepTicksMax {
                self.reading.run += 1
                self.reading.ticks = 0
            } else {
                self.reading.ticks += step
            }
        }
        self.last = raw
        self.reading.base = base
        return self.reading
    }
}

/// Says when a place of a program is by the wall clock: its clock, and when values of it came.
///
/// Packets come late, never early: of the values of the last seconds the one that came the soonest counts.
public struct PCRWallClock: Hashable, Sendable {
    /// How many seconds of the stream are remembered.
    private static let secondsKept = 60
    /// Of how many seconds the soonest value counts.
    private static let secondsCounted = 10
    private static let ticksPerSecond = 27_000_000
    private static let ticksPerMillisecond = 27_000
    private static let timeMillisecondsMax = 1 << 47

    private struct Second: Hashable {
        let number: Int
        /// The least time between the stream's beginning and the wall clock's, in ticks.
        var offset: Int
    }

    private var seconds: [Second] = []
    private var reading: PCRReading?

    /// A clock that has seen no value.
    public init() {}

    /// A value of the program's clock came.
    ///
    /// - Parameters:
    ///   - reading: The value; one of another run begins anew.
    ///   - arrival: When it came, in milliseconds since 1970.
    public mutating func take(_ reading: PCRReading, atMilliseconds arrival: Int) {
        if reading.run != self.reading?.run { self.seconds = [] }
        self.reading = reading
        // A clock that is set to nonsense traps on nothing.
        let arrivalTicks = min(max(arrival, 0), Self.timeMillisecondsMax) * Self.ticksPerMillisecond
        let offset = arrivalTicks - reading.ticks
        let number = reading.ticks / Self.ticksPerSecond
        if let last = self.seconds.last, last.number == number {
            self.seconds[self.seconds.count - 1].offset = min(last.offset, offset)
        } else {
            self.seconds.append(Second(number: number, offset: offset))
            if self.seconds.count > Self.secondsKept { self.seconds.removeFirst() }
        }
    }

    /// When a place of the program is, in milliseconds since 1970.
    ///
    /// - Parameter pts: The place, in 90 kHz; it is at most half of 33 bits away, which is 13 h.
    /// - Returns: The time; `nil`: no value came yet.
    public func milliseconds(atPTS pts: Int) -> Int? {
        guard let reading = self.reading,
            let offset = self.seconds.suffix(Self.secondsCounted).map(\.offset).min()
        else { return nil }
        let wrap = 1 << 33
        var distance = (pts - reading.base) & (wrap - 1)
        if distance >= wrap / 2 { distance -= wrap }
        return (reading.ticks + distance * 300 + offset) / Self.ticksPerMillisecond
    }

    /// How much faster than the wall clock the program's is, in millionths; `nil`: less than 20 s were seen.
    public var driftPartsPerMillion: Double? {
        guard let first = self.seconds.first, let last = self.seconds.last, last.number - first.number >= 20 else {
            return nil
        }
        let older = self.seconds.prefix(Self.secondsCounted / 2)
        let newer = self.seconds.suffix(Self.secondsCounted / 2)
        guard let before = older.min(by: { $0.offset < $1.offset }),
            let now = newer.min(by: { $0.offset < $1.offset }), now.number > before.number
        else { return nil }
        let elapsed = (now.number - before.number) * Self.ticksPerSecond
        return Double(before.offset - now.offset) / Double(elapsed) * 1_000_000
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats

/// Which cues of a transport stream count.
package struct TransportStreamChoice: Hashable, Sendable {
    /// The number of the program; `nil`: all programs count.
    package var program: Int?
    /// The PID of the cues; `nil`: all PIDs count.
    package var pid: Int?

    /// A choice.
    package init(program: Int? = nil, pid: Int? = nil) {
        self.program = program
        self.pid = pid
    }

    func takes(_ cue: CueSection) -> Bool {
        (self.program.map { $0 == cue.program } ?? true) && (self.pid.map { $0 == cue.pid } ?? true)
    }

    func takes(_ program: TransportProgram) -> Bool { self.program.map { $0 == program.number } ?? true }
}

/// The bounds of what a ``TransportStreamWatch`` remembers and tells.
package struct TransportStreamWatchLimits: Hashable, Sendable {
    /// How long the clock of a program may be silent while the stream goes on, in milliseconds; it is due every 100 ms.
    package var clockSilenceMillisecondsMax = 5_000
    /// How long a stream may go on without a cue PID before this is told, in milliseconds.
    package var noCuesMillisecondsMax = 10_000
    /// How often changes of the programs are told.
    package var programMessagesMax = 32
    /// The bounds of the reader.
    package var reader = TransportStreamLimits()

    /// The default limits.
    package init() {}
}

/// Makes observations of the cues in a transport stream.
///
/// ```swift
/// var watch = TransportStreamWatch(stream: "sport1", source: "encoder")
/// let seen = watch.read(bytes, atMilliseconds: now)
/// for each in seen.observations { await sender.take(each) }
/// ```
///
/// It reads nothing by itself and has no clock. A fault of the stream never ends it.
package struct TransportStreamWatch: Sendable {
    /// The content of some bytes.
    package struct Seen: Hashable, Sendable {
        /// The cues, in order.
        package var observations: [CueObservation] = []
        /// Sentences for people about the stream.
        package var messages: [String] = []
    }

    private let stream: String
    private let source: String
    private let choice: TransportStreamChoice
    private var rule: SegmentationRule
    private let limits: TransportStreamWatchLimits
    private var reader: TransportStreamReader
    private var order = DatagramOrder()
    private var programs = ProgramClocks()
    private var recorded: RecordedClock?
    private var splices: [Int: SpliceSignals] = [:]
    /// The faults of the stream, by kind.
    package private(set) var faults = TransportStreamFaults()

    /// A watch that has seen nothing.
    ///
    /// - Parameters:
    ///   - stream: The stream that the gateway knows.
    ///   - source: The name of the source, as signals have it.
    ///   - choice: Which cues count.
    ///   - rule: Which segments open a break.
    ///   - recordedStart: The moment of the first clock of a recorded stream, in milliseconds since 1970; `nil`: the stream is live, and
    ///     what comes is of the moment of its coming.
    ///   - limits: The bounds.
    package init(
        stream: String,
        source: String,
        choice: TransportStreamChoice = TransportStreamChoice(),
        rule: SegmentationRule = SegmentationRule(),
        recordedStart: Int? = nil,
        limits: TransportStreamWatchLimits = TransportStreamWatchLimits()
    ) {
        self.stream = stream
        self.source = source
        self.choice = choice
        self.rule = rule
        self.limits = limits
        self.reader = TransportStreamReader(limits: limits.reader)
        self.recorded = recordedStart.map { RecordedClock(startMilliseconds: $0) }
    }

    /// Goes on with another rule; what runs already is still ended by its own segment.
    ///
    /// - Parameter rule: which segments open a break from now on.
    package mutating func use(_ rule: SegmentationRule) {
        self.rule = rule
        for program in self.splices.keys { self.splices[program]?.use(rule) }
    }

    /// Where a recorded stream is now, in milliseconds since 1970; `nil`: the stream is live, or its clock did not come yet.
    package var recordedMilliseconds: Int? { self.recorded.flatMap { $0.hasBegun ? $0.milliseconds : nil } }

    /// Whether a program that counts has cues.
    package var hasCues: Bool { self.reader.programs.contains { self.choice.takes($0) && !$0.cuePIDs.isEmpty } }

    /// Takes a datagram: transport packets, with or without RTP.
    ///
    /// - Parameters:
    ///   - datagram: What came.
    ///   - now: When it came, in milliseconds since 1970.
    /// - Returns: What was in it.
    package mutating func readDatagram(_ datagram: [UInt8], atMilliseconds now: Int) -> Seen {
        guard let payload = TransportDatagram.payload(of: datagram) else {
            var seen = Seen()
            self.fault(.foreignDatagram, "A datagram has neither transport packets nor a header of RTP.", &seen)
            return seen
        }
        var before = Seen()
        if let number = payload.sequenceNumber {
            switch self.order.take(number) {
            case .late:
                self.fault(.lateDatagram, "A datagram came late or twice, and is passed over.", &before)
                return before
            case .next(let missing) where missing > 0:
                self.fault(
                    .lostDatagrams,
                    missing,
                    "Datagrams are missing: \(missing) before number \(number).",
                    &before
                )
            case .next: break
            }
        }
        var seen = self.read(payload.packets, atMilliseconds: now)
        seen.messages = before.messages + seen.messages
        return seen
    }

    /// Takes the next bytes of the stream.
    ///
    /// - Parameters:
    ///   - bytes: What follows the bytes before.
    ///   - now: When they came, in milliseconds since 1970.
    /// - Returns: What was in them.
    package mutating func read(_ bytes: some Sequence<UInt8>, atMilliseconds now: Int) -> Seen {
        var seen = Seen()
        for event in self.reader.read(bytes) {
            switch event {
            case .programs(let programs): self.take(programs, now, &seen)
            case .clock(let pid, let reading):
                self.recorded?.take(reading, of: pid)
                self.programs.take(reading, of: pid, atMilliseconds: self.recorded?.milliseconds ?? now)
            case .cue(let cue) where self.choice.takes(cue): self.take(cue, now, &seen)
            case .cue: break
            case .fault(let fault): self.fault(TransportStreamFaults.Kind(fault.reason), fault.description, &seen)
            }
        }
        self.lookForSilence(self.recorded?.milliseconds ?? now, &seen)
        return seen
    }

    /// Nothing came for a while.
    ///
    /// - Parameter seconds: How long.
    /// - Returns: What there is to tell.
    package mutating func silence(seconds: Int) -> Seen {
        var seen = Seen()
        self.fault(.silence, "Nothing has come for \(seconds) s; the watch waits.", &seen)
        return seen
    }

    // MARK: - Parts of a stream

    private mutating func take(_ cue: CueSection, _ now: Int, _ seen: inout Seen) {
        let clock = self.clock(of: cue)
        var splices =
            self.splices[cue.program]
            ?? SpliceSignals(stream: self.stream, source: self.source, rule: self.rule)
        seen.observations += splices.observations(
            of: cue.bytes,
            clock: clock,
            atMilliseconds: self.recorded?.milliseconds ?? now
        )
        if self.splices.count >= self.limits.reader.programsMax {
            let known = Set(self.reader.programs.map(\.number))
            self.splices = self.splices.filter { known.contains($0.key) }
        }
        self.splices[cue.program] = splices
    }

    private func clock(of cue: CueSection) -> CueClock {
        guard cue.clock != nil, let pid = self.reader.programs.first(where: { $0.number == cue.program })?.clockPID,
            let clock = self.programs.clock(of: pid)
        else { return .none }
        return .program(clock)
    }

    private mutating func take(_ programs: [TransportProgram], _ now: Int, _ seen: inout Seen) {
        let counting = programs.filter { self.choice.takes($0) && !$0.cuePIDs.isEmpty }
        let pids = Set(programs.compactMap(\.clockPID))
        self.recorded?.keep(pids)
        self.programs.keep(pids)
        self.programs.watch(Set(counting.compactMap(\.clockPID)))
        guard let text = self.programs.news(of: counting, max: self.limits.programMessagesMax) else { return }
        seen.messages.append(text)
    }

    private mutating func lookForSilence(_ now: Int, _ seen: inout Seen) {
        for pid in self.programs.silentClocks(at: now, max: self.limits.clockSilenceMillisecondsMax) {
            self.fault(.clockLost, "The clock on PID \(pid) does not come any more; its last values count.", &seen)
        }
        guard self.programs.lacksCues(at: now, for: self.limits.noCuesMillisecondsMax, hasCues: self.hasCues) else {
            return
        }
        let which = self.choice.program.map { "Program \($0)" } ?? "No program of the stream"
        seen.messages.append(
            self.choice.program == nil
                ? "\(which) has SCTE-35 cues so far." : "\(which) is not there, or has no SCTE-35 cues so far."
        )
    }

    // MARK: - Faults

    private mutating func fault(_ kind: TransportStreamFaults.Kind, _ text: String, _ seen: inout Seen) {
        self.fault(kind, 1, text, &seen)
    }

    private mutating func fault(
        _ kind: TransportStreamFaults.Kind,
        _ count: Int,
        _ text: String,
        _ seen: inout Seen
    ) {
        guard self.faults.count(kind, count) else { return }
        seen.messages.append("\(text) Further faults of this kind are counted.")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The kind of a source that a watcher reads.
package enum WatcherKind: Int, CaseIterable, Sendable {
    case hls = 1
    case transportStream = 2
    case radio = 3
    case lines = 4
    case other = 5

    /// The word for documents, as `cuecast watch` has it.
    package var word: String {
        switch self {
        case .hls: "hls"
        case .transportStream: "ts"
        case .radio: "icecast"
        case .lines: "lines"
        case .other: "other"
        }
    }
}

extension BroadcastRequest {
    /// The report of a watcher about what it saw since its last one; the answer is the cue rule of the stream.
    package struct WatchReport: Hashable, Sendable {
        /// Something that a watcher saw, and made no signal of.
        package struct Cue: Hashable, Sendable {
            /// Whether it should mean something, and could not be used; `false`: it was ignored.
            package var isUnusable: Bool
            /// The words of the source.
            package var seen: String
            /// The reason why no signal was sent.
            package var reason: String
            /// How often it was seen, from 1 on.
            package var times: UInt32

            package init(isUnusable: Bool, seen: String, reason: String, times: UInt32 = 1) {
                self.isUnusable = isUnusable
                self.seen = seen
                self.reason = reason
                self.times = times
            }
        }

        package var stream: StreamID
        package var source: SignalSource
        /// The name of the watcher, by the rule of a source; another one after each start.
        package var watcher: SignalSource
        package var kind: WatcherKind
        /// Where it reads, for people: without a user, a password and a query.
        package var address: String
        /// 1 and above; the same once more is the same report.
        package var number: UInt64
        /// How long ago the last playlist, packet or title came; `nil`: none came yet.
        package var heardAge: Duration?
        /// Whether the source always sends something, so that silence is a fault.
        package var isSteady = false
        /// How many things it saw since its last report that mean nothing for breaks.
        package var ignored: UInt32 = 0
        /// How many it could not use, or not bring to the gateway.
        package var unusable: UInt32 = 0
        /// Some of them.
        package var cues: [Cue] = []
        /// Its last trouble, in a sentence; empty: there was none.
        package var problem = ""
        package var problemAge: Duration?
        /// Whether the watch ends as it should.
        package var isLast = false

        package init(
            stream: StreamID,
            source: SignalSource,
            watcher: SignalSource,
            kind: WatcherKind,
            address: String,
            number: UInt64
        ) {
            self.stream = stream
            self.source = source
            self.watcher = watcher
            self.kind = kind
            self.address = address
            self.number = number
        }
    }
}

// MARK: - Rules

extension BroadcastRequest.WatchReport {
    /// Looks at all rules, and cuts times to whole milliseconds of at most 30 days.
    mutating func check() throws(WireError) {
        // First, as it is where a frame is read.
        try requireAtMost(WireLimits.watchedCuesPerReportMax, self.cues.count, limit: "watchedCuesPerReportMax")
        guard self.number >= 1 else { throw .invalid(field: "number", rule: "reports are counted from 1 on") }
        try Self.requireLine(self.address, field: "address")
        // It is shown to every reader.
        guard AddressSecrets.removed(from: self.address) == self.address else {
            throw .invalid(field: "address", rule: "it has a user, a query or a fragment")
        }
        var (ignored, unusable): (UInt64, UInt64) = (0, 0)
        for cue in self.cues {
            try Self.requireLine(cue.seen, field: "cues.seen")
            try Self.requireLine(cue.reason, field: "cues.reason")
            guard cue.times >= 1 else { throw .invalid(field: "cues.times", rule: "it is above 0") }
            if cue.isUnusable { unusable += UInt64(cue.times) } else { ignored += UInt64(cue.times) }
        }
        guard ignored <= self.ignored, unusable <= self.unusable else {
            throw .invalid(field: "cues", rule: "they are more than ignored and unusable say")
        }
        try Self.requireLine(self.problem, field: "problem")
        guard self.problemAge == nil || !self.problem.isEmpty else {
            throw .invalid(field: "problem_age_ms", rule: "it goes with a problem")
        }
        self.heardAge = self.heardAge.map(Self.age)
        self.problemAge = self.problemAge.map(Self.age)
    }

    /// No revision goes with a report: it changes no break.
    static func check(expectedRevision: UInt64?) throws(WireError) {
        guard expectedRevision == nil else {
            throw .invalid(field: "expected_revision", rule: "a report has none")
        }
    }

    private static func age(_ age: Duration) -> Duration {
        min(max(age, .zero), .milliseconds(WireLimits.watchAgeMillisecondsMax)).cutToMilliseconds
    }

    /// A text of one line.
    private static func requireLine(_ text: String, field: String) throws(WireError) {
        try requireAtMost(WireLimits.watchTextBytesMax, text.utf8.count, limit: "watchTextBytesMax (\(field))")
        guard !text.unicodeScalars.contains(where: \.isControl) else {
            throw .invalid(field: field, rule: "it has control characters")
        }
    }

    var encodedByteCount: Int {
        var count = EncodedSize.text(self.stream.description) + EncodedSize.text(self.source.description)
        count += EncodedSize.text(self.watcher.description) + EncodedSize.number(UInt(self.kind.rawValue))
        count += EncodedSize.text(self.address) + EncodedSize.number(self.number)
        if let age = self.heardAge { count += EncodedSize.present(UInt64(age.inMilliseconds)) }
        count += EncodedSize.flag(self.isSteady)
        count += EncodedSize.number(self.ignored) + EncodedSize.number(self.unusable)
        for cue in self.cues { count += EncodedSize.message(cue.encodedByteCount) }
        count += EncodedSize.text(self.problem)
        if let age = self.problemAge { count += EncodedSize.present(UInt64(age.inMilliseconds)) }
        return count + EncodedSize.flag(self.isLast)
    }
}

extension BroadcastRequest.WatchReport.Cue {
    fileprivate var encodedByteCount: Int {
        EncodedSize.flag(self.isUnusable) + EncodedSize.text(self.seen) + EncodedSize.text(self.reason)
            + EncodedSize.number(self.times)
    }
}

// MARK: - Wire

extension BroadcastRequest.WatchReport {
    init(wire: Cuecast_V1_WatchReport) throws(WireError) {
        let watcher: SignalSource
        do throws(WireError) {
            watcher = try SignalSource(wire.watcher)
        } catch {
            throw .invalid(field: "watcher", rule: "the name of a watcher \(ChosenID.rule)")
        }
        self.init(
            stream: try StreamID(wire.stream),
            source: try SignalSource(wire.source),
            watcher: watcher,
            kind: try requireKnown(wire.kind, field: "kind") { WatcherKind(rawValue: $0.rawValue) },
            address: wire.address,
            number: wire.number
        )
        self.heardAge = wire.hasHeardAgeMs ? .milliseconds(Int64(clamping: wire.heardAgeMs)) : nil
        self.isSteady = wire.steady
        (self.ignored, self.unusable) = (wire.ignored, wire.unusable)
        try requireAtMost(WireLimits.watchedCuesPerReportMax, wire.cues.count, limit: "watchedCuesPerReportMax")
        self.cues = wire.cues.map { Cue(isUnusable: $0.unusable, seen: $0.seen, reason: $0.reason, times: $0.times) }
        self.problem = wire.problem
        self.problemAge = wire.hasProblemAgeMs ? .milliseconds(Int64(clamping: wire.problemAgeMs)) : nil
        self.isLast = wire.ends
        try self.check()
    }

    var wire: Cuecast_V1_WatchReport {
        .with {
            $0.stream = self.stream.description
            $0.source = self.source.description
            $0.watcher = self.watcher.description
            $0.kind = .init(rawValue: self.kind.rawValue) ?? .unspecified
            $0.address = self.address
            $0.number = self.number
            if let age = self.heardAge { $0.heardAgeMs = UInt64(age.inMilliseconds) }
            $0.steady = self.isSteady
            ($0.ignored, $0.unusable) = (self.ignored, self.unusable)
            $0.cues = self.cues.map { cue in
                .with {
                    $0.unusable = cue.isUnusable
                    $0.seen = cue.seen
                    $0.reason = cue.reason
                    $0.times = cue.times
                }
            }
            $0.problem = self.problem
            if let age = self.problemAge { $0.problemAgeMs = UInt64(age.inMilliseconds) }
            $0.ends = self.isLast
        }
    }
}

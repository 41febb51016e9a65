// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A report of an encoder, a playlist or an automation system about the programme of a stream.
///
/// The gateway makes breaks of it, by the stream's cue policy. Signals that say the same, from one source or from many, make one break.
public struct ProgrammeSignal: Hashable, Sendable {
    /// The kind of a signal.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The programme goes out of: a break begins.
        case out
        /// The programme comes back in: the break ends.
        case `in`
        /// The break that was signalled does not take place.
        case cancel
    }

    /// The stream's id.
    public var stream: String
    /// The name of the sender: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'.
    public var source: String
    /// By which the signals of one break are known, unique in its source while the break lasts.
    public var eventID: String
    /// Whether a break begins, ends or is taken back.
    public var kind: Kind
    /// When the break starts or ends; nil: when the gateway receives the signal.
    public var start: BreakMoment?
    /// Whether the start is a place in the programme, which may lie in the past and is not moved.
    public var isProgrammeTime: Bool
    /// How long the break is to last; nil: that is not said.
    public var duration: Duration?
    /// As the source wrote it, for records; at most 4,096 bytes.
    public var raw: [UInt8]

    /// A signal.
    public init(
        stream: String,
        source: String,
        eventID: String,
        kind: Kind,
        start: BreakMoment? = nil,
        isProgrammeTime: Bool = false,
        duration: Duration? = nil,
        raw: [UInt8] = []
    ) {
        self.stream = stream
        self.source = source
        self.eventID = eventID
        self.kind = kind
        self.start = start
        self.isProgrammeTime = isProgrammeTime
        self.duration = duration
        self.raw = raw
    }
}

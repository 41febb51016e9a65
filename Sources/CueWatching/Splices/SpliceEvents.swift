// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// The events of one source that a ``SpliceSignals`` remembers.
///
/// The number of events is bounded, and an event is forgotten some time after its end.
struct SpliceEvents: Hashable, Sendable {
    /// The name of an event.
    ///
    /// `splice_insert()` and segments have numbers of their own, and segments of several types may have the same number.
    struct Key: Hashable {
        var id: UInt32
        /// The type that the segment begins with; `nil`: the event is from `splice_insert()`.
        var openingType: UInt8?

        /// The id that the gateway gets.
        var eventID: String { Self.eventID(self.id, isSegment: self.openingType != nil) }

        static func eventID(_ id: UInt32, isSegment: Bool) -> String { (isSegment ? "segment-" : "splice-") + "\(id)" }
    }

    /// The last words about a begin or an end: the same again is a repeat.
    struct Said: Hashable {
        /// The ticks of the stream's clock; `nil`: at once.
        var ticks: UInt64?
        var durationTicks: UInt64?
    }

    /// An event.
    struct Event: Hashable {
        let key: Key
        /// The level of the segment; `nil`: the event is from `splice_insert()`.
        var level: CueSignal.Level?
        /// In milliseconds since 1970.
        var start: Int
        /// The planned end, or the end that was told; `nil`: none is known.
        var end: Int?
        /// Whether a cue told the end.
        var hasEnded = false
        /// The event that this one lies in, so that the gateway does not hear of this one.
        var outer: Key?
        var begin: Said
        var ending: Said?
        /// When a cue of it came last, in milliseconds since 1970.
        var heard: Int
    }

    private let limits: SpliceSignalLimits
    private(set) var events: [Event] = []

    init(limits: SpliceSignalLimits) { self.limits = limits }

    subscript(key: Key) -> Event? {
        get { self.events.last { $0.key == key } }
        set {
            if let index = self.events.lastIndex(where: { $0.key == key }) {
                if let newValue { self.events[index] = newValue } else { self.events.remove(at: index) }
            } else if let newValue {
                if self.events.count >= max(self.limits.rememberedEventsMax, 1),
                    let oldest = self.events.indices.min(by: { self.events[$0].heard < self.events[$1].heard })
                {
                    self.events.remove(at: oldest)
                }
                self.events.append(newValue)
            }
        }
    }

    /// When an event ends at the latest, as far as segments inside it are concerned.
    func lastMoment(of event: Event) -> Int { event.end ?? event.start + self.limits.unboundedMillisecondsMax }

    /// The events that have begun at a moment and run on after it, and that the gateway knows.
    func running(at moment: Int) -> [Event] {
        self.events.filter { event in
            event.outer == nil && !event.hasEnded
                && event.start <= moment + self.limits.toleranceMilliseconds
                && moment < self.lastMoment(of: event)
        }
    }

    /// Forgets what ended long ago.
    mutating func forget(atMilliseconds now: Int) {
        self.events = self.events.filter { event in
            max(self.lastMoment(of: event), event.heard) + self.limits.rememberedMilliseconds >= now
        }
    }
}

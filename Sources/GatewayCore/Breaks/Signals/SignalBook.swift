// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The newest signals of each stream, and their sources: for operators.
///
/// It decides nothing and is kept in memory only: the audit has every signal for good. It is bounded whatever is sent: the stream that
/// was heard of longest ago makes room for a new one, and so does the oldest signal of a stream.
package struct SignalBook: Sendable {
    /// The bounds of a book.
    package struct Limits: Sendable {
        package var streamsMax = LimitName.signalStreamsMax.value
        package var sourcesPerStreamMax = LimitName.signalSourcesPerStreamMax.value
        /// The most signals of a stream; the next one takes the place of the oldest.
        package var signalsPerStreamMax = 32

        package init() {}
    }

    /// The signals and sources of a stream.
    package struct Stream: Sendable {
        /// The oldest first, by when they were seen last.
        package fileprivate(set) var signals: [SeenSignal] = []
        package fileprivate(set) var sources: [SignalSource: SourceBook] = [:]
        fileprivate var heard: Timestamp
    }

    private let limits: Limits
    private var streams: [StreamID: Stream] = [:]

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// How many streams are kept.
    package var streamCount: Int { self.streams.count }

    package subscript(stream: StreamID) -> Stream? { self.streams[stream] }

    /// The sources whose newest signals were all refused or unusable.
    ///
    /// - Parameters:
    ///   - count: at least so many in a row.
    ///   - instant: the newest of them at this instant or later.
    /// - Returns: them by stream and name.
    package func refusedSources(atLeast count: Int, since instant: Timestamp) -> [RefusedSource] {
        var found: [RefusedSource] = []
        for (stream, kept) in self.streams {
            for (source, book) in kept.sources where book.refusedInARow >= count {
                guard let last = book.lastRefused, last >= instant else { continue }
                found.append(
                    RefusedSource(stream: stream, source: source, count: book.refusedInARow, reason: book.lastRefusal)
                )
            }
        }
        return found.sorted { ($0.stream, $0.source) < ($1.stream, $1.source) }
    }

    /// Keeps a signal, or counts it where the same is kept already.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - stream: its stream.
    /// - Returns: the limits that were reached.
    @discardableResult
    package mutating func note(_ signal: SeenSignal, on stream: StreamID) -> [LimitName] {
        let most = self.limits.signalsPerStreamMax
        return self.change(stream, signal.source, at: signal.last) {
            $0.keep(signal, most: most)
            $0.sources[signal.source, default: SourceBook(heard: signal.last)].note(signal)
        }
    }

    /// Changes what is kept of a source, with room for it.
    private mutating func change(
        _ stream: StreamID,
        _ source: SignalSource,
        at now: Timestamp,
        _ change: (inout Stream) -> Void
    ) -> [LimitName] {
        var reached: [LimitName] = []
        if !self.makeRoom(for: stream) { reached.append(.signalStreamsMax) }
        var kept = self.streams[stream] ?? Stream(heard: now)
        self.streams[stream] = nil
        kept.heard = max(kept.heard, now)
        if kept.sources[source] == nil, !kept.makeRoom(forSources: self.limits.sourcesPerStreamMax) {
            reached.append(.signalSourcesPerStreamMax)
        }
        change(&kept)
        self.streams[stream] = kept
        return reached
    }

    /// Counts what a watcher saw and did not tell one by one.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - result: their result.
    ///   - source: the source.
    ///   - stream: its stream.
    ///   - now: when the report came.
    /// - Returns: the limits that were reached.
    package mutating func count(
        _ count: Int,
        _ result: SeenSignal.Result,
        of source: SignalSource,
        on stream: StreamID,
        at now: Timestamp
    ) -> [LimitName] {
        self.change(stream, source, at: now) {
            $0.sources[source, default: SourceBook(heard: now)].add(count, result, at: now)
        }
    }

    /// Has a stream that was heard of longest ago make room for a new one.
    ///
    /// - Returns: whether there was room without that.
    private mutating func makeRoom(for stream: StreamID) -> Bool {
        guard self.streams[stream] == nil, self.streams.count >= self.limits.streamsMax else { return true }
        let oldest = self.streams.min { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) }
        if let oldest { self.streams[oldest.key] = nil }
        return false
    }
}

extension SignalBook.Stream {
    fileprivate mutating func keep(_ signal: SeenSignal, most: Int) {
        let identity = signal.identity
        if let place = self.signals.lastIndex(where: { $0.identity == identity }) {
            var again = self.signals.remove(at: place)
            again.add(signal)
            self.signals.append(again)
            return
        }
        // What watchers ignored is the first to go: it must not push out what the gateway decided.
        if self.signals.count >= most { self.signals.remove(at: self.signals.firstIndex { !$0.isDecided } ?? 0) }
        self.signals.append(signal)
    }

    /// - Returns: whether there was room without letting go of a source.
    fileprivate mutating func makeRoom(forSources most: Int) -> Bool {
        guard self.sources.count >= most else { return true }
        let oldest = self.sources.min { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) }
        if let oldest { self.sources[oldest.key] = nil }
        return false
    }
}

/// A source whose newest signals were all refused or unusable.
package struct RefusedSource: Hashable, Sendable {
    package let stream: StreamID
    package let source: SignalSource
    /// How many in a row.
    package let count: Int
    /// Why the newest was.
    package let reason: String
}

/// The counts of a source of signals on one stream.
package struct SourceBook: Hashable, Sendable {
    /// How many signals had each result, since the gateway began or the source was forgotten.
    package private(set) var counts: [SeenSignal.Result: Int] = [:]
    /// The signals in a row, up to the newest, that were refused or could not be used.
    package private(set) var refusedInARow = 0
    /// Why the newest of them was.
    package private(set) var lastRefusal = ""
    /// When the newest of them came; `nil`: there was none.
    package private(set) var lastRefused: Timestamp?
    /// The newest signal; `nil`: there was none.
    package private(set) var lastSignal: Timestamp?
    /// When anything was heard of it.
    package internal(set) var heard: Timestamp

    package init(heard: Timestamp) {
        self.heard = heard
    }

    /// Counts what a watcher did not tell one by one.
    mutating func add(_ count: Int, _ result: SeenSignal.Result, at now: Timestamp) {
        self.counts[result, default: 0] += count
        self.heard = max(self.heard, now)
    }

    mutating func note(_ signal: SeenSignal) {
        self.counts[signal.result, default: 0] += signal.times
        self.heard = max(self.heard, signal.last)
        switch signal.result {
        case .changed, .unchanged:
            self.lastSignal = signal.last
            self.refusedInARow = 0
            self.lastRefusal = ""
        case .refused, .unusable:
            if signal.result == .refused { self.lastSignal = signal.last }
            self.refusedInARow += signal.times
            self.lastRefused = signal.last
            self.lastRefusal = signal.code.isEmpty ? signal.reason : "\(signal.code): \(signal.reason)"
        case .ignored: break
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The marks of one playlist, as a ``PlaylistWatch`` takes them.
enum PlaylistMarks {
    /// The marks at one segment, each thing once.
    ///
    /// Packagers write several tags for one thing: an SCTE-35 section and `EXT-X-CUE-OUT`, or that and `EXT-X-SCTE35`. A section
    /// belongs to the tag behind it, else to the one before it.
    static func merged(_ group: some Sequence<PlaylistMarker>) -> [PlaylistMarker] {
        var signals: [PlaylistMarker] = []
        var messages: [PlaylistMarker] = []
        for marker in group {
            if marker.role == .message {
                if !messages.contains(where: { $0.scte35 == marker.scte35 }) { messages.append(marker) }
            } else if let index = signals.firstIndex(where: { $0.role == marker.role }) {
                signals[index].fill(from: marker)
            } else {
                signals.append(marker)
            }
        }
        // That a break runs is no news where it begins or ends.
        if let running = signals.firstIndex(where: { $0.role == .continued }), signals.count > 1 {
            let marker = signals.remove(at: running)
            if let out = signals.firstIndex(where: { $0.role == .out }) { signals[out].fill(from: marker) }
        }
        for message in messages where !signals.contains(where: { $0.scte35 == message.scte35 }) {
            let behind = signals.firstIndex { $0.line > message.line && $0.scte35 == nil }
            if let index = behind ?? signals.lastIndex(where: { $0.line < message.line && $0.scte35 == nil }) {
                signals[index].scte35 = message.scte35
            } else {
                signals.append(message)
            }
        }
        return signals.sorted { $0.line < $1.line }
    }
}

extension PlaylistMarker {
    /// Takes what another tag of the same thing says and this one does not.
    fileprivate mutating func fill(from other: PlaylistMarker) {
        self.durationMilliseconds = self.durationMilliseconds ?? other.durationMilliseconds
        self.id = self.id ?? other.id
        self.scte35 = self.scte35 ?? other.scte35
        if self.role == other.role { self.elapsedMilliseconds = self.elapsedMilliseconds ?? other.elapsedMilliseconds }
    }
}

/// The ranges of dates that playlists told of, each with all that its tags said.
struct WatchedRanges: Hashable, Sendable {
    /// The same id with a start that is this far away is another range: encoders use ids again.
    static let reuseMicroseconds = 3_600_000_000

    private struct Watched: Hashable {
        var range: DateRange
        /// As it was when it was taken last.
        var taken: DateRange?
    }

    /// A range of which a playlist told something new.
    struct Change: Hashable {
        /// The range, with the line of the first of its tags in this playlist.
        var range: DateRange
        /// Whether it was told with another start.
        var isMoved: Bool
    }

    private let keptMax: Int
    private var watched: [String: Watched] = [:]

    init(keptMax: Int) { self.keptMax = max(keptMax, 1) }

    /// Takes the ranges of a playlist.
    ///
    /// - Returns: Those of which something is new.
    mutating func take(_ ranges: [DateRange]) -> [Change] {
        guard !ranges.isEmpty else { return [] }
        var lines: [String: Int] = [:]
        var order: [String] = []
        for range in ranges {
            if lines[range.id] == nil {
                lines[range.id] = range.line
                order.append(range.id)
            }
            if let known = self.watched[range.id]?.range, !Self.isReused(known, range) {
                self.watched[range.id]?.range.merge(range)
            } else {
                // A playlist that reaches back for hours may have both ranges each time: what was told of this one stays so.
                self.watched[range.id] = Watched(range: range, taken: self.watched[range.id]?.taken)
            }
        }
        self.endOnNext(order)
        var changes: [Change] = []
        for id in order {
            guard var range = self.watched[id]?.range, let line = lines[id] else { continue }
            let taken = self.watched[id]?.taken.flatMap { Self.isReused($0, range) ? nil : $0 }
            range.line = taken?.line ?? line
            guard range != taken else { continue }
            self.watched[id]?.taken = range
            range.line = line
            let before = taken?.times.startMicroseconds
            let now = range.times.startMicroseconds
            let isMoved = before.map { abs($0 - (now ?? $0)) > PlaylistMoment.nearMicroseconds } ?? false
            changes.append(Change(range: range, isMoved: isMoved))
        }
        self.forget(but: lines)
        return changes
    }

    private static func isReused(_ known: DateRange, _ range: DateRange) -> Bool {
        guard let before = known.times.startMicroseconds, let start = range.times.startMicroseconds else {
            return false
        }
        return abs(start - before) >= Self.reuseMicroseconds
    }

    /// Gives ranges that end where the next of their class begins their duration.
    private mutating func endOnNext(_ order: [String]) {
        guard order.contains(where: { self.watched[$0]?.range.times.endsOnNext ?? false }) else { return }
        var starts: [String: [Int]] = [:]
        for id in order {
            guard let range = self.watched[id]?.range, let name = range.rangeClass,
                let start = range.times.startMicroseconds
            else { continue }
            starts[name, default: []].append(start)
        }
        for name in starts.keys { starts[name]?.sort() }
        for id in order {
            guard let range = self.watched[id]?.range, range.times.endsOnNext, let name = range.rangeClass,
                let start = range.times.startMicroseconds, let following = starts[name],
                let next = following.first(where: { $0 > start })
            else { continue }
            self.watched[id]?.range.times.durationMilliseconds = PlaylistText.milliseconds(next - start)
        }
    }

    /// Forgets the oldest that are no more in the playlist, then the oldest that are.
    private mutating func forget(but lines: [String: Int]) {
        let excess = self.watched.count - self.keptMax
        guard excess > 0 else { return }
        let oldest = self.watched
            .sorted {
                let first = (lines[$0.key] == nil ? 0 : 1, $0.value.range.times.startMicroseconds ?? 0)
                return first < (lines[$1.key] == nil ? 0 : 1, $1.value.range.times.startMicroseconds ?? 0)
            }
            .prefix(excess)
        for each in oldest { self.watched[each.key] = nil }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import HashTreeCollections

/// What is known of one stream: its position, the notices that can be recovered, and its breaks.
package struct StreamBoard: Hashable, Sendable {
    package let stream: StreamID
    /// The sequence of the last notice; 0 before the first.
    package internal(set) var sequence: UInt64 = 0
    /// The last notices, in order, without gaps, up to `sequence`.
    package internal(set) var recent: [Notice] = []
    package internal(set) var breaks: TreeDictionary<BreakID, Break> = [:]
    /// The ids of breaks that are no longer kept: they stay reserved.
    package internal(set) var retired: TreeSet<BreakID> = []

    package init(stream: StreamID) {
        self.stream = stream
    }

    package init(_ record: StreamRecord) {
        self.stream = record.stream
        self.sequence = record.sequence
        self.recent = record.recentNotices
        self.breaks = TreeDictionary(uniqueKeysWithValues: record.breaks.map { ($0.publish.request.key.id, Break($0)) })
        self.retired = TreeSet(record.retired)
    }

    /// For the snapshot: in an order that does not depend on hashing.
    package var record: StreamRecord {
        StreamRecord(
            stream: self.stream,
            sequence: self.sequence,
            recentNotices: self.recent,
            breaks: self.breaks.values.map(\.record).sorted { $0.number < $1.number },
            retired: self.retired.sorted()
        )
    }

    /// Takes the next sequence for a notice about a break, and remembers both.
    mutating func announce(_ kind: Notice.Kind, of id: BreakID, epoch: UInt64, at now: Timestamp) -> Notice? {
        guard var each = self.breaks[id] else { return nil }
        self.sequence += 1
        let notice = each.notice(kind, position: Position(epoch: epoch, sequence: self.sequence), at: now)
        each.record.lastNotice = notice
        self.breaks[id] = each
        self.recent.append(notice)
        if self.recent.count > BoardLimits.recoveryNoticesMax {
            self.recent.removeFirst(self.recent.count - BoardLimits.recoveryNoticesMax)
        }
        return notice
    }

    /// The break that has part of an interval already.
    func overlapping(_ interval: Range<Timestamp>, except id: BreakID) -> Break? {
        self.breaks.values
            .filter { $0.key.id != id && ($0.interval?.overlaps(interval) ?? false) }
            .min { $0.number < $1.number }
    }

    /// Lets go of what nobody can ask for any more; by the time of records, so that every reader does the same.
    mutating func retire(at now: Timestamp) {
        for (id, each) in self.breaks where each.isOver(at: now) {
            if each.over + BoardLimits.acknowledgeWithin < now {
                self.breaks[id] = nil
                self.retired.insert(id)
            } else if !each.record.condensed, each.over + BoardLimits.batchesWithin < now {
                var condensed = each
                condensed.record.condensed = true
                condensed.record.advertisements = condensed.record.advertisements.map(\.condensed)
                condensed.record.publish.request.advertisements =
                    condensed.record.publish.request.advertisements.map(\.condensed)
                condensed.encoded = nil
                self.breaks[id] = condensed
            }
        }
        guard self.breaks.count > BoardLimits.keptBreaksPerStreamMax else { return }
        let oldest = self.breaks.values.filter { $0.isOver(at: now) }.sorted { $0.number < $1.number }
        for each in oldest.prefix(self.breaks.count - BoardLimits.keptBreaksPerStreamMax) {
            self.breaks[each.key.id] = nil
            self.retired.insert(each.key.id)
        }
    }
}

/// What a listener that joins has missed.
package enum Recovery: Hashable, Sendable {
    /// Nothing.
    case current
    /// These notices, in order: all of them.
    case missed([Notice])
    /// It cannot be told: these are the breaks that are open, each as it stands.
    case snapshot([Notice])
}

extension StreamBoard {
    /// What a listener has missed whose last position is `last`.
    ///
    /// - Parameters:
    ///   - last: the last position that the listener applied; `nil` at first.
    ///   - epoch: the epoch of the event log.
    ///   - now: the gateway's clock.
    ///   - delayMax: how far behind live the listener may hear the stream: breaks stay open that much longer.
    /// - Returns: the whole truth, or a snapshot. A recovery that is not complete is never called recovered.
    package func recovery(from last: Position?, epoch: UInt64, at now: Timestamp, delayMax: Duration) -> Recovery {
        if let last, last.epoch == epoch {
            if last.sequence == self.sequence { return .current }
            let missing = Int(clamping: Int64(clamping: self.sequence) - Int64(clamping: last.sequence))
            if missing > 0, missing <= self.recent.count { return .missed(Array(self.recent.suffix(missing))) }
        }
        let open = self.breaks.values.filter { each in
            each.record.phase == .announced && each.over + delayMax > now && !each.record.condensed
        }
        let notices = open.compactMap { each -> Notice? in
            guard let last = each.record.lastNotice else { return nil }
            var notice = each.notice(.available, position: last.position, at: last.sent)
            notice.window = each.record.window
            return notice
        }
        return .snapshot(
            notices.sorted { $0.position.sequence < $1.position.sequence }.suffix(WireLimits.noticesPerJoinMax)
        )
    }
}

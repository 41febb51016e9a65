// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The totals of ads over all breaks that had them.
///
/// It is folded from reports of breaks, so that the counts of an ad are the sum of its counts in them.
package struct ReportByAdvertisement: Hashable, Sendable {
    /// The most breaks that are looked at for one answer; what follows is another answer, whose counts add to these.
    package static let breaksMax = 10_000
    /// The most pages of a report that are read for one answer: where few breaks match, a page looks at many.
    package static let pagesMax = 20
    /// The most ads of one answer.
    package static let advertisementsMax = 2_000

    package struct Entry: Hashable, Sendable {
        package let id: AdvertisementID
        /// Its title in the newest of these breaks.
        package let title: String
        /// In how many breaks it was.
        package fileprivate(set) var breaks = 0
        package fileprivate(set) var counts = OutcomeCounts()
        /// Whether it balances in each of them.
        package fileprivate(set) var balances = true
        /// Whether `unknown` is final in each of them.
        package fileprivate(set) var settled = true
        /// Whether everything that was recorded of these breaks is counted.
        package fileprivate(set) var complete = true
    }

    private var entries: [AdvertisementID: Entry] = [:]
    private var pages = 0
    /// How many breaks are counted.
    package private(set) var breaks = 0
    /// The last break that was taken; the next answer begins behind it.
    package private(set) var last: BreakNumber?
    /// Up to which offset of each lane everything here is counted.
    package private(set) var offsets: [Lane: UInt64] = [:]
    /// Whether older breaks remain.
    package private(set) var more = true
    /// The work on the ledger that was under way while a page was read.
    package private(set) var pending: Set<Report.Pending> = []

    package init() {}

    /// Takes a page of a report, the newest break first.
    ///
    /// - Parameter report: the page.
    /// - Returns: whether the next page may be taken too: there is one, and no limit is reached.
    package mutating func take(_ report: Report) -> Bool {
        self.pages += 1
        self.pending.formUnion(report.pending)
        // What the pages count up to may differ; all of them have counted up to the least.
        self.offsets = self.offsets.isEmpty ? report.offsets : self.offsets.merging(report.offsets) { min($0, $1) }
        for each in report.breaks {
            let new = Set(each.advertisements.map(\.id)).subtracting(self.entries.keys)
            guard self.breaks < Self.breaksMax,
                self.entries.count + new.count <= Self.advertisementsMax || self.breaks == 0
            else { return false }
            self.take(each)
        }
        self.last = report.lookedThrough ?? self.last
        self.more = report.more
        return report.more && self.breaks < Self.breaksMax && self.pages < Self.pagesMax
    }

    private mutating func take(_ each: Report.Break) {
        self.breaks += 1
        self.last = each.summary.number
        var told: Set<AdvertisementID> = []
        for advertisement in each.advertisements {
            var entry =
                self.entries[advertisement.id] ?? Entry(id: advertisement.id, title: advertisement.title)
            if told.insert(advertisement.id).inserted { entry.breaks += 1 }
            entry.counts += advertisement.counts
            entry.balances = entry.balances && advertisement.counts.balances
            entry.settled = entry.settled && each.settled
            entry.complete = entry.complete && each.complete
            self.entries[advertisement.id] = entry
        }
    }

    /// The ads, those that were delivered most first.
    package var advertisements: [Entry] {
        self.entries.values.sorted { one, other in
            (other.counts.delivered, one.id.description) < (one.counts.delivered, other.id.description)
        }
    }

    /// Everything together.
    package var total: OutcomeCounts { self.entries.values.reduce(into: OutcomeCounts()) { $0 += $1.counts } }

    /// Whether every ad balances in every break.
    package var balances: Bool { self.entries.values.allSatisfy(\.balances) }

    /// Whether nothing of these breaks can be in records that are lost.
    package var complete: Bool { self.entries.values.allSatisfy(\.complete) }
}

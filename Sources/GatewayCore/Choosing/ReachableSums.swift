// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which sums the last of some numbers can make, by the place of the first that is taken into account.
///
/// It knows no rules: a sum that it has not cannot be made under any rules. To save space it keeps the sums of some places only, and
/// answers for another one by the place before that it has, with which more sums can be made.
struct ReachableSums: Sendable {
    private let words: Int
    /// How far the places are from each other whose sums are kept; 0: none is.
    private let stride: Int
    /// A row of bits for each place that is kept, the last place first.
    private let rows: [UInt64]
    /// From each place on: all numbers together.
    private let totals: [Int]

    /// - Parameters:
    ///   - numbers: above 0, in their order.
    ///   - most: the largest sum of interest.
    ///   - wordsMax: how many words may be kept; a single row needs one for each 64 sums.
    init(_ numbers: some RandomAccessCollection<Int>, upTo most: Int, wordsMax: Int) {
        let words = most / 64 + 1
        self.words = words
        var totals = [Int](repeating: 0, count: numbers.count + 1)
        for (place, number) in numbers.enumerated().reversed() { totals[place] = totals[place + 1] + number }
        self.totals = totals
        let rowsMax = wordsMax / words
        guard rowsMax > 1 else {
            self.stride = 0
            self.rows = []
            return
        }
        // One row at the end, and one for each stride before it, the last of which may be shorter.
        let stride = max((numbers.count + rowsMax - 2) / (rowsMax - 1), 1)
        self.stride = stride
        var rows: [UInt64] = []
        rows.reserveCapacity(((numbers.count + stride - 1) / stride + 1) * words)
        var row = [UInt64](repeating: 0, count: words)
        row[0] = 1
        rows += row
        for (distance, number) in numbers.reversed().enumerated() {
            let end = min(words, totals[numbers.count - distance - 1] / 64 + 1)
            Self.add(number, to: &row, end: end)
            if (distance + 1) % stride == 0 || distance + 1 == numbers.count { rows += row }
        }
        self.rows = rows
    }

    /// Adds the sums with one more number, in the words before an end.
    private static func add(_ number: Int, to row: inout [UInt64], end: Int) {
        let (skip, shift) = (number / 64, UInt64(number % 64))
        guard skip < end else { return }
        var row = row.mutableSpan
        // From above, so that each word is read before it changes.
        if shift == 0 {
            for index in (skip..<end).reversed() { row[index] |= row[index &- skip] }
        } else {
            let back = 64 &- shift
            for index in (skip &+ 1..<max(end, skip &+ 1)).reversed() {
                row[index] |= row[index &- skip] &<< shift | row[index &- skip &- 1] &>> back
            }
            row[skip] |= row[0] &<< shift
        }
    }

    /// The largest sum from a place on that is not above a limit, which is at least 0; or a larger one, where that is not kept.
    func largest(from place: Int, upTo limit: Int) -> Int {
        let limit = min(limit, self.totals[place])
        guard self.stride > 0 else { return limit }
        let distance = self.totals.count - 1 - place
        let row = (distance + self.stride - 1) / self.stride * self.words
        var index = min(limit / 64, self.words - 1)
        var word = self.rows[row + index]
        if index == limit / 64 { word &= ~0 >> UInt64(63 - limit % 64) }
        while word == 0 {
            // The sum of none is always there.
            index -= 1
            word = self.rows[row + index]
        }
        return index * 64 + 63 - word.leadingZeroBitCount
    }

    /// Whether a sum from a place on is within two limits; negative ones are.
    func reaches(from place: Int, atLeast least: Int, upTo limit: Int) -> Bool {
        limit >= 0 && (least <= 0 || self.largest(from: place, upTo: limit) >= least)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The faults, with a few examples of each kind; any of them makes the run fail.
package struct Findings: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, CaseIterable, CodingKeyRepresentable, Sendable {
        /// Notices that a joined listener, which was reading, did not get over its connection.
        case noticesLost
        case noticesRepeated
        case noticesOutOfOrder
        /// Frames that are no notice, or replies that are no reply.
        case malformed
        /// Batches with other advertisements than the break has.
        case wrongContent
        /// A joined listener did not get the batch of a break.
        case batchesMissing
        /// Outcomes that the gateway did not confirm.
        case acknowledgementsMissing
        /// Replies without a request, or a second reply to the same one.
        case strayReplies
        /// Answers to joins that contradict what was asked.
        case wrongJoins
        /// Listeners that were not at the head of their stream at the end.
        case listenersBehind
        /// Numbers of the gateway's report that differ from what was sent.
        case booksDiffer
        /// Breaks that could not be published.
        case breaksNotPublished

        /// For people.
        package var sentence: String {
            switch self {
            case .noticesLost: "notices were lost on the way"
            case .noticesRepeated: "notices came twice"
            case .noticesOutOfOrder: "notices came out of order"
            case .malformed: "messages could not be read"
            case .wrongContent: "batches had the wrong content"
            case .batchesMissing: "batches were never served"
            case .acknowledgementsMissing: "outcomes were never confirmed"
            case .strayReplies: "replies came without a request"
            case .wrongJoins: "answers to joins were wrong"
            case .listenersBehind: "listeners were behind their stream at the end"
            case .booksDiffer: "numbers of the gateway's report differ from what was sent"
            case .breaksNotPublished: "breaks could not be published"
            }
        }
    }

    package struct Entry: Codable, Hashable, Sendable {
        package var count = 0
        package var examples: [String] = []
    }

    /// The most examples that are kept of each kind.
    package static let examplesMax = 5

    package private(set) var entries: [Kind: Entry] = [:]

    package init() {}

    package var isEmpty: Bool { self.entries.isEmpty }

    package subscript(kind: Kind) -> Int { self.entries[kind]?.count ?? 0 }

    /// Counts one finding; the text is made only where it is kept.
    package mutating func add(_ kind: Kind, count: Int = 1, _ example: @autoclosure () -> String) {
        var entry = self.entries[kind] ?? Entry()
        entry.count += count
        if entry.examples.count < Self.examplesMax { entry.examples.append(example()) }
        self.entries[kind] = entry
    }

    /// Takes back what turned out to be something else.
    package mutating func remove(_ kind: Kind, count: Int = 1) {
        guard var entry = self.entries[kind] else { return }
        entry.count -= count
        self.entries[kind] = entry.count > 0 ? entry : nil
    }

    package mutating func merge(_ other: Findings) {
        for (kind, entry) in other.entries {
            var sum = self.entries[kind] ?? Entry()
            sum.count += entry.count
            sum.examples = Array((sum.examples + entry.examples).prefix(Self.examplesMax))
            self.entries[kind] = sum
        }
    }
}

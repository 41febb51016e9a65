// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
package import CuecastWire

/// A closed list of kinds with a word for each.
package protocol Worded: CaseIterable, Hashable {
    var word: String { get }
}

extension Worded {
    package init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    package static var wordList: [String] { Self.allCases.map(\.word) }
    /// For a sentence.
    package static var words: String { Self.wordList.joined(separator: ", ") }
}

extension Notice.Kind: Worded {
    package var word: String {
        switch self {
        case .available: "available"
        case .updated: "updated"
        case .ended: "ended"
        case .cancelled: "cancelled"
        case .head: "head"
        }
    }
}

extension ListenerReply.Joined.Kind: Worded {
    package var word: String {
        switch self {
        case .current: "current"
        case .recovered: "recovered"
        case .snapshot: "snapshot"
        }
    }
}

extension EndMode: Worded {
    package var word: String { self.documentWord }
}

extension SignalKind: Worded {
    package var word: String { self.documentWord }
}

extension CancelReason: Worded {
    package var word: String {
        switch self {
        case .broadcaster: "broadcaster"
        case .notStarted: "notStarted"
        }
    }
}

extension Outcome.Kind: Worded {
    package var word: String {
        switch self {
        case .played: "played"
        case .ignored: "ignored"
        case .failed: "failed"
        }
    }
}

extension Outcome.Evidence: Worded {
    package var word: String {
        switch self {
        case .reported: "reported"
        case .inferred: "inferred"
        }
    }
}

extension Outcome.Reason: Worded {
    package var word: String {
        switch self {
        case .user: "user"
        case .expired: "expired"
        case .overlap: "overlap"
        case .muted: "muted"
        case .cancelled: "cancelled"
        case .endedEarly: "endedEarly"
        case .skippedOver: "skippedOver"
        case .notStarted: "notStarted"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A message of a stream, as the server tells it.
struct StreamMessage: Hashable, Sendable {
    /// 1 for the first message of a stream.
    var sequence: UInt64
    /// When the server stored it, as RFC 3339 with up to nine digits of a second.
    var time: String
    /// The writer and its number, as `AppendHeader` writes them; `nil`: the message has none.
    var append: String?
    var bytes: [UInt8]
    /// In which order it was stored for a message that was erased (`ForgettingOrders`); `nil`: it is what was appended.
    var standIn: UInt64?
    /// When it was stored first, where a restore has stored it again; `nil`: it does not say.
    var storedFirst: String?
    /// Where it was asked for by its subject.
    var subject: String?
}

/// The state of a stream, as its leader tells it.
package struct StreamFacts: Hashable, Sendable {
    /// A server that has a copy of a stream, other than its leader.
    package struct Copy: Hashable, Sendable {
        package let server: String
        /// Whether it has what the leader has.
        package let isCurrent: Bool
        package let isOffline: Bool
        /// How many operations it is behind.
        package let lag: UInt64
    }

    package var firstSequence: UInt64 = 0
    package var lastSequence: UInt64 = 0
    package var deletedCount: UInt64 = 0
    package var bytes: UInt64 = 0
    /// When the stream was made, in nanoseconds since 1970.
    package var created: Int64 = 0
    package var replicas = 1
    package var subjects: [String] = []
    /// The settings of the stream that a log cannot use; empty: none.
    package var faults: [String] = []
    /// `nil`: the server is alone.
    package var leader: String?
    package var copies: [Copy] = []
}

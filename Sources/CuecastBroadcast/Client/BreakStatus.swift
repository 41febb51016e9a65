// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A break as the gateway has it.
public struct BreakStatus: Hashable, Sendable {
    /// Where a break stands in its life.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Published; listeners do not know of it yet.
        case scheduled
        /// Announced without a start: it waits to be punched.
        case cued
        /// Listeners know of it and fetch its ads.
        case announced
        /// It plays.
        case live
        /// It is over.
        case complete
        /// The broadcaster called it off.
        case cancelled
        /// It was not announced or not punched in time.
        case expired
    }

    /// Where a stream's notices stand: players use it to know that they missed none.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
        /// Which history the sequence belongs to.
        public var epoch: UInt64
        /// The number of the notice in its stream, counted from 1.
        public var sequence: UInt64

        /// A position.
        public init(epoch: UInt64, sequence: UInt64) {
            self.epoch = epoch
            self.sequence = sequence
        }

        /// The epoch, hexadecimal, and the sequence, as in `9f3c:4`: as listeners and messages write it.
        public var description: String { "\(String(self.epoch, radix: 16)):\(self.sequence)" }
    }

    /// The signals of one event about a break.
    public struct Signal: Hashable, Sendable {
        /// The name of the source.
        public var source: String
        /// The id of the event.
        public var eventID: String
        /// When the break starts by it.
        public var start: Date
        /// Where it ended the break; nil: it did not.
        public var end: Date?
        /// How long the break lasts by it; nil: it does not say.
        public var duration: Duration?
        /// Whether it was taken back, and does not count.
        public var isCancelled: Bool
    }

    /// Other ads of the break, for some listeners.
    public struct Variant: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// The conditions for a listener to get its ads; all hold.
        public var conditions: [AdVariant.Condition]
        /// How many ads it has.
        public var advertisementCount: Int
    }

    /// The stream's id.
    public var stream: String
    /// The break's id.
    public var id: String
    /// Where it stands.
    public var state: State
    /// When it starts or started, by the gateway's clock; nil while it is cued, and for a pre-stream break.
    public var start: Date?
    /// When it ends or ended; nil while it is cued.
    public var end: Date?
    /// The most that it lasts; nil: until it is ended.
    public var duration: Duration?
    /// How many ads it has.
    public var advertisementCount: Int
    /// The title of its first ad; empty where that has none.
    public var firstAdvertisementTitle: String
    /// Whether it is given to listeners before the stream.
    public var isPreStream: Bool
    /// Whether late listeners get only what fits.
    public var isExact: Bool
    /// The position of the last notice about it; nil before the first.
    public var position: Position?
    /// When its announcement is due; nil once it is announced.
    public var announcement: Date?
    /// Until when a cued break is held, or a pre-stream break open.
    public var holdUntil: Date?
    /// When it was published.
    public var published: Date
    /// The broadcaster that published it, by the name that the gateway has for its key; nil where broadcasters are not told apart.
    public var broadcaster: String?
    /// 1 when it was published, and one more with each change, by any broadcaster or by the gateway's own announcement.
    public var revision: UInt64
    /// The signals about it; the source that goes first, by the gateway's cue policy, stands first.
    public var signals: [Signal] = []
    /// The id with which a broadcaster published it after a signal had opened it; nil: none did.
    ///
    /// Requests may name the break by either id.
    public var publishedAs: String?
    /// The variants beside `default`, in the order in which they are tried; the numbers above are of `default`.
    public var variants: [Variant] = []
    /// The gateway's clock when it said all this.
    public var gatewayTime: Date
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// Counts the faults of a transport stream by their kind.
///
/// A stream with a bad line has thousands of faults: the first of each kind is told, and all are counted.
package struct TransportStreamFaults: Hashable, Sendable {
    /// The kind of a fault.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// No packet begins where one should.
        case lostSynchronization
        /// The sender marked a packet as damaged.
        case damagedPacket
        /// The lengths in a packet do not fit.
        case malformedPacket
        /// Packets are missing: a continuity counter jumps.
        case continuity
        /// The payload is scrambled.
        case scrambled
        /// A section cannot be read.
        case malformedSection
        /// The CRC of a table is wrong.
        case wrongTableCRC
        /// The stream has more programs or cue PIDs than are followed.
        case pastLimit
        /// A datagram has neither transport packets nor RTP.
        case foreignDatagram
        /// Datagrams are missing: a sequence number of RTP jumps.
        case lostDatagrams
        /// A datagram came after a later one, or twice.
        case lateDatagram
        /// The clock of a program does not come any more.
        case clockLost
        /// Nothing comes.
        case silence

        /// The name of what is counted, for people.
        var name: String {
            switch self {
            case .lostSynchronization: "losses of synchronization"
            case .damagedPacket: "damaged packets"
            case .malformedPacket: "malformed packets"
            case .continuity: "continuity errors"
            case .scrambled: "scrambled PIDs"
            case .malformedSection: "malformed sections"
            case .wrongTableCRC: "tables with a wrong CRC"
            case .pastLimit: "passed limits"
            case .foreignDatagram: "foreign datagrams"
            case .lostDatagrams: "lost datagrams"
            case .lateDatagram: "late or repeated datagrams"
            case .clockLost: "lost clocks"
            case .silence: "silences"
            }
        }

        init(_ reason: TransportStreamFault.Reason) {
            switch reason {
            case .lostSynchronization: self = .lostSynchronization
            case .damagedPacket: self = .damagedPacket
            case .malformedPacket: self = .malformedPacket
            case .continuity: self = .continuity
            case .scrambled: self = .scrambled
            case .malformedSection: self = .malformedSection
            case .wrongTableCRC: self = .wrongTableCRC
            case .pastLimit: self = .pastLimit
            }
        }
    }

    /// How many faults of each kind came.
    package private(set) var counts: [Kind: Int] = [:]

    /// No faults yet.
    package init() {}

    /// Counts faults.
    ///
    /// - Parameters:
    ///   - kind: Their kind.
    ///   - count: How many.
    /// - Returns: Whether they are the first of their kind.
    mutating func count(_ kind: Kind, _ count: Int = 1) -> Bool {
        let before = self.counts[kind] ?? 0
        self.counts[kind] = before &+ count
        return before == 0
    }

    /// All counts, for people; `nil`: there were no faults.
    package var text: String? {
        let told = Kind.allCases.compactMap { kind in self.counts[kind].map { "\(kind.name) \($0)" } }
        return told.isEmpty ? nil : told.joined(separator: ", ")
    }
}

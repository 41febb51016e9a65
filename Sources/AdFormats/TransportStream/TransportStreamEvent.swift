// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of what a ``TransportStreamReader`` remembers.
public struct TransportStreamLimits: Hashable, Sendable {
    /// The most programs of a stream that are followed; further ones are passed over, with a fault.
    public var programsMax = 64
    /// The most cue PIDs of one program; further ones are passed over, with a fault.
    public var cuePIDsPerProgramMax = 16

    /// The default limits.
    public init() {}
}

/// One program of a transport stream, as its map says (ISO/IEC 13818-1 section 2.4.4.8).
public struct TransportProgram: Hashable, Sendable {
    /// `program_number`.
    public var number: Int
    /// The PID of its map.
    public var mapPID: Int
    /// The PID of its clock; `nil`: it has none, or its map did not come yet.
    public var clockPID: Int?
    /// The PIDs of its SCTE-35 sections: stream type 0x86 (ANSI/SCTE 35 section 8.3).
    public var cuePIDs: [Int] = []
    /// Whether the map registers cues: a registration descriptor with `CUEI` (ANSI/SCTE 35 section 8.1).
    public var hasCueRegistration = false
}

/// A section of SCTE-35 in a transport stream, not decoded.
public struct CueSection: Hashable, Sendable {
    /// The section, from its table id to its CRC.
    public var bytes: [UInt8]
    /// The PID that it came on.
    public var pid: Int
    /// The number of the program that it belongs to.
    public var program: Int
    /// Whether its CRC is right (ISO/IEC 13818-1 annex A).
    public var hasValidCRC: Bool
    /// The program's clock where the section ended; `nil`: no clock came before it.
    public var clock: PCRReading?
}

/// A result of a ``TransportStreamReader``.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum TransportStreamEvent: Hashable, Sendable {
    /// The programs are others than before, or their maps are.
    case programs([TransportProgram])
    /// A program's clock came on this PID.
    case clock(pid: Int, PCRReading)
    /// A section of SCTE-35 came.
    case cue(CueSection)
    /// Something is wrong with the stream.
    case fault(TransportStreamFault)
}

/// A fault of a transport stream.
public struct TransportStreamFault: Hashable, Sendable, CustomStringConvertible {
    /// The reason of a fault.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// There is no packet where one should begin.
        case lostSynchronization
        /// The sender marked the packet as damaged (`transport_error_indicator`).
        case damagedPacket
        /// The packet's lengths do not fit.
        case malformedPacket
        /// Packets are missing: another `continuity_counter` was due.
        case continuity(expected: Int, found: Int)
        /// The payload is scrambled.
        case scrambled
        /// A section is cut off, or longer than sections may be.
        case malformedSection(String)
        /// The CRC of a table is wrong, and the table is passed over.
        case wrongTableCRC
        /// There is more than a limit of ``TransportStreamLimits`` lets be followed.
        case pastLimit(name: String, maximum: Int)
    }

    /// The PID; `nil`: none can be told.
    public var pid: Int?
    /// Where the packet begins, in bytes from the beginning of the stream.
    public var byteOffset: Int
    /// The reason of the fault.
    public var reason: Reason

    /// One sentence for people.
    public var description: String {
        let place = self.pid.map { "PID \($0), byte \(self.byteOffset)" } ?? "byte \(self.byteOffset)"
        return switch self.reason {
        case .lostSynchronization: "No packet begins at \(place)."
        case .damagedPacket: "The sender marked the packet as damaged: \(place)."
        case .malformedPacket: "The lengths in the packet do not fit: \(place)."
        case .continuity(let expected, let found):
            "Packets are missing before \(place): the continuity counter is \(found), and \(expected) was due."
        case .scrambled: "The payload is scrambled: \(place)."
        case .malformedSection(let fault): "A section cannot be read: \(place): \(fault)."
        case .wrongTableCRC: "The CRC of a table is wrong: \(place)."
        case .pastLimit(let name, let maximum): "The stream passes the limit \(name), which is \(maximum): \(place)."
        }
    }
}

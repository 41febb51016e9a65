// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The table of a stream's programs (ISO/IEC 13818-1 section 2.4.4.3).
struct ProgramAssociation: Equatable {
    let version: Int
    let number: Int
    let lastNumber: Int
    /// The PID of each program's map, in order.
    let programs: [(number: Int, pid: Int)]

    /// Reads a section; `nil`: it is no such table, or one that counts later.
    init?(_ section: [UInt8]) {
        guard let body = TableBody(section, id: 0x00) else { return nil }
        self.version = body.version
        self.number = body.number
        self.lastNumber = body.lastNumber
        self.programs = stride(from: body.content.startIndex, to: body.content.endIndex - 3, by: 4)
            .map { place in
                (body.content.twoBytes(at: place), body.content.twoBytes(at: place + 2) & 0x1FFF)
            }
            // Number 0 is that of the network's table.
            .filter { $0.0 != 0 }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.version == right.version && left.number == right.number
            && left.programs.elementsEqual(right.programs) { $0 == $1 }
    }
}

/// The map of one program (ISO/IEC 13818-1 section 2.4.4.8).
struct ProgramMap {
    private static let cueStreamType: UInt8 = 0x86
    private static let registrationTag: UInt8 = 0x05
    private static let noPID = 0x1FFF

    let program: Int
    let clockPID: Int?
    let cuePIDs: [Int]
    let hasCueRegistration: Bool

    /// Reads a section; `nil`: it is no such table, or one that counts later, or its lengths do not fit.
    init?(_ section: [UInt8]) {
        guard let body = TableBody(section, id: 0x02), body.content.count >= 4 else { return nil }
        self.program = body.id
        let clock = body.content.twoBytes(at: body.content.startIndex) & 0x1FFF
        self.clockPID = clock == Self.noPID ? nil : clock
        let infoLength = body.content.twoBytes(at: body.content.startIndex + 2) & 0x0FFF
        var rest = body.content.dropFirst(4)
        guard rest.count >= infoLength else { return nil }
        let ofProgram = Self.registrations(rest.prefix(infoLength))
        var isRegistered = ofProgram.contains("CUEI")
        // Discs have sound in streams of the same type.
        let isDisc = ofProgram.contains("HDMV")
        rest = rest.dropFirst(infoLength)
        var pids: [Int] = []
        while rest.count >= 5, let type = rest.first {
            let pid = rest.twoBytes(at: rest.startIndex + 1) & 0x1FFF
            let length = rest.twoBytes(at: rest.startIndex + 3) & 0x0FFF
            rest = rest.dropFirst(5)
            guard rest.count >= length else { return nil }
            let ofStream = Self.registrations(rest.prefix(length))
            rest = rest.dropFirst(length)
            guard type == Self.cueStreamType else { continue }
            isRegistered = isRegistered || ofStream.contains("CUEI")
            // Encoders leave the registration out.
            guard !isDisc || isRegistered, !ofStream.contains("HDMV"), !pids.contains(pid) else { continue }
            pids.append(pid)
        }
        self.cuePIDs = pids
        self.hasCueRegistration = isRegistered
    }

    /// The identifiers in registration descriptors (ISO/IEC 13818-1 section 2.6.8).
    private static func registrations(_ descriptors: ArraySlice<UInt8>) -> [String] {
        var rest = descriptors
        var identifiers: [String] = []
        while rest.count >= 2, let tag = rest.first {
            let content = rest.dropFirst(2).prefix(Int(rest[rest.startIndex + 1]))
            if tag == Self.registrationTag, content.count >= 4 {
                identifiers.append(String(decoding: content.prefix(4), as: UTF8.self))
            }
            rest = rest.dropFirst(2 + content.count)
        }
        return identifiers
    }
}

/// The parts that every table has before and behind its content (ISO/IEC 13818-1 section 2.4.4.10).
private struct TableBody {
    /// `table_id_extension`.
    let id: Int
    let version: Int
    let number: Int
    let lastNumber: Int
    let content: ArraySlice<UInt8>

    init?(_ section: [UInt8], id table: UInt8) {
        guard section.count >= 12, section[0] == table, section[1] & 0x80 != 0 else { return nil }
        // `current_next_indicator`: 0 announces a table.
        guard section[5] & 0x01 != 0 else { return nil }
        self.id = section.twoBytes(at: 3)
        self.version = Int(section[5] >> 1 & 0x1F)
        self.number = Int(section[6])
        self.lastNumber = Int(section[7])
        self.content = section[8..<(section.count - 4)]
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads an MPEG transport stream, and takes SCTE-35 sections and the programs' clocks from it.
///
/// ```swift
/// var reader = TransportStreamReader()
/// for event in reader.read(bytes) {
///     if case .cue(let section) = event { print(section.pid, section.bytes) }
/// }
/// ```
///
/// The bytes may come in pieces of any size: the events are the same (ISO/IEC 13818-1 section 2.4; ANSI/SCTE 35 section 8).
/// Packets have 188 bytes. Where no packet begins, the reader looks for three in a row.
public struct TransportStreamReader: Sendable {
    fileprivate enum Use: UInt8 {
        case association
        case map
        case cue
    }

    /// The state of a PID with sections.
    fileprivate struct Source {
        let use: Use
        var assembler = SectionAssembler()
        var counter: Int?
        /// The last packet with payload, as a repeat of it must be.
        var lastPacket: [UInt8] = []
        var isRepeated = false
        var isScrambled = false
    }

    private static let associationPID = 0
    /// The bytes that must be there to find a beginning: two packets and one byte.
    private static let searchByteCount = 2 * TransportPacket.byteCount + 1

    /// The most that the reader remembers.
    public let limits: TransportStreamLimits
    private var rest: [UInt8] = []
    private var offset = 0
    private var isSynchronized = true
    private var sources: [Int: Source] = [Self.associationPID: Source(use: .association)]
    private var clocks: [Int: PCRClock] = [:]
    /// Whether a PID has sections or a clock, by PID: most packets are passed over with this alone.
    private var isFollowed = [Bool](repeating: false, count: 8_192)
    /// The sections of the association that is not complete, and its version.
    private var pending: [Int: ProgramAssociation] = [:]
    private var association: [ProgramAssociation] = []
    /// The programs that are known, in the order of their table.
    public private(set) var programs: [TransportProgram] = []

    /// A reader that has read nothing.
    public init(limits: TransportStreamLimits = TransportStreamLimits()) {
        self.limits = limits
        self.isFollowed[Self.associationPID] = true
    }

    /// Reads the next bytes.
    ///
    /// - Parameter bytes: What follows the bytes before.
    /// - Returns: What is in the packets that are complete now, in order.
    public mutating func read(_ bytes: some Sequence<UInt8>) -> [TransportStreamEvent] {
        var buffer = self.rest
        buffer.append(contentsOf: bytes)
        var events: [TransportStreamEvent] = []
        var position = 0
        while true {
            if !self.isSynchronized {
                position = Self.beginning(in: buffer, from: position, isFound: &self.isSynchronized)
                guard self.isSynchronized else { break }
            }
            let end = position + TransportPacket.byteCount
            guard position < buffer.count else { break }
            guard buffer[position] == TransportPacket.syncByte else {
                self.lose(at: self.offset + position, &events)
                position += 1
                continue
            }
            guard end <= buffer.count else { break }
            let pid = buffer.twoBytes(at: position + 1) & 0x1FFF
            if self.isFollowed[pid] { self.read(buffer[position..<end], of: pid, at: self.offset + position, &events) }
            position = end
        }
        self.offset += position
        self.rest = Array(buffer[position...])
        return events
    }

    /// The first place from which three packets can begin, or the first one at which that is not known yet.
    private static func beginning(in buffer: [UInt8], from start: Int, isFound: inout Bool) -> Int {
        var position = start
        while position + self.searchByteCount <= buffer.count {
            let places = stride(from: position, to: position + self.searchByteCount, by: TransportPacket.byteCount)
            if places.allSatisfy({ buffer[$0] == TransportPacket.syncByte }) {
                isFound = true
                return position
            }
            position += 1
        }
        return position
    }

    /// Packets may be missing: what is not complete stays so.
    private mutating func lose(at offset: Int, _ events: inout [TransportStreamEvent]) {
        self.isSynchronized = false
        for pid in self.sources.keys {
            self.sources[pid]?.assembler.reset()
            self.sources[pid]?.counter = nil
        }
        events.append(.fault(TransportStreamFault(byteOffset: offset, reason: .lostSynchronization)))
    }

    private mutating func read(
        _ bytes: ArraySlice<UInt8>,
        of pid: Int,
        at offset: Int,
        _ events: inout [TransportStreamEvent]
    ) {
        func fault(_ reason: TransportStreamFault.Reason) -> TransportStreamEvent {
            .fault(TransportStreamFault(pid: pid, byteOffset: offset, reason: reason))
        }
        guard let packet = TransportPacket(bytes) else {
            events.append(fault(.malformedPacket))
            return
        }
        guard !packet.isDamaged else {
            events.append(fault(.damagedPacket))
            return
        }
        if let clock = packet.clock, var following = self.clocks[pid] {
            let reading = following.take(
                base: clock.base,
                extension: clock.extension,
                isMarked: packet.isDiscontinuity
            )
            self.clocks[pid] = following
            events.append(.clock(pid: pid, reading))
        }
        guard let payload = packet.payload, var source = self.sources[pid] else { return }
        if let reason = source.follow(packet, bytes) { events.append(fault(reason)) }
        guard !source.isRepeated, !source.isScrambled else {
            self.sources[pid] = source
            return
        }
        let taken = source.assembler.take(payload, begins: packet.beginsUnit)
        self.sources[pid] = source
        if let reason = taken.fault { events.append(fault(.malformedSection(reason))) }
        for section in taken.sections {
            if let reason = self.take(section, of: pid, as: source.use, &events) { events.append(fault(reason)) }
        }
    }

    private mutating func take(
        _ section: [UInt8],
        of pid: Int,
        as use: Use,
        _ events: inout [TransportStreamEvent]
    ) -> TransportStreamFault.Reason? {
        if use == .cue {
            guard section[0] == SpliceInfoSection.tableID else {
                return .malformedSection("its table id is \(section[0])")
            }
            let program = self.programs.first { $0.cuePIDs.contains(pid) }
            let clock = program?.clockPID.flatMap { self.clocks[$0] }
            let cue = CueSection(
                bytes: section,
                pid: pid,
                program: program?.number ?? 0,
                hasValidCRC: SectionChecksum.isRight(in: section),
                clock: clock?.hasValue == true ? clock?.reading : nil
            )
            events.append(.cue(cue))
            return nil
        }
        guard SectionChecksum.isRight(in: section) else { return .wrongTableCRC }
        let before = self.programs
        let reason = use == .association ? self.associate(section) : self.map(section, of: pid)
        if self.programs != before { events.append(.programs(self.programs)) }
        return reason
    }

    /// Takes a part of the table of programs; it counts once all parts of a version are there.
    private mutating func associate(_ section: [UInt8]) -> TransportStreamFault.Reason? {
        guard let part = ProgramAssociation(section), part.number <= part.lastNumber else { return nil }
        guard !self.association.contains(part) else { return nil }
        if let other = self.pending.values.first, other.version != part.version || other.lastNumber != part.lastNumber {
            self.pending = [:]
        }
        self.pending[part.number] = part
        guard self.pending.count == part.lastNumber + 1 else { return nil }
        self.association = self.pending.sorted { $0.key < $1.key }.map(\.value)
        self.pending = [:]
        let listed = self.association.flatMap(\.programs)
        self.programs = listed.prefix(max(self.limits.programsMax, 0))
            .map { each in
                self.programs.first { $0.number == each.number && $0.mapPID == each.pid }
                    ?? TransportProgram(number: each.number, mapPID: each.pid)
            }
        self.follow()
        guard listed.count > self.limits.programsMax else { return nil }
        return .pastLimit(name: "programsMax", maximum: self.limits.programsMax)
    }

    private mutating func map(_ section: [UInt8], of pid: Int) -> TransportStreamFault.Reason? {
        // A table of another kind, or one that counts later, may be here too.
        guard section.count > 5, section[0] == 0x02, section[5] & 0x01 != 0 else { return nil }
        guard let map = ProgramMap(section) else { return .malformedSection("the lengths in the map do not fit") }
        guard let index = self.programs.firstIndex(where: { $0.number == map.program && $0.mapPID == pid }) else {
            return nil
        }
        let pidsMax = max(self.limits.cuePIDsPerProgramMax, 0)
        let before = self.programs[index]
        self.programs[index].clockPID = map.clockPID
        self.programs[index].cuePIDs = Array(map.cuePIDs.prefix(pidsMax))
        self.programs[index].hasCueRegistration = map.hasCueRegistration
        guard self.programs[index] != before else { return nil }
        self.follow()
        guard map.cuePIDs.count > pidsMax else { return nil }
        return .pastLimit(name: "cuePIDsPerProgramMax", maximum: pidsMax)
    }

    /// Follows the PIDs that the tables name, and no others.
    private mutating func follow() {
        var uses: [Int: Use] = [:]
        for program in self.programs {
            for pid in program.cuePIDs { uses[pid] = .cue }
        }
        for program in self.programs { uses[program.mapPID] = .map }
        uses[Self.associationPID] = .association
        self.sources = uses.reduce(into: [:]) { sources, each in
            let known = self.sources[each.key].flatMap { $0.use == each.value ? $0 : nil }
            sources[each.key] = known ?? Source(use: each.value)
        }
        self.clocks = self.programs.reduce(into: [:]) { clocks, program in
            guard let pid = program.clockPID else { return }
            clocks[pid] = self.clocks[pid] ?? PCRClock()
        }
        self.isFollowed = [Bool](repeating: false, count: self.isFollowed.count)
        for pid in [Array(self.sources.keys), Array(self.clocks.keys)].joined() { self.isFollowed[pid] = true }
    }
}

extension TransportStreamReader.Source {
    /// Follows the counter of packets with payload (ISO/IEC 13818-1 section 2.4.3.3).
    fileprivate mutating func follow(
        _ packet: TransportPacket,
        _ bytes: ArraySlice<UInt8>
    ) -> TransportStreamFault.Reason? {
        let found = packet.continuityCounter
        let last = self.counter
        self.counter = found
        let repeatable = packet.repeatable(bytes)
        let isSame = repeatable == self.lastPacket
        self.lastPacket = repeatable
        // A packet may come twice, not more often. Other bytes with the same counter are of an encoder that has begun again.
        if found == last, isSame, !self.isRepeated, !packet.isDiscontinuity {
            self.isRepeated = true
            return nil
        }
        self.isRepeated = false
        var reason: TransportStreamFault.Reason?
        if let last, found != (last + 1) & 0x0F {
            self.assembler.reset()
            if !packet.isDiscontinuity { reason = .continuity(expected: (last + 1) & 0x0F, found: found) }
        }
        if packet.isScrambled, !self.isScrambled { reason = reason ?? .scrambled }
        if packet.isScrambled { self.assembler.reset() }
        self.isScrambled = packet.isScrambled
        return reason
    }
}

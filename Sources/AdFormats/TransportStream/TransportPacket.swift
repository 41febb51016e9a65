// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The head of a packet of 188 bytes (ISO/IEC 13818-1 section 2.4.3.2).
struct TransportPacket {
    static let byteCount = 188
    static let syncByte: UInt8 = 0x47

    let isDamaged: Bool
    let beginsUnit: Bool
    let isScrambled: Bool
    let continuityCounter: Int
    /// The payload; `nil`: the packet has none.
    let payload: ArraySlice<UInt8>?
    /// `discontinuity_indicator`.
    let isDiscontinuity: Bool
    /// `program_clock_reference`: its base of 90 kHz, and its extension of 27 MHz.
    let clock: (base: Int, extension: Int)?

    /// Reads the 188 bytes of a packet; `nil`: their lengths do not fit.
    init?(_ bytes: ArraySlice<UInt8>) {
        let first = bytes.startIndex
        self.isDamaged = bytes[first + 1] & 0x80 != 0
        self.beginsUnit = bytes[first + 1] & 0x40 != 0
        self.isScrambled = bytes[first + 3] & 0xC0 != 0
        self.continuityCounter = Int(bytes[first + 3] & 0x0F)
        let hasAdaptation = bytes[first + 3] & 0x20 != 0
        let hasPayload = bytes[first + 3] & 0x10 != 0
        var payloadStart = first + 4
        var isDiscontinuity = false
        var clock: (base: Int, extension: Int)?
        if hasAdaptation {
            let length = Int(bytes[first + 4])
            payloadStart = first + 5 + length
            // With a payload at least one byte is left for it.
            guard payloadStart <= bytes.endIndex - (hasPayload ? 1 : 0) else { return nil }
            if length > 0 {
                let flags = bytes[first + 5]
                isDiscontinuity = flags & 0x80 != 0
                if flags & 0x10 != 0 {
                    guard length >= 7 else { return nil }
                    let field = bytes[(first + 6)..<(first + 12)].number(Int.self)
                    clock = (field >> 15, field & 0x1FF)
                }
            }
        }
        self.isDiscontinuity = isDiscontinuity
        self.clock = clock
        self.payload = hasPayload ? bytes[payloadStart...] : nil
    }

    /// The bytes that a repeat of this packet has: all but those of the clock (section 2.4.3.3).
    func repeatable(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var repeatable = Array(bytes)
        if self.clock != nil { for index in 6..<12 { repeatable[index] = 0 } }
        return repeatable
    }
}

/// The payload of a datagram that carries transport packets.
public enum TransportDatagram {
    /// The payload type of transport streams (RFC 3551 section 6).
    private static let payloadType: UInt8 = 33

    /// The transport packets of a datagram, with or without a header of RTP (RFC 3550 section 5.1; RFC 2250 section 2).
    ///
    /// - Parameter datagram: What came by UDP.
    /// - Returns: The packets, and the sequence number where RTP has one; `nil`: it is neither.
    public static func payload(of datagram: [UInt8]) -> (packets: ArraySlice<UInt8>, sequenceNumber: UInt16?)? {
        guard let first = datagram.first else { return nil }
        // As the first byte of RTP it would be version 1.
        if first == TransportPacket.syncByte { return (datagram[...], nil) }
        let type = datagram.count > 1 ? datagram[1] & 0x7F : 0
        // Dynamic types (96 to 127) have what their session says, which is this here.
        guard datagram.count >= 12, first >> 6 == 2, type == self.payloadType || type >= 96 else { return nil }
        var start = 12 + 4 * Int(first & 0x0F)
        if first & 0x10 != 0 {
            guard datagram.count >= start + 4 else { return nil }
            start += 4 + 4 * datagram.twoBytes(at: start + 2)
        }
        var end = datagram.count
        if first & 0x20 != 0 {
            let padding = Int(datagram[end - 1])
            guard padding > 0 else { return nil }
            end -= padding
        }
        guard start <= end else { return nil }
        return (datagram[start..<end], datagram[2..<4].number(UInt16.self))
    }
}

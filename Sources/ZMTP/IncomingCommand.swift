// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A command that a peer sent; ranges are of the bytes that were read.
enum IncomingCommand: Hashable {
    case ready(SocketType, identity: Range<Int>)
    case error(reason: Range<Int>)
    case ping(context: Range<Int>)
    case pong
    case subscribe(topic: Range<Int>)
    case cancel(topic: Range<Int>)
    /// RFC 37 lets a side pass over commands that it does not know.
    case other

    /// Reads the body of a command frame.
    init(reading bytes: Span<UInt8>, in body: Range<Int>) throws(ZMTPError) {
        guard let nameBytes = body.first.map({ Int(bytes[$0]) }), nameBytes > 0, body.count > nameBytes else {
            throw .malformedCommand
        }
        let name = body.lowerBound + 1..<body.lowerBound + 1 + nameBytes
        let data = name.upperBound..<body.upperBound
        if Self.matches(bytes, name, "READY") {
            self = try Self.ready(bytes, data)
        } else if Self.matches(bytes, name, "ERROR") {
            guard let count = data.first.map({ Int(bytes[$0]) }), data.count > count else { throw .malformedCommand }
            self = .error(reason: data.lowerBound + 1..<data.lowerBound + 1 + count)
        } else if Self.matches(bytes, name, "PING") {
            guard (2...2 + ZMTPLimits.pingContextBytesMax).contains(data.count) else { throw .malformedCommand }
            self = .ping(context: data.lowerBound + 2..<data.upperBound)
        } else if Self.matches(bytes, name, "PONG") {
            self = .pong
        } else if Self.matches(bytes, name, "SUBSCRIBE") {
            self = .subscribe(topic: data)
        } else if Self.matches(bytes, name, "CANCEL") {
            self = .cancel(topic: data)
        } else {
            self = .other
        }
    }

    private static func ready(_ bytes: Span<UInt8>, _ data: Range<Int>) throws(ZMTPError) -> IncomingCommand {
        var offset = data.lowerBound
        var count = 0
        var type: SocketType?
        var identity = data.upperBound..<data.upperBound
        while offset < data.upperBound {
            count += 1
            let nameBytes = Int(bytes[offset])
            let nameEnd = offset + 1 + nameBytes
            guard nameBytes > 0, nameEnd + 4 <= data.upperBound, count <= ZMTPLimits.propertiesMax else {
                throw .malformedCommand
            }
            var valueBytes = 0
            for index in 0..<4 { valueBytes = valueBytes << 8 | Int(bytes[nameEnd + index]) }
            let value = nameEnd + 4..<nameEnd + 4 + valueBytes
            guard value.upperBound <= data.upperBound else { throw .malformedCommand }
            // Names are not case-sensitive (RFC 23, "metadata").
            if self.matches(bytes, offset + 1..<nameEnd, "Socket-Type", ignoringCase: true) {
                type = SocketType.allCases.first { self.matches(bytes, value, $0) }
            } else if self.matches(bytes, offset + 1..<nameEnd, "Identity", ignoringCase: true) {
                guard valueBytes <= ZMTPLimits.identityBytesMax else { throw .malformedCommand }
                identity = value
            }
            offset = value.upperBound
        }
        guard let type else { throw .unknownSocketType }
        return .ready(type, identity: identity)
    }

    private static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>, _ type: SocketType) -> Bool {
        let text = Array(type.rawValue.utf8)
        return range.count == text.count && text.indices.allSatisfy { bytes[range.lowerBound + $0] == text[$0] }
    }

    private static func matches(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        _ text: StaticString,
        ignoringCase: Bool = false
    ) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        var index = range.lowerBound
        for expected in text.description.utf8 {
            let letterCase: UInt8 = ignoringCase && expected | 0x20 >= UInt8(ascii: "a") ? 0x20 : 0
            guard bytes[index] | letterCase == expected | letterCase else { return false }
            index += 1
        }
        return true
    }
}

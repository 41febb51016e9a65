// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A decoder that has a value for whatever a type asks for.
///
/// A type that it decodes shows which fields the type knows: its encoding has all of them, or only those that are always there.
struct SampleDecoder: Decoder {
    /// Whether optional fields have a value, and collections one element.
    let isFull: Bool
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields<Key>(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(decoder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

    /// Why there is no value.
    struct NoSample: Error {
        let type: String
    }

    fileprivate func sample<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let simple: [Any] = ["text", true, 1.5]
        for each in simple {
            if let value = each as? Value { return value }
        }
        if let integer = type as? any FixedWidthInteger.Type {
            guard let value = integer.init(exactly: 1) as? Value else { throw NoSample(type: "\(type)") }
            return value
        }
        return try Value(from: self)
    }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }
    /// Only dictionaries ask for them.
    var allKeys: [Key] { self.decoder.isFull ? ["sample"].compactMap { Key(stringValue: $0) } : [] }

    func contains(_ key: Key) -> Bool { self.decoder.isFull }
    func decodeNil(forKey key: Key) -> Bool { !self.decoder.isFull }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try self.decoder.sample(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { self.decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { self.decoder.unkeyedContainer() }
    func superDecoder() -> any Decoder { self.decoder }
    func superDecoder(forKey key: Key) -> any Decoder { self.decoder }
}

private struct Elements: UnkeyedDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { self.decoder.isFull ? 1 : 0 }
    var currentIndex = 0
    var isAtEnd: Bool { self.currentIndex == self.count }

    init(decoder: SampleDecoder) {
        self.decoder = decoder
    }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        self.currentIndex += 1
        return try self.decoder.sample(type)
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        self.decoder.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self.decoder.unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { self.decoder }
}

private struct Single: SingleValueDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { !self.decoder.isFull }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try self.decoder.sample(type) }
}

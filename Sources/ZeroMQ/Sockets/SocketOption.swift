// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A socket option by name, with the type of its value.
///
/// ```swift
/// try socket.set(.sendHighWaterMark, to: 1_000)
/// try socket.set(.heartbeatInterval, to: .seconds(20))
/// try socket.set(.reconnectInterval, to: nil)  // never by itself
/// let mechanism = try socket.get(.mechanism)
/// ```
///
/// The names are listed in `SocketOption+Names.swift`, together with the options that are left out and why.
package struct SocketOption<Value: Sendable>: Sendable {
    /// libzmq's number of the option.
    let number: CInt

    /// libzmq's name of the option, for errors.
    let name: String

    /// The size of the buffer that takes a value.
    let bytesMax: Int

    private let encoder: @Sendable (Value) -> [UInt8]?
    private let decoder: @Sendable ([UInt8]) -> Value?

    /// An option with its own way of writing a value, which answers `nil` for a value that must not be set, and of
    /// reading one.
    init(
        _ number: CInt,
        _ name: String,
        bytesMax: Int,
        encode: @escaping @Sendable (Value) -> [UInt8]?,
        decode: @escaping @Sendable ([UInt8]) -> Value?
    ) {
        self.number = number
        self.name = name
        self.bytesMax = bytesMax
        self.encoder = encode
        self.decoder = decode
    }

    /// The bytes of `value`.
    ///
    /// - Throws: `invalidArgument` for a value that must not be set.
    func encode(_ value: Value) throws(ZeroMQError) -> [UInt8] {
        guard let bytes = self.encoder(value) else {
            throw ZeroMQError(operation: "zmq_setsockopt", code: .invalidArgument, detail: "\(self.name) = \(value)")
        }
        return bytes
    }

    /// The value that libzmq wrote as `bytes`.
    ///
    /// - Throws: `protocolError` when it is no value of this type.
    func decode(_ bytes: [UInt8]) throws(ZeroMQError) -> Value {
        guard let value = self.decoder(bytes) else {
            throw ZeroMQError(operation: "zmq_getsockopt", code: .protocolError, detail: "\(self.name) = \(bytes)")
        }
        return value
    }
}

// MARK: - How values are written

extension FixedWidthInteger {
    /// The bytes in the order of this machine, as C has them.
    fileprivate var nativeBytes: [UInt8] {
        unsafe withUnsafeBytes(of: self) { unsafe Array($0) }
    }

    fileprivate init?(nativeBytes bytes: [UInt8]) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: Self.self) }
    }
}

/// The C value that stands for "as the operating system or libzmq has it", our `nil`.
private let unset: Int32 = -1

extension SocketOption where Value: FixedWidthInteger {
    static func integer(_ number: CInt, _ name: String, in range: ClosedRange<Value>) -> Self {
        Self(number, name, bytesMax: MemoryLayout<Value>.size) { value in
            range.contains(value) ? value.nativeBytes : nil
        } decode: { bytes in
            Value(nativeBytes: bytes)
        }
    }
}

extension SocketOption where Value == Int32? {
    static func optionalCount(_ number: CInt, _ name: String) -> Self {
        Self(number, name, bytesMax: 4) { value in
            guard let value else { return unset.nativeBytes }
            return value >= 1 ? value.nativeBytes : nil
        } decode: { bytes in
            Int32(nativeBytes: bytes).map { $0 == unset ? nil : $0 }
        }
    }
}

extension SocketOption where Value == Bool {
    static func flag(_ number: CInt, _ name: String) -> Self {
        Self(number, name, bytesMax: 4) { value in
            Int32(value ? 1 : 0).nativeBytes
        } decode: { bytes in
            Int32(nativeBytes: bytes).map { $0 != 0 }
        }
    }
}

extension SocketOption where Value == Bool? {
    static func optionalFlag(_ number: CInt, _ name: String) -> Self {
        Self(number, name, bytesMax: 4) { value in
            (value.map { $0 ? 1 : 0 } ?? unset).nativeBytes
        } decode: { bytes in
            Int32(nativeBytes: bytes).map { $0 == unset ? nil : $0 != 0 }
        }
    }
}

/// The units in which libzmq counts a time.
enum TimeUnit: Int64 {
    case milliseconds = 1
    case seconds = 1000

    /// `time` in this unit, rounded up, or `nil` when it is negative or more than `limit`.
    func count(_ time: Duration, limit: Duration) -> Int32? {
        guard time >= .zero, time <= limit else { return nil }
        let (seconds, attoseconds) = time.components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(exactly: (milliseconds + self.rawValue - 1) / self.rawValue)
    }

    func duration(_ count: Int32) -> Duration {
        .milliseconds(Int64(count) * self.rawValue)
    }
}

/// The longest time in milliseconds that a C int holds: 24 days.
private let longest = Duration.milliseconds(Int32.max)

extension SocketOption where Value == Duration {
    static func time(_ number: CInt, _ name: String, _ unit: TimeUnit = .milliseconds, limit: Duration? = nil) -> Self {
        Self(number, name, bytesMax: 4) { value in
            unit.count(value, limit: limit ?? longest)?.nativeBytes
        } decode: { bytes in
            Int32(nativeBytes: bytes).map(unit.duration)
        }
    }
}

extension SocketOption where Value == Duration? {
    /// A time that may be unset, and may be set back to that if libzmq lets it.
    static func optionalTime(
        _ number: CInt,
        _ name: String,
        _ unit: TimeUnit = .milliseconds,
        canBeUnset: Bool = true
    ) -> Self {
        Self(number, name, bytesMax: 4) { value in
            guard let value else { return canBeUnset ? unset.nativeBytes : nil }
            return unit.count(value, limit: longest)?.nativeBytes
        } decode: { bytes in
            Int32(nativeBytes: bytes).map { $0 == unset ? nil : unit.duration($0) }
        }
    }
}

extension SocketOption where Value == String {
    /// Text that libzmq returns with a zero byte at its end.
    static func text(_ number: CInt, _ name: String, bytesMax: Int) -> Self {
        Self(number, name, bytesMax: bytesMax + 1) { value in
            let bytes = Array(value.utf8)
            return bytes.count <= bytesMax && !bytes.contains(0) ? bytes : nil
        } decode: { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension SocketOption where Value == [UInt8] {
    /// The name of a peer; a first byte of zero marks the names that routers assign.
    static func routingID(_ number: CInt, _ name: String, count: ClosedRange<Int>) -> Self {
        Self(number, name, bytesMax: count.upperBound) { value in
            count.contains(value.count) && value.first != 0 ? value : nil
        } decode: { bytes in
            bytes
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import SystemSupport
import TestSupport

extension FuzzTarget {
    /// A balancer's header before the first byte of a connection.
    static let proxyHeader = FuzzTarget(
        name: "proxy-header",
        sample: { generator in
            let header = WrittenProxyHeader(&generator).bytes
            return header + generator.list(0...4) { $0.number(0...255) }
        },
        change: { input, generator in
            var bytes = input
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            case 1: bytes += generator.list(0...8) { $0.number(0...255) }
            // Its length, or the first one of its fields.
            case 2 where bytes.count > 15:
                bytes[Int.random(in: 14...15, using: &generator)] = generator.number(0...255)
            case 3 where bytes.count > 30:
                let place = Int.random(in: 28..<bytes.count, using: &generator)
                bytes[place] = generator.pick([0, 1, 3, 4, 5, 0x20, 255])
            default:
                guard !bytes.isEmpty else { break }
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = generator.number(0...255)
            }
            return bytes
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                let whole = Result { () throws(ProxyFailure) in try ProxyHeader.read(input.span) }
                if case .success(let header?) = whole {
                    try insist(
                        header.byteCount <= min(input.count, ProxyHeader.bytesMax),
                        "it is longer than what came"
                    )
                }
                // However it is cut, it comes out as the same: more bytes change nothing once something is decided.
                for count in Set([0, 1, 12, 15, 16, 17, input.count / 2, input.count - 1])
                where (0..<input.count).contains(count) {
                    let part = Result { () throws(ProxyFailure) in
                        try ProxyHeader.read(input.span.extracting(0..<count))
                    }
                    if case .success(nil) = part { continue }
                    try insist(part == whole, "of \(count) bytes it is \(part), and of all \(whole)")
                }
            }
        }
    )
}

/// A header that can be read.
private struct WrittenProxyHeader {
    let bytes: [UInt8]

    init(_ generator: inout SeededGenerator) {
        let isIPv4 = generator.bool()
        var body = (0..<(isIPv4 ? 12 : 36)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        if generator.bool() { body += [0x20, 0, 5, generator.number(0...7), 0, 0, 0, 0] }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let value: [UInt8] = generator.list(0...40) { $0.number(0...255) }
            // Fields that have no meaning here.
            let kind: UInt8 = generator.pick([0x01, 0x02, 0x04, 0x05, 0x30, 0xE4])
            body += [kind, 0, UInt8(value.count)] + value
        }
        var bytes: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
        bytes.append(generator.pick([0x20, 0x21, 0x21, 0x21]))
        bytes.append(isIPv4 ? 0x11 : 0x21)
        bytes += [UInt8(body.count >> 8), UInt8(body.count & 0xFF)]
        self.bytes = bytes + body
    }
}

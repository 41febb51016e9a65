// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments
import TestSupport
import Testing

@testable import Gateway

@Suite(.suiteLimit)
struct ControlLineTests {
    /// Takes every whole line that is there.
    private static func take(_ reader: inout ControlLineReader) throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test func `lines come out as they went in however they are cut, over 2000 random streams`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<2_000 {
            let limit = Int.random(in: 0...40, using: &random)
            let lines = (0..<Int.random(in: 0...8, using: &random))
                .map { _ in
                    (0..<Int.random(in: 0...limit, using: &random))
                        .map { _ in
                            let byte = UInt8.random(in: 0...255, using: &random)
                            return byte == 10 ? 11 : byte
                        }
                }
            let rest = [UInt8](repeating: 7, count: Int.random(in: 0...limit, using: &random))
            var bytes = lines.flatMap { $0 + [10] } + rest
            var reader = ControlLineReader(lineBytesMax: limit)
            var read: [[UInt8]] = []
            while !bytes.isEmpty {
                let count = Int.random(in: 1...min(bytes.count, 30), using: &random)
                reader.append(bytes[..<count])
                bytes.removeFirst(count)
                read += try Self.take(&reader)
                #expect(reader.heldBytes <= limit, "seed \(seed), round \(round)")
            }
            #expect(read == lines, "seed \(seed), round \(round)")
            #expect(reader.isInLine == !rest.isEmpty)
        }
    }

    @Test func `a line of the limit is read, one byte more is refused, with and without its end`() throws {
        let limit = 64
        var reader = ControlLineReader(lineBytesMax: limit)
        reader.append([UInt8](repeating: 65, count: limit) + [10])
        #expect(try reader.next()?.count == limit)

        reader.append([UInt8](repeating: 65, count: limit + 1) + [10])
        #expect(throws: ControlLineReader.TooLong.self) { try reader.next() }

        var endless = ControlLineReader(lineBytesMax: limit)
        endless.append([UInt8](repeating: 65, count: limit))
        #expect(try endless.next() == nil)
        endless.append([65])
        #expect(throws: ControlLineReader.TooLong.self) { try endless.next() }
    }

    @Test func `whatever bytes come, a command is read or refused with a sentence, over 5000 mutations`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let good = ControlRequest(
            command: "backup",
            arguments: ["to": "/mnt/\u{7f}ü", "n": 17, "deep": [["a": nil, "b": [true, 1.5]]]]
        )
        #expect(try ControlRequest(line: good.line.dropLast()) == good)
        for _ in 0..<5_000 {
            var line = Array(good.line.dropLast())
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where !line.isEmpty: line.remove(at: Int.random(in: 0..<line.count, using: &random))
                case 1:
                    line.insert(.random(in: 0...255, using: &random), at: .random(in: 0...line.count, using: &random))
                default:
                    if !line.isEmpty {
                        line[.random(in: 0..<line.count, using: &random)] = .random(in: 0...255, using: &random)
                    }
                }
            }
            do throws(ControlError) {
                let request = try ControlRequest(line: line)
                let again = try ControlRequest(line: request.line.dropLast())
                #expect(again == request, "seed \(seed)")
            } catch {
                #expect(!error.sentence.isEmpty && error.exitCode == 65, "seed \(seed)")
            }
        }
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: ControlLimits.lineBytesMax)
        #expect(throws: ControlError.self) { try ControlRequest(line: deep) }
    }

    @Test(arguments: [
        ControlReply.progress([:]), .progress(["pages": 3, "of": 1.25]), .done(["text": "a\nb\u{0}\"\\"]),
        .failed(ControlError("It does not work.", exitCode: 65)),
    ])
    func `an answer is one line and reads back as it was`(_ reply: ControlReply) {
        let line = reply.line
        #expect(line.count { $0 == 10 } == 1 && line.last == 10)
        #expect(ControlReply(line: line.dropLast()) == reply)
    }

    @Test func `numbers that JSON does not have are null`() {
        let line = ControlReply.done(["a": .number(.infinity), "b": [.number(.nan)]]).line
        #expect(String(decoding: line, as: UTF8.self) == "{\"done\":{\"a\":null,\"b\":[null]}}\n")
    }
}

extension ControlRequest {
    fileprivate init(line: ArraySlice<UInt8>) throws(ControlError) { try self.init(line: Array(line)) }
}

extension ControlReply {
    fileprivate init?(line: ArraySlice<UInt8>) { self.init(line: Array(line)) }
}

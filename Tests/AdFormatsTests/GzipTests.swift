// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import TestSupport
import Testing

/// Reading gzip; the vectors were made by zlib (Python's `zlib`).
@Suite(.suiteLimit)
struct GzipTests {
    /// A document with forty ads.
    private static let text = Array(
        ("<VAST version=\"4.2\">"
            + (0..<40).map { "<Ad id=\"\($0)\"><InLine>ad \($0 * 7_919 % 1_000) of many</InLine></Ad>" }.joined()
            + "</VAST>")
            .utf8
    )

    /// The same with the codes of RFC 1951 section 3.2.6.
    private static let fixed = Self.bytes(
        """
        H4sIAAAAAAAAA7MJcwwOUShLLSrOzM+zVTLRM1Kys3FMUchMsVUyADI983wy81LtElMUDBTy0xRyE/MqbfShgjb6jilwxYYoii0NLfErN0JR\
        bmFsgV+5MYpyc1Nz/MpNUJSbmZvhV26KotzU0hS/cjNU5YYm+JWboyg3MTbGr9wCRbmxqRF+5ZYoyo3MDQlEE2qkGloSilbUeDU0IBCvhqgR\
        a0QgXg1RI9bShEDEGqLGrIUZgZg1RI1acwsCUWuIGrfmBgTi1hA1cs2MCESuIWrsmpoQiF1D1Og1MSMQvUao0WtsQSB6jVCj18iSULZFi15D\
        AvFrhBq/hsYE4tcINX5NCUSvEWr0WpoTiF4j1Oi1sCQQvUao0WthSCB6jVCj19yYQPQaoUavmSmB6DVGjV5TcwLRa4wavSYWBKLXGDV6TQwI\
        Fcuo0WtsRCB6jVGj18iEQPwao8avoRmB+DVGi18C0WuMGr0EItcYNXItjQhErrElmmNwRa4+qA62AwDPxX/6igcAAA==
        """
    )

    /// The same with codes of its own.
    private static let dynamic = Self.bytes(
        """
        H4sIAAAAAAAAA4XVy0rEQBCF4Vdp8gCmq6pvBZlAloI7xf1ARsjCDCgIvv2MIMIJ2GfXNP+i4aOqp9fl+SV8XT4+t+t+GtKDDvO0rGFbT0O8\
        Hx/3p22/zOc1xHB9C+/n/Xsafy+ncVn/YoHYxfu5Qt6s9XODvObazxPkpZZ+niHPnvt5wVxSP6+QJ7N+3iC3rP3cIdcqhAlRxRkrukokroKw\
        SlwFYT0RWEHZVoisIG1thFbQtkZiK4hblOAK6uZEdAV5UyG8irzWCK8irzob2wOvEF9FXzHiq+ibCa8ir1fCq8jbnPAq8jYhvIq81QivIm/J\
        hNeQN1fCa8ibGuE15E2RrWXkNSW8hryaiK+hrxTiawdfwmvIS3ANcV0JrvnhMf/hjj9/8HwDz8V/+ooHAAA=
        """
    )

    /// `hello`, with every part that a header may have.
    private static let header = Self.bytes("H4sIHgAAAAAAAwMAYWJjbmFtZQBjb21tZW50ABI0y0jNyckHAIamEDYFAAAA")
    /// `hello ` and `world`, the second one not compressed.
    private static let two = Self.bytes("H4sIAAAAAAAAA8tIzcnJVwAA9vmB7QYAAAAfiwgAAAAAAAADAQUA+v93b3JsZEMRdzoFAAAA")
    private static let empty = Self.bytes("H4sIAAAAAAAAAwMAAAAAAAAAAAA=")

    private static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }

    private func fault(_ bytes: [UInt8], bytesMax: Int = 100_000) -> Gzip.Fault? {
        do throws(Gzip.Fault) {
            _ = try Gzip.inflated(bytes, bytesMax: bytesMax)
            return nil
        } catch {
            return error
        }
    }

    @Test func `what zlib has compressed is read`() throws {
        #expect(try Gzip.inflated(Self.fixed, bytesMax: 100_000) == Self.text)
        #expect(try Gzip.inflated(Self.dynamic, bytesMax: 100_000) == Self.text)
        #expect(try Gzip.inflated(Self.header, bytesMax: 100) == Array("hello".utf8))
        #expect(try Gzip.inflated(Self.two, bytesMax: 100) == Array("hello world".utf8))
        #expect(try Gzip.inflated(Self.empty, bytesMax: 0).isEmpty)
    }

    @Test func `as many bytes may come of it as the limit says, and no more`() throws {
        #expect(try Gzip.inflated(Self.dynamic, bytesMax: Self.text.count) == Self.text)
        #expect(self.fault(Self.dynamic, bytesMax: Self.text.count - 1) == .tooLarge(maximum: Self.text.count - 1))
        #expect(self.fault(Self.two, bytesMax: 10) == .tooLarge(maximum: 10))
        #expect(self.fault(Self.two, bytesMax: -1) == .tooLarge(maximum: 0))
    }

    @Test func `gzip that ends too early is broken`() {
        for whole in [Self.fixed, Self.dynamic, Self.header] {
            for count in 0..<whole.count {
                let expected = count < 10 ? Gzip.Fault.notGzip : .broken
                #expect(self.fault(Array(whole.prefix(count))) == expected, "\(count)")
            }
            #expect(self.fault(whole + [0]) == .broken)
        }
    }

    @Test func `another checksum or length is a mismatch`() {
        for back in 1...8 {
            var bytes = Self.dynamic
            bytes[bytes.count - back] ^= 1
            #expect(self.fault(bytes) == .mismatch)
        }
    }

    @Test func `changed bytes never trap, and never give another text`() async {
        var random = SeededGenerator(for: #function)
        for _ in 0..<3_000 {
            await Task.yield()
            var bytes = random.pick([Self.fixed, Self.dynamic, Self.header, Self.two])
            let text = try? Gzip.inflated(bytes, bytesMax: 100_000)
            for _ in 0..<random.number(1...3) {
                bytes[random.number(0...(bytes.count - 1))] ^= 1 << random.number(0...7)
            }
            guard let other = try? Gzip.inflated(bytes, bytesMax: 100_000) else { continue }
            // What a header says of a name or a time is not read.
            #expect(other == text, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }
}

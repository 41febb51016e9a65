// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import LiveTerminal
import TestSupport
import Testing

@Suite(.suiteLimit)
struct KeyDecoderTests {
    private static let keys: [(String, [Key])] = [
        ("q", [.character("q")]), ("ü日🎧", [.character("ü"), .character("日"), .character("🎧")]),
        ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7F}", [.backspace]), ("\u{8}", [.backspace]),
        ("\u{3}", [.control("c")]), ("\u{1A}", [.control("z")]), ("\u{C}", [.control("l")]),
        ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}[D", [.left]),
        ("\u{1B}[1;5A", [.up]), ("\u{1B}[H", [.home]), ("\u{1B}[F", [.end]), ("\u{1B}[1~", [.home]),
        ("\u{1B}[7~", [.home]),
        ("\u{1B}[4~", [.end]), ("\u{1B}[3~", [.delete]), ("\u{1B}[5~", [.pageUp]), ("\u{1B}[6;5~", [.pageDown]),
        ("\u{1B}OM", [.enter]),
        // The program has no use for these keys.
        ("\u{1B}[200~", []), ("\u{1B}[15~", []), ("\u{1B}[<0;1;1M", []), ("\u{1B}OP", []), ("\0", []),
        // Alt and a letter.
        ("\u{1B}x", [.escape, .character("x")]), ("\u{1B}\u{1B}[A", [.escape, .up]),
    ]

    @Test func `bytes are keys`() {
        for (text, keys) in Self.keys {
            var decoder = KeyDecoder()
            #expect(decoder.take(text.utf8) == keys, "\(Array(text.utf8))")
            #expect(!decoder.isWaiting, "\(Array(text.utf8))")
        }
    }

    @Test func `keys are the same in whatever pieces they come`() {
        var random = SeededGenerator(for: "keys")
        for _ in 0..<500 {
            let picked = random.list(0...8) { $0.pick(Self.keys) }
            var rest = Array(picked.map(\.0).joined().utf8)[...]
            var decoder = KeyDecoder()
            var keys: [Key] = []
            while !rest.isEmpty {
                let count = random.number(1...min(4, rest.count))
                keys += decoder.take(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(keys == picked.flatMap(\.1))
            #expect(!decoder.isWaiting)
        }
    }

    @Test func `an escape that nothing follows is the key`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0x1B]).isEmpty && decoder.isWaiting)
        #expect(decoder.settle() == [.escape] && !decoder.isWaiting)
        #expect(decoder.take(Array("\u{1B}[".utf8)).isEmpty)
        #expect(decoder.settle() == [.escape, .character("[")])
        // Part of a letter is none.
        #expect(decoder.take([0xE6, 0x97]).isEmpty && decoder.isWaiting)
        #expect(decoder.settle().isEmpty && !decoder.isWaiting)
    }

    @Test(arguments: [0, 1])
    func `a sequence at the limit is one, and a longer one is none`(beyond: Int) {
        var decoder = KeyDecoder()
        let count = KeyDecoder.sequenceBytesMax - 1 + beyond
        let keys = decoder.take(Array("\u{1B}[\(String(repeating: ";", count: count))A".utf8))
        #expect(keys == (beyond == 0 ? [.up] : [.character("A")]))
    }

    @Test func `any bytes are read, and few wait`() {
        var random = SeededGenerator(for: "noise")
        for _ in 0..<300 {
            var decoder = KeyDecoder()
            _ = decoder.take(
                random.list(0...200) {
                    $0.pick([0x1B, 0x5B, 0x3B, 0xE6, 0x41, 0x80, 0xFF, $0.number(0...255)] as [UInt8])
                }
            )
            _ = decoder.settle()
            // What settles may itself begin something: it is not much.
            for _ in 0...KeyDecoder.sequenceBytesMax where decoder.isWaiting { _ = decoder.settle() }
            #expect(!decoder.isWaiting)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@testable import GatewayCore

/// The ordered map against a dictionary that is sorted each time.
@Suite(.suiteLimit)
struct SortedTreeTests {
    @Test(arguments: [10, 40, 2_000])
    func `it comes to what a sorted dictionary comes to, and copies stay as they were`(keys: Int) throws {
        var generator = SeededGenerator(for: "\(#function)\(keys)")
        var tree = SortedTree<Int, Int>()
        var model: [Int: Int] = [:]
        var copies: [(tree: SortedTree<Int, Int>, model: [Int: Int])] = []
        for step in 0..<6_000 {
            // It grows at first, and shrinks in the end.
            let removes = generator.number(0...9) < (step < 3_000 ? 3 : 7)
            let key = generator.number(0...keys)
            if removes {
                try #require(tree.removeValue(forKey: key) == model.removeValue(forKey: key))
            } else {
                try #require(tree.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            }
            try #require(tree.count == model.count)
            try #require(tree[key] == model[key])
            if step % 500 == 0 {
                copies.append((tree, model))
                try self.compare(tree, model, &generator, keys)
            }
        }
        for (tree, model) in copies { try self.compare(tree, model, &generator, keys) }
        for key in model.keys { tree.removeValue(forKey: key) }
        #expect(tree.isEmpty && tree.first == nil && tree.elements.isEmpty)
    }

    private func compare(
        _ tree: SortedTree<Int, Int>,
        _ model: [Int: Int],
        _ generator: inout SeededGenerator,
        _ keys: Int
    ) throws {
        let sorted = model.sorted { $0.key < $1.key }
        try #require(tree.elements.map(\.key) == sorted.map(\.key))
        try #require(tree.elements.map(\.value) == sorted.map(\.value))
        try #require(tree.first?.key == sorted.first?.key)
        let (start, most) = (generator.number(-1...keys + 1), generator.number(1...50))
        var found: [Int] = []
        tree.scan(from: start) { key, _ in
            found.append(key)
            return found.count < most
        }
        try #require(found == Array(sorted.map(\.key).filter { $0 >= start }.prefix(most)))
        found = []
        tree.scanBackwards { key, _ in
            found.append(key)
            return found.count < most
        }
        try #require(found == Array(sorted.map(\.key).reversed().prefix(most)))
        var anew = SortedTree<Int, Int>()
        for (key, value) in model { anew.updateValue(value, forKey: key) }
        try #require(anew == tree, "however it came about")
        anew.updateValue(-1, forKey: keys + 7)
        try #require(anew != tree)
    }
}

/// The vectors of the reference implementation: the key 00 … 0f, and the bytes 00 … as many as there are.
@Suite(.suiteLimit)
struct SipHashTests {
    private static let reference: [UInt64] = [
        0x726F_DB47_DD0E_0E31, 0x74F8_39C5_93DC_67FD, 0x0D6C_8009_D9A9_4F5A, 0x8567_6696_D7FB_7E2D,
        0xCF27_94E0_2771_87B7, 0x1876_5564_CD99_A68D, 0xCBC9_466E_58FE_E3CE, 0xAB02_00F5_8B01_D137,
        0x93F5_F579_9A93_2462,
    ]

    @Test func `hashes are those of the reference`() {
        let hash = SipHash(key: 0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        for (count, expected) in Self.reference.enumerated() {
            #expect(hash((0..<count).map { UInt8($0) }) == expected)
        }
        #expect(hash((0..<15).map { UInt8($0) }) == 0xA129_CA61_49BE_45E5)
        #expect(SipHash(key: 0, 0)([1]) != hash([1]))
    }
}

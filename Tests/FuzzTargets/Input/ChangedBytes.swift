// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport

/// Bytes with one change: a cut, a piece more, some less, or another byte.
///
/// - Parameters:
///   - input: the bytes.
///   - pieces: what a reader of such bytes looks for.
///   - generator: draws the change.
/// - Returns: the changed bytes.
func changed(_ input: [UInt8], pieces: [[UInt8]], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    let place = Int.random(in: 0...bytes.count, using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: bytes = Array(bytes.prefix(place))
    case 1: bytes.insert(contentsOf: generator.pick(pieces), at: place)
    case 2: bytes.removeSubrange(place..<min(place + Int.random(in: 1...8, using: &generator), bytes.count))
    default:
        guard place < bytes.count else { break }
        bytes[place] = generator.number(0...255)
    }
    return bytes
}

/// The same with pieces of text.
func changed(_ input: [UInt8], pieces: [String], _ generator: inout SeededGenerator) -> [UInt8] {
    changed(input, pieces: pieces.map { Array($0.utf8) }, &generator)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// What libFuzzer calls. It brings its own `main`, so that this is built by scripts/fuzz-targets.sh only.

import Foundation
import FuzzTargets
import TestSupport

/// The target that `CUECAST_FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["CUECAST_FUZZ_TARGET"] ?? ""
    guard let found = FuzzTarget.all.first(where: { $0.name == name }) else {
        print("CUECAST_FUZZ_TARGET is '\(name)'; there are: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
        exit(64)
    }
    return found
}()

/// Tries one input: ends the process where it breaks something.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safety: libFuzzer lends so many bytes during the call.
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    if let fault = target.fault(input) { fatalError(fault) }
    return 0
}

/// Makes the next input of one, in its place, and says how long it is.
@c(LLVMFuzzerCustomMutator)
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int, _ seed: CUnsignedInt) -> Int {
    var generator = SeededGenerator(seed: UInt64(seed))
    // Now and then its own way: it knows what numbers and texts the code compares with.
    if Int.random(in: 0..<4, using: &generator) == 0 { return unsafe libFuzzerMutate(data, count, countMax) }
    // Safety: libFuzzer lends so many bytes during the call.
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    let isFresh = input.count < 2 || Int.random(in: 0..<256, using: &generator) == 0
    let changed = (isFresh ? target.sample(&generator) : target.change(input, &generator)).prefix(countMax)
    // Safety: there is room for `countMax` bytes.
    for (index, byte) in changed.enumerated() { unsafe data[index] = byte }
    return changed.count
}

@_silgen_name("LLVMFuzzerMutate")
private func libFuzzerMutate(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int) -> Int

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads memory that was given back: what the address sanitizer is there to find.
@main
enum Program {
    static func main() {
        let pointer = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        pointer.initialize(to: 1)
        pointer.deallocate()
        print(pointer.pointee)
    }
}

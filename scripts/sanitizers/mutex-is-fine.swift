// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// Tasks that fight over a mutex, and make no mistake: the thread sanitizer must say nothing.
final class Guarded: Sendable {
    let number = Mutex(0)
}

@main
enum Program {
    static func main() async {
        let guarded = Guarded()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100_000 { guarded.number.withLock { $0 += 1 } }
                }
            }
        }
        print(guarded.number.withLock { $0 })
    }
}

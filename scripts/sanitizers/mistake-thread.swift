// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// Tasks write one number without a lock: what the thread sanitizer is there to find.
///
/// The number lies beside a mutex, which must not hide it, nor be reported itself.
final class Mistake: Sendable {
    let guarded = Mutex(0)
    // Safety: it is not safe; that is the point.
    nonisolated(unsafe) var number = 0
}

@main
enum Program {
    static func main() async {
        let mistake = Mistake()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10_000 {
                        mistake.number += 1
                        mistake.guarded.withLock { $0 += 1 }
                    }
                }
            }
        }
        print(mistake.number, mistake.guarded.withLock { $0 })
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import Synchronization

/// Finds the object that a callback of libnats is for, by the number that libnats was given in place of a pointer.
///
/// libnats may call back while the object goes away: a number that is not known any more is passed over.
final class CallbackTable<Target: AnyObject & Sendable>: Sendable {
    private struct State {
        var newest: UInt = 0
        var targets: [UInt: Target] = [:]
    }

    private let state = Mutex(State())

    /// Keeps an object until `remove`.
    func add(_ target: Target) -> UInt {
        self.state.withLock { state in
            state.newest += 1
            state.targets[state.newest] = target
            return state.newest
        }
    }

    func remove(_ number: UInt) { _ = self.state.withLock { $0.targets.removeValue(forKey: number) } }

    /// - Parameter closure: as libnats hands it back.
    /// - Returns: the object; `nil`: it is gone.
    func find(_ closure: UnsafeMutableRawPointer?) -> Target? {
        let number = UInt(bitPattern: closure)
        return self.state.withLock { $0.targets[number] }
    }

    /// The number as libnats takes it.
    static func closure(_ number: UInt) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: number)
    }
}
#endif

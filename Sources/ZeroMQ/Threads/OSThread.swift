// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import Glibc

/// A thread of the operating system: the few calls that are needed here and by others.
package enum OSThread {
    /// The number of the calling thread.
    ///
    /// Never 0, and not used again while the thread exists.
    static var currentID: UInt { pthread_self() }

    /// The most bytes of a name that Linux keeps.
    private static let nameBytesMax = 15

    /// A started thread that somebody must join or let go.
    package struct Handle: Sendable {
        fileprivate let thread: pthread_t

        /// Waits until the thread is gone.
        package func join() {
            let code = pthread_join(self.thread, nil)
            precondition(code == 0, "pthread_join answered \(code)")
        }

        /// Lets the thread's remains go when it ends.
        package func detach() {
            let code = pthread_detach(self.thread)
            precondition(code == 0, "pthread_detach answered \(code)")
        }
    }

    /// Runs `body` on a new thread, which `top -H` shows by the first 15 bytes of `name`.
    ///
    /// - Throws: `resourceUnavailable` when there are too many threads.
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(ZeroMQError) -> Handle {
        let shortName = String(decoding: name.utf8.prefix(Self.nameBytesMax), as: UTF8.self)
        let start = unsafe Unmanaged.passRetained(
            Body {
                _ = unsafe pthread_setname_np(pthread_self(), shortName)
                body()
            }
        )
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            unsafe start.release()
            throw ZeroMQError(operation: "pthread_create", code: .init(rawValue: code), detail: name)
        }
        return Handle(thread: thread)
    }

    /// What crosses the C interface.
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if os(Linux)
internal import CSystemSupport
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A thread of the operating system: the few calls that our threads need.
package enum OSThread {
    /// The number of the calling thread.
    ///
    /// Never 0, and not used again while the thread exists.
    package static var currentID: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        pthread_self()
        #endif
    }

    /// The most bytes of a name that Linux keeps.
    private static let nameBytesMax = 15

    /// A started thread that its owner must join or let go.
    package struct Handle: Sendable {
        #if canImport(Darwin)
        /// The address of what the system keeps of the thread: a pointer would not be `Sendable`.
        fileprivate let address: UInt

        private func thread() -> pthread_t {
            guard let thread = unsafe pthread_t(bitPattern: self.address) else { fatalError("a thread has no address") }
            return unsafe thread
        }

        private func joined() -> CInt { unsafe pthread_join(self.thread(), nil) }
        private func detached() -> CInt { unsafe pthread_detach(self.thread()) }
        #else
        fileprivate let thread: pthread_t

        private func joined() -> CInt { pthread_join(self.thread, nil) }
        private func detached() -> CInt { pthread_detach(self.thread) }
        #endif

        /// Waits until the thread is gone.
        package func join() {
            let code = self.joined()
            precondition(code == 0, "pthread_join answered \(code)")
        }

        /// Lets the thread's remains go when it ends.
        package func detach() {
            let code = self.detached()
            precondition(code == 0, "pthread_detach answered \(code)")
        }
    }

    /// Runs `body` on a new thread, which `top -H` shows by the first 15 bytes of `name`.
    ///
    /// - Throws: when there are too many threads.
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemCallError) -> Handle {
        let shortName = String(decoding: name.utf8.prefix(Self.nameBytesMax), as: UTF8.self)
        let start = unsafe Unmanaged.passRetained(
            Body {
                #if canImport(Darwin)
                _ = unsafe pthread_setname_np(shortName)
                #else
                _ = unsafe pthread_setname_np(pthread_self(), shortName)
                #endif
                body()
            }
        )
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
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
            throw SystemCallError(operation: "pthread_create \(name)", code: code)
        }
        #if canImport(Darwin)
        return unsafe Handle(address: UInt(bitPattern: thread))
        #else
        return Handle(thread: thread)
        #endif
    }

    /// The object that crosses the C interface.
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}

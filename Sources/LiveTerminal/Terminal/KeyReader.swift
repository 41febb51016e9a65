// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads keys from a terminal, on a queue of its own, until it is stopped or the terminal's input has ended.
package final class KeyReader: Sendable {
    /// After so long an ESC that nothing followed is the key.
    private static let sequencePause: DispatchTimeInterval = .milliseconds(50)
    /// The most bytes of one read.
    private static let readBytesMax = 1_024

    private struct State {
        var decoder = KeyDecoder()
        /// Which read was the last.
        var reads = 0
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "cuecast.keys")
    // Safety: Dispatch's objects may be used from any thread; this one is set up before other code has it.
    private nonisolated(unsafe) let source: any DispatchSourceRead
    private let state = Mutex(State())
    private let receive: @Sendable ([Key]?) -> Void

    /// - Parameters:
    ///   - descriptor: the terminal.
    ///   - receive: gets keys as they come, and `nil` once, where the terminal is gone.
    package init(_ descriptor: Int32 = STDIN_FILENO, _ receive: @escaping @Sendable ([Key]?) -> Void) {
        self.descriptor = descriptor
        self.receive = receive
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: self.queue)
        unsafe self.source = source
        source.setEventHandler { [weak self] in self?.read() }
        source.resume()
    }

    deinit {
        unsafe self.source.cancel()
    }

    /// Reads no more; further keys are left for the next reader.
    package func stop() {
        unsafe self.source.cancel()
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: Self.readBytesMax)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            #if canImport(Glibc)
            unsafe Glibc.read(self.descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            unsafe Musl.read(self.descriptor, buffer.baseAddress, buffer.count)
            #else
            unsafe Darwin.read(self.descriptor, buffer.baseAddress, buffer.count)
            #endif
        }
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            unsafe self.source.cancel()
            return self.receive(nil)
        }
        let (keys, read, isWaiting) = self.state.withLock { state in
            state.reads += 1
            let keys = state.decoder.take(bytes.prefix(count))
            return (keys, state.reads, state.decoder.isWaiting)
        }
        if !keys.isEmpty { self.receive(keys) }
        guard isWaiting else { return }
        self.queue.asyncAfter(deadline: .now() + Self.sequencePause) { [weak self] in self?.settle(after: read) }
    }

    private func settle(after read: Int) {
        let keys = self.state.withLock { $0.reads == read ? $0.decoder.settle() : [] }
        if !keys.isEmpty { self.receive(keys) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import COpenSSL

/// The buffers of one thread's TLS sessions, used by one after the other: encrypted bytes in memory.
///
/// One for all, so that a session keeps nothing of its own while it has nothing to do.
@safe
package final class TLSPipe {
    /// The room for what comes.
    package static let inputBytesMax = 32_768

    /// The bytes that came: the reader of a socket puts them here, from the beginning.
    package var input = [UInt8](repeating: 0, count: inputBytesMax)
    private var inputOffset = 0
    /// How much of ``input`` is there.
    private var inputEnd = 0
    /// The bytes to send.
    private var output: [UInt8] = []

    package init() {}

    /// How many bytes have come and were not taken.
    var inputCount: Int { self.inputEnd - self.inputOffset }

    /// So many bytes were put into ``input``; what was there before is gone.
    package func received(_ count: Int) {
        self.inputOffset = 0
        self.inputEnd = count
    }

    /// Takes what is to be sent.
    package func takeOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &self.output)
        return bytes
    }

    /// Gives the room of what was sent back for what comes next.
    package func reuse(_ bytes: consuming [UInt8]) {
        guard self.output.isEmpty, bytes.capacity <= 4 * Self.inputBytesMax else { return }
        bytes.removeAll(keepingCapacity: true)
        self.output = bytes
    }

    // MARK: - What OpenSSL calls

    /// How OpenSSL reaches a pipe; one for the process, which is never given back.
    // Safety: set once, and not changed after it was made.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pipe") else { return nil }
        _ = unsafe BIO_meth_set_read(method) { bio, bytes, count in
            guard let bio = unsafe bio, let bytes = unsafe bytes, count > 0 else { return -1 }
            return unsafe TLSPipe.of(bio).give(to: bytes, atMost: Int(count), bio)
        }
        _ = unsafe BIO_meth_set_write(method) { bio, bytes, count in
            guard let bio = unsafe bio, let bytes = unsafe bytes, count > 0 else { return -1 }
            unsafe cuecast_bio_went_on(bio)
            // Safety: OpenSSL gives so many bytes.
            unsafe TLSPipe.of(bio).output.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        _ = unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return unsafe method
    }()

    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe Self.method, let bio = unsafe BIO_new(method) else { return nil }
        // Safety: the owner of the BIO holds the pipe for as long.
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func of(_ bio: OpaquePointer) -> TLSPipe {
        // Safety: `makeBIO` put it there, and the session that calls holds the pipe.
        unsafe Unmanaged<TLSPipe>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    }

    private func give(to target: UnsafeMutablePointer<CChar>, atMost count: Int, _ bio: OpaquePointer) -> CInt {
        let given = min(count, self.inputCount)
        guard given > 0 else {
            unsafe cuecast_bio_wants_bytes(bio)
            return -1
        }
        unsafe cuecast_bio_went_on(bio)
        // Safety: both have room for so many bytes.
        unsafe self.input.withUnsafeBytes { input in
            unsafe UnsafeMutableRawBufferPointer(start: target, count: given)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: input[self.inputOffset..<self.inputOffset + given]))
        }
        self.inputOffset += given
        return CInt(given)
    }
}

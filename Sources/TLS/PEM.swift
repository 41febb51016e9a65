// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import COpenSSL

/// Common steps of reading PEM with OpenSSL.
enum PEM {
    /// Says that there is no password; OpenSSL would ask at the terminal.
    static let noPassword:
        @convention(c) (
            UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?
        ) -> CInt = { _, _, _, asked in
            // Safety: every caller that gives a pointer gives one to a Bool that lives during the call.
            unsafe asked?.assumingMemoryBound(to: Bool.self).pointee = true
            return 0
        }

    /// The bytes as something that OpenSSL reads; it has a copy of its own.
    static func memory(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        let count = unsafe bytes.withUnsafeBytes { unsafe BIO_write(bio, $0.baseAddress, CInt(clamping: $0.count)) }
        guard bytes.isEmpty || count == bytes.count else {
            _ = unsafe BIO_free(bio)
            return nil
        }
        return unsafe bio
    }

    /// Whether reading stopped because nothing more is there.
    static func isAtEnd() -> Bool {
        defer { ERR_clear_error() }
        return cuecast_error_is_end_of_pem(ERR_peek_last_error()) == 1
    }

    /// Why OpenSSL refused something; it is forgotten then.
    static func takeReason() -> String {
        let reason = unsafe ERR_reason_error_string(ERR_peek_last_error())
        defer { ERR_clear_error() }
        return unsafe reason.map { unsafe String(cString: $0) } ?? "OpenSSL does not say why"
    }
}

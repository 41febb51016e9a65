// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
package import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The two files of a data directory about sessions that are forgotten.
///
/// `forgotten.sessions` says who is refused. `forgetting.pending` is there while the books are being changed: it says what a start after a
/// crash has to do again before anything else looks at the books. It is the one place that still names the session, and goes last.
package struct ForgettingFiles: Sendable {
    /// The file of the refused sessions.
    package static let refusedName = "forgotten.sessions"
    static let pendingName = "forgetting.pending"
    static let refusedBytesMax = 64 * (1 + ForgottenSessions.forgottenSessionsMax)
    private static let pendingBytesMax = 256

    /// The names of the two limits, for sentences.
    static let refusedLimit = "forgottenSessionsFileBytesMax"
    private static let pendingLimit = "forgettingPendingFileBytesMax"

    private let refused: String
    private let pending: String

    package init(directory: String) {
        self.refused = directory + "/" + Self.refusedName
        self.pending = directory + "/" + Self.pendingName
    }

    /// The sessions that are refused; none where there is no file.
    package func read() throws(SecretFile.Fault) -> ForgottenSessions {
        guard let text = try Self.text(of: self.refused, bytesMax: Self.refusedBytesMax, limit: Self.refusedLimit)
        else { return .empty() }
        guard let sessions = ForgottenSessions(text: text) else {
            throw SecretFile.Fault(path: self.refused, reason: "it is not what a gateway wrote")
        }
        return sessions
    }

    /// Keeps the sessions that are refused.
    package func write(_ sessions: ForgottenSessions) throws(SecretFile.Fault) {
        try SecretFile.replace(self.refused, Array(sessions.text.utf8), mode: 0o600)
    }

    /// The change in progress, or that the process before left unfinished; `nil`: none.
    func readPending() throws(SecretFile.Fault) -> SessionPseudonyms? {
        guard let text = try Self.text(of: self.pending, bytesMax: Self.pendingBytesMax, limit: Self.pendingLimit)
        else { return nil }
        guard let names = SessionPseudonyms(text: text) else {
            throw SecretFile.Fault(path: self.pending, reason: "it is not what a gateway wrote")
        }
        return names
    }

    func writePending(_ names: SessionPseudonyms) throws(SecretFile.Fault) {
        try SecretFile.replace(self.pending, Array(names.text.utf8), mode: 0o600)
    }

    /// Everything was changed.
    func removePending() throws {
        guard unsafe unlink(self.pending) == 0 || errno == ENOENT else {
            throw SecretFile.Fault(
                path: self.pending,
                reason: "it cannot be removed: \(unsafe String(cString: strerror(errno)))"
            )
        }
        try StoreFiles.synchronizeFolder(of: self.pending)
    }

    /// Whether the books say different things until a start, or the next call, has ended what was begun.
    package var isPending: Bool { unsafe access(self.pending, F_OK) == 0 }

    /// A mark that changes when a session is forgotten.
    var mark: [String] {
        [
            (try? Self.text(of: self.refused, bytesMax: Self.refusedBytesMax, limit: Self.refusedLimit)) ?? "",
            (try? Self.text(of: self.pending, bytesMax: Self.pendingBytesMax, limit: Self.pendingLimit)) ?? "",
        ]
    }

    private static func text(of path: String, bytesMax: Int, limit: String) throws(SecretFile.Fault) -> String? {
        do throws(SecretFile.Fault) {
            let bytes = try SecretFile.secret(path, bytesMax: bytesMax, limit: limit)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}

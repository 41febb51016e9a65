// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import Logging
import SQLiteStore

/// The file of the keys that sign, as a configuration names it.
enum SigningKeys {
    static func path(for configuration: GatewayConfiguration) -> String {
        configuration.signingKeysFile.isEmpty
            ? configuration.dataDirectory + "/" + KeyRingFile.name : configuration.signingKeysFile
    }

    /// The wall clock.
    static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }

    /// Reads the file.
    ///
    /// - Throws: with no secret in the sentence.
    static func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> MessageKeys {
        do throws(KeyFileError) {
            return MessageKeys(try KeyRingFile.read(Self.path(for: configuration)))
        } catch {
            throw ConfigurationFaults([ConfigurationFault(key: "signing.keysFile", reason: "\(error)")])
        }
    }

    /// Reads the file, or makes one: in the data directory only, which the gateway keeps by itself.
    ///
    /// - Parameters:
    ///   - configuration: names the file.
    ///   - log: the event log; where it has breaks, a gateway has signed before.
    ///   - isShared: whether other gateways write to it: then keys are not made where there are breaks.
    ///   - logger: for people.
    /// - Returns: the keys.
    /// - Throws: with no secret in the sentence.
    static func open(
        for configuration: GatewayConfiguration,
        of log: any EventLog,
        isShared: Bool,
        logger: Logger
    ) async throws -> MessageKeys {
        guard configuration.signingKeysFile.isEmpty else { return try Self.read(for: configuration) }
        let path = Self.path(for: configuration)
        let hasSigned = try await log.head(of: .breaks) > 0
        guard !isShared || !hasSigned || FileManager.default.fileExists(atPath: path) else {
            throw SharedLogFault(
                description:
                    "there are no signing keys in \(path), and other gateways of the log have signed with theirs: copy the file of one of them, or name it with signing.keysFile"
            )
        }
        let (ring, isNew) = try KeyRingFile.readOrMake(path, at: Self.now)
        if isNew, hasSigned {
            logger.warning(
                "the keys that signed deliveries are gone: acknowledgements of what was handed out before are refused, until a backup of the file is in place",
                metadata: ["file": "\(path)", "key": "\(ring.signing.id)"]
            )
        } else if isNew {
            logger.notice("a key that signs was made", metadata: ["file": "\(path)", "key": "\(ring.signing.id)"])
        }
        return MessageKeys(ring)
    }
}

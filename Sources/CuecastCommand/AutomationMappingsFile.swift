// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import Gateway
import SecretFiles
import Synchronization

/// The mappings for messages of automation systems, from a file.
enum AutomationMappingsFile {
    /// Why a file has no mappings that can be used.
    struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// One sentence for people, which names the file.
        let description: String
    }

    /// The setting of the gateway that names the file.
    static let setting = "breaks.signalMappingsFile"

    /// Reads a file.
    ///
    /// - Parameter path: of the file.
    /// - Returns: its mappings, and the ready ones whose names it does not have.
    /// - Throws: the first thing that is wrong.
    static func read(_ path: String) throws(Fault) -> [AutomationMapping] {
        let document: [UInt8]
        do throws(SecretFile.Fault) {
            document =
                try SecretFile.read(
                    path,
                    bytesMax: AutomationLimits.messageBytesMax,
                    limit: "messageBytesMax"
                )
                .bytes
        } catch {
            throw Fault(description: "\(error)")
        }
        do throws(DocumentFault) {
            return try AutomationMappingDocument.read(document)
        } catch {
            throw Fault(description: "\(path): \(error)")
        }
    }

    /// The mappings that a gateway knows.
    ///
    /// - Parameter configuration: checked.
    /// - Returns: the ready ones where it names no file.
    /// - Throws: `ConfigurationFaults` with what is wrong with the file.
    static func mappings(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> [AutomationMapping] {
        guard !configuration.signalMappingsFile.isEmpty else { return AutomationMapping.ready }
        do throws(Fault) {
            return try Self.read(configuration.signalMappingsFile)
        } catch {
            throw ConfigurationFaults([ConfigurationFault(key: Self.setting, reason: error.description)])
        }
    }
}

/// The mappings that hold now.
final class AutomationMappingsHolder: Sendable {
    private let state: Mutex<[AutomationMapping]>

    init(_ mappings: [AutomationMapping]) {
        self.state = Mutex(mappings)
    }

    /// The mappings for the next message.
    var mappings: [AutomationMapping] { self.state.withLock(\.self) }

    /// Lets other ones hold from the next message on.
    func reload(_ mappings: [AutomationMapping]) {
        self.state.withLock { $0 = mappings }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
package import ZeroMQ

/// The keys by which a gateway tells broadcasters apart: a key of its own, and theirs.
package struct BroadcasterAccess: Hashable, Sendable {
    /// The gateway's own.
    package let keys: CurveKeyPair
    package let directory: BroadcasterDirectory

    package init(keys: CurveKeyPair, directory: BroadcasterDirectory) {
        self.keys = keys
        self.directory = directory
    }

    /// Reads the two files that a configuration names.
    ///
    /// - Returns: `nil` where it names none: then every peer that reaches the broadcasters' socket may publish.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package static func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> BroadcasterAccess?
    {
        guard configuration.tellsBroadcastersApart else { return nil }
        var faults: [ConfigurationFault] = []
        var keys: CurveKeyPair?
        var directory: BroadcasterDirectory?
        do {
            keys = try CurveKeyPair(secretKey: CurveKeyFile.secretKey(at: configuration.broadcastersKeyFile))
        } catch {
            faults.append(ConfigurationFault(key: "broadcasters.secretKeyFile", reason: "\(error)"))
        }
        do throws(BroadcasterFaults) {
            directory = try BroadcastersFile.read(path: configuration.broadcastersFile)
        } catch {
            faults += error.sentences.map {
                ConfigurationFault(key: "broadcasters.file", reason: "\(configuration.broadcastersFile): \($0)")
            }
        }
        guard faults.isEmpty, let keys, let directory else { throw ConfigurationFaults(faults) }
        return BroadcasterAccess(keys: keys, directory: directory)
    }
}

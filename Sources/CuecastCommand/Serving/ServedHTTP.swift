// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Gateway
import GatewayHTTP
import Logging
import SecretFiles

/// The rights and the certificate of the HTTP server, and the file that states its address.
struct ServedHTTP: Sendable {
    /// The rights; `nil`: HTTP is not served.
    let access: HTTPAccessHolder?
    /// The certificate; `nil`: HTTP is plain.
    let identity: HTTPIdentityHolder?
    /// The mappings for messages of automation systems.
    let mappings: AutomationMappingsHolder
    private let endpoint: HTTPEndpointFile

    /// - Parameters:
    ///   - access: the rights; `nil`: HTTP is not served.
    ///   - identity: the certificate; `nil`: HTTP is plain.
    ///   - mappings: for messages of automation systems.
    ///   - directory: the data directory.
    ///   - outlets: the metrics show when the certificate ends.
    init(
        _ access: HTTPAccess?,
        _ identity: HTTPIdentity?,
        _ mappings: [AutomationMapping],
        in directory: String,
        outlets: ProcessOutlets
    ) {
        self.mappings = AutomationMappingsHolder(mappings)
        self.access = access.map { HTTPAccessHolder($0) }
        self.identity = identity.map { HTTPIdentityHolder($0, metrics: outlets.metrics) }
        self.endpoint = HTTPEndpointFile(in: directory, self.identity)
    }

    /// Lets commands on this machine find where HTTP is served; without that they must be told.
    func bound(_ address: String, logger: Logger) {
        do throws(SecretFile.Fault) {
            try self.endpoint.bound(address)
        } catch {
            logger.warning("commands must be told where HTTP is served", metadata: ["error": "\(error)"])
        }
    }

    /// Takes over rights and a certificate that were read again; `nil`: as before.
    func reload(_ access: HTTPAccess?, _ identity: HTTPIdentity?, logger: Logger) {
        if let access { self.access?.reload(access) }
        guard let identity else { return }
        self.identity?.reload(identity)
        do throws(SecretFile.Fault) {
            try self.endpoint.certificateChanged()
        } catch {
            logger.warning("commands must be told the certificate of HTTP", metadata: ["error": "\(error)"])
        }
    }
}

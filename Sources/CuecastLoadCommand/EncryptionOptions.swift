// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import LoadEngine

/// How a load test reaches listeners' ports that have a certificate.
struct EncryptionOptions: ParsableArguments {
    @Flag(help: "Speak TLS at the listeners' ports; so do addresses that begin with tls://.")
    var tls = false

    @Option(help: "Certificates that are trusted, as PEM. (default: those that the system trusts)")
    var listenerCaFile: String?

    @Option(help: "The name in the gateway's certificate. (default: the host in the address)")
    var serverName: String?

    var encryption: Encryption { Encryption(authorityFile: self.listenerCaFile, serverName: self.serverName) }

    /// Where listeners connect to.
    func endpoint(_ text: String) throws(LoadError) -> Endpoint { try Endpoint(text, encrypted: self.tls) }
}

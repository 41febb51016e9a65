// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How a process reaches the servers of NATS, and who it is there.
package struct NATSAccess: Hashable, Sendable {
    /// A key of NATS: its public part, and the file with its seed.
    package struct Key: Hashable, Sendable {
        /// Begins with `U`.
        package let publicKey: String
        package let seedFile: String

        package init(publicKey: String, seedFile: String) {
            self.publicKey = publicKey
            self.seedFile = seedFile
        }
    }

    /// TLS to the servers.
    package struct TLS: Hashable, Sendable {
        /// The authorities that servers are checked by; `nil`: those of the system.
        package var authorityFile: String?
        /// The client's certificate, with its chain; `nil`: it shows none.
        package var certificateFile: String?
        /// The key to it.
        package var keyFile: String?

        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// The addresses, as `nats://host:port` or `tls://host:port`.
    package var servers: [String]
    /// The name of this client in the lists of the servers.
    package var name = "cuecast"
    /// A file with a token of NATS and its key, as `nsc` writes it; `nil`: none.
    package var credentialsFile: String?
    /// A key without a token; `nil`: none.
    package var key: Key?
    /// `nil`: without TLS, unless an address or a server asks for it.
    package var tls: TLS?
    /// How long an answer may take.
    package var answerWithin: Duration = .seconds(5)
    /// How long a server may take to let this client in.
    ///
    /// It has no relation to `answerWithin`: on a busy machine a new connection, with TLS mostly, takes longer than an answer.
    package var connectWithin: Duration = .seconds(5)

    package init(servers: [String]) {
        self.servers = servers
    }
}

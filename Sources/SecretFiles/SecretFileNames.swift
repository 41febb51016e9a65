// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The names of a gateway's files that other programs look for in its data directory.
package enum SecretFileNames {
    /// The keys of tokens for HTTP.
    package static let httpKeys = "http-keys.json"
    /// The token for HTTP that commands on the same machine use.
    package static let httpToken = "http-token"
    /// Where the gateway is asked over HTTP at present: a line `http://HOST:PORT` or `https://HOST:PORT`, and then the certificates that
    /// it shows, PEM.
    package static let httpEndpoint = "http-endpoint"
}

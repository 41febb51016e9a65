// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import LoadEngine

/// How a load test reaches listeners' ports: by TLS, where they have a certificate, and by WebSocket.
struct EncryptionOptions: ParsableArguments {
    @Flag(help: "Speak TLS at the listeners' ports.")
    var tls = false

    @Option(help: "Certificates that are trusted, as PEM. (default: those that the system trusts)")
    var listenerCaFile: String?

    @Option(help: "The name in the gateway's certificate. (default: the host in the address)")
    var serverName: String?

    @Flag(name: .customLong("websocket"), help: "Speak ZeroMQ over WebSocket (ZWS2.0) at the listeners' ports.")
    var webSocket = false

    var encryption: Encryption { Encryption(authorityFile: self.listenerCaFile, serverName: self.serverName) }

    /// Where listeners connect to.
    func endpoint(_ text: String) throws(LoadError) -> Endpoint {
        try Endpoint(self.address(text), encrypted: self.tls)
    }

    /// The address of listeners with the scheme that says how they connect.
    func address(_ text: String) -> String {
        guard self.webSocket else { return text }
        for (plain, webSocket) in [("tcp://", "ws://"), ("tls://", "wss://")] where text.hasPrefix(plain) {
            return webSocket + text.dropFirst(plain.count)
        }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Configuration
import CuecastWire
import Foundation
import GatewayDocuments
import Yams

extension GatewayConfiguration {
    /// Reads a configuration: flags go before the environment, which goes before the file.
    ///
    /// - Parameters:
    ///   - flags: values by key, from the command line.
    ///   - environment: the environment; only `CUECAST_` and a known key counts.
    ///   - file: the path of a YAML or JSON file; `nil`: none.
    /// - Returns: the configuration, checked.
    /// - Throws: `ConfigurationFaults` with a sentence for each key that is wrong.
    package static func read(
        flags: [String: String],
        environment: [String: String],
        file: String?
    ) async throws -> GatewayConfiguration {
        try await self.readWithSources(flags: flags, environment: environment, file: file).configuration
    }

    /// The same, with where each value comes from.
    ///
    /// - Parameters:
    ///   - flags: values by key, from the command line.
    ///   - environment: the environment; only `CUECAST_` and a known key counts.
    ///   - file: the path of a YAML or JSON file; `nil`: none.
    /// - Returns: the configuration, checked.
    /// - Throws: `ConfigurationFaults` with a sentence for each key that is wrong.
    package static func readWithSources(
        flags: [String: String],
        environment: [String: String],
        file: String?
    ) async throws -> RunningConfiguration {
        var faults: [ConfigurationFault] = []
        var providers: [any ConfigProvider] = [
            InMemoryProvider(
                name: "flags",
                values: Dictionary(
                    uniqueKeysWithValues: flags.map { key, value in
                        (AbsoluteConfigKey(Self.components(of: key)), ConfigValue(.string(value), isSecret: false))
                    }
                )
            ),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "cuecast"),
        ]
        if let file {
            var values = try Self.values(ofFile: file)
            let known = Set(ConfigurationTable.rows.map(\.key))
            for (key, value) in values.sorted(by: { $0.value.line < $1.value.line }) where !known.contains(key) {
                values[key] = nil
                let meant = ConfigurationTable.suggestion(for: key).map { "; did you mean \($0)?" } ?? ""
                faults.append(
                    ConfigurationFault(key: key, reason: "there is no such key (line \(value.line) of \(file))\(meant)")
                )
            }
            providers.append(
                InMemoryProvider(
                    name: file,
                    values: Dictionary(
                        uniqueKeysWithValues: values.map { key, value in
                            (
                                AbsoluteConfigKey(Self.components(of: key)),
                                ConfigValue(.string(value.text), isSecret: false)
                            )
                        }
                    )
                )
            )
        }
        let order: [ConfigurationSource] = [.flag, .environment, .file]
        let readers = Array(zip(order, providers.map { ConfigReader(providers: [$0]) }))
        var configuration = GatewayConfiguration()
        var sources: [String: ConfigurationSource] = [:]
        for row in ConfigurationTable.rows {
            let key = ConfigKey(Self.components(of: row.key))
            let said = readers.lazy.compactMap { source, reader in reader.string(forKey: key).map { (source, $0) } }
            guard let (source, value) = said.first else { continue }
            sources[row.key] = source
            if let reason = row.set(&configuration, value) {
                faults.append(ConfigurationFault(key: row.key, reason: reason))
            }
        }
        let wrong = Set(faults.map(\.key))
        if wrong.isDisjoint(with: Self.broadcasterKeys) { faults += configuration.broadcasterFaults }
        faults += configuration.openReadsFaults
        for files in [CertificateFiles.ofListeners, CertificateFiles.ofHTTP]
        where wrong.isDisjoint(with: [files.certificateSetting, files.privateKeySetting]) {
            faults += files.faults(of: configuration)
        }
        faults += (configuration.remoteFaults + configuration.sharedLogFaults).filter { !wrong.contains($0.key) }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        return RunningConfiguration(configuration, sources: sources)
    }

    private static func components(of key: String) -> [String] {
        key.split(separator: ".").map(String.init)
    }

    /// A value of a file, with the line that its key stands in.
    private struct FileValue {
        let text: String
        let line: Int
    }

    /// The keys and values of a file, as `a.b: value`.
    private static func values(ofFile path: String) throws -> [String: FileValue] {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationFaults([
                ConfigurationFault(key: path, reason: ConfigurationFault.reason(notReading: error))
            ])
        }
        let node: Node?
        do {
            // JSON is read as the subset of YAML that it is.
            node = try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationFaults([ConfigurationFault(key: path, reason: "it is not YAML or JSON: \(error)")])
        }
        guard let node, node != Node("") else { return [:] }
        guard let mapping = node.mapping else {
            throw ConfigurationFaults([ConfigurationFault(key: path, reason: "it must be a table of keys and values")])
        }
        var values: [String: FileValue] = [:]
        var faults: [ConfigurationFault] = []
        Self.flatten(mapping, prefix: "", into: &values, &faults)
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        return values
    }

    private static func flatten(
        _ mapping: Node.Mapping,
        prefix: String,
        into values: inout [String: FileValue],
        _ faults: inout [ConfigurationFault]
    ) {
        for (name, node) in mapping {
            let key = prefix + (name.scalar?.string ?? "?")
            switch node {
            case .scalar(let scalar): values[key] = FileValue(text: scalar.string, line: name.mark?.line ?? 1)
            case .mapping(let inner): Self.flatten(inner, prefix: key + ".", into: &values, &faults)
            case .sequence, .alias: faults.append(ConfigurationFault(key: key, reason: "it must be a single value"))
            }
        }
    }

    private static let broadcasterKeys = ["broadcasters.secretKeyFile", "broadcasters.file"]

    /// One file of the two without the other.
    private var broadcasterFaults: [ConfigurationFault] {
        let (key, file) = (Self.broadcasterKeys[0], Self.broadcasterKeys[1])
        guard self.broadcastersKeyFile.isEmpty != self.broadcastersFile.isEmpty else { return [] }
        return self.broadcastersKeyFile.isEmpty
            ? [
                ConfigurationFault(
                    key: key,
                    reason: "it is missing: \(file) lets broadcasters in by keys, and the gateway has none"
                )
            ]
            : [ConfigurationFault(key: file, reason: "it is missing: with \(key) only broadcasters in it may publish")]
    }

    /// Sockets that would be open to the network without encryption, although the operator did not ask for that.
    private var remoteFaults: [ConfigurationFault] {
        guard !self.allowUnencryptedRemote else { return [] }
        var sockets: [(String, String)] = []
        // With balancers each connection must be encrypted, by them or by the gateway.
        if !self.encryptsListeners, self.listenersProxyTrusted.isEmpty {
            sockets += [("notices", self.notices), ("requests", self.requests)]
            if let webSocket = self.webSocket { sockets.append(("listeners.webSocket", "tcp://" + webSocket)) }
        }
        // With keys the socket is encrypted and lets only known peers in.
        if !self.tellsBroadcastersApart { sockets.append(("broadcast", self.broadcast)) }
        if let http = self.http, !self.encryptsHTTP { sockets.append(("http", "tcp://" + http)) }
        return
            sockets.compactMap { key, endpoint in
                Self.isLoopback(endpoint)
                    ? nil
                    : ConfigurationFault(
                        key: key,
                        reason:
                            "\(endpoint) can be reached from other machines and nothing encrypts it; bind to 127.0.0.1,\(Self.wayToEncrypt[key] ?? "") or say allowUnencryptedRemote: true"
                    )
            }
    }

    /// Reports hold what a business earns: on a network they are for those who are known.
    private var openReadsFaults: [ConfigurationFault] {
        guard self.httpOpenReads == .all, let http = self.http, !Self.isLoopback("tcp://" + http) else { return [] }
        return [
            ConfigurationFault(
                key: "http.openReads",
                reason:
                    "it is all, and \(http) can be reached from other machines; say metrics or health, and give readers tokens"
            )
        ]
    }

    /// The ways to encrypt a socket, by the key of its address.
    private static let wayToEncrypt = [
        "notices": " or have a certificate (listeners.tls.certificateFile),",
        "requests": " or have a certificate (listeners.tls.certificateFile),",
        "listeners.webSocket": " or have a certificate (listeners.tls.certificateFile),",
        "broadcast": " or give broadcasters keys (broadcasters.secretKeyFile),",
        "http": " or have a certificate (http.tls.certificateFile),",
    ]

    static func isLoopback(_ endpoint: String) -> Bool {
        (try? NetworkAddress(endpoint: endpoint, for: .bind))?.isLoopback ?? false
    }
}

extension ConfigurationFault {
    /// Why Foundation could not read a file.
    package static func reason(notReading error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "this user may not read the file"
        case .fileReadInapplicableStringEncoding, .fileReadUnknownStringEncoding, .fileReadCorruptFile:
            "the file is not text in UTF-8"
        default: "the file cannot be read"
        }
    }
}

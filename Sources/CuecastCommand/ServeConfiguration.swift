// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP

/// The defaults that the help names.
private let defaults = GatewayConfiguration()

/// The configuration of a gateway as the command line gives it: a file, and flags that go before it.
struct ServeConfiguration: ParsableArguments {
    @Option(help: "A configuration file, YAML or JSON. Flags and CUECAST_… variables go before it.")
    var config: String?

    @Option(help: "The folder of the event log and the ledger. (default: \(defaults.dataDirectory))")
    var dataDir: String?

    @Option(help: "Where notices are published. (default: \(defaults.notices))")
    var notices: String?

    @Option(help: "Where listeners ask. (default: \(defaults.requests))")
    var requests: String?

    @Option(help: "Where broadcasters publish. (default: \(defaults.broadcast))")
    var broadcast: String?

    @Option(help: "Where operators look, as HOST:PORT, or none. (default: \(defaults.http ?? "none"))")
    var http: String?

    @Option(help: "Any other key of the configuration, as KEY=VALUE, for instance breaks.announceAhead=4s.")
    var set: [String] = []

    /// Reads all sources; complains about what is wrong.
    func read() async throws -> GatewayConfiguration {
        do {
            let configuration = try await self.load()
            try await self.checkFiles(of: configuration)
            return configuration
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { complain("the configuration is wrong: \(fault)") }
            throw CommandExit.badData
        }
    }

    /// Reads the files that a configuration names, to see that nothing is wrong with them.
    ///
    /// - Throws: `ConfigurationFaults` with what is wrong.
    func checkFiles(of configuration: GatewayConfiguration) async throws {
        let faults = configuration.sharedLogStartFaults
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        _ = try BroadcasterAccess.read(for: configuration)
        if !configuration.signingKeysFile.isEmpty { _ = try SigningKeys.read(for: configuration) }
        _ = try ListenerEncryption.read(for: configuration)
        _ = try await ListenerTokenFiles.rules(for: configuration)
        _ = try HTTPIdentity.read(for: configuration)
        _ = try AutomationMappingsFile.mappings(for: configuration)
        guard configuration.http != nil else { return }
        _ = try await HTTPTokenFiles.access(for: configuration, makesFiles: false, at: .latest)
    }

    /// Reads all sources.
    ///
    /// - Throws: `ConfigurationFaults` with all that is wrong.
    func load() async throws -> GatewayConfiguration { try await self.loadWithSources().configuration }

    /// The same, with where each value comes from.
    ///
    /// - Throws: `ConfigurationFaults` with all that is wrong.
    func loadWithSources() async throws -> RunningConfiguration {
        let named = [
            ("dataDir", self.dataDir), ("notices", self.notices), ("requests", self.requests),
            ("broadcast", self.broadcast), ("http", self.http),
        ]
        return try await Self.load(file: self.config, set: self.set, named: named)
    }

    /// The configuration of a file, of KEY=VALUE pairs, and of flags with names of their own.
    ///
    /// - Parameters:
    ///   - file: YAML or JSON; `nil`: none.
    ///   - set: the pairs.
    ///   - named: keys with the values of their flags; they go before the pairs.
    /// - Returns: the configuration, with where each value comes from.
    /// - Throws: `ConfigurationFaults` with all that is wrong.
    static func load(
        file: String?,
        set: [String],
        named: [(key: String, value: String?)]
    ) async throws -> RunningConfiguration {
        var flags: [String: String] = [:]
        for pair in set {
            guard let equals = pair.firstIndex(of: "=") else {
                throw ValidationError("--set takes KEY=VALUE, and was given '\(pair)'")
            }
            let key = String(pair[..<equals])
            guard ConfigurationTable.rows.contains(where: { $0.key == key }) else {
                let meant = ConfigurationTable.suggestion(for: key).map { "did you mean '\($0)'?" }
                throw ValidationError(
                    "--set: there is no key '\(key)'; \(meant ?? "'cuecast check-config' lists them")"
                )
            }
            flags[key] = String(pair[pair.index(after: equals)...])
        }
        for (key, value) in named where value != nil { flags[key] = value }
        return try await GatewayConfiguration.readWithSources(
            flags: flags,
            environment: ProcessInfo.processInfo.environment,
            file: file
        )
    }
}

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration and print what a gateway would use.",
        discussion: """
            Prints every key with its value and meaning; exits with 65 and a sentence for each fault.

            Example: cuecast check-config --config cuecast.yaml
            """
    )

    @OptionGroup var options: ServeConfiguration

    func run() async throws {
        let configuration = try await self.options.read()
        for row in ConfigurationTable.rows {
            let reload = row.isReloadable ? ", reloadable" : ""
            CommandOutput.say(
                "# \(row.help) [\(row.environmentVariable)\(reload)]\n\(row.key): \(row.text(of: configuration))"
            )
            for line in Self.explanation(of: row.key, in: configuration) { CommandOutput.say("#   \(line)") }
        }
    }

    /// The meaning of values that are not plain words or numbers, line by line.
    private static func explanation(of key: String, in configuration: GatewayConfiguration) -> [String] {
        switch key {
        case "breaks.cues": (try? CuePolicy(text: configuration.cues))?.rules.map(\.explanation) ?? []
        case AutomationMappingsFile.setting:
            ((try? AutomationMappingsFile.mappings(for: configuration)) ?? []).map(\.explanation)
        default: []
        }
    }
}

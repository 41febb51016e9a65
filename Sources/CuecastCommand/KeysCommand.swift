// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import SQLiteStore

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, rotate and revoke the keys by which a gateway knows its own deliveries.",
        discussion: """
            The keys are in the file signing.keys of the data directory, which the gateway makes at its first start, or in the \
            file that signing.keysFile names. A gateway that runs takes a change over with SIGHUP.

            Example: cuecast keys list --data-dir ./data
            """,
        subcommands: [ListKeys.self, RotateKeys.self, RevokeKey.self]
    )
}

/// Where the keys are.
struct KeysOptions: ParsableArguments {
    @Option(help: "The file of the keys. (default: signing.keys in the data directory)")
    var file: String?

    @Option(help: "The data directory. (default: cuecast-data) [CUECAST_DATA_DIR]")
    var dataDir: String?

    @OptionGroup var output: OutputOptions

    private struct Printed: Encodable {
        struct Key: Encodable {
            let id: String
            let state: String
            let since: String
        }

        let file: String
        let keys: [Key]
    }

    var path: String { self.file ?? self.folder + "/" + KeyRingFile.name }

    /// The data directory, whose books say what time it is.
    var folder: String {
        let environment = ProcessInfo.processInfo.environment["CUECAST_DATA_DIR"] ?? ""
        return self.dataDir ?? (environment.isEmpty ? GatewayConfiguration().dataDirectory : environment)
    }

    /// Shows what there is after something was done.
    func show(_ act: (String) throws(KeyFileError) -> KeyRing) throws {
        let ring: KeyRing
        do throws(KeyFileError) {
            ring = try act(self.path)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
        guard !self.output.isJSON else {
            return try CommandOutput.say(
                json: Printed(
                    file: self.path,
                    keys: ring.keys.map {
                        Printed.Key(id: "\($0.id)", state: $0.state.rawValue, since: "\($0.since)")
                    }
                ),
                isPretty: true
            )
        }
        for key in ring.keys { CommandOutput.say("\(key)") }
    }

    /// Changes the file that is there.
    func change(_ change: (KeyRing) throws(KeyRingFault) -> KeyRing) throws {
        try self.show { (path) throws(KeyFileError) in
            try KeyRingFile.change(path) { (ring) throws(KeyRingFault) in
                guard let ring else {
                    throw KeyRingFault("there is no such file; the gateway makes it at its first start")
                }
                return try change(ring)
            }
        }
    }
}

struct ListKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show ids and states of the keys, never their secrets.",
        discussion: """
            As JSON it is one object: the file, and a list of the keys with id, state, and since when.

            Example: cuecast keys list --data-dir ./data --json
            """
    )

    @OptionGroup var options: KeysOptions

    func run() throws {
        try self.options.show { (path) throws(KeyFileError) in try KeyRingFile.read(path) }
    }
}

struct RotateKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Let a new key sign; the one before is taken for 9 days at least.",
        discussion: """
            Keys that have not signed for 9 days are left out: no acknowledgement of what they signed is accepted any more. Whether 9 days \
            are over is told by the gateway that runs in the data directory, from its books, and not by this machine's clock. Where none runs, no \
            key is left out. Send SIGHUP to the gateway afterwards.

            Example: cuecast keys rotate --data-dir ./data
            """
    )

    @OptionGroup var options: KeysOptions

    func run() throws {
        let time = BelievedTime(of: self.options.folder)
        try self.options.change { (ring) throws(KeyRingFault) in
            do throws(KeyRingFault) {
                return try ring.rotated(at: time.now, retentionTime: time.retention)
            } catch {
                guard time.retention == nil else { throw error }
                throw KeyRingFault(
                    "\(error); no gateway runs in \(self.options.folder) that says which keys are old enough to be left out"
                )
            }
        }
    }
}

/// The time by the books of a data directory: a machine's clock may be years off.
struct BelievedTime {
    /// The latest instant that anything believed: the gateway's clock, the last time that it showed, or the wall clock.
    let now: Timestamp
    /// The log's own time; `nil` where no gateway runs that tells it, or nothing was recorded yet.
    let retention: Timestamp?

    /// - Parameter directory: the data directory; it need not be there.
    init(of directory: String) {
        let answer = try? ControlClient(directory: directory).ask("clock")
        self.retention = (answer?["retentionMicroseconds"]?.asInteger).map { Timestamp(microseconds: $0) }
        if let gateway = answer?["gatewayMicroseconds"]?.asInteger {
            self.now = Timestamp(microseconds: gateway)
        } else {
            let shown = GatewayStateFile(directory: directory).load()?.time
            self.now = max(SigningKeys.now, shown ?? SigningKeys.now)
        }
    }
}

struct RevokeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Refuse everything that a key signed, for instance because the key has leaked.",
        discussion: """
            Listeners whose deliveries it signed cannot acknowledge them any more: their outcomes are lost. If it was the \
            signing key, a new one signs from now on. Send SIGHUP to the gateway afterwards.

            Example: cuecast keys revoke --data-dir ./data 5f1c09ae
            """
    )

    @OptionGroup var options: KeysOptions

    @Argument(help: "The id of the key, as 'cuecast keys list' shows it.", transform: Self.id)
    var id: KeyID

    private static func id(_ text: String) throws -> KeyID {
        guard text.utf8.count == 8, let id = UInt32(text, radix: 16) else {
            throw ValidationError("An id of a key has 8 hexadecimal digits.")
        }
        return KeyID(rawValue: id)
    }

    func run() throws {
        try self.options.change { (ring) throws(KeyRingFault) in try ring.revoking(self.id, at: SigningKeys.now) }
    }
}

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

struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove one listener's session from the books of a gateway and from its memory.",
        discussion: """
            The session is refused from now on, and its lease and its connection end. In the ledger, its copies and the event log, \
            random names replace it, another one for each break; they cannot be traced back. What was counted stays counted: \
            no total changes, and 'cuecast verify' finds no difference. Then the command searches every file of the data \
            directory for it.

            Backups hold it as long as you keep them: after a restore of one that was made before, forget it again. A player's own \
            journal and the issuer of a token are outside of the gateway: they may still have the session or the subject.

            Works with a running and with a stopped gateway. --dry-run changes nothing and reports what it would change.

            Several gateways on one log: name its servers and the operator's key. All gateways are ordered to forget the session, \
            records that name it are stored anew with other names and erased, and the command waits until every gateway that ever \
            told it is there has written its files anew. --status shows which have, and --continue goes on without the session's id. \
            Then run --search on each gateway's machine.

            Exit codes: 0 done, 1 done, but files still contain it that this command does not change (they are named), or a gateway \
            has not done it yet, 64 usage, 65 there are no books, 69 run it again, for instance because the event log does not work.

            Example: cuecast forget --session 7f3c0d9a51e24b8896aa01f2c3d4e5f6 --data-dir ./data
            """
    )

    @Option(help: "The session: 32 hexadecimal digits.", transform: Self.session)
    var session: SessionID?

    @OptionGroup var control: ControlOptions
    @OptionGroup var cluster: ClusterOptions

    @Flag(help: "Change nothing, and tell what there is of it.")
    var dryRun = false

    @Flag(help: "Only search all files of the data directory for the session, also one of several gateways on one log.")
    var search = false

    @OptionGroup var shared: SharedForgetOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let ways = [self.session != nil, self.shared.status, self.shared.continue].count { $0 }
        guard ways == 1 else { throw ValidationError("Name one of --session, --status and --continue.") }
        guard self.session == nil || !self.search || !self.dryRun else {
            throw ValidationError("--search changes nothing: leave out --dry-run.")
        }
        guard !self.search || self.session != nil else { throw ValidationError("--search needs --session.") }
        guard self.session != nil || self.cluster.namesSomething else {
            throw ValidationError("--status and --continue are for several gateways: name the log's servers.")
        }
        guard (0...86_400).contains(self.shared.wait) else { throw ValidationError("--wait is 0 to 86400 s.") }
    }

    private static func session(_ text: String) throws -> SessionID {
        guard let session = SessionID(digits: text) else {
            throw ValidationError("A session has 32 hexadecimal digits.")
        }
        return session
    }

    func run() async throws {
        if self.search { return try await self.searchFiles() }
        if self.cluster.namesSomething {
            return try await SharedForget(
                settings: try await self.cluster.read(),
                session: self.session,
                isDry: self.dryRun,
                options: self.shared,
                output: self.output
            )
            .run()
        }
        guard let session = self.session else { throw CommandExit.usage }
        let answer: [String: JSONValue]
        if let directory = try self.hold() {
            do {
                answer = try await ForgetCommand.run(session, in: directory, isDry: self.dryRun)
            } catch {
                complain("the session was not forgotten: \(error)")
                throw CommandExit.unavailable
            }
        } else {
            answer = try self.control.ask(
                ForgetCommand.name,
                ["session": .string("\(session)"), "dryRun": .boolean(self.dryRun)]
            )
        }
        if self.output.isJSON {
            try CommandOutput.say(json: answer, isPretty: true)
        } else {
            CommandOutput.say(ForgetText.of(answer))
        }
        if !self.dryRun, let files = answer["files"]?.asArray, !files.isEmpty { throw CommandExit.checkFailed }
    }

    private func searchFiles() async throws {
        guard let session = self.session else { throw CommandExit.usage }
        let path = self.control.directory
        guard FileManager.default.fileExists(atPath: path) else {
            complain("there is no data directory \(path)")
            throw CommandExit.badData
        }
        let files = await SessionTraces.files(with: session, in: path)
        if self.output.isJSON {
            let document: [String: JSONValue] = [
                "session": .string("\(session)"), "files": .array(files.map { .string($0) }),
            ]
            try CommandOutput.say(json: document, isPretty: true)
        } else if files.isEmpty {
            CommandOutput.say("no file of the data directory holds it")
        } else {
            for file in files { CommandOutput.say("\(file) holds it") }
        }
        if !files.isEmpty { throw CommandExit.checkFailed }
    }

    /// The data directory, where no gateway holds it.
    private func hold() throws -> StoreDirectory? {
        let path = self.control.directory
        guard FileManager.default.fileExists(atPath: path) else {
            complain("there is no data directory \(path)")
            throw CommandExit.badData
        }
        let directory: StoreDirectory
        do {
            directory = try StoreDirectory(path: path)
        } catch StoreError.inUse {
            return nil
        } catch {
            complain("\(error)")
            throw CommandExit.unavailable
        }
        guard directory.hasStores else {
            complain("there are no event log and ledger in \(path)")
            throw CommandExit.badData
        }
        return directory
    }
}

/// The part of `forget` that the gateway and the command line share.
enum ForgetCommand {
    static let name = "forget"
    /// How long the log and the ledger may take until they have what came before.
    private static let settleMax: Duration = .seconds(60)
    private static let lookInterval: Duration = .milliseconds(20)

    /// Lets the running gateway forget.
    static func register(
        _ stores: KeptStores,
        _ configuration: GatewayConfiguration,
        of gateway: Gateway
    ) {
        gateway.control.register(Self.name, changes: true) { arguments, _ in
            guard let session = (arguments["session"]?.asString).flatMap({ SessionID(digits: $0) }) else {
                throw ControlError("forget needs a session of 32 hexadecimal digits", exitCode: 64)
            }
            let lease = gateway.lease(of: session)
            let isDry = arguments["dryRun"]?.asBoolean ?? false
            var found: SessionTraces
            if isDry {
                found = try await stores.ledger.traces(of: session)
            } else {
                try await Self.refuse(session, in: configuration.dataDirectory, by: gateway)
                try await Self.settle(stores)
                found = try await stores.ledger.forget(session)
            }
            found.files = await SessionTraces.files(with: session, in: configuration.dataDirectory)
            var answer = Self.document(of: found, session, isDry: isDry)
            answer["memory"] = .object([
                "stream": lease.map { JSONValue.string("\($0.stream)") } ?? .null,
                "hasSubject": .boolean(lease?.subject != nil),
            ])
            answer["keptUntil"] = .object([
                "log": .string(
                    "\(configuration.keepLogRecords) newer records are there, and \(configuration.ledgerCopiesKept) newer copies (keepLogRecords)"
                ),
                "ledger": .string("9 days after the end of each break; then totals only"),
                "copies": .string("\(configuration.ledgerCopiesKept) newer ones are there (ledger.copies.kept)"),
            ])
            return answer
        }
    }

    /// Refuses the session from now on, also after the next start.
    private static func refuse(_ session: SessionID, in directory: String, by gateway: Gateway) async throws {
        let board = gateway.board.board
        do {
            let isSettled = try await gateway.refuse(session, atMost: Self.settleMax) { forgotten in
                if board.hasTime { forgotten.prune(at: board.retentionTime) }
                try forgotten.forget(session, at: board.hasTime ? board.newestTime : SigningKeys.now)
                try ForgettingFiles(directory: directory).write(forgotten)
            }
            guard isSettled else {
                throw ControlError(
                    "the session is refused from now on, and nothing more was done: the event log does not answer; try again"
                )
            }
        } catch let full as ForgottenSessions.Full {
            gateway.metrics.count(.limitsHit, .limit(.forgottenSessionsMax))
            throw ControlError("\(full)")
        }
    }

    /// Waits until the ledger has counted what is in the log by now: what it counts later names the session no more.
    private static func settle(_ stores: KeptStores) async throws {
        let deadline = ContinuousClock.now + Self.settleMax
        for lane in (0..<Lane.acknowledgementLaneCount).map({ Lane.acknowledgements($0) }) {
            let head = try await stores.log.head(of: lane)
            while try await stores.ledger.appliedOffset(of: lane) < head {
                guard ContinuousClock.now < deadline else {
                    throw ControlError(
                        "the session is refused from now on, and nothing more was done: the ledger is behind the log; try again"
                    )
                }
                try await Task.sleep(for: Self.lookInterval)
            }
        }
    }

    /// Forgets in a data directory that no gateway uses.
    static func run(
        _ session: SessionID,
        in directory: StoreDirectory,
        isDry: Bool
    ) async throws -> [String: JSONValue] {
        let now = SigningKeys.now
        let stores = try await KeptStores.open(in: directory, now: now)
        do {
            var found: SessionTraces
            if isDry {
                found = try await stores.ledger.traces(of: session)
            } else {
                let files = ForgettingFiles(directory: directory.path)
                var forgotten = try files.read()
                try forgotten.forget(session, at: max(now, try await stores.ledger.serving.newestTime()))
                try files.write(forgotten)
                found = try await stores.ledger.forget(session, isServing: false)
            }
            await stores.ledger.close()
            await stores.log.close()
            found.files = await SessionTraces.files(with: session, in: directory.path)
            return Self.document(of: found, session, isDry: isDry)
        } catch {
            await stores.ledger.close()
            await stores.log.close()
            throw error
        }
    }

    private static func document(
        of found: SessionTraces,
        _ session: SessionID,
        isDry: Bool
    ) -> [String: JSONValue] {
        [
            "session": .string("\(session)"),
            "dryRun": .boolean(isDry),
            "logRecords": .integer(Int64(found.logRecords)),
            "ledgerBreaks": .integer(Int64(found.ledgerBreaks)),
            "ledgerOutcomes": .integer(Int64(found.ledgerOutcomes)),
            "copies": .integer(Int64(found.copies)),
            "files": .array(found.files.map { .string($0) }),
        ]
    }
}

/// The answer for people.
enum ForgetText {
    static func of(_ answer: [String: JSONValue]) -> String {
        let isDry = answer["dryRun"]?.asBoolean ?? false
        func count(_ name: String) -> Int64 { answer[name]?.asInteger ?? 0 }
        func kept(_ name: String) -> String {
            guard isDry, let until = answer["keptUntil"]?.asObject?[name]?.asString else { return "" }
            return ", until \(until)"
        }
        let change = isDry ? "" : ": other names stand there now"
        var lines = ["session \(answer["session"]?.asString ?? "?") \(isDry ? "is as it was" : "is forgotten")"]
        if let memory = answer["memory"]?.asObject {
            let stream = memory["stream"]?.asString
            let listens = stream.map { "it listens to \($0)" } ?? "it does not listen"
            lines.append("memory     \(listens)\(isDry ? "" : "; it is refused from now on")")
        }
        lines.append("event log  \(count("logRecords")) records\(change)\(kept("log"))")
        lines.append(
            "ledger     \(count("ledgerOutcomes")) outcomes in \(count("ledgerBreaks")) breaks\(change)\(kept("ledger"))"
        )
        lines.append("copies     \(count("copies")) of the ledger\(change)\(kept("copies"))")
        let files = (answer["files"]?.asArray ?? []).compactMap(\.asString)
        if files.isEmpty {
            lines.append("files      no file of the data directory holds it")
        } else {
            for file in files { lines.append("files      \(file) holds it\(isDry ? "" : " still")") }
        }
        lines.append(
            "elsewhere  backups that were made before hold it as long as you keep them; the player's journal is the app's"
        )
        return lines.joined(separator: "\n")
    }
}

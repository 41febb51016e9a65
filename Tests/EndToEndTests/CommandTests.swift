// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import GatewayHTTP
import GatewayTestKit
import Testing

/// The commands as scripts use them: output, exit codes, help.
@Suite(.timeLimit(.minutes(5)))
struct CommandTests {
    /// Every command with what its help must show.
    static let commands = [
        "serve", "publish", "punch", "update", "end", "cancel", "breaks", "listen", "report", "check-config", "version",
    ]

    /// A file of two ads of one second each.
    private func adsFile(in folder: URL) throws -> String {
        let file = folder.appending(path: "ads.json")
        try Data(
            """
            {"ads": [
              {"id": "a", "title": "First", "duration": "1s", "media": [{"url": "https://m.example/a.mp3", "type": "audio/mpeg"}]},
              {"id": "b", "title": "=Second", "duration": "1s", "media": [{"url": "https://m.example/b.mp3", "type": "audio/mpeg"}]}
            ]}
            """
            .utf8
        )
        .write(to: file)
        return file.path
    }

    @Test(arguments: commands)
    func `each command has help with an example`(command: String) async throws {
        let help = try await CuecastProgram.run([command, "--help"])
        #expect(help.code == 0)
        #expect(help.output.contains("OVERVIEW:"))
        #expect(help.output.contains("Example: cuecast \(command)"))
        #expect(help.error.isEmpty)
        #expect(try await CuecastProgram.run(["help", command]).output == help.output)
    }

    @Test func `the program lists its commands and exit codes`() async throws {
        let help = try await CuecastProgram.run(["--help"])
        #expect(help.code == 0)
        for command in Self.commands { #expect(help.output.contains("\n  \(command) ")) }
        let words = help.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(words.contains("0 done, 64 usage, 65 bad data, 69 gateway not available, 77 not allowed"))
        let version = try await CuecastProgram.run(["version"])
        #expect(version.output.hasPrefix("cuecast "))
        #expect(try await CuecastProgram.run(["--version"]).code == 0)
    }

    @Test(
        arguments: [
            ["nonsense"], ["serve", "--nonsense"], ["publish"], ["publish", "--stream", "s", "--break", "b"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--in", "soon"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--in", "1s", "--now"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--in", "1s", "--cued"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--vast", "y"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--hold", "1m"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--duration", "long"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--at", "noon"],
            ["publish", "--stream", "s", "--break", "b", "--ads", "x", "--end-mode", "slowly"],
            ["update", "--stream", "s", "--break", "b"], ["punch", "--stream", "s"], ["end"],
            ["cancel", "--break", "b"],
            ["breaks", "--format", "xml"], ["report", "--limit", "many"], ["report", "--http", "no where"],
            ["listen"], ["listen", "--stream", "s", "--speed", "0"], ["listen", "--stream", "s", "--breaks", "0"],
            ["listen", "--stream", "s", "--speed", "inf"], ["listen", "--stream", "no/stream"],
            ["listen", "--stream", "s", "--play", "--ignore"], ["serve", "--set", "novalue"],
            ["serve", "--set", "no.key=1"], ["check-config", "--set", "no.key=1"], ["version", "now"],
        ]
    )
    func `wrong usage exits with 64 and a sentence`(arguments: [String]) async throws {
        let finished = try await CuecastProgram.run(arguments)
        #expect(finished.code == 64, "\(arguments): \(finished.error)")
        #expect(!finished.error.isEmpty)
        #expect(finished.output.isEmpty)
    }

    @Test func `a gateway that is not there is exit code 69`() async throws {
        // Ports that were free a moment ago.
        let (flags, ads) = try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            try await gateway.stop()
            let ads = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: ads, withIntermediateDirectories: true)
            return (gateway.flags, ads)
        }
        defer { try? FileManager.default.removeItem(at: ads) }
        let file = try self.adsFile(in: ads)
        let commands = [
            ["breaks"], ["cancel", "--stream", "s", "--break", "b"],
            ["publish", "--stream", "s", "--break", "b", "--ads", file], ["report"],
        ]
        // Each of them tries for a while.
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for command in commands {
                tasks.addTask {
                    let finished = try await CuecastProgram.run(command + flags)
                    #expect(finished.code == 69, "\(command): \(finished.error)")
                    #expect(finished.error.hasPrefix("cuecast: "))
                    #expect(finished.output.isEmpty)
                }
            }
            try await tasks.waitForAll()
        }
    }

    @Test func `the life of a break by commands`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder.appending(path: "data"))
            let ads = try self.adsFile(in: folder)
            func run(_ arguments: String...) async throws -> CuecastProgram.Finished {
                try await CuecastProgram.run(arguments + gateway.flags)
            }
            struct Line: Decodable {
                let stream: String
                let `break`: String
                let state: String
                let durationSeconds: Double?
                let advertisements: Int
            }
            func decoded(_ finished: CuecastProgram.Finished) throws -> Line {
                #expect(finished.code == 0, "\(finished.error)")
                return try JSONDecoder().decode(Line.self, from: Data(finished.output.utf8))
            }
            let publish = [
                "publish", "--stream", "radio1", "--break", "noon", "--ads", ads, "--in", "60s", "--format", "json",
            ]
            let published = try decoded(await CuecastProgram.run(publish + gateway.flags))
            #expect(published.state == "scheduled")
            #expect(published.durationSeconds == 2)
            #expect(published.advertisements == 2)
            // The same again is the same break.
            #expect(try await CuecastProgram.run(publish + gateway.flags).code == 0)

            let updated = try await run(
                "update",
                "--stream",
                "radio1",
                "--break",
                "noon",
                "--duration",
                "3s",
                "--format",
                "json"
            )
            #expect(try decoded(updated).durationSeconds == 3)
            let table = try await run("breaks", "--stream", "radio1")
            #expect(table.code == 0)
            #expect(table.output.contains("noon"))
            let cancelled = try await run("cancel", "--stream", "radio1", "--break", "noon", "--format", "json")
            #expect(try decoded(cancelled).state == "cancelled")

            let cued = try await run(
                "publish",
                "--stream",
                "radio1",
                "--break",
                "cued",
                "--ads",
                ads,
                "--cued",
                "--hold",
                "1m"
            )
            #expect(cued.code == 0)
            #expect(cued.output.hasPrefix("radio1/cued: cued, lasts 2 s, 2 ads, held until "))
            let punched = try await run("punch", "--stream", "radio1", "--break", "cued", "--now", "--format", "json")
            #expect(try decoded(punched).state == "live")
            let ended = try await run("end", "--stream", "radio1", "--break", "cued", "--format", "json")
            #expect(try decoded(ended).state == "complete")

            // What the gateway refuses is bad data, with its sentence.
            let conflict = try await run(
                "publish",
                "--stream",
                "radio1",
                "--break",
                "noon",
                "--ads",
                ads,
                "--in",
                "70s"
            )
            #expect(conflict.code == 65)
            #expect(conflict.error.contains("another start"))
            for arguments in [
                ["cancel", "--stream", "radio1", "--break", "nothing"],
                ["end", "--stream", "radio1", "--break", "noon"],
                ["punch", "--stream", "radio1", "--break", "noon"],
                ["cancel", "--stream", "no/stream", "--break", "b"],
                ["publish", "--stream", "radio1", "--break", "NO", "--ads", ads],
                ["publish", "--stream", "radio1", "--break", "b", "--ads", "/nowhere"],
                ["publish", "--stream", "radio1", "--break", "b", "--vast", ads],
                ["report", "--stream", "no/stream"],
            ] {
                let finished = try await CuecastProgram.run(arguments + gateway.flags)
                #expect(finished.code == 65, "\(arguments): \(finished.error)")
                #expect(!finished.error.isEmpty)
            }
            try await gateway.stop()
        }
    }

    @Test func `listening from the command line, and the books as table, JSON and CSV`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder.appending(path: "data"))
            let ads = try self.adsFile(in: folder)
            let listener = try RunningProcess(
                CuecastProgram.url,
                ["listen", "--stream", "radio1", "--breaks", "1", "--json", "--speed", "10"] + gateway.flags
            )
            let ignoring = try RunningProcess(
                CuecastProgram.url,
                ["listen", "--stream", "radio1", "--breaks", "1", "--ignore"] + gateway.flags
            )
            // Both have joined.
            while try await !listener.line().contains("\"event\":\"joined\"") {}
            while try await !ignoring.line().hasPrefix("joined") {}
            let published = try await CuecastProgram.run(
                ["publish", "--stream", "radio1", "--break", "noon", "--ads", ads, "--in", "2s"] + gateway.flags
            )
            #expect(published.code == 0)
            #expect(try await listener.end() == .exited(0))
            #expect(try await ignoring.end() == .exited(0))
            struct Event: Decodable {
                let event: String
                let outcome: String?
            }
            let events = try listener.standardOutput.split(separator: "\n")
                .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
            #expect(events.filter { $0.event == "outcome" }.map(\.outcome) == ["played", "played"])
            #expect(!ignoring.standardOutput.contains("\u{1B}"))

            _ = try await gateway.books("both players") { $0.total.played == 2 && $0.total.ignored == 2 }
            let table = try await CuecastProgram.run(["report"] + gateway.flags)
            #expect(table.code == 0)
            let total = table.output.split(separator: "\n").first { $0.hasPrefix("TOTAL") }
            #expect(total?.split(separator: " ").dropFirst() == ["4", "2", "2", "0", "0", "yes"])
            let csv = try await CuecastProgram.run(["report", "--format", "csv"] + gateway.flags)
            let rows = csv.output.split(separator: "\n")
                .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
            #expect(rows.count == 3)
            #expect(rows.allSatisfy { $0.count == rows[0].count })
            #expect(rows[1][2] == "a")
            // What a spreadsheet would take for a formula.
            #expect(rows[2][3] == "'=Second")
            try await gateway.stop()
        }
    }

    @Test func `a listener on its own stops when told, with exit code 0`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            for signal in [SIGTERM, SIGINT] {
                let listener = try RunningProcess(CuecastProgram.url, ["listen", "--stream", "radio1"] + gateway.flags)
                while try await !listener.line().hasPrefix("joined") {}
                listener.signal(signal)
                #expect(try await listener.end() == .exited(0))
            }
            try await gateway.stop()
        }
    }

    @Test func `a configuration is checked without starting anything`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "cuecast.yaml")
            try Data("breaks:\n  announceAhead: 4s\n".utf8).write(to: file)
            let checked = try await CuecastProgram.run(["check-config", "--config", file.path])
            #expect(checked.code == 0)
            #expect(checked.output.contains("\nbreaks.announceAhead: 4s\n"))
            // What it prints is itself a configuration.
            let printed = folder.appending(path: "printed.yaml")
            try Data(checked.output.utf8).write(to: printed)
            let again = try await CuecastProgram.run(["check-config", "--config", printed.path])
            #expect(again.output == checked.output)

            for (name, text, sentence) in [
                ("unknown", "brakes: 1", "brakes: there is no such key"),
                ("remote", "notices: tcp://0.0.0.0:7400", "can be reached from other machines"),
                ("bad", "breaks.hold: soon", "it must be a duration"),
            ] {
                let wrong = folder.appending(path: "\(name).yaml")
                try Data(text.utf8).write(to: wrong)
                for command in ["check-config", "serve"] {
                    let finished = try await CuecastProgram.run([command, "--config", wrong.path])
                    #expect(finished.code == 65)
                    #expect(finished.error.contains(sentence))
                }
            }
            let flag = try await CuecastProgram.run(["serve", "--notices", "tcp://0.0.0.0:*"])
            #expect(flag.code == 65)
        }
    }

    @Test func `addresses come from flags or the environment`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let byVariable = try await CuecastProgram.run(
                ["breaks", "--format", "json"],
                environment: ["CUECAST_BROADCAST": gateway.endpoints.broadcast]
            )
            #expect(byVariable.code == 0)
            let flagFirst = try await CuecastProgram.run(
                ["breaks", "--broadcast", gateway.endpoints.broadcast],
                environment: ["CUECAST_BROADCAST": "tcp://127.0.0.1:1"]
            )
            #expect(flagFirst.code == 0)
            try await gateway.stop()
        }
    }
}

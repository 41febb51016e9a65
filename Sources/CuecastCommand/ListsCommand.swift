// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastBroadcast
import CuecastWire

/// `cuecast lists …`: the ad lists that fill breaks which signals open.
struct Lists: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep lists of ads at the gateway, for breaks that are signalled.",
        discussion: "Example: cuecast lists put spots --vast ads.xml",
        subcommands: [Put.self, Show.self, Remove.self, List.self]
    )

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep a list, or replace it.",
            discussion: """
                Breaks that are signalled from then on have the new ads; breaks that are there keep theirs. With --vast-url the ads \
                are asked of an ad server first; if it gives none, and there is no fallback, the list stays as it is.

                Example: cuecast lists put spots --vast ads.xml
                """
        )

        @Argument(help: "The list: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'.") var name: String
        @OptionGroup var ads: AdsOptions
        @OptionGroup var revision: ListRevisionOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var gateway: BroadcasterOptions

        func validate() throws { try self.ads.requireSource() }

        func run() async throws {
            let advertisements = try await self.ads.read(gateway: self.gateway) ?? []
            let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
                try await client.putList(
                    name: name,
                    advertisements: advertisements,
                    expectedRevision: revision.expectedRevision
                )
            }
            ListPrinter(format: self.output.format).print([status])
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a list with its ads.",
            discussion: "Example: cuecast lists show spots"
        )

        @Argument(help: "The list.") var name: String
        @OptionGroup var output: OutputOptions
        @OptionGroup var gateway: BroadcasterOptions

        func run() async throws {
            let (status, advertisements) = try await self.gateway.asBroadcaster {
                [name] (client) throws(BroadcastError) in
                try await client.list(name: name)
            }
            ListPrinter(format: self.output.format).print(status, advertisements)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a list that no cue policy names.",
            discussion: "Example: cuecast lists remove spots"
        )

        @Argument(help: "The list.") var name: String
        @OptionGroup var revision: ListRevisionOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var gateway: BroadcasterOptions

        func run() async throws {
            let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
                try await client.removeList(name: name, expectedRevision: revision.expectedRevision)
            }
            ListPrinter(format: self.output.format).print([status])
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show which lists the gateway keeps.",
            discussion: "Example: cuecast lists list --format json"
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var gateway: BroadcasterOptions

        func run() async throws {
            let lists = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
                try await client.lists()
            }
            ListPrinter(format: self.output.format).print(lists)
        }
    }
}

/// The revision that a list must have: `--expected-revision 3`.
struct ListRevisionOption: ParsableArguments {
    @Option(help: "Change nothing unless the list has this revision, or is so already; 0: it is not there yet.")
    var expectedRevision: UInt64?
}

/// Prints ad lists as the gateway has them.
struct ListPrinter {
    let format: OutputFormat

    /// A list as scripts read it.
    private struct Line: Encodable {
        let name: String
        let revision: UInt64
        let advertisements: Int
        let durationSeconds: Double
        let changed: String
        let broadcaster: String?
        /// Only where one list is shown.
        var ads: [Ad]?

        init(_ status: AdListStatus) {
            self.name = status.name
            self.revision = status.revision
            self.advertisements = status.advertisementCount
            self.durationSeconds = status.duration.inSeconds
            self.changed = BreakPrinter.text(status.changed)
            self.broadcaster = status.broadcaster
        }
    }

    private struct Ad: Encodable {
        let id: String
        let title: String
        let durationSeconds: Double

        init(_ advertisement: AdvertisementDescription) {
            self.id = advertisement.id
            self.title = advertisement.title
            self.durationSeconds = advertisement.duration.inSeconds
        }
    }

    func print(_ lists: [AdListStatus]) {
        switch self.format {
        case .json: BreakPrinter.printJSON(lists.map { Line($0) })
        case .table:
            var table = TextTable(["LIST", "REVISION", "ADS", "SECONDS", "CHANGED", "BY"], numbers: [1, 2, 3])
            for each in lists {
                table.add([
                    each.name, String(each.revision), String(each.advertisementCount), Self.seconds(each.duration),
                    BreakPrinter.text(each.changed), each.broadcaster ?? "-",
                ])
            }
            CommandOutput.say(table.text)
        }
    }

    func print(_ status: AdListStatus, _ advertisements: [AdvertisementDescription]) {
        switch self.format {
        case .json:
            var line = Line(status)
            line.ads = advertisements.map { Ad($0) }
            BreakPrinter.printJSON(line)
        case .table:
            self.print([status])
            var table = TextTable(["AD", "SECONDS", "TITLE"], numbers: [1])
            for each in advertisements { table.add([each.id, Self.seconds(each.duration), each.title]) }
            CommandOutput.say(table.text)
        }
    }

    private static func seconds(_ duration: Duration) -> String {
        duration.inSecondsText.replacing(" s", with: "")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakDocuments
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation

/// `cuecast group …`: one break on many streams.
struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Publish one break on many streams, and follow it by one id.",
        discussion: """
            The id of the break is the same on each stream, and the id of the group. A stream may start earlier or later, and have ads and \
            variants of its own. Each stream gets the whole break or none of it; the output says which.

            Example: cuecast group publish --streams radio1,radio2 --break noon --vast ads.xml --in 10s
            """,
        subcommands: [GroupPublish.self, GroupShow.self, GroupCancel.self]
    )
}

/// The streams of a group.
struct GroupOptions: ParsableArguments {
    @Option(
        name: .customLong("break"),
        help: "The break, and the group: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-', unique in each stream."
    )
    var breakID: String

    @Option(help: "The streams, with commas between them.") var streams: String?

    @Option(
        help: "A JSON file of streams, with offsets, ads and variants, as docs/broadcasters/groups.md describes it."
    )
    var group: String?

    func validate() throws {
        guard self.streams == nil || self.group == nil else {
            throw ValidationError("Give one of --streams and --group.")
        }
        guard let list = self.streams else { return }
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        guard names.count <= GroupDocument.streamsMax else {
            throw ValidationError("--streams: the limit groupStreamsMax is \(GroupDocument.streamsMax).")
        }
        guard Set(names).count == names.count else { throw ValidationError("--streams names a stream twice.") }
        for name in names {
            do {
                _ = try StreamID(name)
            } catch {
                throw ValidationError("--streams: '\(name)': \(error)")
            }
        }
    }

    /// The streams; `nil`: none are named.
    ///
    /// - Throws: an exit code; the reason is told before.
    func members() throws -> [GroupDocument.Stream]? {
        if let list = self.streams {
            return try list.split(separator: ",").map { GroupDocument.Stream(stream: try StreamID(String($0))) }
        }
        guard let path = self.group else { return nil }
        do throws(FileFault) {
            return try InputFile.document(path, upTo: CandidatesDocument.bytesMax, GroupDocument.read).streams
        } catch {
            complain(error.sentence)
            throw CommandExit.badData
        }
    }

    /// The same for commands that need some.
    func someMembers() throws -> [GroupDocument.Stream] {
        guard let members = try self.members() else { throw ValidationError("Give --streams or --group.") }
        return members
    }
}

struct GroupPublish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a break on many streams.",
        discussion: """
            The same command again is harmless: it publishes the break where it is missing. With --in the command reads the gateway's clock \
            once, and counts the start from there; --now, or no start, is the same as --in 2s. Streams that have the break already say when that was. No \
            stream may start before the clock is read.

            Exit codes: 0 every stream has the break; 1 some do not, and the reasons are told; 69 some gave no answer: the same command again \
            goes on; 65 no stream has it, or their starts do not fit, and nothing was published; 77 your key may not publish there.

            Example: cuecast group publish --group streams.json --break noon --vast ads.xml --at 2026-11-21T12:00:00Z
            """
    )

    @OptionGroup var members: GroupOptions
    @OptionGroup var options: PublishOptions
    @OptionGroup var ads: AdsOptions
    @OptionGroup var variants: VariantOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        guard self.members.streams != nil || self.members.group != nil else {
            throw ValidationError("Give --streams or --group.")
        }
        guard self.members.group != nil || self.ads.isGiven else {
            throw ValidationError("Give --vast, --ads or --vast-url.")
        }
    }

    func run() async throws {
        let group = try await self.streamGroup()
        let start: StreamGroup.Start =
            switch group.pattern.start {
            case .at(let date): .at(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
            case .in(let lead): .after(Int64(lead.inMicroseconds / 1_000))
            case .now: .after(GroupTiming.nowLeadMilliseconds)
            case .cued, .preStream: .none
            }
        let first = group.members[0].stream
        let result = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await group.publish(at: start, to: client) { () throws(BroadcastError) in
                try await client.gatewayTime(stream: first, breakID: group.pattern.id)
            }
        }
        switch result {
        case .failure(let fault):
            complain("\(fault)")
            throw CommandExit.badData
        case .success((let time, let outcomes)):
            let printer = GroupPrinter(format: self.output.format, group: group.pattern.id)
            printer.print(outcomes, time: time)
            if let code = GroupPrinter.exitCode(outcomes) { throw code }
        }
    }

    /// The break with the ads of each stream; ad servers are asked once for all streams.
    private func streamGroup() async throws -> StreamGroup {
        let streams = try self.members.someMembers()
        let ads = try await self.ads.read(forBreakOf: self.options.longest, gateway: self.gateway)
        let variants = try self.variants.read()
        var members: [StreamGroup.Member] = []
        for each in streams {
            guard let own = each.ads?.map({ AdvertisementDescription($0) }) ?? ads else {
                complain(
                    "the stream \(each.stream) has no ads in the file: give --vast, --ads or --vast-url for such streams"
                )
                throw CommandExit.badData
            }
            members.append(
                StreamGroup.Member(
                    stream: each.stream.description,
                    offsetMilliseconds: each.offset.inMicroseconds / 1_000,
                    ads: BreakAds(
                        advertisements: own,
                        variants: each.variants?
                            .map {
                                AdVariant(
                                    name: $0.name,
                                    said: $0.conditions,
                                    advertisements: $0.advertisements.map { AdvertisementDescription($0) }
                                )
                            } ?? variants
                    )
                )
            )
        }
        let pattern = try self.options.adBreak(
            on: members[0].stream,
            id: self.members.breakID,
            members[0].ads.advertisements,
            members[0].ads.variants ?? []
        )
        switch pattern.start {
        case .cued, .preStream:
            guard members.allSatisfy({ $0.offsetMilliseconds == 0 }) else {
                complain("a break without a start has no offset: leave --cued, --pre-stream or the offsets out")
                throw CommandExit.badData
            }
        default: break
        }
        return StreamGroup(pattern: pattern, lastsAsItsAds: self.options.duration == nil, members: members)
    }
}

struct GroupShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a break on all its streams.",
        discussion: """
            With --streams or --group it says which streams lack the break, and exits with 1 if any does.

            Example: cuecast group show --break noon
            """
    )

    @OptionGroup var members: GroupOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let wanted = try self.members.members()?.map(\.stream.description)
        let id = self.members.breakID
        var breaks = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await client.breaks(breakID: id)
        }
        let missing = (wanted ?? []).filter { name in !breaks.contains { $0.stream == name } }
        if let wanted { breaks.removeAll { !wanted.contains($0.stream) } }
        GroupPrinter(format: self.output.format, group: id).print(breaks, missing: missing)
        guard missing.isEmpty, !breaks.isEmpty else { throw CommandExit.checkFailed }
    }
}

struct GroupCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Call a break off on many streams.",
        discussion: """
            The streams have to be named: other streams may have a break of the same id that is none of this group.

            Example: cuecast group cancel --streams radio1,radio2 --break noon
            """
    )

    @OptionGroup var members: GroupOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        guard self.members.streams != nil || self.members.group != nil else {
            throw ValidationError("Give --streams or --group.")
        }
    }

    func run() async throws {
        let id = self.members.breakID
        let members = try self.members.someMembers()
            .map { StreamGroup.Member(stream: $0.stream.description, ads: BreakAds(advertisements: [])) }
        let pattern = AdBreak(stream: members[0].stream, id: id, start: .now, advertisements: [])
        let group = StreamGroup(pattern: pattern, lastsAsItsAds: false, members: members)
        let outcomes = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            await group.cancel(at: client)
        }
        GroupPrinter(format: self.output.format, group: id).printCancelled(outcomes)
        let failures = outcomes.compactMap { each -> BroadcastError? in
            guard case .failed(let error) = each.result else { return nil }
            return error
        }
        if let code = GroupPrinter.exitCode(failures, of: outcomes.count) { throw code }
    }
}

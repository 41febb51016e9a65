// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import CueWatching
import CuecastWire

struct WatchIcecast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "icecast",
        abstract: "Watch the metadata of a radio stream of Icecast or SHOUTcast, and send the signals of its ads.",
        discussion: """
            Ads begin with metadata that fits a rule, and end with the first title that fits none. Ready rules: start-ad-break (titles \
            with START_AD_BREAK, with or without seconds behind it), adw-ad (adw_ad='true'), and cue-point (StreamUrl with type=ad). \
            Metadata says what plays now: a break begins as it is told.

            The audio is passed over. When the server closes the connection or is silent for 30 s, the watch connects again. SIGTERM and \
            SIGINT end the watch; the counts are printed then. Addresses of private networks are asked only with --allow-private or \
            --allow-host.

            Example: cuecast watch icecast https://radio.example/live.mp3 --stream radio1 --source icecast
            """
    )

    @Argument(help: "The address of the radio stream: http or https.")
    var address: String

    @Option(help: "The stream that the gateway knows.")
    var stream: String

    @Option(
        help: ArgumentHelp(
            """
            A pattern of metadata that means ads, with title:, url: or text: before it for StreamTitle, StreamUrl or all metadata \
            (default: title). Its groups duration (seconds), milliseconds and id say more. Also several times; these rules come before \
            the ready ones.
            """
        )
    )
    var rule: [String] = []

    @Flag(help: "Leave the ready rules out.")
    var onlyRules = false

    @Option(help: "The file of certificates (PEM) that an https server's is checked against; otherwise the system's.")
    var caFile: String?

    @OptionGroup var hosts: HostOptions
    @OptionGroup var watch: WatchOptions

    /// The most rules on a command line.
    private static let rulesMax = 32

    func validate() throws {
        do {
            _ = try StreamID(self.stream)
        } catch {
            throw ValidationError("--stream: \(error)")
        }
        _ = try self.parsedAddress()
        _ = try self.roots()
        guard !(try self.rules()).isEmpty else { throw ValidationError("--only-rules goes with --rule.") }
    }

    func run() async throws {
        let (address, rules) = (try self.parsedAddress(), try self.rules())
        let (stream, source, hosts, roots) = (self.stream, self.watch.source, self.hosts.rule, try self.roots())
        let watched = try self.watch.source(of: stream, .radio, at: address.url.shown)
        try await self.watch.run([watched]) { sender in
            let watcher = RadioWatcher(
                stream: stream,
                source: source,
                address: address,
                hosts: hosts,
                sender: sender,
                roots: roots,
                watched: watched
            )
            await watcher.run(rules: rules)
        }
    }

    private func parsedAddress() throws -> RadioAddress {
        do throws(CueRefusal) {
            return try RadioAddress(self.address)
        } catch {
            throw ValidationError(error.sentence)
        }
    }

    private func roots() throws -> [UInt8]? {
        do throws(HTTPEndpoint.Fault) {
            return try self.caFile.map { (path) throws(HTTPEndpoint.Fault) in try HTTPEndpoint.certificates(path) }
        } catch {
            throw ValidationError("--ca-file: \(error)")
        }
    }

    private func rules() throws -> [RadioRule] {
        guard self.rule.count <= Self.rulesMax else {
            throw ValidationError("Give at most \(Self.rulesMax) rules (rulesMax).")
        }
        var rules: [RadioRule] = []
        for (index, text) in self.rule.enumerated() {
            var (subject, pattern) = (RadioRule.Subject.title, text[...])
            for each in [RadioRule.Subject.title, .url, .text] where text.hasPrefix("\(each.rawValue):") {
                (subject, pattern) = (each, text.dropFirst(each.rawValue.count + 1))
            }
            do throws(TextPatternError) {
                let searched = try TextPattern(String(pattern))
                rules.append(RadioRule(name: "rule-\(index + 1)", subject: subject, pattern: searched))
            } catch {
                throw ValidationError("--rule “\(text)”: \(error)")
            }
        }
        return rules + (self.onlyRules ? [] : RadioRule.ready)
    }
}

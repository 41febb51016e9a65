// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation

/// `cuecast vast …`: ad servers and their documents.
struct VASTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vast",
        abstract: "Look what an ad server gives.",
        discussion: "Example: cuecast vast resolve 'https://ads.example/vast?cb=[CACHEBUSTING]'",
        subcommands: [Resolve.self]
    )

    struct Resolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Follow an ad tag and its wrappers, and show what would be taken; publish nothing.",
            discussion: """
                Every document is shown with what its server answered, and every ad with why it was taken or left. Ad servers are \
                asked for real, with the rules of 'cuecast publish --vast-url'. The whole addresses are shown, with their keys.

                Exits with 65 where there is no ad to take.

                Example: cuecast vast resolve 'https://ads.example/vast?cb=[CACHEBUSTING]'
                """
        )

        @Argument(help: "The address of an ad tag (http or https), or the file of a VAST document.")
        var source: String

        @Flag(help: "Take all stand-alone ads of a document without a pod, not only the first that can be played.")
        var all = false

        @Option(help: "A folder: keep the documents there, for 'cuecast dry-run --answers'.")
        var record: String?

        @OptionGroup var adServer: AdServerOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if self.isAddress { try AdServerOptions.check(self.source, of: "the address") }
        }

        private var isAddress: Bool {
            self.source.contains("://")
        }

        func run() async throws {
            let reading = VASTReadingOptions(allStandAlone: self.all)
            let resolver: VASTResolver
            if self.isAddress {
                resolver = VASTResolver(address: self.source, reading: reading)
            } else {
                resolver = VASTResolver(document: try InputFile.told(self.source), reading: reading)
            }
            let report = try await self.adServer.resolve(resolver)
            if let folder = self.record { try AnswersFolder(folder).write(report) }
            if self.output.isJSON {
                let calls = try await self.adServer.reportErrors(of: report)
                try CommandOutput.say(json: ResolutionDocument(report, calls), isPretty: true)
            } else {
                CommandOutput.say(AdServerLines(report).tree)
                let waiting = report.resolution.errorURLs.count
                if try await self.adServer.reportErrors(of: report) == nil, waiting > 0 {
                    CommandOutput.say("Error addresses that --report-errors would call: \(waiting)")
                }
            }
            guard report.resolution.taken.isEmpty else { return }
            complain("there is no ad to take")
            throw CommandExit.badData
        }
    }
}

/// A resolution as programs read it.
struct ResolutionDocument: Encodable {
    struct Ad: Encodable {
        let id: String
        let title: String
        let durationSeconds: Double
        /// Where it is from.
        let document: Int
        let position: Int
    }

    struct Place: Encodable {
        let document: Int
        let position: Int
    }

    struct Candidate: Encodable {
        let position: Int
        let line: Int
        let id: String?
        let title: String?
        let isWrapper: Bool
        let taken: Bool
        /// The document that a wrapper led to.
        let document: Int?
        let reason: String?
        let sentence: String?
        let errorCode: Int?
        let errorUrls: [String]
        let replacedBy: Place?
    }

    struct Fault: Encodable {
        let reason: String
        let sentence: String
        let errorCode: Int
    }

    struct Document: Encodable {
        let document: Int
        let wrappers: Int
        let address: String?
        let asked: String?
        let status: Int?
        let milliseconds: Int?
        let redirects: Int?
        let attempts: Int?
        let bytes: Int?
        let version: String?
        let fault: Fault?
        let ads: [Candidate]
        let leftOut: [String]
    }

    struct Calls: Encodable {
        let called: Int
        let failed: Int
        let pastLimit: Int
    }

    let ads: [Ad]
    let documents: [Document]
    let milliseconds: Int
    let errorUrls: [String]
    let errorCalls: Calls?

    init(_ report: AdServerReport, _ calls: AdServerClient.Calls?) {
        let resolution = report.resolution
        let lines = AdServerLines(report)
        self.ads = resolution.taken.map { taken in
            Ad(
                id: taken.ad.id,
                title: taken.ad.title,
                durationSeconds: Double(taken.ad.durationMilliseconds) / 1_000,
                document: taken.place.document,
                position: taken.place.position
            )
        }
        self.documents = resolution.documents.enumerated()
            .map { index, document in
                let exchange = report.exchanges[index]
                return Document(
                    document: index,
                    wrappers: document.wrappers,
                    address: document.address,
                    asked: exchange?.address,
                    status: exchange?.status,
                    milliseconds: exchange.map { Int($0.time.inMicroseconds / 1_000) },
                    redirects: exchange?.redirects,
                    attempts: exchange?.attempts,
                    bytes: exchange?.bytes,
                    version: document.version,
                    fault: document.fault.map {
                        Fault(reason: $0.name, sentence: $0.description, errorCode: $0.vastErrorCode)
                    },
                    ads: document.ads.indices.map { Self.candidate(index, $0 + 1, of: resolution, lines) },
                    leftOut: document.leftOut.map(\.description)
                )
            }
        self.milliseconds = Int(report.time.inMicroseconds / 1_000)
        self.errorUrls = resolution.errorURLs
        self.errorCalls = calls.map {
            Calls(called: $0.called, failed: $0.failures.count, pastLimit: $0.pastLimit)
        }
    }

    private static func candidate(
        _ document: Int,
        _ position: Int,
        of resolution: VASTResolution,
        _ lines: AdServerLines
    ) -> Candidate {
        func isHere(_ place: VASTResolution.Place?) -> Bool {
            place?.document == document && place?.position == position
        }
        let name = resolution.documents[document].ads[position - 1]
        let left = resolution.left.first { isHere($0.place) }
        return Candidate(
            position: position,
            line: name.line,
            id: name.documentID,
            title: name.title,
            isWrapper: name.isWrapper,
            taken: resolution.taken.contains { isHere($0.place) },
            document: resolution.documents.firstIndex { isHere($0.parent) },
            reason: left?.reason.name,
            sentence: left.map { lines.sentence(of: $0) },
            errorCode: left?.reason.vastErrorCode,
            errorUrls: left?.errorURLs ?? [],
            replacedBy: left?.replacedBy.map { Place(document: $0.document, position: $0.position) }
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakDocuments
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import GatewayCore

/// From which ads those of a break are chosen, and how long they are to last.
struct ChooseOptions: ParsableArguments {
    @Option(
        help:
            "A JSON file of candidates and rules: choose the ads from it, as docs/broadcasters/choosing.md describes it."
    )
    var choose: String?

    @Option(
        help: "With --choose: how long the chosen ads may last together. (default: --duration, where there is one)",
        transform: DurationArgument.read
    )
    var fill: DurationArgument?

    @Option(
        help: "With --choose: how long the chosen ads last together, to the millisecond.",
        transform: DurationArgument.read
    )
    var fillExactly: DurationArgument?

    @Option(
        help: "With --choose and --fill: how long the chosen ads last together at least.",
        transform: DurationArgument.read
    )
    var fillAtLeast: DurationArgument?

    @Option(
        help: """
            With --choose: a JSON file of the ads of other breaks, for rules about the time between breaks; 'none': there were none. \
            (default: the gateway's reports about the stream, over HTTP)
            """
    )
    var history: String?

    @OptionGroup var access: OperatorOptions

    /// The longest filling.
    private static let fillMax: Duration = .seconds(6 * 3_600)

    func validate() throws {
        guard self.choose != nil else {
            guard self.fill == nil, self.fillExactly == nil, self.fillAtLeast == nil, self.history == nil else {
                throw ValidationError("--fill, --fill-exactly, --fill-at-least and --history go with --choose.")
            }
            return
        }
        guard self.fill == nil || self.fillExactly == nil else {
            throw ValidationError("Give one of --fill and --fill-exactly.")
        }
        guard self.fillExactly == nil || self.fillAtLeast == nil else {
            throw ValidationError("--fill-at-least and --fill-exactly contradict each other.")
        }
        for (name, duration) in [
            ("--fill", self.fill), ("--fill-exactly", self.fillExactly), ("--fill-at-least", self.fillAtLeast),
        ] {
            guard let duration = duration?.duration else { continue }
            guard duration > .zero, duration <= Self.fillMax else {
                throw ValidationError("\(name) must be more than 0s and at most 6h, which are 21600s.")
            }
        }
        if let fill = self.fill, let least = self.fillAtLeast, least.duration > fill.duration {
            throw ValidationError("--fill-at-least is more than --fill.")
        }
    }

    /// The rules of the file, and the durations of the filling.
    ///
    /// - Parameters:
    ///   - chooser: the file.
    ///   - duration: how long the break lasts at most.
    /// - Returns: the rules.
    /// - Throws: where no duration is said.
    private func rules(_ chooser: CandidateChooser, duration: Duration?) throws -> ChoosingRules {
        guard let fill = self.fillExactly?.duration ?? self.fill?.duration ?? duration else {
            throw ValidationError("--choose needs --fill, --fill-exactly or --duration.")
        }
        let least = self.fillExactly ?? self.fillAtLeast
        return chooser.rules(
            fillMilliseconds: Int(fill.inMilliseconds),
            minimumMilliseconds: least.map { Int($0.duration.inMilliseconds) } ?? 0
        )
    }

    /// Chooses the ads of each variant of a break.
    ///
    /// - Parameters:
    ///   - name: the break.
    ///   - options: its start and its length.
    ///   - gateway: the gateway that knows the ads of other breaks.
    /// - Returns: the choice for `default`, then those for the file's variants; `nil`: nothing is to be chosen.
    /// - Throws: an exit code; the reason is told before.
    func choices(
        for name: BreakName,
        _ options: PublishOptions,
        gateway: GatewayOptions
    ) async throws -> [VariantChoice]? {
        guard let path = self.choose else { return nil }
        let date = try options.date
        let chooser: CandidateChooser
        do throws(FileFault) {
            chooser = try CandidateChooser(file: path)
        } catch {
            complain(error.sentence)
            throw CommandExit.badData
        }
        let rules = try self.rules(chooser, duration: options.longest)
        let milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded())
        let history = try await self.played(
            around: milliseconds,
            in: name.stream,
            gap: chooser.gapMilliseconds,
            gateway: gateway
        )
        return chooser.choices(
            stream: name.stream,
            breakID: name.breakID,
            at: milliseconds,
            rules: rules,
            history: history
        )
    }

    /// The ads of other breaks.
    private func played(
        around milliseconds: Int64,
        in stream: String,
        gap: Int,
        gateway: GatewayOptions
    ) async throws -> PlayedHistory {
        // Without rules about the time between breaks the reports do not matter.
        guard self.history != nil || gap > 0 else { return PlayedHistory() }
        let source = try HistorySource(self.history) {
            try OperatorGateway(gateway, self.access, for: "The history of a stream")
        }
        do throws(OperatorGateway.Fault) {
            return try await source.played(in: stream, around: milliseconds...milliseconds, gap: gap)
        } catch {
            throw error.told()
        }
    }
}

/// Why a file cannot be used.
struct FileFault: Error, Sendable {
    /// With the file's name.
    let sentence: String
}

extension CandidateChooser {
    /// Reads a file of candidates.
    ///
    /// - Parameter path: the file.
    /// - Throws: why it cannot be used.
    init(file path: String) throws(FileFault) {
        let document = try InputFile.document(path, upTo: CandidatesDocument.bytesMax, CandidatesDocument.read)
        // Abbreviations such as CST mean several zones.
        guard document.timeZone.contains("/") || document.timeZone == "UTC",
            let zone = TimeZone(identifier: document.timeZone)
        else {
            throw FileFault(
                sentence:
                    "\(path): timeZone: '\(document.timeZone)' is not known; write a name such as Europe/Oslo, or UTC"
            )
        }
        self.init(document) { milliseconds in
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            return Int64(zone.secondsFromGMT(for: date)) * 1_000
        }
    }
}

extension InputFile {
    /// Reads a file that a person names.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: the limit of its reader.
    ///   - read: its reader.
    /// - Returns: the document.
    /// - Throws: why it cannot be read, with the file's name.
    static func document<Document>(
        _ path: String,
        upTo bytesMax: Int,
        _ read: ([UInt8]) throws(DocumentFault) -> Document
    ) throws(FileFault) -> Document {
        let bytes: [UInt8]
        do throws(Fault) {
            bytes = try Self.bytes(of: path, upTo: bytesMax)
        } catch {
            throw FileFault(sentence: "\(path): \(error.reason)")
        }
        do throws(DocumentFault) {
            return try read(bytes)
        } catch {
            throw FileFault(sentence: "\(path): \(error)")
        }
    }
}

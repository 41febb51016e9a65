// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakDocuments
import BreakPlanning
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

    /// How long the chosen ads last.
    private var filling: WantedFilling {
        WantedFilling(
            most: self.fill?.duration,
            exactly: self.fillExactly?.duration,
            least: self.fillAtLeast?.duration
        )
    }

    func validate() throws {
        guard self.choose != nil else {
            guard self.filling.isEmpty, self.history == nil else {
                throw ValidationError("--fill, --fill-exactly, --fill-at-least and --history go with --choose.")
            }
            return
        }
        let names = WantedFilling.Names(most: "--fill", exactly: "--fill-exactly", least: "--fill-at-least")
        if let fault = self.filling.fault(names) { throw ValidationError(fault) }
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
        guard let rules = self.filling.rules(chooser, duration: options.longest) else {
            throw ValidationError("--choose needs --fill, --fill-exactly or --duration.")
        }
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
        do throws(ZoneFault) {
            self = try CandidateChooser(zoned: document)
        } catch {
            throw FileFault(sentence: "\(path): \(error)")
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakPlanning
import CommandSupport

/// From where the ads of other breaks are known.
enum HistorySource: Sendable {
    /// There are no rules about them.
    case none
    case file(PlayedHistory)
    case gateway(OperatorGateway)

    /// The source that an option names.
    ///
    /// - Parameters:
    ///   - option: a JSON file, or `none`; nil: the reports of the gateway.
    ///   - gateway: the gateway, made only if its reports are wanted.
    /// - Throws: an exit code; the reason is told before.
    init(_ option: String?, gateway: () throws -> OperatorGateway) throws {
        switch option {
        case "none": self = .none
        case let path?:
            do throws(FileFault) {
                self = .file(try PlayedHistory(file: path))
            } catch {
                complain(error.sentence)
                throw CommandExit.badData
            }
        case nil: self = .gateway(try gateway())
        }
    }

    /// The ads of other breaks of a stream.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - times: the starts of the breaks that they matter for, in milliseconds since 1970.
    ///   - gap: the longest time between breaks that a rule is about, in milliseconds.
    /// - Returns: the ads.
    /// - Throws: where they are not known.
    func played(
        in stream: String,
        around times: ClosedRange<Int64>,
        gap: Int
    ) async throws(OperatorGateway.Fault) -> PlayedHistory {
        switch self {
        case .none: PlayedHistory()
        case .file(let history): history
        case .gateway(let gateway):
            try await gateway.played(
                in: stream,
                from: times.lowerBound - Int64(gap),
                to: times.upperBound + Int64(gap)
            )
        }
    }
}

/// From where a schedule's commands know the ads of other breaks.
struct ScheduleHistoryOptions: ParsableArguments {
    @Option(
        help: """
            With --choose: a JSON file of the ads of other breaks, for rules about the time between breaks; 'none': there are none. \
            (default: the gateway's reports about the stream, over HTTP)
            """
    )
    var history: String?

    @OptionGroup var access: OperatorOptions

    /// Finds the source.
    ///
    /// - Parameters:
    ///   - audience: the candidates.
    ///   - gateway: where the gateway is.
    /// - Returns: the source.
    /// - Throws: an exit code; the reason is told before.
    func source(_ audience: ScheduleAudience, gateway: GatewayOptions) throws -> HistorySource {
        // The file of candidates may get such rules later, while it is followed.
        guard self.history != nil || audience.chooser != nil else { return .none }
        return try HistorySource(self.history) {
            try OperatorGateway(gateway, self.access, for: "The history of a stream")
        }
    }
}

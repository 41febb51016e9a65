// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import Foundation
import GatewayDocuments
import LoadEngine

/// Compares what the gateway's books say of our breaks with what was sent.
struct BookCheck {
    /// Where they are; `nil`: they are not compared.
    let endpoint: HTTPEndpoint?
    /// The headers that authenticate our requests.
    let headers: [String: String]
    /// Whether the user named the address: then it must answer.
    let isAskedFor: Bool

    /// How long the gateway may take until its books have all of it.
    let patience: Duration

    /// There are no books.
    private struct NoReport: Error {
        /// Why: the end of a sentence.
        let reason: String
        /// Whether they may be there a moment later, because the gateway has much to do.
        let mayCome: Bool
    }

    /// Adds a finding for every number that differs.
    func compare(_ outcome: inout RunOutcome) -> LoadReport.Books {
        guard let endpoint = self.endpoint else {
            return .init(state: .notCompared, breaks: 0, sentence: "The gateway's books were not compared.")
        }
        let ours = outcome.breaks.filter { $0.isOurs && $0.tally.delivered > 0 }
        guard !ours.isEmpty else {
            return .init(state: .notCompared, breaks: 0, sentence: "There was no break of this run to compare.")
        }
        var different = 0
        do throws(NoReport) {
            for each in ours {
                let found = try self.counts(of: each, at: endpoint)
                let tally = each.tally
                let pairs = [
                    ("delivered", tally.delivered, found?.delivered), ("played", tally.played, found?.played),
                    ("ignored", tally.ignored, found?.ignored), ("failed", tally.failed, found?.failed),
                    ("contradictions", 0, found?.contradictions),
                ]
                for (name, sent, found) in pairs where found.map({ Int($0) }) != sent {
                    different += 1
                    outcome.statistics.findings.add(
                        .booksDiffer,
                        "\(name) of \(each.stream)/\(each.id): sent \(sent), the books say \(found.map { "\($0)" } ?? "nothing")"
                    )
                }
            }
        } catch {
            if self.isAskedFor {
                outcome.statistics.findings.add(.booksDiffer, "\(endpoint) gives no report: \(error.reason)")
            }
            return .init(
                state: .notCompared,
                breaks: 0,
                sentence:
                    "The gateway's books were not compared: \(endpoint) does not answer with a report: \(error.reason)."
            )
        }
        guard different == 0 else {
            let sentence = "The gateway's books differ from what was sent, in \(different) numbers."
            return .init(state: .different, breaks: ours.count, sentence: sentence)
        }
        let breaks = ours.count == 1 ? "the break" : "all \(ours.count) breaks"
        return .init(
            state: .equal,
            breaks: ours.count,
            sentence: "The gateway's books say the same of \(breaks): delivered, played, ignored, failed."
        )
    }

    /// The books' counts of one break, once they are up to date; `nil` where they have none.
    private func counts(of each: RunOutcome.Break, at endpoint: HTTPEndpoint) throws(NoReport)
        -> ReportDocument.Counts?
    {
        let deadline = ContinuousClock.now + self.patience
        while true {
            do throws(NoReport) {
                let document = try self.document(of: each, at: endpoint)
                if let document, document.isCurrent || ContinuousClock.now > deadline {
                    return document.breaks.first?.total
                }
                if ContinuousClock.now > deadline { return nil }
            } catch  where error.mayCome && ContinuousClock.now <= deadline {
                // It is asked for again.
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    private func document(of each: RunOutcome.Break, at endpoint: HTTPEndpoint) throws(NoReport) -> ReportDocument? {
        let answer = try self.answer(for: "/v1/reports/\(each.stream)/\(each.id)", at: endpoint)
        switch answer.status {
        case 200:
            guard let document = try? JSONDecoder().decode(ReportDocument.self, from: answer.body) else {
                throw NoReport(reason: "its answer cannot be read", mayCome: false)
            }
            return document
        case 404: return nil
        case let status: throw NoReport(reason: "it answers with \(status)", mayCome: status == 503)
        }
    }

    private func answer(for target: String, at endpoint: HTTPEndpoint) throws(NoReport) -> HTTPExchange.Answer {
        do throws(HTTPExchange.Failure) {
            return try HTTPExchange.wait(for: target, at: endpoint, headers: self.headers)
        } catch {
            switch error {
            case .silent, .tooSlow: throw NoReport(reason: "\(error)", mayCome: true)
            default: throw NoReport(reason: "\(error)", mayCome: false)
            }
        }
    }
}

extension ReportDocument {
    /// Whether the ledger has read all that the log has.
    fileprivate var isCurrent: Bool { self.lanes.values.allSatisfy { $0.offset >= $0.head ?? 0 } }
}

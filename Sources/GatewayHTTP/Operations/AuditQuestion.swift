// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments

/// The question of a gateway for the audit of another one.
///
/// Each gateway keeps the lines of what it was asked itself, so one that has the lines of all asks all.
struct AuditQuestion: Codable, Hashable, Sendable {
    static let kind = "audit"

    var stream: String?
    var breakID: String?
    var principal: String?
    /// In microseconds since 1970, as `to`.
    var from: Int64?
    var to: Int64?
    var limit: Int

    init(_ query: AuditQuery, limit: Int) {
        self.stream = query.stream?.description
        self.breakID = query.breakID?.description
        self.principal = query.principal
        (self.from, self.to) = (query.from?.microseconds, query.to?.microseconds)
        self.limit = limit
    }

    /// - Throws: where it is not as a gateway asks it.
    func query() throws -> AuditQuery {
        guard (1...AuditLimits.auditPageMax).contains(self.limit) else {
            throw AuditError("The limit is out of range.")
        }
        return AuditQuery(
            stream: try self.stream.map { try StreamID($0) },
            breakID: try self.breakID.map { try BreakID($0) },
            principal: self.principal,
            from: self.from.map { Timestamp(microseconds: $0) },
            to: self.to.map { Timestamp(microseconds: $0) },
            before: nil,
            limit: self.limit + 1
        )
    }

    /// Answers the question.
    ///
    /// - Parameters:
    ///   - body: the question.
    ///   - audit: of this gateway.
    ///   - now: by its clock.
    /// - Returns: a page, as JSON.
    /// - Throws: where the question cannot be read, or the audit is not kept.
    static func answer(
        _ body: [UInt8],
        _ audit: @Sendable (AuditQuery) async throws -> [NumberedAuditRecord],
        at now: Timestamp
    ) async throws -> [UInt8] {
        let question = try JSONDecoder().decode(Self.self, from: Data(body))
        let document = AuditDocument(try await audit(question.query()), limit: question.limit, at: now)
        return Array(try JSONEncoder().encode(document))
    }

    /// Asks all gateways of the log.
    ///
    /// - Parameters:
    ///   - askAll: asks the others a question of a kind.
    ///   - own: this gateway, and its page.
    ///   - now: by this gateway's clock.
    /// - Returns: the lines of all, and which gateways did not answer.
    /// - Throws: a problem where too much is asked at once.
    func ask(
        by askAll: @Sendable (String, [UInt8]) async throws -> ClusterQuestions.Answers,
        beside own: (gateway: UInt64, page: AuditDocument),
        at now: Timestamp
    ) async throws -> AuditDocument {
        let answers: ClusterQuestions.Answers
        do {
            answers = try await askAll(Self.kind, Array(try JSONEncoder().encode(self)))
        } catch ClusterQuestions.Fault.tooMany {
            throw Problem(
                .reason(.unavailable),
                "This gateway asks the others too much at present (questionsOpenMax). Try again in a second."
            )
        }
        var pages = [(gateway: String(own.gateway, radix: 16), page: own.page)]
        var unanswered = answers.missing.map {
            AuditDocument.Unanswered(gateway: $0, reason: "It did not answer in time.")
        }
        for each in answers.answered {
            switch each.content {
            case .body(let body):
                do {
                    let page = try JSONDecoder().decode(AuditDocument.self, from: Data(body))
                    pages.append((gateway: String(each.gateway, radix: 16), page: page))
                } catch {
                    unanswered.append(.init(gateway: each.name, reason: "Its answer cannot be read."))
                }
            case .refusal(let reason): unanswered.append(.init(gateway: each.name, reason: reason))
            }
        }
        return AuditDocument(merging: pages, unanswered: unanswered, limit: self.limit, at: now)
    }
}

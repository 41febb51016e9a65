// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import GatewayDocuments
import Synchronization

/// A gateway as commands for operators ask it over HTTP.
struct OperatorGateway: Sendable {
    /// Why it gives no answer: a sentence, and with what a command ends that needs one.
    struct Fault: Error, Sendable {
        let sentence: String
        let exit: ExitCode
    }

    let endpoint: HTTPEndpoint
    private let headers: [String: String]

    /// Finds where and how to ask.
    ///
    /// - Parameters:
    ///   - gateway: where it is.
    ///   - access: the caller's token, and the check of the certificate.
    ///   - what: the subject of the error sentence, for instance 'A report'.
    /// - Throws: where that was said wrongly; it is told by then.
    init(_ gateway: GatewayOptions, _ access: OperatorOptions, for what: String) throws {
        guard let address = try gateway.httpAddress else {
            throw ValidationError("\(what) comes over HTTP, and its address is 'none'.")
        }
        do {
            self.endpoint = try access.endpoint(address, isNamed: gateway.isHTTPNamed)
            self.headers = try access.headers(to: self.endpoint)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
    }

    /// Path and query of a request.
    ///
    /// - Parameters:
    ///   - path: from the slash on.
    ///   - query: parameters without a value are left out.
    /// - Returns: the target for the request's first line.
    static func target(_ path: String, _ query: [(String, String?)]) -> String {
        var components = URLComponents()
        components.path = path
        let items = query.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        if !items.isEmpty { components.queryItems = items }
        return components.string ?? path
    }

    /// Asks for a document.
    ///
    /// - Parameters:
    ///   - type: the type of the document.
    ///   - target: path and query.
    /// - Returns: the document.
    /// - Throws: why there is none.
    func document<Document: Decodable>(_ type: Document.Type, _ target: String) async throws(Fault) -> Document {
        let answer: HTTPExchange.Answer
        do throws(HTTPExchange.Failure) {
            answer = try await HTTPExchange.get(target, at: self.endpoint, headers: self.headers)
        } catch {
            throw self.fault(error)
        }
        guard answer.status == 200 else { throw self.fault(answer) }
        guard let document = try? JSONDecoder().decode(type, from: answer.body) else {
            throw Fault(sentence: "what the gateway says cannot be understood", exit: CommandExit.unavailable)
        }
        return document
    }

    /// Reads events until one is not wanted.
    ///
    /// - Parameters:
    ///   - target: path and query.
    ///   - receive: gets each, and says whether it wants more.
    /// - Throws: why they ended before.
    func readEvents(
        _ target: String,
        _ receive: @escaping @Sendable (ServerEvent) -> Bool
    ) async throws(Fault) {
        var limits = HTTPExchange.Limits()
        limits.answerBytesMax = 1_048_576
        let hasEnough = Atomic(false)
        let answer: HTTPExchange.Answer
        do throws(HTTPExchange.Failure) {
            answer = try await HTTPExchange.readEvents(
                target,
                at: self.endpoint,
                headers: self.headers,
                limits: limits
            ) { event in
                let goesOn = receive(event)
                if !goesOn { hasEnough.store(true, ordering: .relaxed) }
                return goesOn
            }
        } catch {
            throw self.fault(error)
        }
        guard answer.status == 200 else { throw self.fault(answer) }
        guard hasEnough.load(ordering: .relaxed) else {
            throw Fault(sentence: "the gateway has ended the connection", exit: CommandExit.unavailable)
        }
    }

    private func fault(_ failure: HTTPExchange.Failure) -> Fault {
        Fault(
            sentence: "the gateway does not answer at \(self.endpoint): \(failure)",
            exit: CommandExit.unavailable
        )
    }

    private func fault(_ answer: HTTPExchange.Answer) -> Fault {
        let sentence = (try? JSONDecoder().decode(ProblemDocument.self, from: answer.body))?.detail
        let exit =
            switch answer.status {
            case 400, 410, 413: CommandExit.badData
            case 401, 403: CommandExit.notAllowed
            default: CommandExit.unavailable
            }
        return Fault(sentence: sentence ?? "the gateway answers with HTTP status \(answer.status)", exit: exit)
    }
}

extension OperatorGateway.Fault {
    /// Tells it, and is what the command ends with.
    func told() -> ExitCode {
        complain(self.sentence)
        return self.exit
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import HTTPTypes
import Hummingbird

/// Why a request is not answered with what it asks for.
struct Problem: Error {
    let status: HTTPResponse.Status
    /// A word for programs.
    let error: String
    /// One sentence for people.
    let sentence: String
    /// What the answer's head says besides.
    let headers: HTTPFields

    init(_ status: HTTPResponse.Status, _ error: String, _ sentence: String, _ headers: HTTPFields = [:]) {
        self.status = status
        self.error = error
        self.sentence = sentence
        self.headers = headers
    }

    static func badRequest(_ sentence: String) -> Problem { Problem(.badRequest, "badRequest", sentence) }

    /// What breaks a rule of the wire is a bad request.
    static func check<Value>(_ value: () throws(WireError) -> Value) throws(Problem) -> Value {
        do throws(WireError) {
            return try value()
        } catch {
            throw .badRequest(error.description)
        }
    }
}

/// The parameters of a request, each of which must be known, whole, and there at most once.
struct Query {
    private var values: [String: String] = [:]

    init(_ text: some StringProtocol, allowed: Set<String>) throws(Problem) {
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard allowed.contains(name) else {
                let known =
                    allowed.isEmpty ? "this path has none" : "known are \(allowed.sorted().joined(separator: ", "))"
                throw .badRequest("There is no such parameter: \(known).")
            }
            guard pair.count == 2, let value = String(pair[1]).removingPercentEncoding, !value.isEmpty else {
                throw .badRequest("The parameter \(name) has no value that can be read.")
            }
            guard self.values.updateValue(value, forKey: name) == nil else {
                throw .badRequest("The parameter \(name) is there twice.")
            }
        }
    }

    func report(at now: Timestamp) throws(Problem) -> ReportQuery {
        ReportQuery(
            stream: try self.stream(),
            breakID: try self.breakID(),
            before: try self.number("before").map { BreakNumber(rawValue: $0) },
            limit: try self.limit(max: ReportQuery.breaksMax),
            now: now
        )
    }

    func breaks() throws(Problem) -> BreakListQuery {
        var query = BreakListQuery(stream: try self.stream(), limit: try self.limit(max: BreakListQuery.breaksMax))
        if let text = self.values["after"] {
            guard let mark = BreakListQuery.Mark(text) else {
                throw .badRequest("The parameter after must be STREAM/NUMBER, as the page before gave it.")
            }
            query.after = mark
        }
        return query
    }

    private func stream() throws(Problem) -> StreamID? {
        guard let text = self.values["stream"] else { return nil }
        return try Problem.check { () throws(WireError) in try StreamID(text) }
    }

    private func breakID() throws(Problem) -> BreakID? {
        guard let text = self.values["break"] else { return nil }
        return try Problem.check { () throws(WireError) in try BreakID(text) }
    }

    private func number(_ name: String) throws(Problem) -> UInt64? {
        guard let text = self.values[name] else { return nil }
        guard let number = UInt64(text) else {
            throw .badRequest("The parameter \(name) must be a whole number.")
        }
        return number
    }

    private func limit(max: Int) throws(Problem) -> Int {
        guard let number = try self.number("limit") else { return 100 }
        guard number >= 1, number <= max else {
            throw .badRequest("The parameter limit must be a number from 1 to \(max).")
        }
        return Int(number)
    }
}

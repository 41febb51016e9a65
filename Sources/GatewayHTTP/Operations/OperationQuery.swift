// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation

/// The parameters of a request's query, each of which must be known, whole, and there at most once.
struct OperationQuery: Sendable {
    private(set) var values: [String: String] = [:]

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - text: the query, without its question mark.
    ///   - parameters: those that are known. The values of a lenient one refuse nothing: what cannot be read is as empty, and of several
    ///     the first counts.
    ///   - takesOthers: whether parameters of other names are passed over.
    /// - Throws: a problem with the first parameter that is not as it must be.
    init(
        _ text: some StringProtocol,
        parameters: [OperationParameter],
        takesOthers: Bool = false
    ) throws(Problem) {
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                if takesOthers { continue }
                let names = parameters.map(\.name).sorted()
                let known = names.isEmpty ? "this path has none" : "known are \(names.joined(separator: ", "))"
                throw .badRequest("There is no such parameter: \(known).")
            }
            guard !parameter.isLenient else {
                if self.values[name] == nil {
                    self.values[name] = pair.count == 2 ? String(pair[1]).removingPercentEncoding ?? "" : ""
                }
                continue
            }
            guard pair.count == 2, let value = String(pair[1]).removingPercentEncoding, !value.isEmpty else {
                throw .badRequest("The parameter \(name) has no value that can be read.")
            }
            try parameter.check(value)
            guard self.values.updateValue(value, forKey: name) == nil else {
                throw .badRequest("The parameter \(name) is there twice.")
            }
        }
    }

    subscript(name: String) -> String? { self.values[name] }

    func stream() throws(Problem) -> StreamID? {
        guard let text = self.values["stream"] else { return nil }
        return try Problem.check { () throws(WireError) in try StreamID(text) }
    }

    func breakID() throws(Problem) -> BreakID? {
        guard let text = self.values["break"] else { return nil }
        return try Problem.check { () throws(WireError) in try BreakID(text) }
    }

    /// Whether something is asked for; where nothing is said, it is not.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch self.values[name] {
        case nil, "false": false
        case "true": true
        default: throw .badRequest("The parameter \(name) must be true or false.")
        }
    }

    func number(_ name: String) throws(Problem) -> UInt64? {
        guard let text = self.values[name] else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt64(text)
        else { throw .badRequest("The parameter \(name) must be a whole number.") }
        return number
    }

    /// An instant as RFC 3339 writes it.
    func instant(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = self.values[name] else { return nil }
        guard let instant = Timestamp(rfc3339: text) else {
            throw .badRequest("The parameter \(name) must be an instant such as 2026-05-01T12:00:00Z.")
        }
        return instant
    }

    /// A duration such as `1m30s`.
    func duration(_ name: String) throws(Problem) -> Duration? {
        guard let text = self.values[name] else { return nil }
        guard let duration = Duration(text: text) else {
            throw .badRequest("The parameter \(name) must be a duration such as 30s or 1m30s.")
        }
        return duration
    }

    /// The instants `from` and `to`: at `from` or later, and before `to`.
    func period() throws(Problem) -> (from: Timestamp?, to: Timestamp?) {
        let (from, to) = (try self.instant("from"), try self.instant("to"))
        if let from, let to, to <= from { throw .badRequest("The parameter to must be an instant after from.") }
        return (from, to)
    }

    /// How much is asked for.
    ///
    /// - Parameters:
    ///   - max: the most that may be.
    ///   - usual: where nothing is said.
    /// - Returns: a number from 1 to `max`.
    /// - Throws: a problem where it is none.
    func limit(max: Int, usual: Int = 100) throws(Problem) -> Int {
        guard let number = try self.number("limit") else { return usual }
        guard number >= 1, number <= max else {
            throw .badRequest("The parameter limit must be a number from 1 to \(max).")
        }
        return Int(number)
    }
}

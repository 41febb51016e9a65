// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import HTTPTypes

/// All operations of the API: the one source of routes and of `/openapi.json`.
struct OperationTable: Sendable {
    let operations: [Operation]

    /// - Parameters:
    ///   - parts: the parts of the gateway that operations ask.
    ///   - events: makes the events; `nil`: there are none.
    ///   - history: keeps what the gateway did.
    ///   - planning: bounds dry runs and forecasts.
    ///   - limits: all that are in force.
    init(
        _ parts: HTTPParts,
        events: EventFeed?,
        history: HistoryRecorder,
        planning: PlanningDesk,
        limits: @escaping @Sendable () -> [LimitState]
    ) {
        var operations = statusOperations(parts)
        operations += streamOperations(parts)
        operations += reportOperations(parts)
        operations += outcomeOperations(parts)
        operations += breakOperations(parts)
        operations += dryRunOperations(parts, planning)
        operations += forecastOperations(parts, planning)
        operations += groupOperations(parts)
        operations += signalOperations(parts)
        operations += automationOperations(parts)
        operations += adListOperations(parts)
        operations += auditOperations(parts)
        operations += configurationOperations(parts, limits)
        operations += eventOperations(parts, events)
        operations += historyOperations(history)
        operations += listenerOperations(parts)
        operations += playerOperations(parts)
        operations += dashboardOperations()
        operations += testToneOperations()
        operations += descriptionOperations(of: operations)
        self.operations = operations
    }

    /// The methods that a path has, in the order in which they are told; none where there is no such path.
    func methods(at path: Substring) -> [HTTPRequest.Method] {
        var methods: [HTTPRequest.Method] = []
        for operation in self.operations(at: path) {
            methods.append(operation.method)
            if operation.method == .get { methods.append(.head) }
        }
        return methods
    }

    /// The loggable part of a request: its path as the API writes it, and the API's parameters that its query has.
    ///
    /// What else stands in an address may be whose it is, a ticket, or a token where none belongs: of that nothing is told.
    func told(of target: some StringProtocol) -> (path: String, query: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map { Substring($0) }
        let operations = self.operations(at: parts.first ?? "")
        guard let path = operations.first?.path else { return ("unknown", "") }
        let given = (parts.count == 2 ? parts[1] : "").split(separator: "&")
            .map { String($0.prefix { $0 != "=" }) }
        let known = operations.reduce(into: Set<String>()) { $0.formUnion($1.queryNames) }
        return (path, known.intersection(given).sorted().joined(separator: ","))
    }

    private func operations(at path: Substring) -> [Operation] {
        let components = Self.components(path)
        return self.operations.filter { Self.matches($0.path, components) }
    }

    /// The methods that listeners have at a path; none where it is not theirs.
    func listenerMethods(at path: Substring) -> [HTTPRequest.Method] {
        self.operations(at: path).filter { $0.access == .listener }.map(\.method)
    }

    /// The operation of a path and a method; `nil`: there is none.
    func operation(_ method: HTTPRequest.Method, at path: Substring) -> Operation? {
        self.operations(at: path).first { $0.method == method }
    }

    private static func components(_ path: some StringProtocol) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true).map { Substring($0) }
    }

    private static func matches(_ pattern: String, _ components: [Substring]) -> Bool {
        let wanted = Self.components(pattern)
        return wanted.count == components.count
            && zip(wanted, components).allSatisfy { $0.first == "{" || $0 == $1 }
    }
}

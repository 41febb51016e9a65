// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// An audit in memory, which can be made to fail.
package final class InMemoryAudit: AuditStore {
    private struct State {
        var records: [NumberedAuditRecord] = []
        var last: Int64 = 0
        var failure: String?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// An empty audit.
    package init() {}

    /// Has every call fail from now on; `nil`: none.
    package func fail(_ reason: String?) {
        self.state.withLock { $0.failure = reason }
    }

    /// Everything that is kept, the oldest first.
    package var all: [AuditRecord] { self.state.withLock { $0.records.map(\.record) } }

    /// Whether the gateway has closed it.
    package var isClosed: Bool { self.state.withLock(\.isClosed) }

    /// Keeps a line at once.
    package func add(_ record: AuditRecord) {
        self.state.withLock { state in
            state.last += 1
            state.records.append(NumberedAuditRecord(number: state.last, record: record))
        }
    }

    package func append(_ records: [AuditRecord]) async throws(AuditError) {
        try self.open { state in
            for record in records {
                state.last += 1
                state.records.append(NumberedAuditRecord(number: state.last, record: record))
            }
        }
    }

    package func records(_ query: AuditQuery) async throws(AuditError) -> [NumberedAuditRecord] {
        try self.open { state in
            let found = state.records.reversed()
                .filter { each in
                    (query.stream == nil || each.record.stream == query.stream)
                        && (query.breakID == nil || each.record.key?.id == query.breakID)
                        && (query.principal == nil || each.record.principal == query.principal)
                        && query.before.map { each.number < $0 } ?? true
                        && query.from.map { $0 <= each.record.at } ?? true
                        && query.to.map { each.record.at < $0 } ?? true
                }
            return Array(found.prefix(min(query.limit, AuditLimits.auditPageMax + 1)))
        }
    }

    package func prune(before limit: Timestamp?, recordsMax: Int) async throws(AuditError) -> Int {
        try self.open { state in
            let before = state.records.count
            if let limit { state.records.removeAll { $0.record.at < limit } }
            while state.records.count > recordsMax {
                let refused = state.records.count { $0.record.outcome == .refused }
                let oldest = state.records.firstIndex { refused <= recordsMax / 2 || $0.record.outcome == .refused }
                state.records.remove(at: oldest ?? 0)
            }
            return before - state.records.count
        }
    }

    package func close() async {
        self.state.withLock { $0.isClosed = true }
    }

    private func open<Value>(_ body: (inout State) -> Value) throws(AuditError) -> Value {
        let result: Result<Value, AuditError> = self.state.withLock { state in
            if let failure = state.failure { return .failure(AuditError(failure)) }
            guard !state.isClosed else { return .failure(AuditError("it is closed")) }
            return .success(body(&state))
        }
        return try result.get()
    }
}

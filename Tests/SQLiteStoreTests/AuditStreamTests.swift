// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SQLiteStore
import Testing

/// Lines of the audit that are about a stream and no break.
@Suite(.suiteLimit)
struct AuditStreamTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test func `a line without a break keeps its stream, and is found by it`() async throws {
        let audit = try SQLiteAudit(in: try StoreDirectory(path: self.directory.path))
        let stream = try StreamID("tv")
        let key = BreakKey(stream: stream, id: try BreakID("b1"))
        func record(_ stream: StreamID?, _ key: BreakKey?) -> AuditRecord {
            AuditRecord(
                at: Timestamp(microseconds: 1),
                principal: "studio",
                origin: RequestOrigin(.zeromq),
                action: "signal",
                stream: stream,
                key: key,
                outcome: .refused,
                status: .notFound
            )
        }
        let records = [record(stream, nil), record(nil, key), record(nil, nil), record(try StreamID("radio"), nil)]
        try await audit.append(records)
        let found = try await audit.records(AuditQuery(stream: stream))
        #expect(found.map(\.record) == [records[1], records[0]])
        #expect(found.map(\.record.stream) == [stream, stream])
        #expect(found.map(\.record.key) == [key, nil])
        await audit.close()
    }
}

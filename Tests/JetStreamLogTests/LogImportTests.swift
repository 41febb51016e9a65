// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing

@testable import JetStreamLog

/// Records of another log come to the offsets that they had there, once each.
@Suite(.suiteLimit)
struct LogImportTests {
    private func open(_ servers: NATSServers, _ names: LogNames) async throws -> LogImport {
        let access = servers.access
        return try await eventually { try await LogImport.open(access, names: names) }
    }

    private func records(_ offsets: ClosedRange<UInt64>) -> [LoggedRecord] {
        offsets.map { LoggedRecord(offset: $0, bytes: [UInt8($0), 7]) }
    }

    @Test(arguments: LogKind.allCases)
    func `records keep their offsets, and a repeat adds none`(_ kind: LogKind) async throws {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let names = LogNames.random()
        let identity = try await makeLog(on: servers, names)
        let target = try await self.open(servers, names)
        #expect(target.identity == identity)
        #expect(try await target.head(of: .breaks) == 0)
        try await target.append(self.records(1...20), to: .breaks)
        #expect(try await target.head(of: .breaks) == 20)
        // The answer to the first try was lost.
        try await target.append(self.records(15...25), to: .breaks)
        #expect(try await target.head(of: .breaks) == 25)
        #expect(try await target.head(of: .acknowledgements(0)) == 0)
        let log = try await openLog(on: servers, names)
        let read = try await log.read(.breaks, after: 0, recordsMax: .max, bytesMax: .max)
        #expect(read.map(\.bytes) == self.records(1...25).map(\.bytes))
        #expect(read.allSatisfy { $0.mark == nil })
        await log.close()
    }

    @Test(arguments: LogKind.allCases)
    func `where something else writes to the log, nothing more is stored`(_ kind: LogKind) async throws {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let target = try await self.open(servers, names)
        try await target.append(self.records(1...3), to: .breaks)
        let log = try await openLog(on: servers, names)
        _ = try await log.append([99], to: .breaks)
        let error = await #expect(throws: NATSError.self) { try await target.append(self.records(4...6), to: .breaks) }
        guard case .unusable(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("something else writes"))
        // Also where a record is missing between.
        await #expect(throws: NATSError.self) { try await target.append(self.records(9...9), to: .breaks) }
        #expect(try await target.head(of: .breaks) == 4)
        await log.close()
    }
}
#endif

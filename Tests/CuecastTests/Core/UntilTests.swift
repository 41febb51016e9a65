// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@Suite(.suiteLimit)
struct UntilTests {
    @Test func `a condition that does not come to hold is named`() async throws {
        let waiting = Task { try await until("the moon is green") { false } }
        waiting.cancel()
        let error = await #expect(throws: ConditionTimedOut.self) { try await waiting.value }
        #expect(error?.description.contains("the moon is green") == true)
    }

    @Test func `a condition without a name is named by its place`() async throws {
        let waiting = Task { try await until { false } }
        waiting.cancel()
        let error = await #expect(throws: ConditionTimedOut.self) { try await waiting.value }
        #expect(error?.condition.contains("UntilTests.swift:") == true)
    }

    @Test func `no check follows the one that holds`() async throws {
        var checks = 0
        try await until {
            checks += 1
            return checks == 3
        }
        #expect(checks == 3)
    }
}

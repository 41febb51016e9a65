// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Synchronization

/// The rules about listeners, for all threads that serve listeners.
final class ListenerRulesHolder: Sendable {
    private let state: Mutex<ListenerRules>
    private let number = Atomic<Int>(0)

    init(_ rules: ListenerRules) {
        self.state = Mutex(rules)
    }

    var rules: ListenerRules { self.state.withLock { $0 } }

    /// How often they were changed, for those who look before every request whether they have the newest.
    var swaps: Int { self.number.load(ordering: .acquiring) }

    /// Changes them.
    func change<Failure: Error>(_ body: (inout ListenerRules) throws(Failure) -> Void) throws(Failure) {
        try self.state.withLock { (rules) throws(Failure) in
            var changed = rules
            try body(&changed)
            guard changed != rules else { return }
            rules = changed
            self.number.wrappingAdd(1, ordering: .releasing)
        }
    }
}

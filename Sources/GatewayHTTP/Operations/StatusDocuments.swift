// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// Whether the process lives, as JSON: what `GET /healthz` answers.
package struct LifeDocument: Codable, Hashable, Sendable {
    /// `alive` or `failed`.
    package var status: String
    /// Why it failed.
    package var sentence: String?
}

/// Whether the gateway takes requests, as JSON: what `GET /readyz` answers.
package struct ReadinessDocument: Codable, Hashable, Sendable {
    package var ready: Bool
    /// The parts that do not work at present.
    package var missing: [String]
    /// The faults that an operator should examine although requests are accepted.
    package var alarms: [RaisedAlarm]

    package init(missing: [String], alarms: [RaisedAlarm] = []) {
        self.ready = missing.isEmpty
        self.missing = missing
        self.alarms = alarms
    }
}

/// The changes that a reload made, as JSON: the answer to `POST /v1/reload`.
package struct ReloadDocument: Codable, Hashable, Sendable {
    /// The keys of the configuration that hold from now on, each as `KEY: BEFORE → AFTER`.
    package var changed: [String]
    /// Those that need a restart.
    package var needRestart: [String]

    package init(changed: [String], needRestart: [String]) {
        self.changed = changed
        self.needRestart = needRestart
    }
}

/// Which operations there are, as JSON: what `GET /v1` answers.
package struct IndexDocument: Codable, Hashable, Sendable {
    package var service: String
    /// The summary of each operation, by method and path.
    package var operations: [String: String]
    /// Where all of it is described for programs.
    package var openapi: String
}

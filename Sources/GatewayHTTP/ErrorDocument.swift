// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// What every answer but a success says, as JSON.
package struct ErrorDocument: Codable, Hashable, Sendable {
    /// A word for programs, for instance `notFound`.
    package var error: String
    /// One sentence for people.
    package var sentence: String
    /// The id of the request, as the header `X-Request-Id` and the gateway's messages have it.
    package var requestId: String?

    package init(error: String, sentence: String, requestId: String? = nil) {
        self.error = error
        self.sentence = sentence
        self.requestId = requestId
    }
}

/// Whether the gateway takes requests, as JSON: what `GET /readyz` answers.
package struct ReadinessDocument: Codable, Hashable, Sendable {
    package var ready: Bool
    /// The parts that do not work at present.
    package var missing: [String]
    /// What an operator should look at although requests are taken.
    package var alarms: [RaisedAlarm]

    package init(missing: [String], alarms: [RaisedAlarm] = []) {
        self.ready = missing.isEmpty
        self.missing = missing
        self.alarms = alarms
    }
}

/// What a reload took over, as JSON: what `POST /v1/reload` answers.
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

/// Which paths there are, as JSON: what `GET /` answers.
package struct IndexDocument: Codable, Hashable, Sendable {
    package var service: String
    /// What each path is for.
    package var paths: [String: String]
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// Whether the process lives, as JSON: what `GET /healthz` answers.
package struct LifeDocument: GatewayDocument {
    package var status: String
    package var sentence: String?

    package init(status: String, sentence: String? = nil) {
        self.status = status
        self.sentence = sentence
    }

    package static let documentDescription = DocumentDescription(
        name: "Life",
        fields: [DocumentField("status", .oneOf(["alive", "failed"])), .optional("sentence", .text, "Why it failed.")]
    )
}

/// Whether the gateway takes requests, as JSON: what `GET /readyz` answers.
package struct ReadinessDocument: GatewayDocument {
    package var ready: Bool
    package var missing: [String]
    package var alarms: [RaisedAlarm]

    package init(missing: [String], alarms: [RaisedAlarm] = []) {
        self.ready = missing.isEmpty
        self.missing = missing
        self.alarms = alarms
    }

    package static let documentDescription = DocumentDescription(
        name: "Readiness",
        fields: [
            DocumentField("ready", .flag, "Whether requests are taken."),
            DocumentField("missing", .array(of: .text), "The parts that do not work at present."),
            DocumentField(
                "alarms",
                .array(of: .document(RaisedAlarm.self)),
                "The faults that an operator should examine although requests are taken."
            ),
        ]
    )
}

extension RaisedAlarm: GatewayDocument {
    package static let documentDescription = DocumentDescription(fields: [
        DocumentField("alarm", .oneOf(Alarm.allCases.map(\.rawValue))),
        DocumentField("title", .text, "The alarm in a few words."),
        DocumentField("sentence", .text, "The fault, in a sentence."),
    ])
}

/// The changes that a reload made, as JSON: the answer to `POST /v1/reload`.
package struct ReloadDocument: GatewayDocument {
    /// The keys of the configuration that hold from now on.
    package var changed: [String]
    package var needRestart: [String]

    package init(changed: [String], needRestart: [String]) {
        self.changed = changed
        self.needRestart = needRestart
    }

    package static let documentDescription = DocumentDescription(
        name: "Reload",
        fields: [
            DocumentField("changed", .array(of: .text), "Each as `KEY: BEFORE → AFTER`."),
            DocumentField("needRestart", .array(of: .text), "The changes that need a restart."),
        ]
    )
}

/// Which operations there are, as JSON: what `GET /v1` answers.
package struct IndexDocument: GatewayDocument {
    package var service: String
    package var operations: [String: String]
    package var openapi: String

    package init(service: String, operations: [String: String], openapi: String) {
        self.service = service
        self.operations = operations
        self.openapi = openapi
    }

    package static let documentDescription = DocumentDescription(
        name: "Index",
        fields: [
            DocumentField("service", .text),
            DocumentField("operations", .map(of: .text), "The purpose of each, by method and path."),
            DocumentField("openapi", .text, "Where all of it is described for programs."),
        ]
    )
}

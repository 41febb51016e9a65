// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport

/// A period: `--since 24h`, `--since 2026-05-01T00:00:00Z --until 2026-05-02T00:00:00Z`.
struct PeriodOptions: ParsableArguments {
    @Option(
        help: "Only from this instant on: a time (RFC 3339), or how long ago, for instance 24h.",
        transform: TimeArgument.readPast
    )
    var since: TimeArgument?

    @Option(help: "Only before this instant, written in the same way.", transform: TimeArgument.readPast)
    var until: TimeArgument?

    func validate() throws {
        guard let since, let until else { return }
        guard since.date < until.date else { throw ValidationError("--until is an instant after --since.") }
    }

    /// As parameters of a request.
    var query: [(String, String?)] { [("from", self.since?.text), ("to", self.until?.text)] }
}

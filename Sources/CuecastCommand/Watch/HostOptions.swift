// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CueWatching

/// Which hosts a watcher, or a command that asks ad servers, may ask.
struct HostOptions: ParsableArguments {
    static let allowPrivateHelp: ArgumentHelp =
        "Allow addresses of private networks, of this machine and link-local ones."
    static let allowHostHelp: ArgumentHelp = "Allow this host whatever its address is; also several times."

    @Flag(help: HostOptions.allowPrivateHelp)
    var allowPrivate = false

    @Option(help: HostOptions.allowHostHelp)
    var allowHost: [String] = []

    /// The rule of the options.
    var rule: HostRule { HostRule(allowsPrivate: self.allowPrivate, allowedHosts: self.allowHost) }
}

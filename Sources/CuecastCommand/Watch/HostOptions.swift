// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CueWatching

/// Which hosts a watcher, or a command that asks ad servers, may ask.
struct HostOptions: ParsableArguments {
    @Flag(help: "Allow addresses of private networks, of this machine and link-local ones.")
    var allowPrivate = false

    @Option(help: "Allow this host whatever its address is; also several times.")
    var allowHost: [String] = []

    /// The rule of the options.
    var rule: HostRule { HostRule(allowsPrivate: self.allowPrivate, allowedHosts: self.allowHost) }
}

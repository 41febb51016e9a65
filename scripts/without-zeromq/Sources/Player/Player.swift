// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast

/// Shows that the library is really there, without any transport.
@main
struct Player {
    static func main() {
        print("a player of \(LiveStream(id: "radio1").id), without ZeroMQ")
    }
}

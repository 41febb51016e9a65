// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import Foundation
import Gateway
import GatewayDocuments

/// Which gateway of this machine a command speaks to: the one that runs in a data directory.
struct ControlOptions: ParsableArguments {
    @Option(help: "The data directory of the running gateway. (default: cuecast-data) [CUECAST_DATA_DIR]")
    var dataDir: String?

    /// The folder of the control socket.
    var directory: String {
        if let folder = self.dataDir { return folder }
        let folder = ProcessInfo.processInfo.environment["CUECAST_DATA_DIR"] ?? ""
        return folder.isEmpty ? GatewayConfiguration().dataDirectory : folder
    }

    /// Asks the gateway and waits until it is done; a refusal ends the command with a sentence and its exit code.
    func ask(
        _ command: String,
        _ arguments: [String: JSONValue] = [:],
        progress: ([String: JSONValue]) -> Void = { _ in }
    ) throws(ExitCode) -> [String: JSONValue] {
        do throws(ControlError) {
            return try ControlClient(directory: self.directory).ask(command, arguments, progress: progress)
        } catch {
            complain(error.sentence)
            throw ExitCode(error.exitCode)
        }
    }
}

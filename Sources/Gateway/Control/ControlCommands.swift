// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// The table of what can be asked of a running gateway through its control socket.
///
/// ```swift
/// commands.register("backup") { arguments, progress in
///     guard let folder = arguments["to"]?.asText else { throw ControlError("backup needs a folder", exitCode: 64) }
///     …
///     progress(["pages": 17, "of": 200])
///     …
///     return ["bytes": 4_096]
/// }
/// ```
///
/// A handler runs on Swift's pool, several at once where several clients ask; it must end soon after its task is
/// cancelled, which happens when its client goes away and when the gateway stops. What it throws becomes the sentence of
/// the answer (`ControlError` with an exit code of its own choice).
package final class ControlCommands: Sendable {
    /// Tells the client how far a command is.
    ///
    /// Returns at once; left out for a client that does not read.
    package typealias Progress = @Sendable ([String: ControlValue]) -> Void
    package typealias Handler =
        @Sendable ([String: ControlValue], @escaping Progress) async throws -> [String: ControlValue]

    private let handlers: Mutex<[String: Handler]> = Mutex([:])

    package init() {}

    /// Adds a command; one name has one handler.
    package func register(_ name: String, _ handler: @escaping Handler) {
        self.handlers.withLock {
            precondition($0[name] == nil, "the command \(name) is registered twice")
            $0[name] = handler
        }
    }

    /// The names of all commands, sorted.
    package var names: [String] { self.handlers.withLock { $0.keys.sorted() } }

    /// Carries a command out.
    package func perform(
        _ name: String,
        _ arguments: [String: ControlValue],
        progress: @escaping Progress = { _ in }
    ) async throws(ControlError) -> [String: ControlValue] {
        guard let handler = self.handlers.withLock({ $0[name] }) else {
            throw ControlError(
                "this gateway has no command \"\(name)\"; it has: \(self.names.joined(separator: ", "))",
                exitCode: 64
            )
        }
        do {
            return try await handler(arguments, progress)
        } catch let error as ControlError {
            throw error
        } catch is CancellationError {
            throw ControlError("the command was ended: the gateway stops, or the client went away")
        } catch {
            throw ControlError("\(error)")
        }
    }
}

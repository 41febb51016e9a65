// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayDocuments
import Synchronization

/// The table of what can be asked of a running gateway through its control socket.
///
/// ```swift
/// commands.register("backup") { arguments, progress in
///     guard let folder = arguments["to"]?.asString else { throw ControlError("backup needs a folder", exitCode: 64) }
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
    package typealias Progress = @Sendable ([String: JSONValue]) -> Void
    package typealias Handler =
        @Sendable ([String: JSONValue], @escaping Progress) async throws -> [String: JSONValue]

    private struct Command {
        let changes: Bool
        let handler: Handler
    }

    /// Told of each command that was asked to change something, and why it did not; for the audit.
    package typealias Observer = @Sendable (String, ControlError?) -> Void

    private let commands: Mutex<[String: Command]> = Mutex([:])
    private let observer: Observer

    /// - Parameter observer: told of each command that was asked to change something.
    package init(observer: @escaping Observer = { _, _ in }) {
        self.observer = observer
    }

    /// Adds a command; one name has one handler.
    ///
    /// - Parameters:
    ///   - name: by which it is asked for.
    ///   - changes: whether it changes something of the gateway, or takes a copy of all that it knows.
    ///   - handler: carries it out.
    package func register(_ name: String, changes: Bool = false, _ handler: @escaping Handler) {
        self.commands.withLock {
            precondition($0[name] == nil, "the command \(name) is registered twice")
            $0[name] = Command(changes: changes, handler: handler)
        }
    }

    /// The names of all commands, sorted.
    package var names: [String] { self.commands.withLock { $0.keys.sorted() } }

    /// Carries a command out.
    package func perform(
        _ name: String,
        _ arguments: [String: JSONValue],
        progress: @escaping Progress = { _ in }
    ) async throws(ControlError) -> [String: JSONValue] {
        guard let command = self.commands.withLock({ $0[name] }) else {
            throw ControlError(
                "this gateway has no command \"\(name)\"; it has: \(self.names.joined(separator: ", "))",
                exitCode: 64
            )
        }
        do throws(ControlError) {
            let done = try await Self.carryOut(command, arguments, progress)
            if command.changes { self.observer(name, nil) }
            return done
        } catch {
            if command.changes { self.observer(name, error) }
            throw error
        }
    }

    private static func carryOut(
        _ command: Command,
        _ arguments: [String: JSONValue],
        _ progress: @escaping Progress
    ) async throws(ControlError) -> [String: JSONValue] {
        do {
            return try await command.handler(arguments, progress)
        } catch let error as ControlError {
            throw error
        } catch is CancellationError {
            throw ControlError("the command was ended: the gateway stops, or the client went away")
        } catch {
            throw ControlError("\(error)")
        }
    }
}

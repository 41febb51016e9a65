// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Logging
internal import Synchronization

/// The questions to the app, which answers in its own time, each in a task of its own, which this owns.
final class AppQuestions: Sendable {
    private struct State {
        var token: Task<Void, Never>?
        /// The app's decisions about breaks that are still awaited.
        var decisions: [BreakID: Task<Void, Never>] = [:]
    }

    private let tokenProvider: (@Sendable () async throws -> String)?
    private let fetchPolicy: (@Sendable (AdvertisementBreak) async -> Bool)?
    private let logger: Logger
    private let state = Mutex(State())

    init(_ configuration: ListenerConfiguration, logger: Logger) {
        self.tokenProvider = configuration.tokenProvider
        self.fetchPolicy = configuration.fetchPolicy
        self.logger = logger
    }

    deinit {
        self.end()
    }

    /// Asks for a token, and asks no more where that was asked before; `answer` gets `nil` where the app gave none.
    func askForToken(answer: @escaping @Sendable (String?) -> Void) {
        guard let provider = self.tokenProvider else { return }
        let task = Task(name: "Cuecast token") { [logger] in
            var token: String?
            do {
                token = try await provider()
            } catch {
                logger.warning("The app gave no token", metadata: ["error": "\(error)"])
            }
            answer(token)
        }
        self.state.withLock { state in
            state.token?.cancel()
            state.token = task
        }
    }

    /// Asks whether the advertisements of a break are wanted.
    func ask(about each: AdvertisementBreak, _ id: BreakID, answer: @escaping @Sendable (_ isWanted: Bool) -> Void) {
        guard let policy = self.fetchPolicy else { return }
        self.state.withLock { state in
            state.decisions[id] = Task(name: "Cuecast fetch policy") { [weak self] in
                let isWanted = await policy(each)
                guard let self else { return }
                self.state.withLock { $0.decisions[id] = nil }
                answer(isWanted)
            }
        }
    }

    /// Cancels what is still asked.
    func end() {
        let tasks = self.state.withLock { state in
            defer { state = State() }
            return [state.token].compactMap(\.self) + state.decisions.values
        }
        for task in tasks { task.cancel() }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Logging
internal import Synchronization

/// Tells delegates, and says in the log once where the main actor keeps them from being told.
///
/// Delegates that are never called look like missing advertisements.
final class DelegateNotifier: Sendable {
    /// How long a delegate's call may wait for the main actor before the log says so.
    static let mainActorWaitMax = Duration.seconds(5)

    private enum Watch {
        case off
        /// The task looks after `mainActorWaitMax` whether calls wait.
        case looking(Task<Void, Never>)
        /// The log says it already, or the session is over.
        case over
    }

    private let center: AdvertisementCenter
    private let logger: Logger
    private let watch = Mutex(Watch.off)

    init(_ center: AdvertisementCenter, logger: Logger) {
        self.center = center
        self.logger = logger
    }

    deinit {
        self.endWatch()
    }

    func tell(_ call: DelegateCall) {
        self.center.tell(call)
        self.watch.withLock { watch in
            guard case .off = watch else { return }
            watch = .looking(
                Task(name: "Cuecast main actor") { [weak self] in
                    let wait = Self.mainActorWaitMax
                    guard (try? await Task.sleep(for: wait, tolerance: .zero, clock: .continuous)) != nil else {
                        return
                    }
                    self?.look()
                }
            )
        }
    }

    private func look() {
        let isBlocked =
            if let oldest = self.center.oldestCallOnMainActor {
                oldest.duration(to: .now) >= Self.mainActorWaitMax - .milliseconds(100)
            } else {
                false
            }
        let isNews = self.watch.withLock { watch in
            guard case .looking = watch else { return false }
            watch = isBlocked ? .over : .off
            return isBlocked
        }
        guard isNews else { return }
        self.logger.warning(
            """
            A delegate's call has been waiting for the main actor for 5 s: is the main thread blocked? \
            On Linux main-actor code runs only while it is not
            """
        )
    }

    /// The session's advertisements are those of the center no more.
    func detach(_ engine: ListenerEngine) {
        self.center.detach(engine)
    }

    /// Nothing is said in the log any more.
    func endWatch() {
        let last = self.watch.withLock { watch in
            defer { watch = .over }
            return watch
        }
        if case .looking(let task) = last { task.cancel() }
    }
}

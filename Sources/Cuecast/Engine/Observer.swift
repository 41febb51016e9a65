// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// A call of a delegate.
enum DelegateCall: Hashable, Sendable {
    case available
    /// As `available`, but only if the queue still waits for the app when the call is made.
    case stillAvailable
    case withdrawn(AdvertisementWithdrawal)
}

/// One delegate and the calls that wait for its actor.
///
/// Calls are made one after the other on the delegate's actor, by a task that lives while there are any. Nothing waits
/// for that task: where the main thread is blocked it never runs, and stopping must not hang because of that.
final class Observer: Sendable {
    /// The most calls that wait for the delegate's actor.
    ///
    /// Of more, "available" is dropped: one that waits says the same.
    static let waitingCallsMax = 64

    /// The delegate as seen from nowhere in particular.
    // Safety: delegates need not be Sendable, as app code has them. `perform` is called on the delegate's actor only,
    // which is the main actor unless the delegate is Sendable; `isHolding` and `isAlive` look at the reference and touch
    // nothing else.
    private struct Delegate: @unchecked Sendable {
        /// Makes the call; `false` where the object is gone.
        let perform: (DelegateCall) -> Bool
        let isHolding: (AnyObject) -> Bool
        /// `false` where the object is gone.
        let isAlive: () -> Bool
    }

    private struct Call: Sendable {
        let call: DelegateCall
        let made: ContinuousClock.Instant
        let whenGone: @Sendable () -> Void
        let isWanted: @Sendable () -> Bool
    }

    private struct Mailbox {
        var calls: [Call] = []
        var delivery: Task<Void, Never>?
        var isCancelled = false
    }

    /// The object's identity; `nil` for values.
    let objectID: ObjectIdentifier?
    private let delegate: Delegate
    private let actor: any Actor
    private let mailbox = Mutex(Mailbox())

    init<D: AdvertisementDelegate>(_ delegate: D, on actor: any Actor) {
        self.actor = actor
        // The concrete type is captured here, with its conformance: recovering it later by a cast of an `AnyObject` fails
        // off the main actor where the conformance is isolated to it, and a live delegate would be forgotten in silence.
        if D.self is AnyObject.Type {
            weak let object = delegate as AnyObject
            self.objectID = ObjectIdentifier(delegate as AnyObject)
            self.delegate = Delegate { call in
                guard let delegate = object as? D else { return false }
                delegate.receive(call)
                return true
            } isHolding: {
                object === $0
            } isAlive: {
                object != nil
            }
        } else {
            self.objectID = nil
            self.delegate = Delegate { call in
                delegate.receive(call)
                return true
            } isHolding: { _ in
                false
            } isAlive: {
                true
            }
        }
    }

    /// Whether the delegate still exists.
    var isAlive: Bool { self.delegate.isAlive() }

    func holds<D: AdvertisementDelegate>(_ delegate: D) -> Bool {
        guard D.self is AnyObject.Type, self.objectID == ObjectIdentifier(delegate as AnyObject) else { return false }
        // The same address may belong to another object by now.
        return self.delegate.isHolding(delegate as AnyObject)
    }

    /// Makes the call on the delegate's actor, soon.
    ///
    /// `isWanted` is asked on that actor right before the call; `whenGone` is called where the object lives no more.
    func tell(
        _ call: DelegateCall,
        whenGone: @escaping @Sendable () -> Void,
        isWanted: @escaping @Sendable () -> Bool
    ) {
        self.mailbox.withLock { mailbox in
            guard !mailbox.isCancelled else { return }
            if mailbox.calls.count >= Self.waitingCallsMax {
                guard case .withdrawn = call else { return }
                mailbox.calls.removeFirst()
            }
            mailbox.calls.append(Call(call: call, made: .now, whenGone: whenGone, isWanted: isWanted))
            guard mailbox.delivery == nil else { return }
            mailbox.delivery = Task(name: "Cuecast delegate") { await self.deliver(on: self.actor) }
        }
    }

    /// No call begins any more after this; called on the delegate's actor, none follows.
    func cancel() {
        self.mailbox.withLock { mailbox in
            mailbox.isCancelled = true
            mailbox.calls = []
        }
    }

    /// Since when a call has been waiting for the main actor; `nil`: none does.
    var waitingOnMainActorSince: ContinuousClock.Instant? {
        guard self.actor === MainActor.shared else { return nil }
        return self.mailbox.withLock { $0.calls.first?.made }
    }

    private func deliver(on actor: isolated any Actor) {
        while let call = self.takeCall() {
            guard call.isWanted() else { continue }
            guard self.delegate.perform(call.call) else {
                self.cancel()
                call.whenGone()
                continue
            }
        }
    }

    private func takeCall() -> Call? {
        self.mailbox.withLock { mailbox in
            guard !mailbox.calls.isEmpty else {
                mailbox.delivery = nil
                return nil
            }
            return mailbox.calls.removeFirst()
        }
    }
}

extension AdvertisementDelegate {
    fileprivate func receive(_ call: DelegateCall) {
        switch call {
        case .available, .stillAvailable: self.onAdvertisementAvailable()
        case .withdrawn(let withdrawal): self.onAdvertisementsWithdrawn(withdrawal)
        }
    }
}

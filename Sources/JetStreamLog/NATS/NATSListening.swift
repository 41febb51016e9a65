// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import Synchronization

/// Messages of a subject, handed to a closure on a thread of libnats until it is closed or let go.
// Safety: the handle is libnats's, which locks it, and is not changed.
@safe final class NATSListening: @unchecked Sendable {
    typealias Handler = @Sendable (_ subject: String, _ bytes: [UInt8]) -> Void

    private final class Target: Sendable {
        let handler: Handler
        init(_ handler: @escaping Handler) { self.handler = handler }
    }

    private static let targets = CallbackTable<Target>()
    /// The most messages that wait for the closure; more are lost.
    private static let waitingMax: Int32 = 4_096
    private static let bytesWaitingMax: Int32 = 16 * 1_048_576

    private let number: UInt
    private let subscription: OpaquePointer
    /// So that it outlives the subscription.
    private let connection: NATSConnection

    init(_ connection: NATSConnection, on subject: String, _ handler: @escaping Handler) throws(NATSError) {
        let number = Self.targets.add(Target(handler))
        var subscription: OpaquePointer?
        let status = unsafe natsConnection_Subscribe(
            &subscription,
            connection.handle,
            subject,
            { _, _, message, closure in
                defer { unsafe natsMsg_Destroy(message) }
                guard let target = unsafe NATSListening.targets.find(closure), let message = unsafe message,
                    let subject = unsafe natsMsg_GetSubject(message)
                else { return }
                target.handler(unsafe String(cString: subject), unsafe StreamMessage.content(of: message))
            },
            CallbackTable<Target>.closure(number)
        )
        guard status == NATS_OK, let subscription = unsafe subscription else {
            Self.targets.remove(number)
            throw .unusable("\(subject): \(NATSCall.text(of: status))")
        }
        _ = unsafe natsSubscription_SetPendingLimits(subscription, Self.waitingMax, Self.bytesWaitingMax)
        self.number = number
        unsafe self.subscription = subscription
        self.connection = connection
    }

    /// Hands over no more.
    func close() {
        Self.targets.remove(self.number)
        _ = unsafe natsSubscription_Unsubscribe(self.subscription)
    }

    deinit {
        Self.targets.remove(self.number)
        unsafe natsSubscription_Destroy(self.subscription)
    }
}
#endif

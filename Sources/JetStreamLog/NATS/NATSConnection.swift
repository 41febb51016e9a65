// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import Dispatch
import Glibc

/// A connection to the servers of NATS: it connects again by itself.
///
/// ```swift
/// let connection = try NATSConnection(NATSAccess(servers: ["nats://127.0.0.1:4222"]))
/// let facts = try connection.facts(of: "cuecast-breaks")
/// ```
///
/// Its calls block until the server has answered, for at most `NATSAccess.answerWithin`.
// Safety: libnats locks its objects itself; the handles live as long as this object, and are not changed.
@safe package final class NATSConnection: @unchecked Sendable {
    /// How often a server is asked whether it is there.
    private static let pingInterval: Duration = .seconds(2)
    private static let pingsOpenMax: Int32 = 2
    /// How long between two tries to connect.
    private static let reconnectAfter: Duration = .milliseconds(200)

    let handle: OpaquePointer
    /// For questions; appends have one of their own.
    let context: OpaquePointer
    package let access: NATSAccess

    /// Connects.
    ///
    /// - Parameter access: where to, and as whom.
    /// - Throws: `noAnswer` where no server takes it, and `unusable` where a file cannot be read or a server does not let it in.
    package init(_ access: NATSAccess) throws(NATSError) {
        var options: OpaquePointer?
        try unsafe NATSCall.check(natsOptions_Create(&options), "natsOptions_Create")
        defer { unsafe natsOptions_Destroy(options) }
        try unsafe Self.fill(options, access)
        var handle: OpaquePointer?
        let status = unsafe natsConnection_Connect(&handle, options)
        guard status == NATS_OK, let connected = unsafe handle else {
            let reason = "\(access.servers.joined(separator: ", ")): \(NATSCall.text(of: status))"
            throw NATSCall.isLockedOut(status) ? .unusable(reason) : .noAnswer(reason)
        }
        var context: OpaquePointer?
        var settings = unsafe jsOptions()
        unsafe jsOptions_Init(&settings)
        unsafe settings.Wait = access.answerWithin.wholeMilliseconds
        let made = unsafe natsConnection_JetStream(&context, connected, &settings)
        guard made == NATS_OK, let context = unsafe context else {
            unsafe natsConnection_Destroy(connected)
            throw .unusable("JetStream: \(NATSCall.text(of: made))")
        }
        unsafe self.handle = connected
        unsafe self.context = context
        self.access = access
    }

    deinit {
        unsafe jsCtx_Destroy(self.context)
        unsafe natsConnection_Destroy(self.handle)
    }

    private static func fill(_ options: OpaquePointer?, _ access: NATSAccess) throws(NATSError) {
        // libnats only reads the addresses, and copies them.
        let copies = unsafe access.servers.map { unsafe strdup($0) }
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        var addresses = unsafe copies.map { unsafe UnsafePointer<CChar>($0) }
        try unsafe NATSCall.check(
            natsOptions_SetServers(options, &addresses, Int32(addresses.count)),
            "the addresses of the servers"
        )
        let wait = access.answerWithin.wholeMilliseconds
        try unsafe NATSCall.check(natsOptions_SetName(options, access.name), "the name")
        try unsafe NATSCall.check(
            natsOptions_SetTimeout(options, access.connectWithin.wholeMilliseconds),
            "the time-out"
        )
        try unsafe NATSCall.check(natsOptions_SetWriteDeadline(options, wait), "the deadline for writing")
        try unsafe NATSCall.check(
            natsOptions_SetPingInterval(options, Self.pingInterval.wholeMilliseconds),
            "the interval of pings"
        )
        try unsafe NATSCall.check(natsOptions_SetMaxPingsOut(options, Self.pingsOpenMax), "the number of pings")
        try unsafe NATSCall.check(natsOptions_SetMaxReconnect(options, -1), "the number of tries")
        let again = Self.reconnectAfter.wholeMilliseconds
        try unsafe NATSCall.check(natsOptions_SetReconnectWait(options, again), "the time between tries")
        try unsafe NATSCall.check(natsOptions_SetReconnectJitter(options, again, again), "the jitter of tries")
        if let file = access.credentialsFile {
            try unsafe NATSCall.check(
                natsOptions_SetUserCredentialsFromFiles(options, file, nil),
                "the file with credentials \(file)"
            )
        }
        if let key = access.key {
            try unsafe NATSCall.check(
                natsOptions_SetNKeyFromSeed(options, key.publicKey, key.seedFile),
                "the file with a seed \(key.seedFile)"
            )
        }
        guard let tls = access.tls else { return }
        try unsafe NATSCall.check(natsOptions_SetSecure(options, true), "TLS")
        if let file = tls.authorityFile {
            try unsafe NATSCall.check(
                natsOptions_LoadCATrustedCertificates(options, file),
                "the file with authorities \(file)"
            )
        }
        if let file = tls.certificateFile, let key = tls.keyFile {
            try unsafe NATSCall.check(
                natsOptions_LoadCertificatesChain(options, file, key),
                "the files with a certificate and its key, \(file) and \(key)"
            )
        }
    }

    /// The largest message that the server takes, in bytes.
    package var payloadBytesMax: Int { Int(clamping: unsafe natsConnection_GetMaxPayload(self.handle)) }

    /// Refuses a server that does not take the largest record.
    ///
    /// - Throws: `unusable`, with the setting to change.
    func requirePayload() throws(NATSError) {
        guard self.payloadBytesMax >= JetStreamLimits.payloadBytesMin else {
            throw .unusable(
                "the server takes messages of \(self.payloadBytesMax) bytes at most: set max_payload to"
                    + " \(JetStreamLimits.payloadBytesMin) or more"
            )
        }
    }

    /// Whether it is connected now.
    package var isConnected: Bool { unsafe natsConnection_Status(self.handle) == NATS_CONN_STATUS_CONNECTED }

    /// Publishes a message that may be lost.
    ///
    /// - Returns: whether it was handed over.
    @discardableResult
    package func publish(_ bytes: [UInt8], on subject: String) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe natsConnection_Publish(self.handle, subject, bytes.baseAddress, Int32(bytes.count)) == NATS_OK
        }
    }

    /// Sends what was published, and waits until a server has it.
    package func flush() {
        _ = unsafe natsConnection_FlushTimeout(self.handle, self.access.answerWithin.wholeMilliseconds)
    }
}

/// The errors of libnats.
enum NATSCall {
    /// - Throws: where a call failed before anything was sent.
    static func check(_ status: natsStatus, _ what: String) throws(NATSError) {
        guard status != NATS_OK else { return }
        throw .unusable("\(what): \(Self.text(of: status))")
    }

    /// - Returns: the error of a call that asks a server.
    static func error(_ status: natsStatus, _ code: jsErrCode = jsErrCode(0), stream: String) -> NATSError {
        if code == JSStreamNotFoundErr || status == NATS_NOT_FOUND && code.rawValue == 0 { return .noStream(stream) }
        guard code.rawValue != 0 else { return .noAnswer("\(stream): \(Self.text(of: status))") }
        return .refused("\(stream): \(Self.text(of: status))", code: Int(code.rawValue))
    }

    /// Runs what waits for servers on a thread of its own: none of those is held on which tasks run.
    static func onThreadOfItsOwn<Value: Sendable>(
        _ body: @escaping @Sendable () throws(NATSError) -> Value
    ) async throws(NATSError) -> Value {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue(label: "cuecast-jetstream-call")
                .async { continuation.resume(returning: Result { () throws(NATSError) in try body() }) }
        }
        return try result.get()
    }

    /// Whether a server was there and did not let the client in, or the client did not believe the server: trying again does not help.
    static func isLockedOut(_ status: natsStatus) -> Bool {
        [NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED, NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED]
            .contains(status)
    }

    /// The text of libnats, with the last sentence of this thread.
    static func text(of status: natsStatus) -> String {
        let name = unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "status \(status.rawValue)"
        var last = NATS_OK
        guard let more = unsafe nats_GetLastError(&last), last == status else { return name }
        let sentence = unsafe String(cString: more)
        return sentence.isEmpty ? name : "\(name) (\(sentence))"
    }
}

extension Duration {
    /// For libnats, which counts milliseconds.
    var wholeMilliseconds: Int64 { max(1, self.inMicroseconds / 1_000) }
}
#endif

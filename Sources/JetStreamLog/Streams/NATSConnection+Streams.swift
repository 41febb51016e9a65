// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
package import GatewayCore

extension NATSConnection {
    /// Asks the leader of a stream about it.
    ///
    /// A leader answers only when it has applied all that was confirmed before it was elected.
    ///
    /// - Throws: `noStream`, or `noAnswer` while there is no leader.
    package func facts(of stream: String, in names: LogNames, lane: Lane) throws(NATSError) -> StreamFacts {
        try self.facts(of: stream, subject: names.subject(of: lane))
    }

    /// Asks the leader of a stream of one subject about it.
    func facts(of stream: String, subject: String) throws(NATSError) -> StreamFacts {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let status = unsafe js_GetStreamInfo(&info, self.context, stream, nil, &code)
        guard status == NATS_OK, let info = unsafe info else { throw NATSCall.error(status, code, stream: stream) }
        defer { unsafe jsStreamInfo_Destroy(info) }
        return unsafe StreamFacts(info, subject: subject)
    }

    /// Makes a stream for a lane.
    ///
    /// - Throws: `refused` where there is one of this name already, or the servers cannot.
    func makeStream(_ stream: String, subject: String, replicas: Int) throws(NATSError) {
        var configuration = unsafe jsStreamConfig()
        unsafe jsStreamConfig_Init(&configuration)
        var code = jsErrCode(0)
        let status = unsafe stream.withCString { name in
            unsafe subject.withCString { subject in
                var subjects: [UnsafePointer<CChar>?] = unsafe [subject]
                return unsafe subjects.withUnsafeMutableBufferPointer { subjects in
                    unsafe configuration.Name = unsafe name
                    unsafe configuration.Subjects = subjects.baseAddress
                    unsafe configuration.SubjectsLen = 1
                    unsafe configuration.Retention = js_LimitsPolicy
                    unsafe configuration.Discard = js_DiscardNew
                    unsafe configuration.Storage = js_FileStorage
                    unsafe configuration.Replicas = Int64(replicas)
                    unsafe configuration.AllowDirect = true
                    // Repeats are told by their numbers, without a bound in time; the server need not remember any.
                    return unsafe js_AddStream(nil, self.context, &configuration, nil, &code)
                }
            }
        }
        guard status == NATS_OK else { throw NATSCall.error(status, code, stream: stream) }
    }

    /// Stores a message in a stream that is empty, and waits for it.
    func storeFirst(_ bytes: [UInt8], on subject: String, in stream: String) throws(NATSError) {
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        var code = jsErrCode(0)
        let status = unsafe stream.withCString { stream in
            unsafe options.ExpectStream = unsafe stream
            unsafe options.ExpectNoMessage = true
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe js_Publish(nil, self.context, subject, bytes.baseAddress, Int32(bytes.count), &options, &code)
            }
        }
        guard status == NATS_OK else { throw NATSCall.error(status, code, stream: stream) }
    }

    /// Asks a stream's leader for one message.
    ///
    /// - Returns: its bytes; `nil`: there is none.
    func message(_ sequence: UInt64, of stream: String) throws(NATSError) -> [UInt8]? {
        var message: OpaquePointer?
        var code = jsErrCode(0)
        let status = unsafe js_GetMsg(&message, self.context, stream, sequence, nil, &code)
        if code == JSNoMessageFoundErr { return nil }
        guard status == NATS_OK, let message = unsafe message else {
            throw NATSCall.error(status, code, stream: stream)
        }
        defer { unsafe natsMsg_Destroy(message) }
        return unsafe StreamMessage.content(of: message)
    }

    /// Messages of a stream from one on, in order, as far as any server with a copy has them: none where it has none yet.
    ///
    /// - Parameters:
    ///   - sequence: of the first one.
    ///   - stream: which stream.
    ///   - messagesMax: the most messages.
    ///   - bytesMax: no further message once there are so many bytes.
    ///   - subject: only those of subjects that match it, with their subjects; `nil`: all.
    /// - Returns: the messages.
    /// - Throws: `noAnswer`, where not even one message came in time.
    func messages(
        from sequence: UInt64,
        of stream: String,
        messagesMax: Int,
        bytesMax: Int,
        on subject: String? = nil
    ) throws(NATSError) -> [StreamMessage] {
        var inbox: UnsafeMutablePointer<CChar>?
        try unsafe NATSCall.check(natsInbox_Create(&inbox), "an inbox")
        defer { unsafe natsInbox_Destroy(inbox) }
        var subscription: OpaquePointer?
        try unsafe NATSCall.check(natsConnection_SubscribeSync(&subscription, self.handle, inbox), "an inbox")
        defer { unsafe natsSubscription_Destroy(subscription) }
        try unsafe NATSCall.check(natsSubscription_SetPendingLimits(subscription, -1, -1), "an inbox")
        let filter = subject.map { ",\"next_by_subj\":\"\($0)\"" } ?? ""
        let request = "{\"seq\":\(sequence),\"batch\":\(messagesMax),\"max_bytes\":\(bytesMax)\(filter)}"
        let sent = unsafe natsConnection_PublishRequestString(
            self.handle,
            "$JS.API.DIRECT.GET.\(stream)",
            inbox,
            request
        )
        guard sent == NATS_OK else { throw NATSCall.error(sent, stream: stream) }
        var collected: [StreamMessage] = []
        while true {
            var message: OpaquePointer?
            let wait = self.access.answerWithin.wholeMilliseconds
            let status = unsafe natsSubscription_NextMsg(&message, subscription, wait)
            guard status == NATS_OK, let message = unsafe message else {
                // Those that came are as good as ever: they are in order, and the next question goes on behind them.
                if !collected.isEmpty { return collected }
                throw NATSCall.error(status == NATS_NOT_FOUND ? NATS_TIMEOUT : status, stream: stream)
            }
            defer { unsafe natsMsg_Destroy(message) }
            switch unsafe StreamMessage.read(message) {
            case .message(var each):
                if subject != nil { each.subject = unsafe StreamMessage.header("Nats-Subject", of: message) }
                collected.append(each)
            case .end: return collected
            case .failed(let reason):
                if !collected.isEmpty { return collected }
                throw .noAnswer("\(stream): \(reason)")
            }
        }
    }
}

extension StreamMessage {
    /// One answer of a server to a question for messages.
    enum Answer {
        case message(StreamMessage)
        case end
        case failed(String)
    }

    static func read(_ message: OpaquePointer) -> Answer {
        if let status = unsafe Self.header("Status", of: message) {
            switch status {
            // The end of a batch, and: there is no such message yet.
            case "204", "404": return .end
            default: return .failed("status \(status) \(unsafe Self.header("Description", of: message) ?? "")")
            }
        }
        guard let sequence = unsafe Self.header("Nats-Sequence", of: message).flatMap({ UInt64($0) }),
            let time = unsafe Self.header("Nats-Time-Stamp", of: message)
        else { return .failed("an answer without a sequence or a time") }
        return .message(
            StreamMessage(
                sequence: sequence,
                time: time,
                append: unsafe Self.header(AppendHeader.name, of: message),
                bytes: unsafe Self.content(of: message),
                standIn: unsafe Self.header(StandInHeader.order, of: message).flatMap { UInt64($0) },
                storedFirst: unsafe Self.header(StandInHeader.time, of: message)
            )
        )
    }

    static func content(of message: OpaquePointer) -> [UInt8] {
        let count = Int(unsafe natsMsg_GetDataLength(message))
        guard count > 0, let data = unsafe natsMsg_GetData(message) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK, let value = unsafe value else { return nil }
        return unsafe String(cString: value)
    }
}

extension StreamFacts {
    fileprivate init(_ info: UnsafeMutablePointer<jsStreamInfo>, subject: String) {
        let state = unsafe info.pointee.State
        unsafe self.firstSequence = state.FirstSeq
        unsafe self.lastSequence = state.LastSeq
        unsafe self.deletedCount = state.NumDeleted
        unsafe self.bytes = state.Bytes
        unsafe self.created = info.pointee.Created
        if let cluster = unsafe info.pointee.Cluster {
            self.leader = unsafe cluster.pointee.Leader.map { unsafe String(cString: $0) }
            for place in 0..<Int(unsafe cluster.pointee.ReplicasLen) {
                guard let peer = unsafe cluster.pointee.Replicas[place] else { continue }
                self.copies.append(
                    Copy(
                        server: unsafe peer.pointee.Name.map { unsafe String(cString: $0) } ?? "",
                        isCurrent: unsafe peer.pointee.Current,
                        isOffline: unsafe peer.pointee.Offline,
                        lag: unsafe peer.pointee.Lag
                    )
                )
            }
        }
        guard let settings = unsafe info.pointee.Config?.pointee else { return }
        self.replicas = Int(unsafe settings.Replicas)
        for place in 0..<Int(unsafe settings.SubjectsLen) {
            if let each = unsafe settings.Subjects[place] { self.subjects.append(unsafe String(cString: each)) }
        }
        if self.subjects != [subject] {
            self.faults.append("takes the subjects \(self.subjects.joined(separator: ", ")) in place of \(subject)")
        }
        if unsafe settings.Retention != js_LimitsPolicy { self.faults.append("lets records go when they were read") }
        if unsafe settings.Discard != js_DiscardNew { self.faults.append("lets old records go where it is full") }
        if unsafe settings.Storage != js_FileStorage { self.faults.append("is in memory, not in files") }
        if unsafe settings.MaxAge > 0 { self.faults.append("lets records go by their age") }
        if unsafe settings.MaxMsgs > 0 || settings.MaxMsgsPerSubject > 0 {
            self.faults.append("has a limit of its number of records")
        }
        if unsafe settings.MaxBytes > 0 { self.faults.append("has a limit of bytes") }
        if unsafe settings.MaxMsgSize > 0 && Int(settings.MaxMsgSize) < JetStreamLimits.payloadBytesMin {
            self.faults.append("takes no record of \(JetStreamLimits.payloadBytesMin) bytes")
        }
        if unsafe !settings.AllowDirect { self.faults.append("does not let all its servers answer (allow_direct)") }
        if unsafe settings.NoAck { self.faults.append("confirms nothing (no_ack)") }
        if unsafe settings.AllowRollup { self.faults.append("lets a writer remove records (allow_rollup_hdrs)") }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS

/// The headers of a record that stands for an erased one, beside that of its writer.
enum StandInHeader {
    /// The sequence of the order because of which it was erased.
    static let order = "Cuecast-Forgetting"
    /// When the erased message was stored.
    static let time = "Cuecast-Time"
    static let expectedLast = "Nats-Expected-Last-Subject-Sequence"
}

extension NATSConnection {
    /// Asks a stream's leader for the newest message of a subject.
    ///
    /// - Returns: the message, with its own sequence and time; `nil`: there is none.
    func last(on subject: String, of stream: String) throws(NATSError) -> StreamMessage? {
        var message: OpaquePointer?
        var code = jsErrCode(0)
        let status = unsafe js_GetLastMsg(&message, self.context, stream, subject, nil, &code)
        if code == JSNoMessageFoundErr { return nil }
        guard status == NATS_OK, let message = unsafe message else {
            throw NATSCall.error(status, code, stream: stream)
        }
        defer { unsafe natsMsg_Destroy(message) }
        return StreamMessage(
            sequence: unsafe natsMsg_GetSequence(message),
            time: unsafe StreamMessage.header(StandInHeader.time, of: message) ?? "",
            append: unsafe StreamMessage.header(AppendHeader.name, of: message),
            bytes: unsafe StreamMessage.content(of: message),
            standIn: unsafe StreamMessage.header(StandInHeader.order, of: message).flatMap { UInt64($0) },
            subject: subject
        )
    }

    /// Asks the leader which messages of a stream were deleted.
    func deletedSequences(of stream: String) throws(NATSError) -> Set<UInt64> {
        var options = unsafe jsOptions()
        unsafe jsOptions_Init(&options)
        unsafe options.Stream.Info.DeletedDetails = true
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let status = unsafe js_GetStreamInfo(&info, self.context, stream, &options, &code)
        guard status == NATS_OK, let info = unsafe info else { throw NATSCall.error(status, code, stream: stream) }
        defer { unsafe jsStreamInfo_Destroy(info) }
        let state = unsafe info.pointee.State
        guard let deleted = unsafe state.Deleted else { return [] }
        return unsafe Set(UnsafeBufferPointer(start: deleted, count: Int(state.DeletedLen)))
    }

    /// Asks the leader for the subjects of a stream of which there are messages.
    ///
    /// - Parameters:
    ///   - stream: which stream.
    ///   - filter: which subjects.
    /// - Returns: the subjects.
    /// - Throws: `noStream` where there is none.
    func subjects(of stream: String, matching filter: String) throws(NATSError) -> [String] {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let status = unsafe filter.withCString { filter in
            var options = unsafe jsOptions()
            unsafe jsOptions_Init(&options)
            unsafe options.Stream.Info.SubjectsFilter = unsafe filter
            return unsafe js_GetStreamInfo(&info, self.context, stream, &options, &code)
        }
        guard status == NATS_OK, let info = unsafe info else { throw NATSCall.error(status, code, stream: stream) }
        defer { unsafe jsStreamInfo_Destroy(info) }
        guard let subjects = unsafe info.pointee.State.Subjects, let list = unsafe subjects.pointee.List else {
            return []
        }
        return unsafe UnsafeBufferPointer(start: list, count: Int(subjects.pointee.Count))
            .compactMap { unsafe $0.Subject.map { unsafe String(cString: $0) } }
    }

    /// Stores a message and waits until the servers have confirmed it.
    ///
    /// - Parameters:
    ///   - bytes: its content.
    ///   - headers: stand beside it.
    ///   - subject: of the stream.
    ///   - stream: which stream.
    ///   - last: the sequence of the message that it has to follow; `nil`: it may follow any.
    /// - Returns: its sequence.
    /// - Throws: `noAnswer` where it is not known whether it was stored; see `isAnotherSequence`.
    func store(
        _ bytes: [UInt8],
        headers: [(String, String)] = [],
        on subject: String,
        in stream: String,
        after last: UInt64? = nil
    ) throws(NATSError) -> UInt64 {
        var message: OpaquePointer?
        let made = unsafe bytes.withUnsafeBytes { bytes in
            unsafe natsMsg_Create(
                &message,
                subject,
                nil,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count)
            )
        }
        try NATSCall.check(made, "a message")
        defer { unsafe natsMsg_Destroy(message) }
        for (name, value) in headers { try unsafe NATSCall.check(natsMsgHeader_Set(message, name, value), "a header") }
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        var answer: UnsafeMutablePointer<jsPubAck>?
        var code = jsErrCode(0)
        let status = unsafe stream.withCString { stream in
            unsafe options.ExpectStream = unsafe stream
            if let last { unsafe options.ExpectLastSeq = last }
            return unsafe js_PublishMsg(&answer, self.context, message, &options, &code)
        }
        guard status == NATS_OK, let answer = unsafe answer else {
            throw NATSCall.error(status, code, stream: stream)
        }
        defer { unsafe jsPubAck_Destroy(answer) }
        return unsafe answer.pointee.Sequence
    }

    /// Overwrites a message at all servers that have a copy of the stream and are there, and removes it.
    ///
    /// - Throws: `noAnswer` where it is not known whether it is gone.
    func erase(_ sequence: UInt64, of stream: String) throws(NATSError) {
        var code = jsErrCode(0)
        let status = unsafe js_EraseMsg(self.context, stream, sequence, nil, &code)
        guard status != NATS_OK else { return }
        let error = NATSCall.error(status, code, stream: stream)
        // An earlier try has done it, and its answer was lost.
        if case .refused = error, try self.message(sequence, of: stream) == nil { return }
        throw error
    }
}

extension NATSError {
    /// Whether another message of the subject was stored meanwhile.
    ///
    /// The second number is that of a server that asks the others first (`server/errors.json` of nats-server,
    /// JSStreamWrongLastSequenceConstantErr).
    var isAnotherSequence: Bool {
        guard case .refused(_, let code) = self else { return false }
        return code == Int(JSStreamWrongLastSequenceErr.rawValue) || code == 10_164
    }
}
#endif

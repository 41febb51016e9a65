// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request of a broadcaster as its adapter brings it to the desk: read and checked.
struct IncomingRequest: Sendable {
    let request: BroadcastRequest
    /// The broadcaster and its rights, or the reason why they cannot be told.
    let principal: Result<BroadcastPrincipal, Refusal>
    /// How large the request is.
    let bytes: Int
    let origin: RequestOrigin
    /// The request's trace; `nil`: it is not traced.
    let trace: RequestTrace?
    /// The gateway's clock when the request came.
    let reading: ClockReading
    /// Called once, on the desk's thread, with the answer.
    let answer: @Sendable (BroadcastReply) -> Void
}

/// A broadcaster that waits for the answer to its request.
struct WaitingBroadcaster: Sendable {
    var requestID: UInt64
    /// The kind of the request.
    var kind: MetricLabel
    /// The stream that it is about; `nil`: none, or that cannot be read.
    var stream: StreamID?
    /// The break that it is about; `nil`: none, or that cannot be read.
    var key: BreakKey?
    let origin: RequestOrigin
    /// The broadcaster's name; empty where broadcasters are not told apart, or it is not known.
    var by = ""
    /// `nil`: it is no signal.
    var signal: BroadcastRequest.Signal?
    /// `nil`: it is no report of a watcher.
    var report: BroadcastRequest.WatchReport?
    /// The result of a signal; `nil`: it is none, or is not answered yet.
    var signalOutcome: SignalOutcome?
    /// The request's trace; `nil`: it is not traced.
    var trace: RequestTrace?
    /// When it came, by the gateway's clock; `nil`: it was not read.
    var received: Timestamp?
    /// When the gateway decided to record it, by the gateway's clock; for traces only.
    var decided: Timestamp?
    /// Called once, on the desk's thread, with the answer.
    let answer: @Sendable (BroadcastReply) -> Void

    /// The fields of a log line about the request, and further ones.
    func metadata(_ more: Logger.Metadata) -> Logger.Metadata {
        var metadata = more
        metadata["requestId"] = self.origin.requestID.isEmpty ? "\(self.requestID)" : "\(self.origin.requestID)"
        if self.origin.entrance != .zeromq { metadata["entrance"] = "\(self.origin.entrance.rawValue)" }
        metadata["kind"] = "\(self.kind.text)"
        metadata["stream"] = (self.key?.stream ?? self.stream).map { "\($0)" }
        metadata["break"] = self.key.map { "\($0.id)" }
        if !self.by.isEmpty { metadata["by"] = "\(self.by)" }
        if let trace { metadata.merge(trace.logFields) { _, new in new } }
        return metadata
    }

    /// The line of the audit about the request.
    ///
    /// - Parameters:
    ///   - reply: the answer.
    ///   - isNew: whether something has changed, and was not only found done.
    /// - Returns: the line.
    func auditRecord(_ reply: BroadcastReply, isNew: Bool) -> AuditRecord {
        var origin = self.origin
        if origin.requestID.isEmpty { origin.requestID = "\(self.requestID)" }
        var record = AuditRecord(
            at: reply.gatewayTime,
            principal: self.by,
            origin: origin,
            action: self.kind.text,
            stream: self.stream,
            key: self.key,
            outcome: isNew ? .changed : .unchanged
        )
        let words = self.signal?.auditText ?? ""
        switch reply.body {
        case .break(let info):
            // A signal does not name the break that it is about, and a publication may be of one that signals opened.
            record.key = info.key
            record.revision = info.revision
            let reason = self.signalOutcome?.reason ?? ""
            record.sentence = AuditLimits.cut(
                reason.isEmpty ? words : "\(reason) \(words)",
                AuditLimits.auditSentenceBytesMax
            )
            if self.kind == .publish, let id = info.publishedAs {
                record.sentence = "Published as \(id): it is the break that signals opened."
            }
        case .adList(let info, _):
            record.sentence = AuditLimits.cut("The ad list \(info.name).", AuditLimits.auditSentenceBytesMax)
            record.revision = info.revision
        case .refused(let refusal):
            record.outcome = .refused
            record.status = refusal.status
            // Of a signal, the words of the source are what is looked for: where both are long, the reason is cut.
            let end = words.isEmpty ? "" : " \(words)"
            let reason = AuditLimits.cut(
                refusal.sentence,
                max(AuditLimits.auditSentenceBytesMax - end.utf8.count, 0)
            )
            record.sentence = AuditLimits.cut(reason + end, AuditLimits.auditSentenceBytesMax)
        case .list, .adLists, .cueRule: break
        }
        return record
    }
}

extension BroadcastRequest.Kind {
    /// The signal that it is; `nil`: it is none.
    var signal: BroadcastRequest.Signal? {
        guard case .signal(let signal) = self else { return nil }
        return signal
    }

    /// The report of a watcher that it is; `nil`: it is none.
    var report: BroadcastRequest.WatchReport? {
        guard case .watchReport(let report) = self else { return nil }
        return report
    }

    var metricLabel: MetricLabel {
        switch self {
        case .publish: .publish
        case .punch: .punch
        case .update: .update
        case .end: .end
        case .cancel: .cancel
        case .list: .list
        case .postpone: .postpone
        case .signal: .signal
        case .putList: .putList
        case .removeList: .removeList
        case .lists: .lists
        case .watchReport: .watchReport
        }
    }
}

extension BroadcastRequest.Signal {
    /// The most bytes of a signal as its source wrote it that stand in the audit; a line is short.
    private static let auditRawBytesMax = 120

    /// The signal in a sentence, and its beginning as its source wrote it, in base64.
    fileprivate var auditText: String {
        let text = "\(self.kind.name) of the event \(self.name) on \(self.stream)."
        guard !self.raw.isEmpty else { return text }
        let isWhole = self.raw.count <= Self.auditRawBytesMax
        let raw = Data(self.raw.prefix(Self.auditRawBytesMax)).base64EncodedString()
        return "\(text) Raw\(isWhole ? "" : ", the first \(Self.auditRawBytesMax) of \(self.raw.count) bytes"): \(raw)"
    }
}

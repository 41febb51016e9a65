// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Synchronization

/// The trace that a request over HTTP may belong to: its caller says so, the operation is one that is traced, and tracing is on.
///
/// Whether it is traced is decided after its authorization: a refused caller does not use up another trace's place.
final class HTTPTrace: Sendable {
    private let headers: [String]
    private let side: TraceSampler.Side
    private let operation: Operation
    private let came: Timestamp
    private let state: Mutex<RequestTrace?> = Mutex(nil)

    /// - Parameters:
    ///   - headers: the values of `traceparent`, each once.
    ///   - side: the kind of caller.
    ///   - operation: the operation of the request.
    ///   - came: when, by the gateway's clock.
    init(_ headers: [String], from side: TraceSampler.Side, _ operation: Operation, at came: Timestamp) {
        self.headers = headers
        self.side = side
        self.operation = operation
        self.came = came
    }

    /// The trace, once it is decided that there is one.
    var begun: RequestTrace? { self.state.withLock(\.self) }

    /// Decides whether it is traced.
    func begin(by traces: RequestTraces) {
        let trace = traces.begin(self.headers, from: self.side, at: self.came)
        self.state.withLock { $0 = trace }
    }

    /// The span of the request, once it is answered; `nil`: it is not traced.
    ///
    /// - Parameters:
    ///   - status: of the answer.
    ///   - requestID: by which the request is found again.
    ///   - end: when it was answered, by the gateway's clock.
    /// - Returns: the span.
    func span(_ status: HTTPResponse.Status, requestID: String, to end: Timestamp) -> TraceSpan? {
        guard let trace = self.begun else { return nil }
        return TraceSpan(
            "http request",
            kind: .server,
            trace.context,
            parent: trace.parent,
            from: trace.start,
            to: end,
            // As OpenTelemetry's conventions for HTTP name them, but for the last one.
            attributes: [
                ("http.request.method", .text(self.operation.method.rawValue)),
                ("http.route", .text(self.operation.path)),
                ("http.response.status_code", .number(status.code)),
                ("cuecast.request_id", .text(requestID)),
            ],
            fault: status.code >= 500 ? "It was answered with the status \(status.code)." : nil
        )
    }
}

extension Operation {
    /// The same, which is traced where its caller has sampled its trace.
    ///
    /// - Parameter side: the side of the caller.
    /// - Returns: the operation, with the headers that it has for that.
    func traced(as side: TraceSampler.Side) -> Operation {
        var operation = self
        operation.tracedSide = side
        operation.parameters.append(
            OperationParameter(
                "traceparent",
                in: .header,
                "The caller's trace (W3C Trace Context). Where the gateway traces, and the caller has sampled it, it is followed to the notice.",
                ["type": "string"],
                example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            )
        )
        operation.answers = self.answers.map {
            $0.with([
                OperationHeader(
                    "traceresponse",
                    "The trace with the gateway's own span, where the request is traced.",
                    ["type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$"]
                )
            ])
        }
        return operation
    }
}

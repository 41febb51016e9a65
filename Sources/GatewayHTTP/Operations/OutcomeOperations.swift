// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// Single outcomes, for programs that keep books of their own.
func outcomeOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/outcomes",
            id: "readOutcomes",
            tag: "Reports",
            "Read single outcomes in the order of the event log, from a position on.",
            details: """
                One JSON object a line. The answer ends with a line that has `next`: what `from` takes the next time. Where an answer is cut \
                off, the `position` of the last whole row does the same. So each row is read once, however late it was recorded. A listener \
                that was not sure whether it was heard says an outcome again: of rows with the same `number`, `session` and `ordinal` the \
                first stands, as in the reports.
                """,
            access: .read,
            parameters: [
                OperationParameter(
                    "from",
                    in: .query,
                    "The position that was read last; absent: the oldest outcome that is kept comes first.",
                    ["type": "string", "pattern": "^[0-9]{1,15}(:[1-9][0-9]{0,6})?$"],
                    example: "0"
                ),
                OperationParameter("stream", in: .query, "Only this stream.", Schema.stream, example: "radio1"),
                OperationParameter("break", in: .query, "Only breaks of this name.", Schema.breakID, example: "noon-1"),
                OperationParameter(
                    "limit",
                    in: .query,
                    "The most rows; \(OutcomeReader.rowsUsual) unless told.",
                    Schema.integer(1...OutcomeReader.rowsMax),
                    example: 1_000
                ),
            ],
            answers: [
                OperationAnswer(
                    "The rows, and where to go on.",
                    OperationContent(
                        MediaType.lines,
                        OutcomeDocument.lineSchema,
                        example: JSONValue(encoding: OutcomeDocument.example)
                    )
                )
            ],
            refusals: [.positionGone]
        ) { call in
            var from: OutcomePosition?
            if let text = call.query["from"] {
                guard let position = OutcomePosition(text) else {
                    throw Problem.badRequest("The parameter from must be a position as a row or the last line has it.")
                }
                from = position
            }
            let filter = OutcomeFilter(stream: try call.query.stream(), breakID: try call.query.breakID())
            let limit = try call.query.limit(max: OutcomeReader.rowsMax, usual: OutcomeReader.rowsUsual)
            let (log, asked) = (parts.stores.log, from)
            // Problems are reported before the answer begins.
            let reader = try await call.onReaders {
                try await OutcomeReader(log, from: asked, filter, limit: limit)
            }
            return HTTPAnswer(
                type: MediaType.lines,
                body: .stream(.operators) { writer in
                    var reader = reader
                    while let piece = try await reader.next(by: call) { try await writer.write(piece) }
                }
            )
        }
    ]
}

/// Reads outcomes from the event log piece by piece, up to where the log was when it was asked.
struct OutcomeReader: Sendable {
    /// The most rows of an answer.
    static let rowsMax = 1_000_000
    /// The rows of an answer where nothing is said.
    static let rowsUsual = 100_000
    /// How many rows are written at a time.
    private static let rowsPerPieceMax = 256
    /// How many rows are made of records at a time.
    private static let rowsPerReadingMax = 4_096
    /// How many records are read at a time.
    private static let recordsPerReadingMax = 16
    /// After so many bytes of records no further one is read at a time.
    private static let bytesPerReadingMax = 262_144
    /// There is one lane of acknowledgements so far; with more of them a position would have a part for each.
    private static let lane = Lane.acknowledgements(0)

    private let log: any EventLog
    private let filter: OutcomeFilter
    /// The newest record when it was asked.
    private let head: UInt64
    /// Everything up to here is read, or passed over.
    private var position: OutcomePosition
    private var rowsLeft: Int
    /// Rows that are read and not written.
    private var rows: ArraySlice<OutcomeDocument> = []
    /// The position after the rows, once they are written.
    private var behindRows: OutcomePosition
    private var isDone = false

    /// Looks whether everything from a position on is kept.
    ///
    /// - Parameters:
    ///   - log: the log to read.
    ///   - from: the position that was read last; `nil`: none.
    ///   - filter: which rows are wanted.
    ///   - limit: the most rows.
    /// - Throws: a problem where the position is gone, and what the log says.
    init(_ log: any EventLog, from: OutcomePosition?, _ filter: OutcomeFilter, limit: Int) async throws {
        precondition(Lane.acknowledgementLaneCount == 1, "a position has a part for each lane of acknowledgements")
        self.log = log
        self.filter = filter
        self.rowsLeft = limit
        self.head = try await log.head(of: Self.lane)
        self.position = from ?? .beginning
        self.behindRows = self.position
        if let from { try self.check(from) }
        guard let oldest = try await self.readUnlessGone() else { return }
        guard from == nil else { throw Problem.positionGone(from: self.position, oldest: oldest) }
        self.position = oldest
        self.behindRows = oldest
        try await self.read()
    }

    /// Reads the next records.
    ///
    /// - Returns: the oldest position that is kept, where what follows this one is not; `nil`: it was read.
    /// - Throws: the other errors of the log.
    private mutating func readUnlessGone() async throws(EventLogError) -> OutcomePosition? {
        do throws(EventLogError) {
            try await self.read()
            return nil
        } catch {
            guard case .pruned(_, let firstKept) = error else { throw error }
            return OutcomePosition(offset: firstKept - 1, row: nil)
        }
    }

    /// Looks whether a position is one of this log's history.
    private func check(_ from: OutcomePosition) throws(Problem) {
        for epoch in self.log.identity.epochs.dropFirst() {
            let last = epoch.last(of: Self.lane)
            guard from.offset > last, from.offset < epoch.base else { continue }
            throw .positionLost(from, common: OutcomePosition(offset: last, row: nil))
        }
        guard from.offset <= self.head else {
            throw .positionLost(from, common: OutcomePosition(offset: self.head, row: nil))
        }
    }

    /// Reads the next records, unless there are none, or rows that are not written.
    private mutating func read() async throws(EventLogError) {
        while self.rows.isEmpty, self.rowsLeft > 0 {
            // The rest of a record that was read in part before.
            let partly = self.behindRows.row
            let offset = self.behindRows.offset
            let after = partly == nil ? offset : self.log.identity.preceding(offset, in: Self.lane)
            // The log would wait for what comes.
            guard after < self.head else { return }
            let records = try await self.log.read(
                Self.lane,
                after: after,
                recordsMax: partly == nil ? Self.recordsPerReadingMax : 1,
                bytesMax: Self.bytesPerReadingMax
            )
            guard !records.isEmpty else { throw .closed }
            self.position = self.behindRows
            for record in records where record.offset <= self.head && self.rows.count < Self.rowsPerReadingMax {
                do throws(WireError) {
                    let (rows, end) = try OutcomeDocument.rows(
                        of: record,
                        after: record.offset == offset ? partly ?? 0 : 0,
                        self.filter,
                        max: Self.rowsPerReadingMax - self.rows.count
                    )
                    self.rows += rows
                    self.behindRows = end
                } catch {
                    throw .failed("the record \(record.offset) of \(Self.lane) cannot be read: \(error)")
                }
            }
        }
    }

    /// The next piece of the answer; `nil`: it is whole.
    ///
    /// - Parameter call: on whose readers' threads the work is done.
    /// - Returns: whole lines.
    /// - Throws: the error of the log.
    mutating func next(by call: OperationCall) async throws -> [UInt8]? {
        let before = self
        guard !before.isDone else { return nil }
        let (after, piece) = try await call.onReadersForPiece {
            var reader = before
            let piece = try await reader.makePiece()
            return (reader, piece)
        }
        self = after
        return piece
    }

    private mutating func makePiece() async throws -> [UInt8] {
        try await self.read()
        var piece: [UInt8] = []
        for row in self.rows.prefix(min(Self.rowsPerPieceMax, self.rowsLeft)) {
            piece += HTTPAnswer.encoded(row)
            piece.append(UInt8(ascii: "\n"))
            // What is told is what was made from a position.
            self.position = OutcomePosition(row.position) ?? self.position
            self.rowsLeft -= 1
            self.rows.removeFirst()
        }
        let isMore = !self.rows.isEmpty || self.behindRows.offset < self.head || self.behindRows.row != nil
        if self.rows.isEmpty { self.position = self.behindRows }
        guard self.rowsLeft == 0 || !isMore else { return piece }
        self.isDone = true
        piece += HTTPAnswer.encoded(OutcomesEndDocument(next: self.position.text, more: isMore))
        piece.append(UInt8(ascii: "\n"))
        return piece
    }
}

extension Problem {
    /// The records after a position are not kept any more.
    fileprivate static func positionGone(from: OutcomePosition, oldest: OutcomePosition) -> Problem {
        Problem(
            .positionGone,
            "What follows the position \(from.text) is not kept any more; the oldest that is kept follows \(oldest.text).",
            goOnFrom: oldest.text
        )
    }

    /// The records that were read up to a position are not those in the log.
    fileprivate static func positionLost(_ from: OutcomePosition, common: OutcomePosition) -> Problem {
        Problem(
            .positionGone,
            "The position \(from.text) is not one of this log: it lost what followed \(common.text), or it is another log.",
            goOnFrom: common.text
        )
    }
}

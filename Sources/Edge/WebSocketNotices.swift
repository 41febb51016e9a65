// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import SystemSupport
internal import ZMTP

/// Notices of a ring as messages of WebSocket: the headers are here, and the bodies stay in the ring.
///
/// Connections at the same place of a ring need the same headers, so they are made once for all that follow each other.
struct WebSocketNotices {
    /// So many notices go out as one write at the most: the kernel takes two pieces for each, and 1,024 pieces.
    static let noticesMax = 256

    private(set) var headers: [UInt8] = []
    /// Where each header and body is, in `headers` and behind the cursor.
    private(set) var pieces: [System.GatheredPiece] = []
    /// The length of all, in bytes.
    private(set) var byteCount = 0
    /// The cursor behind the last notice.
    private(set) var next: NoticeRing.Cursor = 0
    private var stream: EdgeStream?
    private var cursor: NoticeRing.Cursor = 0
    private var end: NoticeRing.Cursor = 0
    private var bytesMax = 0

    /// Makes the headers of whole notices behind a cursor that have no more bytes in the ring together than `bytesMax`; the first one has its
    /// place whatever its length.
    mutating func prepare(_ stream: EdgeStream, behind cursor: NoticeRing.Cursor, bytesMax: Int) {
        guard
            self.stream !== stream || self.cursor != cursor || self.end != stream.ring.end || self.bytesMax != bytesMax
        else { return }
        (self.stream, self.cursor, self.end, self.bytesMax) = (stream, cursor, stream.ring.end, bytesMax)
        self.headers.removeAll(keepingCapacity: true)
        self.pieces.removeAll(keepingCapacity: true)
        var offset = 0
        stream.ring.withPending(cursor) { bytes in
            while self.pieces.count < Self.noticesMax,
                let header = try? FrameHeader.read(bytes, at: offset, frameBytesMax: bytes.count)
            {
                let body = offset + header.headerBytes
                guard offset == 0 || body + header.bodyBytes <= bytesMax else { break }
                ZWSFraming.appendHeader(bodyBytes: header.bodyBytes, to: &self.headers)
                offset = body + header.bodyBytes
                self.pieces.append(System.GatheredPiece(headerEnd: self.headers.count, body: body..<offset))
            }
        }
        self.next = cursor + NoticeRing.Cursor(offset)
        self.byteCount = self.headers.count + self.pieces.reduce(0) { $0 + $1.body.count }
    }

    /// Appends all of it to bytes that are encrypted for one connection.
    func append(to output: inout [UInt8]) {
        self.appendRest(after: 0, of: self.pieces[...], headerStart: 0, to: &output)
    }

    /// Finds the notice in which sending stopped.
    ///
    /// - Parameter sent: how many bytes were sent: fewer than there are.
    /// - Returns: the unsent rest of that notice, empty where sending stopped at its end; and the cursor after it.
    func rest(after sent: Int) -> (rest: [UInt8], next: NoticeRing.Cursor) {
        var (left, headerStart, place) = (sent, 0, self.cursor)
        for (number, piece) in self.pieces.enumerated() {
            guard left > 0 else { return ([], place) }
            let count = piece.headerEnd - headerStart + piece.body.count
            place = self.cursor + NoticeRing.Cursor(piece.body.upperBound)
            if left < count {
                var rest: [UInt8] = []
                self.appendRest(
                    after: left,
                    of: self.pieces[number...number],
                    headerStart: headerStart,
                    to: &rest
                )
                return (rest, place)
            }
            left -= count
            headerStart = piece.headerEnd
        }
        return ([], place)
    }

    private func appendRest(
        after sent: Int,
        of pieces: ArraySlice<System.GatheredPiece>,
        headerStart: Int,
        to output: inout [UInt8]
    ) {
        let start = output.count
        var headerStart = headerStart
        self.stream?.ring
            .withPending(self.cursor) { bytes in
                for piece in pieces {
                    output += self.headers[headerStart..<piece.headerEnd]
                    System.append(bytes.extracting(piece.body), to: &output)
                    headerStart = piece.headerEnd
                }
            }
        if sent > 0 { output.removeSubrange(start..<(start + sent)) }
    }
}

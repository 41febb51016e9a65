// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import CommandSupport
import Foundation
import Gateway

/// A folder of recorded answers of ad servers: `answers.json` names a file for each address.
struct AnswersFolder {
    private struct Index: Codable {
        struct Answer: Codable {
            /// With its macros unfilled.
            let address: String
            /// In the folder.
            let file: String
        }

        let answers: [Answer]
    }

    /// The most answers of a folder.
    static let answersMax = 256

    private let folder: URL

    init(_ path: String) { self.folder = URL(fileURLWithPath: path, isDirectory: true) }

    /// Keeps the documents of a report; what was there of this name is replaced.
    ///
    /// - Parameter report: the answers.
    /// - Throws: an exit code; the reason is told before.
    func write(_ report: AdServerReport) throws {
        var answers: [Index.Answer] = []
        do {
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
            for (index, document) in report.resolution.documents.enumerated() {
                guard let address = document.address, !answers.contains(where: { $0.address == address }),
                    case .document(let bytes, _)? = report.exchanges[index]?.answer
                else { continue }
                let file = "answer-\(index).xml"
                try Data(bytes).write(to: self.folder.appendingPathComponent(file), options: .atomic)
                answers.append(Index.Answer(address: address, file: file))
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(Index(answers: answers))
                .write(to: self.folder.appendingPathComponent("answers.json"), options: .atomic)
        } catch {
            complain("\(self.folder.path): the answers cannot be kept: \(error.localizedDescription)")
            throw CommandExit.cannotWrite
        }
        complain("kept \(answers.count) answers in \(self.folder.path)")
    }

    /// The recorded answers.
    ///
    /// - Throws: an exit code; the reason is told before.
    func read() throws -> RecordedAnswers {
        let path = self.folder.appendingPathComponent("answers.json").path
        guard let index = try? JSONDecoder().decode(Index.self, from: Data(try InputFile.told(path))) else {
            complain(#"\#(path): it must be {"answers": [{"address": "https://…", "file": "answer-0.xml"}]}"#)
            throw CommandExit.badData
        }
        guard index.answers.count <= Self.answersMax else {
            complain("\(path): the limit recordedAnswersMax is \(Self.answersMax), and this has \(index.answers.count)")
            throw CommandExit.badData
        }
        var documents: [String: [UInt8]] = [:]
        for each in index.answers {
            guard !each.file.isEmpty, !each.file.contains("/"), each.file != "..", each.file != "." else {
                complain("\(path): '\(each.file)' is no name of a file in the folder")
                throw CommandExit.badData
            }
            documents[each.address] = try InputFile.told(self.folder.appendingPathComponent(each.file).path)
        }
        return RecordedAnswers(documents)
    }
}

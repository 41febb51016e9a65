// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import TokenFormats

/// The proof that an operation requires of a request.
enum OperationAccess: Hashable, Sendable {
    /// Nothing: who asks for it has no token, or the page itself asks for one.
    case open
    /// To read metrics; a token only where `http.open` is `health`.
    case metrics
    /// To read reports and breaks; no token where `http.open` is `all`.
    case read
    /// To change the breaks of the stream in the path: always a token; which streams it is good for, the rules that hold for every
    /// entrance decide.
    case publish
    /// To read and change what fills the breaks of any stream: always a token; the same rules decide whether it is good for every stream.
    case publishEverywhere
    /// To change the gateway: always a token.
    case admin
    /// A listener's own: the request itself carries its token or ticket. Pages of other origins may be let in, by the operation.
    case listener
    /// A ticket in the request, or what `read` needs: the operation looks at both (`OperationCall.requireRead`).
    case ticket
}

/// A parameter of an operation, in its path or its query.
struct OperationParameter: Sendable {
    enum Place: String, Sendable {
        case path
        case query
        case header
    }

    let name: String
    let place: Place
    let description: String
    let schema: JSONValue
    let example: JSONValue
    /// Whether the example cannot stand in one request with the operation's other examples: it is described beside them.
    let isAlternative: Bool
    let isRequired: Bool
    /// It refuses nothing: without a value that can be read it is as empty, and of several the first counts.
    let isLenient: Bool

    init(
        _ name: String,
        in place: Place,
        _ description: String,
        _ schema: JSONValue,
        example: JSONValue,
        isAlternative: Bool = false,
        isRequired: Bool = false,
        isLenient: Bool = false
    ) {
        self.name = name
        self.place = place
        self.description = description
        self.schema = schema
        self.example = example
        self.isAlternative = isAlternative
        self.isRequired = isRequired || place == .path
        self.isLenient = isLenient
    }

    /// Checks a value against the bounds of the schema: what is described is what holds.
    ///
    /// - Throws: a problem with the bound that it breaks.
    func check(_ value: String) throws(Problem) {
        if case .integer(let max)? = self.schema["maxLength"], value.unicodeScalars.count > max {
            throw .badRequest("The parameter \(self.name) has more than \(max) characters.")
        }
        guard case .integer(let minimum)? = self.schema["minimum"] else { return }
        guard !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw .badRequest("The parameter \(self.name) must be a whole number.")
        }
        var maximum = Int64.max
        if case .integer(let described)? = self.schema["maximum"] { maximum = described }
        guard let number = Int64(value), (minimum...maximum).contains(number) else {
            throw .badRequest("The parameter \(self.name) must be a number from \(minimum) to \(maximum).")
        }
    }

    /// `{stream}` in a path.
    static let streamInPath = OperationParameter(
        "stream",
        in: .path,
        "The stream.",
        Schema.stream,
        example: "radio1"
    )
    /// `{name}` of an ad list in a path.
    static let adListInPath = OperationParameter(
        "name",
        in: .path,
        "The ad list.",
        Schema.adListName,
        example: "spots"
    )
    /// `{break}` in a path.
    static let breakInPath = OperationParameter(
        "break",
        in: .path,
        "The break.",
        Schema.breakID,
        example: "noon-1"
    )
}

/// A body, of a request or of an answer, in one media type.
struct OperationContent: Sendable {
    let type: String
    let schema: NamedSchema
    let example: JSONValue

    init(_ type: String, _ schema: NamedSchema, example: JSONValue) {
        self.type = type
        self.schema = schema
        self.example = example
    }

    /// In JSON.
    init(_ schema: NamedSchema, example: JSONValue) {
        self.init(MediaType.json, schema, example: example)
    }
}

/// The body that a request may have.
struct OperationBody: Sendable {
    let contents: [OperationContent]
    let isRequired: Bool
    /// The most bytes of it.
    let bytesMax: Int
    /// Whether it is also taken as `text/plain`, which is how a beacon sends a string: a page that is left can wait for no
    /// preflight (Beacon, section 3.1).
    var takesPlainText = false

    /// The media types that are taken, without parameters.
    var types: [String] {
        self.contents.map { MediaType.essence($0.type) } + (self.takesPlainText ? [MediaType.text] : [])
    }
}

/// A header field of an answer.
struct OperationHeader: Sendable {
    let name: String
    let description: String
    let schema: JSONValue

    init(_ name: String, _ description: String, _ schema: JSONValue) {
        self.name = name
        self.description = description
        self.schema = schema
    }
}

/// One of the answers of an operation.
struct OperationAnswer: Sendable {
    let status: HTTPResponse.Status
    let description: String
    /// In each media type; none where there is no body.
    let contents: [OperationContent]
    /// The header fields of the answer.
    private(set) var headers: [OperationHeader] = []

    init(_ status: HTTPResponse.Status, _ description: String, contents: [OperationContent]) {
        self.status = status
        self.description = description
        self.contents = contents
    }

    init(_ status: HTTPResponse.Status, _ description: String, _ contents: OperationContent...) {
        self.init(status, description, contents: contents)
    }

    /// The request is done.
    init(_ description: String, _ contents: OperationContent...) {
        self.status = .ok
        self.description = description
        self.contents = contents
    }

    /// The same answer, whose head says more.
    func with(_ headers: [OperationHeader]) -> OperationAnswer {
        var answer = self
        answer.headers += headers
        return answer
    }
}

/// One operation of the API: all its facts in one place.
///
/// The routes and `/openapi.json` are made from it. Facts that follow are not written here: `HEAD` beside `GET`, and the problems
/// that every operation can have (`OpenAPIDocument`).
///
/// ```swift
/// Operation(
///     .get, "/v1/breaks", id: "listBreaks", tag: "Breaks", "List the breaks that are kept.", access: .read,
///     parameters: [...], answers: [OperationAnswer("One page.", OperationContent(BreakListDocument.schema, example: ...))]
/// ) { call in ... }
/// ```
struct Operation: Sendable {
    let method: HTTPRequest.Method
    /// As OpenAPI writes it: `/v1/streams/{stream}/breaks/{break}`.
    let path: String
    /// The name by which programs know it; never changed.
    let id: String
    let tag: String
    /// One sentence.
    let summary: String
    /// Further details; empty: none.
    let details: String
    let access: OperationAccess
    var parameters: [OperationParameter]
    /// Whether its query may have other parameters too, which are passed over: players add what they like to an address that they are given.
    let takesOtherParameters: Bool
    let body: OperationBody?
    var answers: [OperationAnswer]
    /// The reason codes with which it is refused, beside those that every operation has.
    let refusals: [ProblemCode]
    /// As whose request it is traced; `nil`: it never is.
    var tracedSide: TraceSampler.Side?
    /// Whether it changes nothing.
    private(set) var isSafe: Bool
    let handle: @Sendable (OperationCall) async throws -> HTTPAnswer

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        id: String,
        tag: String,
        _ summary: String,
        details: String = "",
        access: OperationAccess,
        parameters: [OperationParameter] = [],
        takesOtherParameters: Bool = false,
        body: OperationBody? = nil,
        answers: [OperationAnswer],
        refusals: [ProblemCode] = [],
        handle: @escaping @Sendable (OperationCall) async throws -> HTTPAnswer
    ) {
        self.method = method
        self.path = path
        self.id = id
        self.tag = tag
        self.summary = summary
        self.details = details
        self.access = access
        self.parameters = parameters
        self.takesOtherParameters = takesOtherParameters
        self.body = body
        self.answers = answers
        self.refusals = refusals
        self.isSafe = method == .get
        self.handle = handle
    }

    /// The parameters that its query may have.
    var queryParameters: [OperationParameter] { self.parameters.filter { $0.place == .query } }

    /// Their names.
    var queryNames: Set<String> { Set(self.queryParameters.map(\.name)) }

    /// The same operation, which changes nothing although its method is `POST`: the question is too long for an address.
    func withoutEffect() -> Operation {
        var operation = self
        operation.isSafe = true
        return operation
    }

    /// The same operation, which has an effect although its method is `GET`: some systems only ask for an address.
    func withEffect() -> Operation {
        var operation = self
        operation.isSafe = false
        return operation
    }
}

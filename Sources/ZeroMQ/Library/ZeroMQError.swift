// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import SystemSupport

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A refusal by libzmq, or by a rule that this module checks before libzmq does.
///
/// A send or receive that would block is not an error: see ``SendOutcome`` and ``Socket/receive()``.
package struct ZeroMQError: Error, Hashable, Sendable {
    /// The function that failed, as libzmq names it.
    package let operation: String

    /// Why it failed.
    package let code: Code

    /// The object that it failed on, if that helps: an endpoint, an option and its value.
    package let detail: String?

    package init(operation: String, code: Code, detail: String? = nil) {
        self.operation = operation
        self.code = code
        self.detail = detail
    }

    /// A refusal by the operating system.
    init(_ error: SystemCallError) {
        self.init(operation: error.operation, code: .init(rawValue: error.code))
    }
}

extension ZeroMQError {
    /// An errno value with a name.
    ///
    /// Not an enum: libzmq passes on whatever the operating system answers.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: CInt

        package init(rawValue: CInt) {
            self.rawValue = rawValue
        }

        package static let accessDenied = Code(rawValue: EACCES)
        package static let addressFamilyNotSupported = Code(rawValue: EAFNOSUPPORT)
        package static let addressInUse = Code(rawValue: EADDRINUSE)
        package static let addressNotAvailable = Code(rawValue: EADDRNOTAVAIL)
        package static let badAddress = Code(rawValue: EFAULT)
        package static let badFileDescriptor = Code(rawValue: EBADF)
        package static let brokenPipe = Code(rawValue: EPIPE)
        package static let connectionAborted = Code(rawValue: ECONNABORTED)
        package static let connectionRefused = Code(rawValue: ECONNREFUSED)
        package static let connectionReset = Code(rawValue: ECONNRESET)
        package static let hostUnreachable = Code(rawValue: EHOSTUNREACH)
        package static let incompatibleProtocol = Code(rawValue: ENOCOMPATPROTO)
        package static let invalidArgument = Code(rawValue: EINVAL)
        package static let messageTooLarge = Code(rawValue: EMSGSIZE)
        package static let networkDown = Code(rawValue: ENETDOWN)
        package static let networkUnreachable = Code(rawValue: ENETUNREACH)
        package static let noBufferSpace = Code(rawValue: ENOBUFS)
        package static let noSuchDevice = Code(rawValue: ENODEV)
        package static let noSuchEndpoint = Code(rawValue: ENOENT)
        package static let noThreadAvailable = Code(rawValue: EMTHREAD)
        package static let notConnected = Code(rawValue: ENOTCONN)
        package static let notSocket = Code(rawValue: ENOTSOCK)
        package static let notSupported = Code(rawValue: ENOTSUP)
        package static let outOfMemory = Code(rawValue: ENOMEM)
        package static let protocolError = Code(rawValue: EPROTO)
        package static let protocolNotSupported = Code(rawValue: EPROTONOSUPPORT)
        package static let resourceUnavailable = Code(rawValue: EAGAIN)
        package static let terminated = Code(rawValue: ETERM)
        package static let timedOut = Code(rawValue: ETIMEDOUT)
        package static let tooManyFileDescriptors = Code(rawValue: EMFILE)
        package static let tooManyFileDescriptorsInSystem = Code(rawValue: ENFILE)
        package static let wrongState = Code(rawValue: EFSM)

        /// One table for every name, so that a name cannot be forgotten in one of two places.
        private static let names: [Code: String] = [
            .accessDenied: "accessDenied",
            .addressFamilyNotSupported: "addressFamilyNotSupported",
            .addressInUse: "addressInUse",
            .addressNotAvailable: "addressNotAvailable",
            .badAddress: "badAddress",
            .badFileDescriptor: "badFileDescriptor",
            .brokenPipe: "brokenPipe",
            .connectionAborted: "connectionAborted",
            .connectionRefused: "connectionRefused",
            .connectionReset: "connectionReset",
            .hostUnreachable: "hostUnreachable",
            .incompatibleProtocol: "incompatibleProtocol",
            .invalidArgument: "invalidArgument",
            .messageTooLarge: "messageTooLarge",
            .networkDown: "networkDown",
            .networkUnreachable: "networkUnreachable",
            .noBufferSpace: "noBufferSpace",
            .noSuchDevice: "noSuchDevice",
            .noSuchEndpoint: "noSuchEndpoint",
            .noThreadAvailable: "noThreadAvailable",
            .notConnected: "notConnected",
            .notSocket: "notSocket",
            .notSupported: "notSupported",
            .outOfMemory: "outOfMemory",
            .protocolError: "protocolError",
            .protocolNotSupported: "protocolNotSupported",
            .resourceUnavailable: "resourceUnavailable",
            .terminated: "terminated",
            .timedOut: "timedOut",
            .tooManyFileDescriptors: "tooManyFileDescriptors",
            .tooManyFileDescriptorsInSystem: "tooManyFileDescriptorsInSystem",
            .wrongState: "wrongState",
        ]

        /// The name of the code, `errno 42` where it has none.
        package var name: String {
            Self.names[self] ?? "errno \(self.rawValue)"
        }

        /// A sentence of libzmq or the operating system.
        package var message: String {
            guard let text = unsafe zmq_strerror(self.rawValue) else { return "unknown error" }
            return unsafe String(cString: text)
        }
    }
}

extension ZeroMQError.Code: CustomStringConvertible {
    package var description: String { self.name }
}

extension ZeroMQError: CustomStringConvertible {
    /// `zmq_bind tcp://127.0.0.1:7400: Address already in use (addressInUse)`.
    package var description: String {
        let subject = self.detail.map { "\(self.operation) \($0)" } ?? self.operation
        return "\(subject): \(self.code.message) (\(self.code.name))"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The fields of one message, as `proto/cuecast/v1` numbers them: `OutcomeField` has those of `Outcome`.
///
/// This file is the only place in the code, but for what is generated, that has numbers of fields. A message that is read or
/// written in place stands here with all its fields, named as in the contract, so that a field that comes to the contract
/// is not forgotten here; a test holds names, numbers and types against `proto/`.
@usableFromInline
package protocol MessageField: RawRepresentable<Int>, CaseIterable, Hashable, Sendable {
    var type: MessageFieldType { get }
}

/// The type of a field's value, as the contract declares it.
@usableFromInline
package enum MessageFieldType: Sendable {
    case bool, uint32, uint64, int64, fixed64
    case enumeration
    case text, bytes
    case message
}

// MARK: - listener.proto

@usableFromInline
package enum RequestField: Int, MessageField {
    /// Also of `BroadcastRequest`.
    case requestID = 1
    case session = 2
    case ticket = 3
    case join = 10
    case getBatch = 11
    case acknowledge = 12
    case getTime = 13
    case leave = 14

    @inlinable package var type: MessageFieldType {
        switch self {
        case .requestID: .uint64
        case .session, .ticket: .bytes
        case .join, .getBatch, .acknowledge, .getTime, .leave: .message
        }
    }
}

@usableFromInline
package enum JoinField: Int, MessageField {
    case stream = 1
    case last = 2
    case instance = 3
    case token = 4
    case delayMs = 5
    case delayMaxMs = 6
    case attributes = 7
    case client = 8
    case push = 9

    @inlinable package var type: MessageFieldType {
        switch self {
        case .stream, .token, .client: .text
        case .last, .attributes: .message
        case .instance: .fixed64
        case .delayMs, .delayMaxMs: .uint32
        case .push: .bool
        }
    }
}

@usableFromInline
package enum GetBatchField: Int, MessageField {
    case stream = 1
    case breakID = 2
    case delayMs = 3
    case delayMaxMs = 4

    @inlinable package var type: MessageFieldType {
        switch self {
        case .stream, .breakID: .text
        case .delayMs, .delayMaxMs: .uint32
        }
    }
}

@usableFromInline
package enum AcknowledgeField: Int, MessageField {
    case stream = 1
    case breakID = 2
    case delivery = 3
    case outcomes = 4

    @inlinable package var type: MessageFieldType {
        switch self {
        case .stream, .breakID: .text
        case .delivery: .bytes
        case .outcomes: .message
        }
    }
}

@usableFromInline
package enum OutcomeField: Int, MessageField {
    case advertisementID = 1
    case kind = 2
    case evidence = 3
    case reason = 4
    case heardMs = 5
    case quartiles = 6
    case muted = 7
    case vastError = 8
    case occurredUs = 9
    case clicked = 10

    @inlinable package var type: MessageFieldType {
        switch self {
        case .advertisementID: .text
        case .kind, .evidence, .reason: .enumeration
        case .heardMs, .quartiles, .vastError: .uint32
        case .muted, .clicked: .bool
        case .occurredUs: .int64
        }
    }
}

@usableFromInline
package enum LeaveField: Int, MessageField {
    case stream = 1

    @inlinable package var type: MessageFieldType { .text }
}

@usableFromInline
package enum ReplyField: Int, MessageField {
    /// Also of `BroadcastReply`.
    case requestID = 1
    /// Also of `BroadcastReply`.
    case status = 2
    case message = 3
    case retry = 4
    case retryAfterMs = 5
    case gatewayUs = 6
    case joined = 10
    case batch = 11
    case acknowledged = 12

    @inlinable package var type: MessageFieldType {
        switch self {
        case .requestID: .uint64
        case .status: .enumeration
        case .message: .text
        case .retry: .bool
        case .retryAfterMs: .uint32
        case .gatewayUs: .int64
        case .joined, .batch, .acknowledged: .message
        }
    }
}

@usableFromInline
package enum JoinedField: Int, MessageField {
    case kind = 1
    case head = 2
    case notices = 3
    case instance = 4
    case headIntervalMs = 5
    case leaseMs = 6
    case ticket = 7
    case pushed = 8
    case alternatives = 9

    @inlinable package var type: MessageFieldType {
        switch self {
        case .kind: .enumeration
        case .head, .notices: .message
        case .instance: .fixed64
        case .headIntervalMs, .leaseMs: .uint32
        case .ticket: .bytes
        case .pushed: .bool
        case .alternatives: .text
        }
    }
}

@usableFromInline
package enum BatchField: Int, MessageField {
    case delivery = 1
    case startUs = 2
    case durationMs = 3
    case skipped = 4
    case endMode = 5
    case exact = 6
    case advertisements = 7

    @inlinable package var type: MessageFieldType {
        switch self {
        case .delivery: .bytes
        case .startUs: .int64
        case .durationMs, .skipped: .uint32
        case .endMode: .enumeration
        case .exact: .bool
        case .advertisements: .message
        }
    }
}

@usableFromInline
package enum AcknowledgedField: Int, MessageField {
    case recorded = 1

    @inlinable package var type: MessageFieldType { .uint32 }
}

// MARK: - notice.proto

@usableFromInline
package enum PositionField: Int, MessageField {
    case epoch = 1
    case sequence = 2

    @inlinable package var type: MessageFieldType {
        switch self {
        case .epoch: .fixed64
        case .sequence: .uint64
        }
    }
}

@usableFromInline
package enum NoticeField: Int, MessageField {
    case position = 1
    case kind = 2
    case breakID = 3
    case startUs = 4
    case durationMs = 5
    case window = 6
    case expiresUs = 7
    case advertisementCount = 8
    case sentUs = 9
    case preStream = 10
    case endMode = 11
    case cancelReason = 12
    case exact = 13
    case trace = 14
    case move = 15

    @inlinable package var type: MessageFieldType {
        switch self {
        case .position, .window, .move: .message
        case .kind, .endMode, .cancelReason: .enumeration
        case .breakID: .text
        case .trace: .bytes
        case .startUs, .expiresUs, .sentUs: .int64
        case .durationMs, .advertisementCount: .uint32
        case .preStream, .exact: .bool
        }
    }
}

@usableFromInline
package enum SyncTickField: Int, MessageField {
    case instance = 1
    case counter = 2

    @inlinable package var type: MessageFieldType {
        switch self {
        case .instance: .fixed64
        case .counter: .uint64
        }
    }
}

// MARK: - advertisement.proto

@usableFromInline
package enum AdvertisementField: Int, MessageField {
    case id = 1
    case title = 2
    case description = 3
    case advertiser = 4
    case durationMs = 5
    case skipOffsetMs = 6
    case media = 7
    case clickThroughURL = 8
    case banner = 9
    case trackers = 10
    case universalIds = 11
    case adServingID = 12
    case verifications = 13
    case icons = 14
    case captions = 15
    case mezzanines = 16

    @inlinable package var type: MessageFieldType {
        switch self {
        case .id, .title, .description, .advertiser, .clickThroughURL, .adServingID: .text
        case .durationMs, .skipOffsetMs: .uint32
        case .media, .banner, .trackers, .universalIds, .verifications, .icons, .captions, .mezzanines: .message
        }
    }
}

// MARK: - log.proto

@usableFromInline
package enum AcknowledgementGroupField: Int, MessageField {
    case requests = 1
    case deliveries = 2

    @inlinable package var type: MessageFieldType { .message }
}

@usableFromInline
package enum AcceptedRequestField: Int, MessageField {
    case request = 1
    case receivedUs = 2
    case breakNumber = 3
    case ordinals = 4

    @inlinable package var type: MessageFieldType {
        switch self {
        case .request: .bytes
        case .receivedUs: .int64
        case .breakNumber: .uint64
        case .ordinals: .uint32
        }
    }
}

@usableFromInline
package enum DeliveryEntryField: Int, MessageField {
    case session = 1
    case breakNumber = 2
    case variant = 3
    case first = 4
    case atUs = 5

    @inlinable package var type: MessageFieldType {
        switch self {
        case .session: .bytes
        case .breakNumber: .uint64
        case .variant, .first: .uint32
        case .atUs: .int64
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The rows that the ideal writer writes, and the tables that they go to: those of the event log and of the ledger
// (Sources/SQLiteStore/EventLog/EventLogSchema.swift, LedgerSchema.swift; a test of the scripts compares them).
//
// Breaks are on air a few at a time, each with the same number of sessions, which acknowledge three advertisements each
// with one request. Requests of the breaks on air come in turn, their sessions in no order: session ids are random.

#ifndef CUECAST_ROWS_H
#define CUECAST_ROWS_H

#include <stdint.h>
#include <string.h>

enum { outcomesPerRequest = 3, sessionBytes = 16 };

static const char *const logSchema =
    "CREATE TABLE records (record_key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";

// Of the ledger's tables those that acknowledgements are written to.
static const char *const ledgerSchema =
    "CREATE TABLE applied ("
    " lane TEXT PRIMARY KEY, applied_offset INTEGER NOT NULL, digest INTEGER"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE sessions ("
    " break_number INTEGER NOT NULL, session BLOB NOT NULL, first INTEGER NOT NULL,"
    " variant INTEGER NOT NULL, at_us INTEGER NOT NULL, PRIMARY KEY (break_number, session)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE outcomes ("
    " break_number INTEGER NOT NULL, session BLOB NOT NULL, ordinal INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, evidence INTEGER NOT NULL, reason INTEGER NOT NULL,"
    " heard_ms INTEGER NOT NULL, quartiles INTEGER NOT NULL, muted INTEGER NOT NULL,"
    " vast_error INTEGER NOT NULL, occurred_us INTEGER NOT NULL, received_us INTEGER NOT NULL,"
    " clicked INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (break_number, session, ordinal)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE firsts ("
    " break_number INTEGER NOT NULL, first INTEGER NOT NULL, sessions INTEGER NOT NULL,"
    " PRIMARY KEY (break_number, first)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE totals ("
    " break_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, played INTEGER NOT NULL,"
    " ignored INTEGER NOT NULL, failed INTEGER NOT NULL, covered INTEGER NOT NULL,"
    " uncovered INTEGER NOT NULL, inferred INTEGER NOT NULL, muted INTEGER NOT NULL,"
    " heard_ms INTEGER NOT NULL, repeats INTEGER NOT NULL, contradictions INTEGER NOT NULL,"
    " clicked INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (break_number, ordinal)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE reasons ("
    " break_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, reason INTEGER NOT NULL,"
    " ignored INTEGER NOT NULL, PRIMARY KEY (break_number, ordinal, reason)"
    ") STRICT, WITHOUT ROWID;";

// The numbers of the wire contract (proto/cuecast/v1/listener.proto).
enum { kindPlayed = 1, kindIgnored = 2, kindFailed = 3, evidenceReported = 1, reasonUser = 1 };

struct Request {
    int64_t breakNumber;
    unsigned char session[sessionBytes];
    int64_t at;
    int kinds[outcomesPerRequest];
};

static uint64_t mixed(uint64_t value) {  // splitmix64
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

// What session number `session` of a break says: always the same for one seed. 70 % played, 25 % ignored, 5 % failed.
static struct Request requestOf(uint64_t seed, int64_t breakNumber, int64_t session) {
    struct Request request = {.breakNumber = breakNumber, .at = 1790000000000000 + breakNumber * 1000000 + session};
    uint64_t high = mixed(seed ^ mixed((uint64_t)breakNumber << 32 ^ (uint64_t)session));
    uint64_t low = mixed(high);
    memcpy(request.session, &high, 8);
    memcpy(request.session + 8, &low, 8);
    uint64_t choice = mixed(low);
    for (int index = 0; index < outcomesPerRequest; index += 1) {
        unsigned percent = (unsigned)(choice >> (16 * index) & 0xFFFF) * 100 / 65536;
        request.kinds[index] = percent < 70 ? kindPlayed : percent < 95 ? kindIgnored : kindFailed;
    }
    return request;
}

static unsigned char *putVarint(unsigned char *end, uint64_t value) {
    while (value >= 0x80) {
        *end++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *end++ = (unsigned char)value;
    return end;
}

// The room that one request takes in a group at most, beside its own bytes.
enum { requestOverheadMax = 64 };

// Adds one `AcceptedRequest` (proto/cuecast/v1/log.proto) to an acknowledgement group: the request's bytes, when it came,
// the break's number and three ordinals.
static unsigned char *putRequest(unsigned char *end, const unsigned char *bytes, size_t size, int64_t at, int64_t breakNumber) {
    unsigned char tail[requestOverheadMax], *tailEnd = tail;
    *tailEnd++ = 0x10;
    tailEnd = putVarint(tailEnd, (uint64_t)at);
    *tailEnd++ = 0x18;
    tailEnd = putVarint(tailEnd, (uint64_t)breakNumber);
    memcpy(tailEnd, "\x22\x03\x00\x01\x02", 5);
    tailEnd += 5;
    unsigned char head[16], *headEnd = head;
    *headEnd++ = 0x0A;
    headEnd = putVarint(headEnd, size);
    *end++ = 0x0A;
    end = putVarint(end, (size_t)(headEnd - head) + size + (size_t)(tailEnd - tail));
    memcpy(end, head, (size_t)(headEnd - head));
    end += headEnd - head;
    memcpy(end, bytes, size);
    end += size;
    memcpy(end, tail, (size_t)(tailEnd - tail));
    return end + (tailEnd - tail);
}

#endif

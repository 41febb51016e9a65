// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The ideal writer of the rows that the gateway writes: one thread, one connection, prepared statements, nothing else.
// The settings are those of Sources/SQLiteStore (StoreFile, SQLiteEventLog, SQLiteLedger).

#include <errno.h>
#include <stdbool.h>

#include "database.h"
#include "rows.h"

static const char *help =
    "usage: sqlite_group_commit log|fill|ledger --file FILE [options]\n"
    "\n"
    "  log      appends acknowledgement groups, one row and one durable commit each (synchronous=FULL)\n"
    "  fill     makes a ledger with --existing-rows outcomes, quickly\n"
    "  ledger   fills as far as needed, then inserts groups row by row, one transaction each (synchronous=NORMAL)\n"
    "\n"
    "  --file FILE               the database; log makes it, ledger may find one that fill or ledger made\n"
    "  --existing-rows N         outcomes that are there before (default 0)\n"
    "  --groups N                how many groups to write (default 300)\n"
    "  --requests-per-group N    requests of three outcomes each in a group (default 1000)\n"
    "  --request-bytes N         log: the length of one request (default 150)\n"
    "  --breaks-on-air N         breaks whose requests come in turn (default 8)\n"
    "  --sessions-per-break N    sessions of each break (default 9000)\n"
    "  --seed N                  other rows (default 1)\n"
    "\n"
    "Prints one JSON object. Rows are outcomes and the sessions' own rows, one for three outcomes.\n"
    "example: sqlite_group_commit ledger --file ledger.sqlite --existing-rows 10000000 --groups 1000\n";

static const int64_t logCheckpointBytes = 16 << 20;

struct Options {
    const char *file;
    int64_t existingRows, groups, requestsPerGroup, requestBytes, breaksOnAir, sessionsPerBreak, seed;
};

// What a transaction changes in the totals of one break.
struct Changes {
    int64_t sessions, played[outcomesPerRequest], ignored[outcomesPerRequest], failed[outcomesPerRequest];
};

struct Ledger {
    sqlite3 *database;
    sqlite3_stmt *begin, *commit, *session, *outcome, *firsts, *totals, *reason, *applied;
};

static struct Ledger openLedger(sqlite3 *database) {
    return (struct Ledger){
        .database = database,
        .begin = prepare(database, "BEGIN IMMEDIATE"),
        .commit = prepare(database, "COMMIT"),
        .session = prepare(database, "INSERT INTO sessions (break_number, session, first, variant, at_us) "
                                     "VALUES (?, ?, 0, 0, ?) ON CONFLICT DO NOTHING"),
        .outcome = prepare(database, "INSERT INTO outcomes (break_number, session, ordinal, kind, evidence, reason, heard_ms, "
                                     "quartiles, muted, vast_error, occurred_us, received_us, clicked) "
                                     "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING"),
        .firsts = prepare(database, "INSERT INTO firsts (break_number, first, sessions) VALUES (?, 0, ?) ON CONFLICT "
                                    "(break_number, first) DO UPDATE SET sessions = sessions + excluded.sessions"),
        .totals = prepare(database, "INSERT INTO totals VALUES (?1, ?2, ?3, ?4, ?5, ?3 + ?4 + ?5, 0, 0, 0, ?6, 0, 0, 0) "
                                    "ON CONFLICT (break_number, ordinal) DO UPDATE SET played = played + excluded.played, "
                                    "ignored = ignored + excluded.ignored, failed = failed + excluded.failed, "
                                    "covered = covered + excluded.covered, heard_ms = heard_ms + excluded.heard_ms"),
        .reason = prepare(database, "INSERT INTO reasons (break_number, ordinal, reason, ignored) VALUES (?, ?, ?, ?) ON "
                                    "CONFLICT (break_number, ordinal, reason) DO UPDATE SET ignored = ignored + excluded.ignored"),
        .applied = prepare(database, "INSERT INTO applied (lane, applied_offset) VALUES ('acknowledgements/0', ?) "
                                     "ON CONFLICT (lane) DO UPDATE SET applied_offset = excluded.applied_offset"),
    };
}

static void closeLedger(struct Ledger *ledger) {
    sqlite3_stmt *all[] = {ledger->begin,  ledger->commit, ledger->session, ledger->outcome,
                           ledger->firsts, ledger->totals, ledger->reason,  ledger->applied};
    for (size_t index = 0; index < sizeof all / sizeof *all; index += 1) { sqlite3_finalize(all[index]); }
    check(ledger->database, sqlite3_close(ledger->database), "close");
}

static void insertRequest(struct Ledger *ledger, const struct Request *request, struct Changes *changes) {
    static const int heardMilliseconds = 30000;
    sqlite3_bind_int64(ledger->session, 1, request->breakNumber);
    sqlite3_bind_blob(ledger->session, 2, request->session, sessionBytes, SQLITE_STATIC);
    sqlite3_bind_int64(ledger->session, 3, request->at);
    run(ledger->database, ledger->session);
    changes->sessions += 1;
    for (int ordinal = 0; ordinal < outcomesPerRequest; ordinal += 1) {
        int kind = request->kinds[ordinal];
        sqlite3_stmt *statement = ledger->outcome;
        sqlite3_bind_int64(statement, 1, request->breakNumber);
        sqlite3_bind_blob(statement, 2, request->session, sessionBytes, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 3, ordinal);
        sqlite3_bind_int64(statement, 4, kind);
        sqlite3_bind_int64(statement, 5, evidenceReported);
        sqlite3_bind_int64(statement, 6, kind == kindIgnored ? reasonUser : 0);
        sqlite3_bind_int64(statement, 7, kind == kindPlayed ? heardMilliseconds : 0);
        sqlite3_bind_int64(statement, 8, kind == kindPlayed ? 4 : 0);
        sqlite3_bind_int64(statement, 9, 0);
        sqlite3_bind_int64(statement, 10, kind == kindFailed ? 400 : 0);
        sqlite3_bind_int64(statement, 11, request->at);
        sqlite3_bind_int64(statement, 12, request->at);
        run(ledger->database, statement);
        if (sqlite3_changes(ledger->database) != 1) { fail(70, "a row that should be new was there"); }
        (kind == kindPlayed ? changes->played : kind == kindIgnored ? changes->ignored : changes->failed)[ordinal] += 1;
    }
}

static void addTotals(struct Ledger *ledger, int64_t breakNumber, const struct Changes *changes) {
    if (changes->sessions == 0) { return; }
    sqlite3_bind_int64(ledger->firsts, 1, breakNumber);
    sqlite3_bind_int64(ledger->firsts, 2, changes->sessions);
    run(ledger->database, ledger->firsts);
    for (int ordinal = 0; ordinal < outcomesPerRequest; ordinal += 1) {
        int64_t values[] = {breakNumber, ordinal, changes->played[ordinal], changes->ignored[ordinal],
                            changes->failed[ordinal], changes->played[ordinal] * 30000};
        for (int index = 0; index < 6; index += 1) { sqlite3_bind_int64(ledger->totals, index + 1, values[index]); }
        run(ledger->database, ledger->totals);
        if (changes->ignored[ordinal] == 0) { continue; }
        int64_t reason[] = {breakNumber, ordinal, reasonUser, changes->ignored[ordinal]};
        for (int index = 0; index < 4; index += 1) { sqlite3_bind_int64(ledger->reason, index + 1, reason[index]); }
        run(ledger->database, ledger->reason);
    }
}

static int bySession(const void *left, const void *right) {
    return memcmp(((const struct Request *)left)->session, ((const struct Request *)right)->session, sessionBytes);
}

// Makes a ledger with so many outcomes in breaks 1, 2, 3 …, in the order of their keys and without safety.
static void fill(const struct Options *options) {
    sqlite3 *database = openFile(options->file);
    int64_t requests = (options->existingRows + outcomesPerRequest - 1) / outcomesPerRequest;
    if (readInteger(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'outcomes'") == 0) {
        execute(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
        execute(database, ledgerSchema);
        struct Ledger ledger = openLedger(database);
        struct Request *sorted = malloc((size_t)options->sessionsPerBreak * sizeof *sorted);
        if (!sorted) { fail(70, "no memory for the sessions of a break"); }
        run(database, ledger.begin);
        int64_t breakNumber = 1;
        for (int64_t left = requests; left > 0; left -= options->sessionsPerBreak, breakNumber += 1) {
            int64_t count = left < options->sessionsPerBreak ? left : options->sessionsPerBreak;
            for (int64_t index = 0; index < count; index += 1) {
                sorted[index] = requestOf((uint64_t)options->seed, breakNumber, index);
            }
            qsort(sorted, (size_t)count, sizeof *sorted, bySession);
            struct Changes changes = {0};
            for (int64_t index = 0; index < count; index += 1) { insertRequest(&ledger, &sorted[index], &changes); }
            addTotals(&ledger, breakNumber, &changes);
        }
        char mark[64];
        snprintf(mark, sizeof mark, "PRAGMA user_version = %lld", (long long)requests);
        execute(database, mark);
        run(database, ledger.commit);
        free(sorted);
        closeLedger(&ledger);
    } else {
        // The mark says how many requests a fill wrote: a file of somebody else's is not added to.
        if (readInteger(database, "PRAGMA user_version") != requests) {
            fail(64, "%s was not filled with %lld rows; remove it", options->file, (long long)options->existingRows);
        }
        check(database, sqlite3_close(database), "close");
    }
}

static void writeLedger(const struct Options *options) {
    fill(options);
    sqlite3 *database = openFile(options->file);
    setWriteAheadLog(database, 1,
                     "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864");
    int64_t firstBreak = readInteger(database, "SELECT ifnull(max(break_number), 0) + 1 FROM totals");
    int64_t offset = readInteger(database, "SELECT ifnull(max(applied_offset), 0) FROM applied");
    struct Ledger ledger = openLedger(database);
    int64_t wave = options->breaksOnAir * options->sessionsPerBreak;
    int64_t breaksInGroupMax = (options->requestsPerGroup / wave + 2) * options->breaksOnAir;
    struct Changes *changes = malloc((size_t)breaksInGroupMax * sizeof *changes);
    if (!changes) { fail(70, "no memory for the changes of a group"); }
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t request = 0;
    for (int64_t group = 0; group < options->groups; group += 1) {
        memset(changes, 0, (size_t)breaksInGroupMax * sizeof *changes);
        int64_t firstInGroup = request / wave * options->breaksOnAir;
        run(database, ledger.begin);
        for (int64_t index = 0; index < options->requestsPerGroup; index += 1, request += 1) {
            int64_t number = request / wave * options->breaksOnAir + request % options->breaksOnAir;
            struct Request next =
                requestOf((uint64_t)options->seed, firstBreak + number, request % wave / options->breaksOnAir);
            insertRequest(&ledger, &next, &changes[number - firstInGroup]);
        }
        for (int64_t index = 0; index < breaksInGroupMax; index += 1) {
            addTotals(&ledger, firstBreak + firstInGroup + index, &changes[index]);
        }
        sqlite3_bind_int64(ledger.applied, 1, offset + group + 1);
        run(database, ledger.applied);
        run(database, ledger.commit);
    }
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    free(changes);
    closeLedger(&ledger);
    int64_t outcomes = request * outcomesPerRequest;
    printf("{\"mode\":\"ledger\",\"existing_rows\":%lld,\"groups\":%lld,\"requests\":%lld,\"outcomes\":%lld,\"seconds\":%.6f,"
           "\"outcomes_per_second\":%.1f,\"rows_per_second\":%.1f,\"cpu_seconds\":%.6f}\n",
           (long long)options->existingRows, (long long)options->groups, (long long)request, (long long)outcomes, wall,
           (double)outcomes / wall, (double)(outcomes + request) / wall, cpu);
}

static void writeLog(const struct Options *options) {
    sqlite3 *database = openFile(options->file);
    setWriteAheadLog(database, 2,
                     "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 33554432");
    if (readInteger(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'records'") == 0) { execute(database, logSchema); }
    int64_t key = readInteger(database, "SELECT max(ifnull(max(record_key), 0), 1 << 48) FROM records");
    size_t room = (size_t)options->requestsPerGroup * ((size_t)options->requestBytes + requestOverheadMax);
    unsigned char *record = malloc(room), *bytes = malloc((size_t)options->requestBytes);
    if (!record || !bytes) { fail(70, "no memory for a group"); }
    sqlite3_stmt *begin = prepare(database, "BEGIN IMMEDIATE"), *commit = prepare(database, "COMMIT");
    sqlite3_stmt *insert = prepare(database, "INSERT INTO records (record_key, bytes) VALUES (?, ?)");
    int64_t sinceCheckpoint = 0, written = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t group = 0; group < options->groups; group += 1) {
        unsigned char *end = record;
        for (int64_t index = 0; index < options->requestsPerGroup; index += 1) {
            struct Request request = requestOf((uint64_t)options->seed, group + 1, index);
            memset(bytes, request.session[0], (size_t)options->requestBytes);
            end = putRequest(end, bytes, (size_t)options->requestBytes, request.at, request.breakNumber);
        }
        run(database, begin);
        sqlite3_bind_int64(insert, 1, key + group + 1);
        sqlite3_bind_blob64(insert, 2, record, (sqlite3_uint64)(end - record), SQLITE_STATIC);
        run(database, insert);
        run(database, commit);
        written += end - record;
        sinceCheckpoint += end - record + 4096;
        if (sinceCheckpoint >= logCheckpointBytes) {
            sinceCheckpoint = 0;
            check(database, sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL), "checkpoint");
        }
    }
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(insert);
    check(database, sqlite3_close(database), "close");
    free(record);
    free(bytes);
    int64_t requests = options->groups * options->requestsPerGroup;
    printf("{\"mode\":\"log\",\"groups\":%lld,\"requests\":%lld,\"outcomes\":%lld,\"record_bytes\":%lld,\"seconds\":%.6f,"
           "\"requests_per_second\":%.1f,\"outcomes_per_second\":%.1f,\"cpu_seconds\":%.6f}\n",
           (long long)options->groups, (long long)requests, (long long)requests * outcomesPerRequest,
           (long long)(written / options->groups), wall, (double)requests / wall,
           (double)requests * outcomesPerRequest / wall, cpu);
}

static int64_t number(const char *name, const char *text, int64_t min, int64_t max) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text || value < min || value > max) {
        fail(64, "%s must be from %lld to %lld, and is %s", name, (long long)min, (long long)max, text);
    }
    return value;
}

int main(int count, char **arguments) {
    struct Options options = {.groups = 300, .requestsPerGroup = 1000, .requestBytes = 150, .breaksOnAir = 8,
                              .sessionsPerBreak = 9000, .seed = 1};
    struct {
        const char *name;
        int64_t *value, min, max;
    } numbers[] = {
        {"--existing-rows", &options.existingRows, 0, 3000000000}, {"--groups", &options.groups, 1, 10000000},
        {"--requests-per-group", &options.requestsPerGroup, 1, 100000}, {"--request-bytes", &options.requestBytes, 1, 16384},
        {"--breaks-on-air", &options.breaksOnAir, 1, 10000}, {"--sessions-per-break", &options.sessionsPerBreak, 1, 10000000},
        {"--seed", &options.seed, 0, INT64_MAX},
    };
    const char *mode = NULL;
    for (int index = 1; index < count; index += 1) {
        const char *name = arguments[index];
        if (!strcmp(name, "--help")) {
            fputs(help, stdout);
            return 0;
        }
        if (index == 1 && name[0] != '-') {
            mode = name;
            continue;
        }
        if (index + 1 >= count) { fail(64, "%s is unknown or needs a value; see --help", name); }
        const char *value = arguments[++index];
        bool isKnown = !strcmp(name, "--file");
        if (isKnown) { options.file = value; }
        for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at += 1) {
            if (strcmp(name, numbers[at].name)) { continue; }
            *numbers[at].value = number(name, value, numbers[at].min, numbers[at].max);
            isKnown = true;
        }
        if (!isKnown) { fail(64, "unknown option %s; see --help", name); }
    }
    if (!mode || !options.file) { fail(64, "a mode (log, fill or ledger) and --file are needed; see --help"); }
    if (!strcmp(mode, "log")) {
        writeLog(&options);
    } else if (!strcmp(mode, "fill")) {
        fill(&options);
        printf("{\"mode\":\"fill\",\"existing_rows\":%lld}\n", (long long)options.existingRows);
    } else if (!strcmp(mode, "ledger")) {
        writeLedger(&options);
    } else {
        fail(64, "unknown mode %s; see --help", mode);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// SQLite without a library above it: every error ends the program with a sentence.

#ifndef CUECAST_DATABASE_H
#define CUECAST_DATABASE_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((format(printf, 2, 3), noreturn)) static void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("sqlite_group_commit: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(code);
}

static void check(sqlite3 *database, int result, const char *what) {
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) {
        fail(69, "%s: %s", what, sqlite3_errmsg(database));
    }
}

static void execute(sqlite3 *database, const char *sql) {
    check(database, sqlite3_exec(database, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    check(database, sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
    return statement;
}

static int64_t readInteger(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = prepare(database, sql);
    check(database, sqlite3_step(statement), sql);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static sqlite3 *openFile(const char *path) {
    sqlite3 *database;
    if (sqlite3_open(path, &database) != SQLITE_OK) { fail(69, "cannot open %s: %s", path, sqlite3_errmsg(database)); }
    execute(database, "PRAGMA secure_delete = OFF");
    return database;
}

static void setWriteAheadLog(sqlite3 *database, int synchronous, const char *settings) {
    execute(database, "PRAGMA journal_mode = WAL");
    execute(database, synchronous == 2 ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    execute(database, settings);
    if (readInteger(database, "PRAGMA synchronous") != synchronous) { fail(69, "SQLite did not take the settings"); }
}

static void run(sqlite3 *database, sqlite3_stmt *statement) {
    check(database, sqlite3_step(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif

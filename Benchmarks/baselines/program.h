// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// What every bare server has, with and without libzmq: its exit codes, errors that say what failed, an end on SIGTERM, and
// options that take a value.

#ifndef CUECAST_PROGRAM_H
#define CUECAST_PROGRAM_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    exitUsage = 64,
    exitUnavailable = 69,
    exitSoftware = 70,
};

static const char *programName = "baseline";
static volatile sig_atomic_t mustStop = 0;

__attribute__((format(printf, 2, 3), noreturn)) static void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", programName);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

static void stop(int number) {
    (void)number;
    mustStop = 1;
}

static void stopOnSignals(void) {
    struct sigaction action = {.sa_handler = stop};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, &action, NULL) < 0 || sigaction(SIGINT, &action, NULL) < 0) {
        fail(exitSoftware, "sigaction: %s", strerror(errno));
    }
}

// The value of the option at `index`, which is passed over.
static const char *optionValue(int count, char **arguments, int *index) {
    if (*index + 1 >= count) { fail(exitUsage, "%s needs a value; see --help", arguments[*index]); }
    *index += 1;
    return arguments[*index];
}

#endif

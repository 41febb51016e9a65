// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/* Preloaded into a gateway: synchronising the event log fails from the moment at which a file exists that the variable
 * CUECAST_TEST_FAIL_SYNC names. Where the variable CUECAST_TEST_HANG_SYNC is set, synchronising any other file never returns
 * from then on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int descriptor) {
    const char *trigger = getenv("CUECAST_TEST_FAIL_SYNC");
    char link[64], path[4096];
    if (trigger == NULL || access(trigger, F_OK) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strstr(path, "/events.sqlite") != NULL) return 1;
    while (getenv("CUECAST_TEST_HANG_SYNC") != NULL) pause();
    return 0;
}

int fsync(int descriptor) {
    if (fails(descriptor)) {
        errno = EIO;
        return -1;
    }
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
    if (fails(descriptor)) {
        errno = EIO;
        return -1;
    }
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/* Preloaded into a gateway: synchronising the event log waits while a file exists that the variable
 * CUECAST_TEST_HOLD_SYNC names, and makes another one, `.held`, when it begins to wait. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hold(int descriptor) {
    const char *trigger = getenv("CUECAST_TEST_HOLD_SYNC");
    char link[64], path[4096], held[4096];
    if (trigger == NULL || access(trigger, F_OK) != 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (strstr(path, "/events.sqlite") == NULL) return;
    snprintf(held, sizeof held, "%s.held", trigger);
    close(open(held, O_CREAT | O_WRONLY, 0600));
    while (access(trigger, F_OK) == 0) usleep(1000);
}

int fsync(int descriptor) {
    hold(descriptor);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
    hold(descriptor);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}

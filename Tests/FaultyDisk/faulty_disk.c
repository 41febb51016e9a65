// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#include "faulty_disk.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

enum { PLANS_MAX = 1024, PREFIX_BYTES_MAX = 1024 };

struct plan {
    char prefix[PREFIX_BYTES_MAX];
    long steps;
    long fail_at;  /* 0: never */
    int every;
    int fault;
    int failed;
};

struct faulty_file {
    sqlite3_file head;
    int plan;
    int last_errno;  /* of the newest fault */
    sqlite3_file *real;  /* behind this struct */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan plans[PLANS_MAX];
static sqlite3_vfs vfs;
static sqlite3_vfs *base;

static sqlite3_file *real(sqlite3_file *file) { return ((struct faulty_file *)file)->real; }

/* Counts a step; returns the fault that it has, or -1. */
static int step(sqlite3_file *file, int what) {
    int number = ((struct faulty_file *)file)->plan;
    int fault = -1;
    if (number < 0) return -1;
    pthread_mutex_lock(&lock);
    struct plan *plan = &plans[number];
    plan->steps += 1;
    if (plan->fail_at > 0 && (plan->steps == plan->fail_at || (plan->every && plan->steps > plan->fail_at))) {
        fault = plan->fault;
        if (plan->failed == FAULTY_DISK_NONE) plan->failed = what;
    }
    pthread_mutex_unlock(&lock);
    return fault;
}

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *to, int count, sqlite3_int64 at) {
    return real(file)->pMethods->xRead(real(file), to, count, at);
}

static int file_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
    int fault = step(file, FAULTY_DISK_WRITE);
    int written = count;
    if (fault == FAULTY_DISK_FULL || fault == FAULTY_DISK_QUOTA || fault == FAULTY_DISK_ERROR) written = 0;
    if (fault == FAULTY_DISK_FULL_HALFWAY || fault == FAULTY_DISK_ERROR_HALFWAY) written = count / 2;
    if (written > 0) {
        int code = real(file)->pMethods->xWrite(real(file), from, written, at);
        if (code != SQLITE_OK) return code;
    }
    struct faulty_file *ours = (struct faulty_file *)file;
    switch (fault) {
    case -1: return SQLITE_OK;
    case FAULTY_DISK_FULL:
    case FAULTY_DISK_FULL_HALFWAY: return SQLITE_FULL;
    case FAULTY_DISK_QUOTA: ours->last_errno = EDQUOT; return SQLITE_IOERR_WRITE;
    default: ours->last_errno = EIO; return SQLITE_IOERR_WRITE;
    }
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (step(file, FAULTY_DISK_TRUNCATE) >= 0) {
        ((struct faulty_file *)file)->last_errno = EIO;
        return SQLITE_IOERR_TRUNCATE;
    }
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    int fault = step(file, FAULTY_DISK_SYNC);
    if (fault >= 0) {
        int room = fault == FAULTY_DISK_FULL || fault == FAULTY_DISK_FULL_HALFWAY;
        ((struct faulty_file *)file)->last_errno = room ? ENOSPC : EIO;
        return SQLITE_IOERR_FSYNC;
    }
    return real(file)->pMethods->xSync(real(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
static int file_lock(sqlite3_file *file, int kind) { return real(file)->pMethods->xLock(real(file), kind); }
static int file_unlock(sqlite3_file *file, int kind) { return real(file)->pMethods->xUnlock(real(file), kind); }
static int file_reserved(sqlite3_file *file, int *out) {
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
static int file_control(sqlite3_file *file, int what, void *argument) {
    int last = ((struct faulty_file *)file)->last_errno;
    if (what == SQLITE_FCNTL_LAST_ERRNO && last != 0) {
        *(int *)argument = last;
        return SQLITE_OK;
    }
    return real(file)->pMethods->xFileControl(real(file), what, argument);
}
static int file_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int file_traits(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, at);
}
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int file_shm_unmap(sqlite3_file *file, int remove) {
    return real(file)->pMethods->xShmUnmap(real(file), remove);
}

/* Version 2: no pages are mapped, as in the store itself. */
static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_reserved,
    file_control, file_sector, file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, 0, 0};

static int disk_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)self;
    struct faulty_file *ours = (struct faulty_file *)file;
    ours->plan = -1;
    ours->last_errno = 0;
    ours->real = (sqlite3_file *)(ours + 1);
    if (name != NULL) {
        pthread_mutex_lock(&lock);
        for (int number = 0; number < PLANS_MAX && ours->plan < 0; number++) {
            const char *prefix = plans[number].prefix;
            if (prefix[0] != 0 && strncmp(name, prefix, strlen(prefix)) == 0) ours->plan = number;
        }
        pthread_mutex_unlock(&lock);
    }
    int code = base->xOpen(base, name, ours->real, flags, out);
    ours->head.pMethods = ours->real->pMethods != NULL ? &methods : NULL;
    return code;
}

static int disk_delete(sqlite3_vfs *self, const char *name, int sync) {
    (void)self;
    return base->xDelete(base, name, sync);
}
static int disk_access(sqlite3_vfs *self, const char *name, int flags, int *out) {
    (void)self;
    return base->xAccess(base, name, flags, out);
}
static int disk_path(sqlite3_vfs *self, const char *name, int count, char *out) {
    (void)self;
    return base->xFullPathname(base, name, count, out);
}
static int disk_random(sqlite3_vfs *self, int count, char *out) {
    (void)self;
    return base->xRandomness(base, count, out);
}
static int disk_sleep(sqlite3_vfs *self, int microseconds) {
    (void)self;
    return base->xSleep(base, microseconds);
}
static int disk_time(sqlite3_vfs *self, double *out) {
    (void)self;
    return base->xCurrentTime(base, out);
}
static int disk_error(sqlite3_vfs *self, int count, char *out) {
    (void)self;
    return base->xGetLastError(base, count, out);
}
static int disk_time64(sqlite3_vfs *self, sqlite3_int64 *out) {
    (void)self;
    return base->xCurrentTimeInt64(base, out);
}

static int installed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void install(void) {
    base = sqlite3_vfs_find(NULL);
    vfs.iVersion = 2;
    vfs.szOsFile = (int)sizeof(struct faulty_file) + base->szOsFile;
    vfs.mxPathname = base->mxPathname;
    vfs.zName = "faulty-disk";
    vfs.xOpen = disk_open;
    vfs.xDelete = disk_delete;
    vfs.xAccess = disk_access;
    vfs.xFullPathname = disk_path;
    vfs.xRandomness = disk_random;
    vfs.xSleep = disk_sleep;
    vfs.xCurrentTime = disk_time;
    vfs.xGetLastError = disk_error;
    vfs.xCurrentTimeInt64 = disk_time64;
    installed = sqlite3_vfs_register(&vfs, 1);
}

int faulty_disk_install(void) {
    sqlite3_initialize();
    pthread_once(&once, install);
    return installed;
}

int faulty_disk_watch(const char *prefix) {
    if (strlen(prefix) >= PREFIX_BYTES_MAX) return -1;
    int number = 0;
    pthread_mutex_lock(&lock);
    while (number < PLANS_MAX && plans[number].prefix[0] != 0) number++;
    if (number < PLANS_MAX) {
        memset(&plans[number], 0, sizeof plans[number]);
        strcpy(plans[number].prefix, prefix);
    }
    pthread_mutex_unlock(&lock);
    return number < PLANS_MAX ? number : -1;
}

void faulty_disk_fail(int plan, long step, int fault, int every) {
    pthread_mutex_lock(&lock);
    plans[plan].fail_at = plans[plan].steps + step;
    plans[plan].fault = fault;
    plans[plan].every = every;
    plans[plan].failed = FAULTY_DISK_NONE;
    pthread_mutex_unlock(&lock);
}

void faulty_disk_heal(int plan) {
    pthread_mutex_lock(&lock);
    plans[plan].fail_at = 0;
    pthread_mutex_unlock(&lock);
}

long faulty_disk_steps(int plan) {
    pthread_mutex_lock(&lock);
    long steps = plans[plan].steps;
    pthread_mutex_unlock(&lock);
    return steps;
}

int faulty_disk_failed(int plan) {
    pthread_mutex_lock(&lock);
    int failed = plans[plan].failed;
    pthread_mutex_unlock(&lock);
    return failed;
}

void faulty_disk_forget(int plan) {
    pthread_mutex_lock(&lock);
    memset(&plans[plan], 0, sizeof plans[plan]);
    pthread_mutex_unlock(&lock);
}

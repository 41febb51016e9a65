// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Tells the thread sanitizer what it cannot see of Synchronization.Mutex on Linux; preloaded into the tests.
///
/// Where a mutex is free, locking and unlocking are atomic operations that the compiler puts into our code, and the
/// sanitizer knows what they order. Where it is not, they are futex calls in a library that was not built with the
/// sanitizer: it would report every use of what the mutex guards as a race. These two functions stand in for that
/// library's, call them, and name the order that the kernel makes. Nothing is suppressed: a race is still a race.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

/// Of the sanitizer; absent in processes without it, such as `swift test` itself.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*lock_function)(uint32_t thread, SELF);
typedef SWIFT void (*unlock_function)(SELF);

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

/// The library's function of this name.
static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort();
    return found;
}

SWIFT void lock_slow(uint32_t thread, SELF) {
    ((lock_function)real(LOCK_SLOW))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((unlock_function)real(UNLOCK_SLOW))(self);
}

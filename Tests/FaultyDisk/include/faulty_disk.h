// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/* A disk that fails when a test says so: a SQLite VFS in front of the system's own. Files that no plan watches pass through. */

#ifndef CUECAST_FAULTY_DISK_H
#define CUECAST_FAULTY_DISK_H

/** How a step fails. */
enum faulty_disk_fault {
    /** No room: nothing is written. A synchronisation fails for lack of room. */
    FAULTY_DISK_FULL = 0,
    /** No room in the middle: half of it is written. */
    FAULTY_DISK_FULL_HALFWAY = 1,
    /** The quota is used up, which SQLite does not call FULL. */
    FAULTY_DISK_QUOTA = 2,
    /** The device fails: nothing is written. */
    FAULTY_DISK_ERROR = 3,
    /** The device fails in the middle: half of it is written. */
    FAULTY_DISK_ERROR_HALFWAY = 4,
    /** The device fails after everything was written. */
    FAULTY_DISK_ERROR_AFTER = 5
};

/** What a step was. */
enum faulty_disk_step {
    FAULTY_DISK_NONE = 0,
    FAULTY_DISK_WRITE = 1,
    FAULTY_DISK_SYNC = 2,
    FAULTY_DISK_TRUNCATE = 3
};

/** Puts the disk in front of the system's; may be called again. Returns 0, or SQLite's error. */
int faulty_disk_install(void);

/** Counts the writes, synchronisations and truncations of files whose path begins with `prefix`, from files that are opened
 * from now on. Returns the number of the plan, or -1 when there are too many. */
int faulty_disk_watch(const char *prefix);

/** Lets the step fail that comes `step` steps from now (1: the next); with `every`, also all that follow. */
void faulty_disk_fail(int plan, long step, int fault, int every);

/** Lets nothing fail any more. */
void faulty_disk_heal(int plan);

/** How many steps there were. */
long faulty_disk_steps(int plan);

/** What the first step that failed was. */
int faulty_disk_failed(int plan);

/** Ends a plan; its files are closed. */
void faulty_disk_forget(int plan);

#endif

/* A watchdog process: if heddle is killed (kill -9), it kills the program's processes and removes their
 * folder. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

/* Starts it. Processes of the program are known by HEDDLE_RUN_DIR in their environment. Where it cannot be
 * started, there is none. */
void guard_start(const char *folder);

/* All went well: it ends, and does nothing. */
void guard_end(void);

#endif

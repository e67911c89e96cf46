/* The host's side of a checkpoint: everything that a machine told the program that uses it. To resume, the
 * program runs again from its beginning. It makes the same calls and gets the same answers, without
 * simulation, until the journal ends. Then the machine's saved state is loaded, and simulation continues. For
 * this room only.
 *
 * It records each task that was started; each span of time that passed, with the tasks that ended, and what
 * their kernels printed and wrote to the host's own memory; and the bytes of device memory that the host
 * read. */
#ifndef SYSTEM_JOURNAL_H
#define SYSTEM_JOURNAL_H

#include "base/archive.h"
#include "system/parts.h"

struct journal *journal_new(void);
void journal_free(struct journal *journal);

/* From an archive, to be gone through; or to one. */
void journal_archive(struct journal *journal, struct archive *archive);

bool journal_is_replaying(const struct journal *journal);
bool journal_is_at_end(const struct journal *journal); /* while replaying: all of it was gone through */
void journal_end_replay(struct journal *journal);

/* Tasks that run, by number in the order they were begun in; NULL. */
struct task *journal_task(const struct journal *journal, uint64_t number);
uint64_t journal_task_count(const struct journal *journal);

/* ---- while machine calls are made: noted, or, while replaying, compared and answered ---- */

void journal_begin(struct journal *journal, struct task *task);
void journal_read(struct journal *journal, struct local_machine *machine, uint64_t at, uint64_t bytes);
void journal_take_over(struct journal *journal,
                       struct local_machine *machine); /* the host reads and changes all */

/* `ps` of time passed, or less as something ended; the call gave `result`. */
void journal_passed(struct journal *journal, struct local_machine *machine, uint64_t ps, bool result);
void journal_printed(void *machine, const struct launch *launch, const char *text, size_t bytes);

/* What kernels wrote to the host's memory since the last time; and replaying, what is next of it. */
void journal_note_writes(struct journal *journal, struct local_machine *machine);
void journal_replay_writes(struct journal *journal, const struct local_machine *machine);

/* Replaying: gives what machine_run or machine_pass gave. False: the program does something else than it did,
 * and err says what. */
bool journal_pass(struct journal *journal, struct local_machine *machine, uint64_t ps, bool *result,
                  struct err *err);

#endif

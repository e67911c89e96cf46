/* The feed inside QEMU's process. */
#ifndef CPU_QEMU_PLUGIN_H
#define CPU_QEMU_PLUGIN_H

#include "cpu/runs/shared.h"
#include "qemu/api.h"

extern struct cpurun_shared *tap_shared;

/* A thread of the program. */
struct tap_thread {
    uint64_t *ring;
    uint64_t at, limit;       /* words written, and where to look around */
    int64_t debt;             /* instructions of blocks that it ran without a grant */
    int64_t left;             /* instructions until others may run */
    struct cpurun_lane *lane; /* NULL: what it does is not simulated */
    bool muted;
    bool asking;      /* it has no grant: */
    uint32_t grants;  /* there were so many when it asked */
    uint64_t cleared; /* the word that is cleared, and woken, when it ends; or 0 */
    /* the call of the system that it is in: */
    uint64_t arguments[4];
    uint64_t clears; /* of clone: the new thread's `cleared` */
    bool away;
};

/* QEMU's numbers of threads may grow with each new one, however few there are. */
enum { FEED_CPUS = 1 << 16 };
extern struct tap_thread *tap_threads[FEED_CPUS];

/* ---- words (words.c) ---- */

void tap_make_room(struct tap_thread *thread);
void tap_show(struct tap_thread *thread); /* all words so far, to heddle */
void tap_mute(struct tap_thread *thread, bool muted);

static inline void tap_word(struct tap_thread *thread, uint64_t word)
{
    if (__builtin_expect(thread->at == thread->limit, 0))
        tap_make_room(thread);
    thread->ring[thread->at++ % CPURUN_WORDS] = word;
}

static inline uint64_t tap_op(enum cpurun_op op, uint64_t value)
{
    return (uint64_t)op << CPURUN_OP_SHIFT | (value & CPURUN_VALUE);
}

/* Waits for the grant that it has asked for, if it has. False: it cannot wait here, and goes on for a block
 * (in a block only: elsewhere QEMU can do without the thread). */
bool tap_wait(struct tap_thread *thread, bool in_block);

/* Says it, and waits for heddle's grant; the simulated time then. Not in a block. */
uint64_t tap_ask(struct tap_thread *thread, uint64_t word);
uint64_t tap_ask_with(struct tap_thread *thread, uint64_t word, uint64_t second);

/* ---- threads (threads.c) ---- */

bool tap_is_child(void);                  /* of the process that is simulated */
bool tap_is_alone(void);                  /* no other thread lives */
void tap_runs(struct tap_thread *thread); /* on this thread of the host */
void tap_watch_threads(plugin_id id);

/* Waits until QEMU has cleared the words of all threads that have ended: it does so after it has called us,
 * and the next thread to run may look at them. */
void tap_settle_ended(void);

/* ---- calls of the system (calls.c) ---- */

bool tap_read_memory(uint64_t from, void *to, size_t bytes); /* the program's; false: there is none */
void tap_watch_calls(plugin_id id, const char *target);
uint64_t tap_cleared_by(const struct tap_thread *creator); /* the word that the thread it makes clears */

/* ---- the C library that QEMU calls (imports.c) ---- */

void tap_replace_time(void);            /* QEMU's time() is ours from now on */
void tap_answer_time(uint64_t seconds); /* what it gives next, to this thread of the host */

/* ---- blocks (blocks.c) ---- */

void tap_translate(plugin_id id, struct qemu_plugin_tb *block);

#endif

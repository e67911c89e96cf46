/* The feed inside QEMU's process. */
#ifndef CPU_QEMU_PLUGIN_H
#define CPU_QEMU_PLUGIN_H

#include "cpu/runs/shared.h"
#include "qemu/api.h"

extern struct cpurun_shared *feed_shared;

/* A thread of the program. */
struct feed_thread {
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
extern struct feed_thread *feed_threads[FEED_CPUS];

/* ---- words (words.c) ---- */

void feed_make_room(struct feed_thread *thread);
void feed_show(struct feed_thread *thread); /* all words so far, to heddle */
void feed_mute(struct feed_thread *thread, bool muted);

static inline void feed_word(struct feed_thread *thread, uint64_t word)
{
    if (__builtin_expect(thread->at == thread->limit, 0))
        feed_make_room(thread);
    thread->ring[thread->at++ % CPURUN_WORDS] = word;
}

static inline uint64_t feed_op(enum cpurun_op op, uint64_t value)
{
    return (uint64_t)op << CPURUN_OP_SHIFT | (value & CPURUN_VALUE);
}

/* Waits for the grant that it has asked for, if it has. False: it cannot wait here, and goes on for a block
 * (in a block only: elsewhere QEMU can do without the thread). */
bool feed_wait(struct feed_thread *thread, bool in_block);

/* Says it, and waits for heddle's grant; the simulated time then. Not in a block. */
uint64_t feed_ask(struct feed_thread *thread, uint64_t word);
uint64_t feed_ask_with(struct feed_thread *thread, uint64_t word, uint64_t second);

/* ---- threads (threads.c) ---- */

bool feed_is_alone(void);                   /* no other thread lives */
void feed_runs(struct feed_thread *thread); /* on this thread of the host */
void feed_watch_threads(plugin_id id);

/* Whether the word is that of a thread which has ended as heddle sees it: QEMU clears it at any moment. */
bool feed_is_being_cleared(uint64_t word);

/* ---- calls of the system (calls.c) ---- */

void feed_watch_calls(plugin_id id, const char *target);
uint64_t feed_cleared_by(const struct feed_thread *creator); /* the word that the thread it makes clears */

/* ---- blocks (blocks.c) ---- */

void feed_translate(plugin_id id, struct qemu_plugin_tb *block);

#endif

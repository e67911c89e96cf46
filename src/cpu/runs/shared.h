/* The memory that heddle and the process of a simulated program share: the program's code as QEMU translated
 * it, and a ring of words for each thread, which says what the thread executed. The plugin in QEMU's process
 * (cpu/qemu) fills the rings, and waits where they are full; heddle (runs.c) empties them into core models.
 *
 * Only one thread of the program runs at a time, once there are several: the one that heddle has granted it
 * to, by order of simulated time. So what a program does depends on simulated time, and on nothing else. */
#ifndef CPU_RUNS_SHARED_H
#define CPU_RUNS_SHARED_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    CPURUN_LANES = 256,     /* threads at a time */
    CPURUN_WORDS = 1 << 16, /* of a ring */
    CPURUN_CHUNK = 1 << 10, /* words after which they are shown to heddle, at the latest */
    CPURUN_BLOCKS = 1 << 22,
    CPURUN_CODE = 1 << 28, /* bytes */
};

/* ---- words ----
 *
 * An access: bits 60..61 are its kind (enum cpu_access_kind, never 0), 57..59 log2 of its bytes, 48..56 the
 * instruction's place in its block, 0..47 its address. Any other: bits 56..59 say what it is, the rest is its
 * value; some have a second word behind them. */

enum { CPURUN_KIND_SHIFT = 60, CPURUN_SIZE_SHIFT = 57, CPURUN_PLACE_SHIFT = 48, CPURUN_OP_SHIFT = 56 };

#define CPURUN_ADDRESS ((UINT64_C(1) << CPURUN_PLACE_SHIFT) - 1)
#define CPURUN_VALUE   ((UINT64_C(1) << CPURUN_OP_SHIFT) - 1)
#define CPURUN_FOREVER CPURUN_VALUE

/* The thread waits for a grant behind those that say so. */
enum cpurun_op {
    CPURUN_BLOCK, /* a block of instructions begins: its number */
    CPURUN_CALL,  /* a call of the system that is done at once */
    CPURUN_YIELD, /* waits: others with less simulated time may run */
    CPURUN_SLEEP, /* waits: on a futex, at most so many ns; second word: its address */
    CPURUN_WAKE,  /* of a futex: at most so many of those who sleep; second word: its address */
    CPURUN_AWAY,  /* in a call of the system that may wait for something outside */
    CPURUN_BACK,  /* waits: that call has returned */
    CPURUN_PAUSE, /* waits: so many ns */
    CPURUN_TIME,  /* waits: for the answer, which is the time */
    CPURUN_AT,    /* waits: not before this time in ps */
    CPURUN_BEGIN, /* has made another thread: its lane. That one waits before its first block */
    CPURUN_END,   /* it has ended */
};

enum cpurun_state { CPURUN_FREE, CPURUN_LIVE };

/* Wake-ups by threads that are not simulated, such as those of our libraries that call functions of the
 * program. */
enum { CPURUN_WAKES = 1024 };
struct cpurun_wakes {
    _Atomic uint32_t lock;          /* among those that post */
    _Atomic uint32_t posted, taken; /* in all */
    uint64_t futexes[CPURUN_WAKES], counts[CPURUN_WAKES];
};

struct cpurun_lane {
    _Alignas(64) _Atomic uint64_t head; /* words shown to heddle, in all */
    _Alignas(64) _Atomic uint64_t tail; /* words that heddle has taken */
    _Atomic uint32_t room;              /* changes when there is more */
    _Atomic uint32_t wants_room;
    _Alignas(64) _Atomic uint32_t grants; /* so many in all */
    _Atomic uint64_t answer;              /* simulated time at the last one, picoseconds */
    _Atomic uint32_t timed_out;           /* of a sleep */
    _Atomic uint32_t state;
    _Atomic int32_t task;     /* the kernel's number of its thread */
    _Atomic uint32_t excused; /* it may sleep: in a call of the system, or for us */
    _Atomic uint32_t muted;   /* it is in a library of ours: what it does takes no time */
    _Atomic uint32_t stuck;   /* ... and waits there for a lock, or for another thread */
};

/* A block of instructions, as QEMU translated it; behind it the lengths of instructions, then their bytes. */
struct cpurun_block {
    uint64_t pc;
    uint32_t count, bytes;
};

struct cpurun_shared {
    uint64_t quantum; /* instructions */
    char target[16];  /* QEMU's name of the instruction set */
    _Atomic uint32_t began;
    _Atomic uint32_t became_another; /* the program called exec */
    _Atomic uint32_t children;       /* processes that it made */
    _Atomic uint32_t too_many_threads, too_much_code;
    _Atomic uint32_t over;     /* the process has ended */
    _Atomic uint32_t granted;  /* the lane that was last */
    _Atomic uint32_t together; /* a machine beside the cores works: a thread waits behind each quantum, even
                                  one that is alone */
    _Alignas(64) _Atomic uint32_t posted; /* changes when a lane has more words, if heddle sleeps */
    _Atomic uint32_t sleeps;              /* heddle does */
    _Alignas(64) _Atomic uint32_t block_count;
    _Atomic uint64_t code_bytes;
    struct cpurun_lane lanes[CPURUN_LANES];
    struct cpurun_wakes wakes;
    uint32_t blocks[CPURUN_BLOCKS]; /* where they begin in the code, by 8 bytes */
    _Alignas(64) uint8_t code[CPURUN_CODE];
    uint64_t rings[CPURUN_LANES][CPURUN_WORDS]; /* pages that nobody touches cost nothing */
};

static inline void cpurun_sleep(_Atomic uint32_t *word, uint32_t while_it_is)
{
    syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, NULL, NULL, 0); /* may wake early: callers look again */
}

/* ... and after so long. */
static inline void cpurun_doze(_Atomic uint32_t *word, uint32_t while_it_is, long ns)
{
    struct timespec most = {.tv_nsec = ns};
    syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, &most, NULL, 0);
}

static inline void cpurun_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif

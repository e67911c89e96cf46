#include "cpu/qemu/plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { SPINS = 2000 };

static uint64_t nowhere[CPURUN_WORDS]; /* what is not simulated goes there; any thread may write it */

static void look_around_at(struct tap_thread *thread)
{
    uint64_t end = atomic_load(&thread->lane->tail) + CPURUN_WORDS;
    thread->limit = thread->at + CPURUN_CHUNK < end ? thread->at + CPURUN_CHUNK : end;
}

void tap_show(struct tap_thread *thread)
{
    if (!thread->lane || thread->muted)
        return;
    atomic_store(&thread->lane->head, thread->at);
    if (atomic_load(&tap_shared->sleeps)) {
        atomic_fetch_add(&tap_shared->posted, 1);
        cpurun_wake(&tap_shared->posted);
    }
    look_around_at(thread);
}

void tap_make_room(struct tap_thread *thread)
{
    if (!thread->lane || thread->muted) {
        thread->limit += CPURUN_WORDS;
        return;
    }
    struct cpurun_lane *lane = thread->lane;
    tap_show(thread);
    for (uint32_t i = 0; thread->limit == thread->at; i++) { /* the ring is full: the thread is ahead */
        uint32_t seen = atomic_load(&lane->room);
        atomic_store(&lane->wants_room, 1);
        look_around_at(thread);
        atomic_store(&lane->excused, 1);
        if (thread->limit == thread->at)
            cpurun_sleep(&lane->room, seen);
        atomic_store(&lane->excused, 0);
        look_around_at(thread);
    }
}

/* While muted, words are written where nobody reads, from the same place on. */
void tap_mute(struct tap_thread *thread, bool muted)
{
    if (!thread->lane || thread->muted == muted)
        return;
    tap_show(thread);
    thread->muted = muted;
    atomic_store(&thread->lane->muted, muted);
    if (muted) {
        thread->ring = nowhere;
        thread->limit = thread->at + CPURUN_WORDS;
        thread->left = INT64_MAX;
        return;
    }
    thread->ring = tap_shared->rings[thread->lane - tap_shared->lanes];
    thread->at = atomic_load(&thread->lane->head);
    thread->left = (int64_t)tap_shared->quantum;
    look_around_at(thread);
}

/* Whether the thread that runs sleeps though it has no reason to: it waits for all others to leave
 * their blocks, which QEMU needs now and then (when it discards code, and before the second thread). */
static bool runner_waits_for_us(void)
{
    struct cpurun_lane *lane = &tap_shared->lanes[atomic_load(&tap_shared->granted)];
    char path[64], text[256];
    if (atomic_load(&lane->excused))
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&lane->task));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] == 'S' && !atomic_load(&lane->excused);
}

bool tap_wait(struct tap_thread *thread, bool in_block)
{
    enum { SURE = 3 }; /* times in a row */
    struct cpurun_lane *lane = thread->lane;
    uint32_t waits = 0;
    if (!thread->asking)
        return true;
    atomic_store(&lane->task, gettid());
    atomic_store(&lane->excused, 1);
    for (uint32_t i = 0; atomic_load(&lane->grants) == thread->grants; i++) {
        if (i < SPINS)
            __builtin_ia32_pause();
        else if (!in_block)
            cpurun_sleep(&lane->grants, thread->grants);
        else if (waits == SURE)
            return false;
        else {
            cpurun_doze(&lane->grants, thread->grants, 5000000);
            waits = runner_waits_for_us() ? waits + 1 : 0;
        }
    }
    tap_settle_ended();
    atomic_store(&lane->excused, 0);
    thread->asking = false;
    thread->left = (int64_t)tap_shared->quantum - thread->debt;
    thread->debt = 0;
    return true;
}

uint64_t tap_ask(struct tap_thread *thread, uint64_t word)
{
    tap_wait(thread, false); /* it may have gone on without the last grant */
    thread->grants = atomic_load(&thread->lane->grants);
    thread->asking = true;
    tap_word(thread, word);
    tap_show(thread);
    tap_wait(thread, false);
    return atomic_load(&thread->lane->answer);
}

uint64_t tap_ask_with(struct tap_thread *thread, uint64_t word, uint64_t second)
{
    tap_wait(thread, false);
    tap_word(thread, word);
    return tap_ask(thread, second);
}

#include "relaxed/phaser.h"
#include "base/bits.h"

void relaxed_phaser_init(struct relaxed_phaser *phaser, unsigned threads, unsigned ahead, unsigned spins,
                         relaxed_turn_fn *turn, void *user)
{
    *phaser = (struct relaxed_phaser){
        .threads = threads, .ahead = ahead, .spins = spins, .turn = turn, .user = user};
    phaser->places = mem_alloc_lines(threads, sizeof *phaser->places);
}

void relaxed_phaser_fini(struct relaxed_phaser *phaser)
{
    mem_free(phaser->places);
}

void relaxed_phaser_start(struct relaxed_phaser *phaser, uint64_t epoch)
{
    phaser->first = epoch;
    for (unsigned i = 0; i < phaser->threads; i++)
        atomic_store(&phaser->places[i].ended, epoch);
    gate_set(&phaser->over, 0);
}

static uint64_t slowest(struct relaxed_phaser *phaser)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < phaser->threads; i++)
        least = min_u64(least, atomic_load(&phaser->places[i].ended));
    return least;
}

/* Who finds that an epoch is over for all ends it. A thread that finds another at it may go: that one looks
 * again afterwards. */
static void end_epochs(struct relaxed_phaser *phaser)
{
    for (;;) {
        uint64_t least = slowest(phaser), over = phaser->first + gate_number(&phaser->over);
        if (least <= over || least == UINT64_MAX || atomic_exchange(&phaser->turning, 1))
            return;
        over = phaser->first + gate_number(&phaser->over);
        if (least > over) {
            phaser->turn(phaser->user, over + 1);
            gate_set(&phaser->over, (uint32_t)(over + 1 - phaser->first));
        }
        atomic_store(&phaser->turning, 0);
    }
}

bool relaxed_phaser_must_wait(struct relaxed_phaser *phaser, uint64_t epoch)
{
    return phaser->first + gate_number(&phaser->over) + phaser->ahead < epoch;
}

bool relaxed_phaser_wait(struct relaxed_phaser *phaser, uint64_t epoch)
{
    bool waited = false;
    for (;;) {
        uint32_t over = gate_number(&phaser->over);
        if (phaser->first + over + phaser->ahead >= epoch)
            return waited;
        waited = true;
        gate_wait(&phaser->over, over, phaser->spins);
    }
}

void relaxed_phaser_signal(struct relaxed_phaser *phaser, unsigned thread, uint64_t epoch)
{
    atomic_store(&phaser->places[thread].ended, epoch + 1);
    end_epochs(phaser);
}

void relaxed_phaser_leave(struct relaxed_phaser *phaser, unsigned thread)
{
    atomic_store(&phaser->places[thread].ended, UINT64_MAX);
    end_epochs(phaser);
}

#include "relaxed/port.h"
#include "base/bits.h"
#include "base/host.h"

#define NOWHERE UINT64_MAX

enum { WORD = 64, EPOCHS = 4 };

void relaxed_port_init(struct relaxed_port *port, uint32_t ports, uint64_t epoch, enum relaxed_port_use use)
{
    uint64_t words = 1;
    while (words * WORD < EPOCHS * epoch)
        words *= 2;
    *port = (struct relaxed_port){.ports = ports, .words = (uint32_t)words, .use = use};
    port->bits = mem_alloc_lines(ports * words, sizeof *port->bits);
}

void relaxed_port_fini(struct relaxed_port *port)
{
    mem_free(port->bits);
}

static uint64_t window(const struct relaxed_port *port)
{
    return (uint64_t)port->words * WORD;
}

static _Atomic uint64_t *word_of(const struct relaxed_port *port, uint32_t row, uint64_t cycle)
{
    return &port->bits[(uint64_t)row * port->words + (cycle / WORD & (port->words - 1))];
}

static uint64_t look(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Bits of the word that a cycle is in: those of so many cycles from it on; and how many these are. */
static uint64_t bits_from(uint64_t cycle, uint64_t cycles, uint64_t *here)
{
    uint64_t first = cycle % WORD;
    *here = min_u64(cycles, WORD - first);
    return UINT64_MAX >> (WORD - *here) << first;
}

/* ---- the window ---- */

void relaxed_port_restart(struct relaxed_port *port, uint64_t start)
{
    for (uint64_t i = 0; i < (uint64_t)port->ports * port->words; i++)
        atomic_store_explicit(&port->bits[i], 0, memory_order_relaxed);
    atomic_store_explicit(&port->owed, 0, memory_order_relaxed);
    atomic_store_explicit(&port->latest, 0, memory_order_relaxed);
    atomic_store_explicit(&port->start, start, memory_order_release);
}

/* Of cycles that are all the caller's, so that a whole word needs no atomic operation. */
static void set_all(struct relaxed_port *port, uint32_t row, uint64_t from, uint64_t cycles, bool taken)
{
    uint64_t here;
    for (; cycles; from += here, cycles -= here) {
        uint64_t bits = bits_from(from, cycles, &here);
        _Atomic uint64_t *word = word_of(port, row, from);
        if (!~bits || port->use != RELAXED_THREADS)
            atomic_store_explicit(word, taken ? look(word) | bits : look(word) & ~bits, memory_order_relaxed);
        else if (taken)
            atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
        else
            atomic_fetch_and_explicit(word, ~bits, memory_order_relaxed);
    }
}

void relaxed_port_advance(struct relaxed_port *port, uint64_t start)
{
    uint64_t before = atomic_load_explicit(&port->start, memory_order_relaxed), more = start - before;
    if (start <= before)
        return;
    if (more > window(port)) {
        relaxed_port_restart(port, start);
        return;
    }
    uint64_t owed = atomic_load_explicit(&port->owed, memory_order_relaxed);
    uint64_t paid = min_u64(owed, more * port->ports);
    for (uint32_t row = 0; row < port->ports; row++) {
        uint64_t own = paid / port->ports + (row < paid % port->ports);
        set_all(port, row, before, more, false);
        set_all(port, row, before, own, true);
    }
    atomic_fetch_sub_explicit(&port->owed, paid, memory_order_relaxed);
    atomic_store_explicit(&port->start, start, memory_order_release);
}

/* ---- requests ---- */

/* The first of so many free cycles of a row, before the end; or NOWHERE. */
static uint64_t find(const struct relaxed_port *port, uint32_t row, uint64_t from, uint64_t end,
                     uint64_t cycles)
{
    uint64_t run = from;
    while (from < end) {
        uint64_t first = from % WORD, word = look(word_of(port, row, from)) >> first;
        if (!word) {
            from += WORD - first;
        } else {
            from += (uint64_t)__builtin_ctzll(word);
            if (from - run >= cycles)
                break;
            word >>= __builtin_ctzll(word);
            from += ~word ? (uint64_t)__builtin_ctzll(~word) : WORD;
            run = from;
        }
        if (from - run >= cycles)
            break;
    }
    return run + cycles <= end && from - run >= cycles ? run : NOWHERE;
}

static bool take_word(struct relaxed_port *port, _Atomic uint64_t *word, uint64_t bits)
{
    uint64_t old = look(word);
    if (port->use != RELAXED_THREADS) {
        atomic_store_explicit(word, old | bits, memory_order_relaxed);
        return true;
    }
    do {
        if (old & bits)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(word, &old, old | bits, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

/* All of the cycles, or none. */
static bool take(struct relaxed_port *port, uint32_t row, uint64_t from, uint64_t cycles)
{
    uint64_t taken = 0, here;
    while (taken < cycles) {
        uint64_t bits = bits_from(from + taken, cycles - taken, &here);
        if (!take_word(port, word_of(port, row, from + taken), bits)) {
            set_all(port, row, from, taken, false);
            return false;
        }
        taken += here;
    }
    return true;
}

static uint64_t put_behind(struct relaxed_port *port, uint64_t end, uint64_t cycles,
                           struct relaxed_port_counts *counts)
{
    counts->beyond++;
    return end + atomic_fetch_add_explicit(&port->owed, cycles, memory_order_relaxed) / port->ports;
}

static uint64_t in_window(const struct relaxed_port *port, uint64_t cycle, uint64_t *end,
                          struct relaxed_port_counts *counts)
{
    uint64_t start = atomic_load_explicit(&port->start, memory_order_acquire);
    *end = start + window(port);
    counts->past += cycle < start;
    return max_u64(cycle, start);
}

/* A slot of this word is about to be given: is one of a later cycle given already? Words tell all but the
 * order within one, for which its bits do. So threads write `latest` once in many requests. */
static bool is_late(struct relaxed_port *port, uint32_t row, uint64_t slot)
{
    uint64_t word = slot / WORD, latest = look(&port->latest);
    if (port->use == RELAXED_ONE_SM)
        return false;
    while (latest < word)
        if (atomic_compare_exchange_weak_explicit(&port->latest, &latest, word, memory_order_relaxed,
                                                  memory_order_relaxed))
            return false;
    return latest > word || look(word_of(port, row, slot)) >> slot % WORD;
}

static uint64_t reserve(struct relaxed_port *port, uint64_t cycle, uint64_t cycles,
                        struct relaxed_port_counts *counts)
{
    for (;;) {
        uint64_t end, from = in_window(port, cycle, &end, counts), best = NOWHERE;
        uint32_t best_row = 0;
        for (uint32_t row = 0; row < port->ports && best != from; row++) {
            uint64_t before = best == NOWHERE ? end : min_u64(end, best + cycles - 1);
            uint64_t found = find(port, row, from, before, cycles);
            if (found < best) {
                best = found;
                best_row = row;
            }
        }
        if (best == NOWHERE)
            return from >= end ? from : put_behind(port, end, cycles, counts);
        bool late = is_late(port, best_row, best);
        if (take(port, best_row, best, cycles)) {
            counts->late += late;
            return best;
        }
        counts->failed++;
    }
}

uint64_t relaxed_port_reserve(struct relaxed_port *port, uint64_t cycle, uint64_t parts, uint32_t *carry,
                              struct relaxed_port_counts *counts)
{
    uint64_t all = *carry + parts, cycles = all / RELAXED_PARTS;
    *carry = (uint32_t)(all % RELAXED_PARTS);
    counts->requests++;
    counts->shared += port->use != RELAXED_ONE_SM;
    if (!cycles)
        return cycle;
    uint64_t given = reserve(port, cycle, cycles, counts);
    counts->waited += given > cycle ? given - cycle : 0;
    return given;
}

void relaxed_port_prefetch(const struct relaxed_port *port, uint64_t cycle)
{
    host_prefetch_to_write(word_of(port, 0, cycle));
}

bool relaxed_port_try(struct relaxed_port *port, uint64_t cycle, uint64_t cycles,
                      struct relaxed_port_counts *counts)
{
    uint64_t end, from = in_window(port, cycle, &end, counts);
    counts->requests++;
    counts->shared += port->use != RELAXED_ONE_SM;
    if (from + cycles > end)
        return true; /* so far ahead nobody else is */
    for (uint32_t row = 0; row < port->ports; row++) {
        if (find(port, row, from, from + cycles, cycles) != from)
            continue;
        bool late = is_late(port, row, from);
        if (take(port, row, from, cycles)) {
            counts->late += late;
            return true;
        }
        counts->failed++;
    }
    return false;
}

uint32_t relaxed_port_taken(const struct relaxed_port *port, uint64_t cycle)
{
    uint32_t taken = 0;
    for (uint32_t row = 0; row < port->ports; row++)
        taken += look(word_of(port, row, cycle)) >> cycle % WORD & 1;
    return taken;
}

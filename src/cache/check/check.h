/* An explicit-state model checker for coherence protocols (src/cache/protocol).
 *
 * It explores every state that a small system can reach: caches that load, store and evict at any time, copy
 * engines that read and write, and a network that delivers messages in any order. In each state it checks
 * that
 *   - one cache may write a line, or several may read it;
 *   - copies that can be read have the value that was written last;
 *   - one cache at most owns a line, and memory has the last value when none does: no write-back is lost;
 *   - every message finds a row, and messages and answers are bounded;
 *   - from each state a state of rest can be reached: nothing is stuck;
 *   - loads of a GPU's L1 give a value that was current since the last acquire.
 * Rows that are never taken are reported, too. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "base/text.h"
#include "cache/protocol/protocol.h"

struct litmus;

struct check_setup {
    unsigned cpus;               /* caches of CPUs: 0 to 4 */
    unsigned l1s;                /* of one GPU: 0 to 2 (4 in litmus tests); the protocol must have them */
    unsigned lines;              /* 1 or 2; with 2, a cache holds one of them at a time */
    bool dma;                    /* a copy engine, too */
    uint64_t states_most;        /* give up beyond; 0: 20 million */
    const struct litmus *litmus; /* threads do only what this says; or NULL */
    const uint8_t *places;       /* litmus: the agent of each thread */
};

enum { CHECK_OUTCOMES = 64 };

struct check_result {
    uint64_t states, steps;
    unsigned messages_most;
    double seconds;
    uint64_t digest;        /* of all states and steps */
    bool wrong;             /* `text` says what, and the shortest way there */
    bool gave_up;           /* too many states */
    unsigned outcome_count; /* litmus: */
    char outcomes[CHECK_OUTCOMES][16];
    struct text text;
};

void check_run(const struct protocol *protocol, const struct check_setup *setup, struct check_result *result);
void check_result_fini(struct check_result *result);

/* The setups that `heddle protocol check` and the tests use. Returns how many there are. `deep`: larger ones,
 * too. */
size_t check_setups(const struct protocol *protocol, bool deep, struct check_setup *setups, size_t most);
void check_setup_name(const struct check_setup *setup, char room[64]);

/* Rows that no setup took: of all results together. By role. */
struct check_cover {
    uint64_t *taken[COH_ROLE_COUNT];
};
void check_cover_init(struct check_cover *cover, const struct protocol *protocol);
void check_cover_fini(struct check_cover *cover);
size_t check_cover_missing(const struct check_cover *cover, const struct protocol *protocol,
                           struct text *text);
void check_run_covering(const struct protocol *protocol, const struct check_setup *setup,
                        struct check_cover *cover, struct check_result *result);

/* ---- seeded bugs ---- */

/* A row changed: its next state, condition, one action, or the row itself left out. Each is checked with two
 * caches and with three (or with a GPU of one L1 beside one and two). */
struct mutation_score {
    uint64_t made, found, same; /* `same`: the system does just what it did: no bug */
    struct text survivors;      /* a line for each one that was not found */
};

/* About `most` of all that there are, drawn by `seed`. */
void check_mutations(const struct protocol *protocol, uint64_t seed, uint64_t most,
                     struct mutation_score *score);

#endif

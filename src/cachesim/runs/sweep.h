/* Sweeps: "l1.size=16KiB..1MiB,l1.ways=1..16" is every combination of those. */
#ifndef CACHESIM_SWEEP_H
#define CACHESIM_SWEEP_H

#include "base/text.h"
#include "cachesim/caches.h"

/*  key         kind     member           help */
#define SWEEP_KEYS(X)                                                                                        \
    X("l1.size", SIZE, l1.bytes, "bytes of an L1")                                                           \
    X("l1.ways", COUNT, l1.ways, "its ways")                                                                 \
    X("l1.line", SIZE, l1.line_bytes, "bytes of its lines")                                                  \
    X("l2.size", SIZE, l2.bytes, "bytes of an L2, or of its slice")                                          \
    X("l2.ways", COUNT, l2.ways, "its ways")                                                                 \
    X("l2.line", SIZE, l2.line_bytes, "bytes of its lines")                                                  \
    X("machine", MACHINE, machine, "as of --machine")                                                        \
    X("policy", POLICY, policy, "as of --policy")                                                            \
    X("tiles", COUNT, tiles, "tiles")                                                                        \
    X("snoop", COUNT, snoop, "neighbouring tiles that snoop on each other")                                  \
    X("quantum", QUANTUM, quantum, "exact, or accesses of a quantum")

enum sweep_kind { SWEEP_SIZE, SWEEP_COUNT, SWEEP_MACHINE, SWEEP_POLICY, SWEEP_QUANTUM };

struct sweep_key {
    const char *name;
    enum sweep_kind kind;
    size_t at, bytes; /* of the member of struct caches_spec */
    const char *help;
};

extern const struct sweep_key sweep_keys[]; /* ends with a NULL name */

struct sweep_axis {
    const struct sweep_key *key;
    uint64_t *values;
    size_t count, capacity;
};

#define X(name, kind, member, help) +1
enum { SWEEP_AXES_MOST = 0 SWEEP_KEYS(X), SWEEP_MOST = 4096 }; /* each key once */
#undef X

struct sweep {
    struct sweep_axis axes[SWEEP_AXES_MOST];
    size_t count;
};

bool sweep_parse(struct sweep *sweep, const char *text, struct err *err);
void sweep_fini(struct sweep *sweep);

/* How many combinations there are, and the description of one: the last axis changes fastest. */
size_t sweep_count(const struct sweep *sweep);
void sweep_apply(const struct sweep *sweep, size_t number, struct caches_spec *spec);

bool sweep_has(const struct sweep *sweep, const char *key);

/* A value as users write it. */
void sweep_value_print(const struct sweep_key *key, uint64_t value, struct text *text);
uint64_t sweep_value_of(const struct sweep_key *key, const struct caches_spec *spec);

/* Values that an option has too. */
bool caches_machine_parse(const char *text, uint64_t *machine, struct err *err);
bool policy_parse(const char *text, uint64_t *policy, struct err *err);
bool quantum_parse(const char *text, uint64_t *quantum, struct err *err);
bool size_parse(const char *text, uint64_t *bytes, struct err *err); /* 64KiB, or 64: bytes */

#endif

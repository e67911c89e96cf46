/* What an item does to its set. */
#ifndef CACHESIM_CUDA_STEP_CUH
#define CACHESIM_CUDA_STEP_CUH

#include "cachesim/cuda/emit.cuh"

/* Accesses to L1s are counted by the host. */
static __device__ __forceinline__ void count(struct tally *tally, bool grouped, enum walk_kind walk,
                                             uint32_t kind, struct coherent_outcome outcome)
{
#define X(name, is_so)                                                                                       \
    if (!grouped)                                                                                            \
        tally->name += (is_so);                                                                              \
    else if (is_so)                                                                                          \
        atomicAdd(&tally->name, 1u);
    if (walk != WALK_L1) {
        COHERENT_COUNTED_ACCESS(X, kind)
    }
    COHERENT_COUNTED_OUTCOME(X, kind, outcome)
#undef X
}

/* What an access does. Of an L1 it may be known which way its line is in, and others may have been snooped
 * on. */
struct known {
    bool is_so;
    uint32_t way, given_by;
};

template <enum walk_kind WALK, bool GROUPED>
static __device__ __forceinline__ void step(struct stream *s, const struct coherent_shape *shape, uint32_t i,
                                            uint32_t self, struct known known, struct tally *tally)
{
    const struct work_walk *work = s->work;
    uint64_t word = s->words[i], line, tag;
    uint32_t kind;
    if (WALK == WALK_L2) {
        line = word >> L2_WORD_SHIFT;
        kind = word & 7;
    } else if (WALK == WALK_SLICE) {
        line = word >> (work->space_bits + 1);
        kind = word & 1 ? COHERENT_PUT_BACK : COHERENT_READ;
    } else {
        line = word >> L1_WORD_SHIFT;
        kind = word & 1 ? COHERENT_WRITE : COHERENT_READ;
    }
    uint32_t set = set_of(shape, line, &tag);
    if (WALK == WALK_SLICE)
        tag |= (word >> 1 & ((1u << work->space_bits) - 1)) << 48;
    uint32_t first = s->number * work->caches;
    struct coherent_counters *counts = (struct coherent_counters *)work->counts + first;
    struct coherent_group group = {s->state + (uint64_t)set * shape->set_bytes,
                                   (uint64_t)shape->sets * shape->set_bytes, GROUPED ? work->caches : 1,
                                   counts};
    if (known.is_so)
        group.caches = 0; /* nobody is left to snoop on */
    if (WALK == WALK_TELL) {
        struct coherent_outcome outcome;
        coherent_snoop(shape, &group, self, tag, word & 1, &outcome);
        return;
    }
    uint32_t tile = GROUPED ? s->tiles[i] : 0;
    uint64_t seed = set_seed(work->seed, work->level, first + tile, set);
    struct coherent_outcome outcome =
        known.is_so ? coherent_access_way(shape, &group, tile, tag, known.way, kind, seed)
                    : coherent_access(shape, &group, tile, tag, kind, seed);
    if (known.is_so)
        outcome.given_by = known.given_by;
    count(GROUPED ? s->tallies + tile : tally, GROUPED, WALK, kind, outcome);
    if (WALK == WALK_SLICE || !(work->asks_spread || work->told_words))
        return;
    uint32_t flags = 0;
    if (work->told_words && outcome.asks)
        flags |= FLAG_TOLD | (kind != COHERENT_READ ? FLAG_TAKE : 0);
    if (WALK == WALK_L1 && work->asks_spread) {
        if (outcome.put_back) {
            flags |= FLAG_PUT_BACK;
            s->victims[i] = line_of(shape, set, outcome.victim);
        }
        if (GROUPED && outcome.given_by != COHERENT_NONE) {
            flags |= FLAG_GIVEN;
            s->givers[i] = (uint16_t)outcome.given_by;
        }
        if (outcome.asks && (outcome.below != COHERENT_DISOWN || work->disowns))
            flags |= (outcome.below + 1u) << FLAG_ASKS_SHIFT;
    }
    s->flags[i] = (uint8_t)flags;
}

#endif

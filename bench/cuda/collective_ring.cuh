/* Rings: every rank gets from the one before it and hands to the one behind it. Included by collective.cuh. */

static __device__ uint32_t ring_before(uint32_t rank, uint32_t ranks)
{
    return rank ? rank - 1 : ranks - 1;
}

/* In each round, a channel's next chunk of every rank goes round the ring. */
static __device__ uint64_t ring_chunk(const struct work *work, uint64_t left)
{
    return least(work->slot, share(left, work->lane.ranks));
}

/* The reduced chunk of each rank is complete after ranks - 1 steps; then it goes round once more. */
static __device__ void ring_allreduce(const struct work *work)
{
    uint32_t ranks = work->lane.ranks, steps = 2 * ranks - 1;
    int before = work->rank_at(ranks - 1), behind = work->rank_at(1);
    for (uint64_t base = work->part.from; base < work->part.end;) {
        uint64_t chunk = ring_chunk(work, work->part.end - base);
        uint32_t owner = work->lane.rank; /* of the chunk that is handed on */
        for (uint32_t k = 0; k < steps; k++, owner = ring_before(owner, ranks)) {
            uint64_t at = least(base + owner * chunk, work->part.end);
            struct step step = {k < ranks ? work->input(at) : 0,
                                k + 1 >= ranks ? work->output(at) : 0,
                                {k ? before : NOBODY, NOBODY},
                                {k + 1 < steps ? behind : NOBODY, NOBODY},
                                least(chunk, work->part.end - at),
                                k + 1 == ranks};
            work->run(&step);
        }
        base += chunk * ranks;
    }
}

static __device__ void ring_reducescatter(const struct work *work)
{
    uint32_t ranks = work->lane.ranks;
    int before = work->rank_at(ranks - 1), behind = work->rank_at(1);
    for (uint64_t base = work->part.from; base < work->part.end; base += work->slot) {
        uint32_t owner = before; /* the own chunk comes last */
        for (uint32_t k = 0; k < ranks; k++, owner = ring_before(owner, ranks)) {
            uint64_t at = owner * work->plan->bytes + base;
            bool last = k + 1 == ranks;
            struct step step = {work->input(at),
                                last ? work->output(base) : 0,
                                {k ? before : NOBODY, NOBODY},
                                {last ? NOBODY : behind, NOBODY},
                                least(work->slot, work->part.end - base),
                                last};
            work->run(&step);
        }
    }
}

static __device__ void ring_allgather(const struct work *work)
{
    uint32_t ranks = work->lane.ranks;
    int before = work->rank_at(ranks - 1), behind = work->rank_at(1);
    for (uint64_t base = work->part.from; base < work->part.end; base += work->slot) {
        uint32_t owner = work->lane.rank;
        for (uint32_t k = 0; k < ranks; k++, owner = ring_before(owner, ranks)) {
            uint64_t at = owner * work->plan->bytes + base;
            struct step step = {k ? 0 : work->input(base),
                                work->output(at),
                                {k ? before : NOBODY, NOBODY},
                                {k + 1 < ranks ? behind : NOBODY, NOBODY},
                                least(work->slot, work->part.end - base),
                                false};
            work->run(&step);
        }
    }
}

/* A chain that begins at the root. */
static __device__ void ring_broadcast(const struct work *work)
{
    uint32_t ranks = work->lane.ranks, place = work->rank_at(ranks - work->plan->root);
    int before = work->rank_at(ranks - 1), behind = work->rank_at(1);
    for (uint64_t base = work->part.from; base < work->part.end; base += work->slot) {
        struct step step = {place ? 0 : work->input(base),
                            work->output(base),
                            {place ? before : NOBODY, NOBODY},
                            {place + 1 < ranks ? behind : NOBODY, NOBODY},
                            least(work->slot, work->part.end - base),
                            false};
        work->run(&step);
    }
}

/* A chain that ends at the root. */
static __device__ void ring_reduce(const struct work *work)
{
    uint32_t ranks = work->lane.ranks, place = work->rank_at(2 * ranks - 1 - work->plan->root);
    int before = work->rank_at(ranks - 1), behind = work->rank_at(1);
    bool last = place == ranks - 1;
    for (uint64_t base = work->part.from; base < work->part.end; base += work->slot) {
        struct step step = {work->input(base),
                            last ? work->output(base) : 0,
                            {place ? before : NOBODY, NOBODY},
                            {last ? NOBODY : behind, NOBODY},
                            least(work->slot, work->part.end - base),
                            last};
        work->run(&step);
    }
}

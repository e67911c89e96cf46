/* Binary trees: a block reduces towards the root, another one hands the result down. Included by
 * collective.cuh. */

struct tree { /* the neighbours of a rank; NOBODY where there is none */
    int parent, child[2];
};

/* Ranks are numbered from the root, as in a heap. */
static __device__ struct tree tree_of(const struct lane *lane, uint32_t root)
{
    uint32_t ranks = lane->ranks, place = (lane->rank + ranks - root) % ranks;
    struct tree tree;
    tree.parent = place ? (int)(((place - 1) / 2 + root) % ranks) : NOBODY;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t child = 2 * place + 1 + i;
        tree.child[i] = child < ranks ? (int)((child + root) % ranks) : NOBODY;
    }
    return tree;
}

/* Reduces some bytes to the root's output; hands_down: the root's children get the result, too. */
static __device__ void tree_up(const struct work *work, uint32_t root, const char *input, char *output,
                               uint64_t bytes, bool hands_down)
{
    struct tree tree = tree_of(&work->lane, root);
    bool is_root = tree.parent == NOBODY;
    struct step step = {input,
                        is_root ? output : 0,
                        {tree.child[0], tree.child[1]},
                        {is_root && hands_down ? tree.child[0] : tree.parent,
                         is_root && hands_down ? tree.child[1] : NOBODY},
                        bytes,
                        is_root};
    work->run(&step);
}

static __device__ void tree_down(const struct work *work, uint32_t root, const char *input, char *output,
                                 uint64_t bytes)
{
    struct tree tree = tree_of(&work->lane, root);
    struct step step = {tree.parent == NOBODY ? input : 0,
                        output,
                        {tree.parent, NOBODY},
                        {tree.child[0], tree.child[1]},
                        bytes,
                        false};
    work->run(&step);
}

static __device__ void tree_allreduce(const struct work *work)
{
    for (uint64_t base = work->part.from; base < work->part.end; base += work->slot) {
        uint64_t bytes = least(work->slot, work->part.end - base);
        if (!work->goes_down)
            tree_up(work, 0, work->input(base), work->output(base), bytes, true);
        else if (work->lane.rank)
            tree_down(work, 0, work->input(base), work->output(base), bytes);
    }
}

static __device__ void tree_broadcast(const struct work *work)
{
    for (uint64_t base = work->part.from; work->goes_down && base < work->part.end; base += work->slot)
        tree_down(work, work->plan->root, work->input(base), work->output(base),
                  least(work->slot, work->part.end - base));
}

static __device__ void tree_reduce(const struct work *work)
{
    for (uint64_t base = work->part.from; !work->goes_down && base < work->part.end; base += work->slot)
        tree_up(work, work->plan->root, work->input(base), work->output(base),
                least(work->slot, work->part.end - base), false);
}

/* The part of each rank has a tree with that rank as its root. */
static __device__ void tree_allgather(const struct work *work)
{
    for (uint64_t base = work->part.from; work->goes_down && base < work->part.end; base += work->slot)
        for (uint32_t root = 0; root < work->lane.ranks; root++)
            tree_down(work, root, work->input(base), work->output(root * work->plan->bytes + base),
                      least(work->slot, work->part.end - base));
}

static __device__ void tree_reducescatter(const struct work *work)
{
    for (uint64_t base = work->part.from; !work->goes_down && base < work->part.end; base += work->slot)
        for (uint32_t root = 0; root < work->lane.ranks; root++)
            tree_up(work, root, work->input(root * work->plan->bytes + base), work->output(base),
                    least(work->slot, work->part.end - base), false);
}

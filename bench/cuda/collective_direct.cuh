/* Direct: a rank reads the inputs of all others, and writes their outputs, without a slot in between.
 * Included by collective.cuh. Inputs are not scaled: a rank does not know the factors of others. */

/* The blocks of this channel on all ranks come here; first, each tells the others where its buffers are. */
static __device__ void direct_meet(const struct lane *lane, const struct collective_plan *plan, bool opens)
{
    __syncthreads();
    if (threadIdx.x < lane->ranks) {
        struct collective_mailbox *own = own_box(lane, threadIdx.x), *peers = peers_box(lane, threadIdx.x);
        uint64_t number = own->barriers + 1;
        own->barriers = number;
        if (opens) {
            peers->peer_send = (uint64_t)plan->send;
            peers->peer_recv = (uint64_t)plan->recv;
        }
        announce(&peers->arrived, number);
        wait_for(&own->arrived, number);
    }
    __syncthreads();
}

/* All ranks' inputs, the own one first, from an offset in bytes. */
static __device__ void direct_sources(const struct lane *lane, uint64_t at)
{
    if (threadIdx.x < lane->ranks) {
        uint32_t peer = (lane->rank + threadIdx.x) % lane->ranks;
        lane->shared->job.source[threadIdx.x] = (const char *)own_box(lane, peer)->peer_send + at;
    }
    lane->shared->job.sources = lane->ranks;
}

static __device__ void direct_targets(const struct lane *lane, uint64_t at)
{
    if (threadIdx.x < lane->ranks) {
        uint32_t peer = (lane->rank + threadIdx.x) % lane->ranks;
        lane->shared->job.target[threadIdx.x] = (char *)own_box(lane, peer)->peer_recv + at;
    }
    lane->shared->job.targets = lane->ranks;
}

static __device__ void direct_move(const struct work *work, uint64_t bytes, bool last)
{
    struct job *job = &work->lane.shared->job;
    job->bytes = bytes;
    job->type = work->plan->type;
    job->op = work->plan->op;
    job->scaled = false;
    job->divisor = work->plan->op == COLLECTIVE_MEAN && last ? work->lane.ranks : 0;
    __syncthreads();
    move(job);
}

/* A rank reduces its share of the elements for all. */
static __device__ void direct_allreduce(const struct work *work)
{
    uint64_t part = share(work->plan->bytes, work->lane.ranks);
    uint64_t from = least(work->lane.rank * part, work->plan->bytes);
    uint64_t end = least(from + part, work->plan->bytes);
    struct range own = channel_part(end - from, work->plan->channels, work->lane.channel);
    direct_meet(&work->lane, work->plan, true);
    direct_sources(&work->lane, (from + own.from));
    direct_targets(&work->lane, (from + own.from));
    direct_move(work, own.end - own.from, true);
    direct_meet(&work->lane, work->plan, false);
}

static __device__ void direct_reducescatter(const struct work *work)
{
    struct job *job = &work->lane.shared->job;
    direct_meet(&work->lane, work->plan, true);
    direct_sources(&work->lane, (work->lane.rank * work->plan->bytes + work->part.from));
    job->target[0] = work->output(work->part.from);
    job->targets = 1;
    direct_move(work, work->part.end - work->part.from, true);
    direct_meet(&work->lane, work->plan, false);
}

static __device__ void direct_allgather(const struct work *work)
{
    struct job *job = &work->lane.shared->job;
    direct_meet(&work->lane, work->plan, true);
    job->source[0] = work->input(work->part.from);
    job->sources = 1;
    direct_targets(&work->lane, (work->lane.rank * work->plan->bytes + work->part.from));
    direct_move(work, work->part.end - work->part.from, false);
    direct_meet(&work->lane, work->plan, false);
}

/* The root writes to all. */
static __device__ void direct_broadcast(const struct work *work)
{
    struct job *job = &work->lane.shared->job;
    direct_meet(&work->lane, work->plan, true);
    if (work->lane.rank == work->plan->root) {
        job->source[0] = work->input(work->part.from);
        job->sources = 1;
        direct_targets(&work->lane, work->part.from);
        direct_move(work, work->part.end - work->part.from, false);
    }
    direct_meet(&work->lane, work->plan, false);
}

/* The root reads from all. */
static __device__ void direct_reduce(const struct work *work)
{
    struct job *job = &work->lane.shared->job;
    direct_meet(&work->lane, work->plan, true);
    if (work->lane.rank == work->plan->root) {
        direct_sources(&work->lane, work->part.from);
        job->target[0] = work->output(work->part.from);
        job->targets = 1;
        direct_move(work, work->part.end - work->part.from, true);
    }
    direct_meet(&work->lane, work->plan, false);
}

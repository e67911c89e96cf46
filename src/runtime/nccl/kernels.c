/* Launches: what groups and single calls become. The kernels' PTX is part of the library. */
#include "runtime/nccl/group.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

extern const char nccl_ptx[], nccl_ptx_end[];
__asm__(".pushsection .rodata\n.balign 16\nnccl_ptx:\n.incbin \"" NCCL_PTX
        "\"\nnccl_ptx_end:\n.byte 0\n.popsection\n");

enum { THREADS = 512 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct module *module;
static enum result loaded;

static void load(void)
{
    loaded = module_load(cuda_driver(), "nccl.ptx", nccl_ptx, (size_t)(nccl_ptx_end - nccl_ptx), &module);
}

static ncclResult_t launch(struct stream *stream, const char *kernel, const uint32_t grid[3], void *argument)
{
    struct function *function;
    struct launch_config config = {.grid = {grid[0], grid[1], grid[2]}, .block = {THREADS, 1, 1}};
    pthread_once(&once, load);
    enum result result = loaded ? loaded : module_function(module, kernel, &function);
    if (!result)
        result = stream_launch(stream, function, &config, &argument);
    return nccl_of(result);
}

/* Operations of a communicator run one after another, in whatever streams they are. */
static ncclResult_t order_before(struct ncclComm *comm, struct stream *stream)
{
    enum result result = RESULT_SUCCESS;
    if (!comm->done)
        result = event_new(comm->device, EVENT_NO_TIMING, &comm->done);
    else if (comm->last_stream != stream && !stream_is_captured(stream))
        result = stream_wait_event(stream, comm->done);
    return nccl_of(result);
}

static ncclResult_t order_after(struct ncclComm *comm, struct stream *stream)
{
    if (stream_is_captured(stream))
        return NCCL_SUCCESS;
    comm->last_stream = stream;
    return nccl_of(event_note(comm->done, stream));
}

static ncclResult_t launch_collective(const struct nccl_call *call)
{
    struct collective_plan plan = call->plan;
    uint32_t grid[3] = {collective_blocks(&plan), 1, 1};
    ncclResult_t result = order_before(call->comm, call->stream);
    if (!result)
        result = launch(call->stream, call->kernel, grid, &plan);
    return result ? result : order_after(call->comm, call->stream);
}

/* All messages of the communicator from here on, in one kernel: they may wait for each other. */
static ncclResult_t launch_messages(const struct nccl_call *calls, size_t count)
{
    const struct nccl_call *first = &calls[0];
    struct ncclComm *comm = first->comm;
    const struct clique *clique = comm->clique;
    struct collective_exchange exchange = {.slot_bytes = clique->slot_bytes,
                                           .rank = comm->rank,
                                           .ranks = clique->ranks,
                                           .channels = (uint32_t)max_u64(1, 64 / clique->ranks)};
    exchange.channels = (uint32_t)min_u64(exchange.channels, clique->channels);
    memcpy(exchange.region, clique->region, sizeof exchange.region);
    for (size_t i = 0; i < count; i++) {
        if (calls[i].kernel || calls[i].comm != comm)
            continue;
        if (exchange.messages == COLLECTIVE_MESSAGES)
            return nccl_fail(
                NCCL_INVALID_USAGE,
                "a group has more than %d sends and receives of one rank, which is not supported",
                COLLECTIVE_MESSAGES);
        if (calls[i].stream != first->stream)
            return nccl_fail(NCCL_INVALID_USAGE,
                             "sends and receives of one rank in one group are in different streams");
        exchange.message[exchange.messages++] = calls[i].message;
    }
    uint32_t grid[3] = {exchange.channels, clique->ranks, 2};
    ncclResult_t result = order_before(comm, first->stream);
    if (!result)
        result = launch(first->stream, "nccl_exchange", grid, &exchange);
    return result ? result : order_after(comm, first->stream);
}

static bool is_first_message(const struct nccl_call *calls, size_t at)
{
    if (calls[at].kernel)
        return false;
    for (size_t i = 0; i < at; i++)
        if (!calls[i].kernel && calls[i].comm == calls[at].comm)
            return false;
    return true;
}

ncclResult_t nccl_launch(const struct nccl_call *calls, size_t count)
{
    ncclResult_t result = NCCL_SUCCESS;
    for (size_t i = 0; i < count && !result; i++)
        if (calls[i].kernel)
            result = launch_collective(&calls[i]);
    for (size_t i = 0; i < count && !result; i++)
        if (is_first_message(calls, i))
            result = launch_messages(&calls[i], count - i);
    return result;
}

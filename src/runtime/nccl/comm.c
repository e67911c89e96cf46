/* Communicators: how ranks find each other, and what they share. */
#include "runtime/nccl/meeting.h"
#include "runtime/nccl/group.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SLOT_BYTES = 131072, CHANNELS = 32 };

struct nccl_split {          /* the wishes of all ranks of a communicator */
    uint32_t asked, left;    /* of this process */
    struct meeting *meeting; /* of those of several; or NULL */
    uint64_t number;
    int color[COLLECTIVE_RANKS], key[COLLECTIVE_RANKS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is here */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct clique *open_cliques;

/* ---- unique ids ---- */

struct id_content {
    char magic[8];
    uint64_t process, number, split;
    int64_t color;
};
static const char id_magic[8] = "heddle";

NCCL(ncclGetUniqueId, ncclUniqueId *id)
{
    static _Atomic uint64_t last;
    struct id_content content = {.process = (uint64_t)getpid(), .number = ++last};
    if (!id)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "ncclGetUniqueId: id is NULL");
    memcpy(content.magic, id_magic, sizeof id_magic);
    *id = (ncclUniqueId){{0}};
    memcpy(id, &content, sizeof content);
    return NCCL_SUCCESS;
}

static ncclResult_t check_id(const ncclUniqueId *id)
{
    struct id_content content;
    memcpy(&content, id, sizeof content);
    if (memcmp(content.magic, id_magic, sizeof id_magic) != 0)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the id is not one of ncclGetUniqueId");
    if (content.process != (uint64_t)getpid() && !driver_has_company(cuda_driver())) {
        fprintf(stderr,
                "heddle: NCCL between processes needs one machine for them: heddle run --shared, or a "
                "system of several nodes\n");
        return nccl_fail(NCCL_INVALID_USAGE, "the ranks' processes have a machine each");
    }
    return NCCL_SUCCESS;
}

/* ---- cliques; all with the lock held ---- */

static struct clique *find_clique(const struct nccl_join *join)
{
    for (struct clique *clique = open_cliques; clique; clique = clique->next)
        if (!memcmp(&clique->id, &join->id, sizeof join->id))
            return clique;
    struct clique *clique = mem_alloc(1, sizeof *clique);
    *clique = (struct clique){.next = open_cliques,
                              .id = join->id,
                              .ranks = join->ranks,
                              .slot_bytes = SLOT_BYTES,
                              .channels = CHANNELS};
    return open_cliques = clique;
}

static void close_clique(const struct clique *clique)
{
    struct clique **at = &open_cliques;
    while (*at != clique)
        at = &(*at)->next;
    *at = clique->next;
}

static ncclResult_t check_devices(const struct clique *clique)
{
    for (uint32_t i = 0; i < clique->ranks; i++)
        for (uint32_t k = 0; k < i; k++)
            if (clique->comms[i] && clique->comms[k] && clique->comms[i]->device == clique->comms[k]->device)
                return nccl_fail(NCCL_INVALID_USAGE, "ranks %u and %u are on the same GPU, %u", k, i,
                                 device_index(clique->comms[i]->device));
    return NCCL_SUCCESS;
}

static ncclResult_t connect(struct device *device, struct device *peer)
{
    enum result result = device_enable_peer(device, peer);
    return result == RESULT_PEER_ACCESS_ALREADY_ENABLED ? NCCL_SUCCESS : nccl_of(result);
}

/* Ranks of this process reach each other's mailboxes. */
static ncclResult_t connect_all(struct clique *clique)
{
    ncclResult_t result = check_devices(clique);
    for (uint32_t i = 0; i < clique->ranks; i++)
        for (uint32_t k = 0; k < clique->ranks && !result; k++)
            if (k != i && clique->comms[i] && clique->comms[k])
                result = connect(clique->comms[i]->device, clique->comms[k]->device);
    return result;
}

static void finish_clique(struct clique *clique, ncclResult_t result)
{
    close_clique(clique);
    clique->result = result;
    clique->complete = true;
    pthread_cond_broadcast(&changed);
}

static ncclResult_t enter(struct nccl_join *join)
{
    ncclResult_t result = check_id(&join->id);
    if (result)
        return result;
    struct clique *clique = find_clique(join);
    if (clique->ranks != join->ranks || clique->comms[join->rank])
        return nccl_fail(NCCL_INVALID_USAGE, "rank %u of %u is there already, or not all name as many ranks",
                         join->rank, join->ranks);
    uint64_t region = 0; /* of its mailboxes: new memory is zero */
    result = nccl_of(
        memory_alloc(join->device, collective_region_bytes(clique->ranks, clique->slot_bytes), &region));
    if (result)
        return result;
    clique->region[join->rank] = (char *)(uintptr_t)region;
    struct ncclComm *comm = mem_alloc(1, sizeof *comm);
    comm->clique = clique;
    comm->device = join->device;
    comm->rank = join->rank;
    clique->comms[join->rank] = comm;
    clique->channels = (uint32_t)min_u64(clique->channels, join->channels);
    clique->alive++;
    join->clique = clique;
    if (++clique->joined == clique->ranks) { /* all are of this process */
        meeting_close(clique->meeting);
        clique->meeting = NULL;
        finish_clique(clique, connect_all(clique));
    }
    return NCCL_SUCCESS;
}

/* ---- ranks of other processes; likewise ---- */

static struct meeting *open_meeting(const ncclUniqueId *id, const char *of)
{
    struct id_content content;
    char name[128];
    memcpy(&content, id, sizeof content);
    snprintf(name, sizeof name, "nccl-%s-%llu-%llu-%llu-%lld", of, (unsigned long long)content.process,
             (unsigned long long)content.number, (unsigned long long)content.split, (long long)content.color);
    return driver_has_company(cuda_driver()) ? meeting_open(name) : NULL;
}

/* Another thread of this process may come, or another process; time passes for those. */
static void wait_a_while(const struct meeting *meeting)
{
    enum { LOOKS = 4 };
    if (!meeting) {
        pthread_cond_wait(&changed, &lock);
        return;
    }
    pthread_mutex_unlock(&lock);
    driver_turn(cuda_driver(), LOOKS);
    pthread_mutex_lock(&lock);
}

static ncclResult_t post(const struct nccl_join *join)
{
    struct clique *clique = join->clique;
    struct meeting_rank own = {.process = getpid(),
                               .gpu = driver_first_gpu(cuda_driver()) + device_index(join->device),
                               .channels = clique->channels};
    if (!clique->meeting)
        clique->meeting = open_meeting(&clique->id, "clique");
    if (!clique->meeting)
        return NCCL_SUCCESS;
    ncclResult_t result =
        nccl_of(ipc_memory_export(cuda_driver(), (uintptr_t)clique->region[join->rank], &own.region));
    if (!result)
        meeting_post(clique->meeting, join->rank, &own);
    return result;
}

/* With all ranks there: mailboxes of those of other processes. */
static ncclResult_t open_regions(struct clique *clique)
{
    struct device *device = NULL;
    ncclResult_t result = connect_all(clique);
    for (uint32_t i = 0; i < clique->ranks; i++)
        device = device ? device : clique->comms[i] ? clique->comms[i]->device : NULL;
    for (uint32_t i = 0; i < clique->ranks && !result; i++) {
        const struct meeting_rank *there = &clique->meeting->ranks[i];
        uint64_t region = 0;
        clique->channels = (uint32_t)min_u64(clique->channels, there->channels);
        for (uint32_t k = 0; k < i && !result; k++)
            if (clique->meeting->ranks[k].gpu == there->gpu)
                result = nccl_fail(NCCL_INVALID_USAGE,
                                   "ranks %u and %u are on the same GPU, %u of the system", k, i, there->gpu);
        if (clique->comms[i] || result)
            continue;
        result = nccl_of(ipc_memory_open_far(device, &there->region, &region));
        clique->region[i] = (char *)(uintptr_t)region;
    }
    return result;
}

static void wait_for_ranks(struct clique *clique)
{
    while (!clique->complete) {
        if (clique->meeting && meeting_is_complete(clique->meeting, clique->ranks))
            finish_clique(clique, open_regions(clique));
        else
            wait_a_while(clique->meeting);
    }
}

/* ---- splits; likewise ---- */

static void ask_split(struct nccl_join *join)
{
    struct clique *clique = join->parent->clique;
    if (!clique->split) {
        clique->split = mem_alloc(1, sizeof *clique->split);
        clique->split->number = ++clique->splits;
    }
    join->split = clique->split;
    join->split->color[join->parent->rank] = join->color;
    join->split->key[join->parent->rank] = join->key;
    if (clique->meeting) {
        char of[32];
        snprintf(of, sizeof of, "split%llu", (unsigned long long)join->split->number);
        if (!join->split->meeting)
            join->split->meeting = open_meeting(&clique->id, of);
        meeting_post(join->split->meeting, join->parent->rank,
                     &(struct meeting_rank){.color = join->color, .key = join->key});
    }
    if (++join->split->asked == clique->joined) {
        clique->split = NULL; /* the next one is another */
        pthread_cond_broadcast(&changed);
    }
}

/* Ranks of the same color, by key, then by their old rank. */
static void resolve_split(struct nccl_join *join)
{
    struct clique *parent = join->parent->clique;
    struct nccl_split *split = join->split;
    struct id_content content;
    uint32_t own = join->parent->rank;
    while (split->asked < parent->joined ||
           (split->meeting && !meeting_is_complete(split->meeting, parent->ranks)))
        wait_a_while(split->asked < parent->joined ? NULL : split->meeting);
    for (uint32_t i = 0; i < parent->ranks; i++) {
        if (split->meeting) {
            split->color[i] = split->meeting->ranks[i].color;
            split->key[i] = split->meeting->ranks[i].key;
        }
        if (split->color[i] != join->color)
            continue;
        join->ranks++;
        join->rank += split->key[i] < join->key || (split->key[i] == join->key && i < own);
    }
    join->id = parent->id;
    memcpy(&content, &join->id, sizeof content);
    content.split = content.split * 1024 + split->number;
    content.color = join->color;
    memcpy(&join->id, &content, sizeof content);
    if (++split->left == parent->joined) {
        meeting_close(split->meeting);
        mem_free(split);
    }
}

ncclResult_t nccl_join_all(struct nccl_join *joins, size_t count)
{
    ncclResult_t result = NCCL_SUCCESS;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (joins[i].parent)
            ask_split(&joins[i]);
    for (size_t i = 0; i < count; i++) {
        if (joins[i].parent)
            resolve_split(&joins[i]);
        if (!result && !(joins[i].parent && joins[i].color == NCCL_NO_COLOR))
            result = enter(&joins[i]);
    }
    for (size_t i = 0; i < count && !result; i++)
        if (joins[i].clique && !joins[i].clique->complete)
            result = post(&joins[i]);
    for (size_t i = 0; i < count && !result; i++) {
        struct clique *clique = joins[i].clique;
        if (clique)
            wait_for_ranks(clique);
        *joins[i].comm = clique ? clique->comms[joins[i].rank] : NULL;
        result = clique ? clique->result : NCCL_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- the calls ---- */

ncclResult_t nccl_check_comm(const struct ncclComm *comm)
{
    if (!comm)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the communicator is NULL");
    return comm->destroyed ? nccl_fail(NCCL_INVALID_ARGUMENT, "the communicator was destroyed")
                           : NCCL_SUCCESS;
}

/* What a config says of channels. */
static ncclResult_t take_config(const ncclConfig_t *config, uint32_t *channels)
{
    *channels = CHANNELS;
    if (!config)
        return NCCL_SUCCESS;
    if (config->magic != (unsigned)NCCL_CONFIG_MAGIC || config->size < sizeof *config)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the config was not made by NCCL_CONFIG_INITIALIZER");
    if (config->maxCTAs != NCCL_UNDEFINED && config->maxCTAs <= 0)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the config's maxCTAs is %d", config->maxCTAs);
    if (config->maxCTAs != NCCL_UNDEFINED)
        *channels = (uint32_t)min_u64((uint64_t)config->maxCTAs, CHANNELS);
    return NCCL_SUCCESS;
}

static ncclResult_t check_ranks(const void *comm, int ranks, int rank)
{
    if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "rank %d of %d cannot be", rank, ranks);
    if (ranks > COLLECTIVE_RANKS)
        return nccl_fail(NCCL_INVALID_USAGE, "%d ranks are more than the %d that are supported", ranks,
                         COLLECTIVE_RANKS);
    return NCCL_SUCCESS;
}

NCCL(ncclCommInitRankConfig, ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    struct nccl_join join = {.comm = comm, .id = id, .ranks = (uint32_t)ranks, .rank = (uint32_t)rank};
    ncclResult_t result = check_ranks(comm, ranks, rank);
    if (!result)
        result = take_config(config, &join.channels);
    if (!result)
        result = nccl_of((enum result)runtime_ready());
    if (result)
        return result;
    join.device = cuda_device();
    return nccl_group_join(&join);
}

NCCL(ncclCommInitRank, ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    return ncclCommInitRankConfig(comm, ranks, id, rank, NULL);
}

/* Several ids make the start of many processes faster: here, the first one will do. */
NCCL(ncclCommInitRankScalable, ncclComm_t *comm, int ranks, int rank, int count, ncclUniqueId *ids,
     ncclConfig_t *config)
{
    if (count < 1 || !ids)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "ncclCommInitRankScalable: there is no id");
    return ncclCommInitRankConfig(comm, ranks, ids[0], rank, config);
}

NCCL(ncclCommInitAll, ncclComm_t *comms, int count, const int *devices)
{
    struct nccl_join joins[COLLECTIVE_RANKS] = {{0}};
    ncclUniqueId id;
    ncclResult_t result = check_ranks(comms, count, 0);
    if (!result)
        result = nccl_of((enum result)runtime_ready());
    if (!result)
        result = ncclGetUniqueId(&id);
    for (int i = 0; i < count && !result; i++) {
        int index = devices ? devices[i] : i;
        joins[i] = (struct nccl_join){.comm = &comms[i],
                                      .id = id,
                                      .ranks = (uint32_t)count,
                                      .rank = (uint32_t)i,
                                      .device = cuda_device_at(index),
                                      .channels = CHANNELS};
        for (int k = 0; k < i && !result; k++)
            if (joins[k].device == joins[i].device)
                result = nccl_fail(NCCL_INVALID_USAGE, "ncclCommInitAll: GPU %d is named twice", index);
        if (!joins[i].device)
            result = nccl_fail(NCCL_INVALID_ARGUMENT, "ncclCommInitAll: there is no GPU %d", index);
    }
    return result ? result : nccl_join_all(joins, (size_t)count);
}

NCCL(ncclCommSplit, ncclComm_t comm, int color, int key, ncclComm_t *made, ncclConfig_t *config)
{
    struct nccl_join join = {.comm = made, .parent = comm, .color = color, .key = key};
    ncclResult_t result = nccl_check_comm(comm);
    if (!result && (!made || color < NCCL_NO_COLOR))
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "ncclCommSplit: color %d cannot be", color);
    if (!result)
        result = take_config(config, &join.channels);
    if (result)
        return result;
    join.device = comm->device;
    return nccl_group_join(&join);
}

static ncclResult_t finish_work(struct ncclComm *comm)
{
    return comm->done ? nccl_of(event_synchronize(comm->done)) : NCCL_SUCCESS;
}

/* Peers may still use its mailboxes, so these go with the last rank; of several processes with the process,
 * unless the last one is here. */
static void leave(struct ncclComm *comm)
{
    struct clique *clique = comm->clique;
    pthread_mutex_lock(&lock);
    comm->destroyed = true;
    bool last = !--clique->alive && clique->complete;
    if (clique->meeting && clique->complete)
        last &= atomic_fetch_add(&clique->meeting->left, 1) + 1 == clique->ranks;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; last && i < clique->ranks; i++)
        if (clique->comms[i])
            memory_free(cuda_driver(), (uintptr_t)clique->region[i]);
}

NCCL(ncclCommDestroy, ncclComm_t comm)
{
    if (!comm)
        return NCCL_SUCCESS;
    ncclResult_t result = nccl_check_comm(comm);
    if (!result) {
        result = finish_work(comm);
        leave(comm);
    }
    return result;
}

/* Kernels that wait for a peer that never comes cannot be stopped: what they use stays. */
NCCL(ncclCommAbort, ncclComm_t comm)
{
    if (!comm)
        return NCCL_SUCCESS;
    ncclResult_t result = nccl_check_comm(comm);
    if (!result)
        comm->destroyed = true;
    return result;
}

NCCL(ncclCommFinalize, ncclComm_t comm)
{
    ncclResult_t result = nccl_check_comm(comm);
    return result ? result : finish_work(comm);
}

NCCL(ncclCommGetAsyncError, ncclComm_t comm, ncclResult_t *error)
{
    ncclResult_t result = nccl_check_comm(comm);
    if (!result && !error)
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "ncclCommGetAsyncError: error is NULL");
    if (!result)
        *error = device_error(comm->device) ? NCCL_UNHANDLED_CUDA_ERROR : NCCL_SUCCESS;
    return result;
}

static ncclResult_t give_number(int *to, unsigned value)
{
    if (!to)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no place for the result");
    *to = (int)value;
    return NCCL_SUCCESS;
}

NCCL(ncclCommCount, const ncclComm_t comm, int *count)
{
    ncclResult_t result = nccl_check_comm(comm);
    return result ? result : give_number(count, comm->clique->ranks);
}

NCCL(ncclCommCuDevice, const ncclComm_t comm, int *device)
{
    ncclResult_t result = nccl_check_comm(comm);
    return result ? result : give_number(device, device_index(comm->device));
}

NCCL(ncclCommUserRank, const ncclComm_t comm, int *rank)
{
    ncclResult_t result = nccl_check_comm(comm);
    return result ? result : give_number(rank, comm->rank);
}

/* All memory can be used as it is. */
NCCL(ncclCommRegister, const ncclComm_t comm, void *buffer, size_t bytes, void **handle)
{
    ncclResult_t result = nccl_check_comm(comm);
    if (!result && (!buffer || !bytes || !handle))
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "ncclCommRegister: there is nothing to register");
    if (!result)
        *handle = buffer;
    return result;
}

NCCL(ncclCommDeregister, const ncclComm_t comm, void *handle)
{
    (void)handle;
    return nccl_check_comm(comm);
}

#include "runtime/nccl/group.h"
#include "base/mem.h"

static __thread struct {
    unsigned depth;
    struct nccl_call *calls;
    size_t call_count, call_capacity;
    struct nccl_join *joins;
    size_t join_count, join_capacity;
} group;

ncclResult_t nccl_group_call(const struct nccl_call *call)
{
    if (!group.depth)
        return nccl_launch(call, 1);
    mem_grow(group.calls, group.call_count, group.call_capacity);
    group.calls[group.call_count++] = *call;
    return NCCL_SUCCESS;
}

ncclResult_t nccl_group_join(const struct nccl_join *join)
{
    struct nccl_join now = *join;
    if (!group.depth)
        return nccl_join_all(&now, 1);
    mem_grow(group.joins, group.join_count, group.join_capacity);
    group.joins[group.join_count++] = *join;
    return NCCL_SUCCESS;
}

void nccl_group_start(void)
{
    group.depth++;
}

NCCL(ncclGroupStart, void)
{
    nccl_group_start();
    return NCCL_SUCCESS;
}

ncclResult_t nccl_group_end(void)
{
    if (--group.depth)
        return NCCL_SUCCESS;
    ncclResult_t result = nccl_join_all(group.joins, group.join_count);
    if (!result)
        result = nccl_launch(group.calls, group.call_count);
    mem_free(group.calls);
    mem_free(group.joins);
    group.calls = NULL, group.call_count = group.call_capacity = 0;
    group.joins = NULL, group.join_count = group.join_capacity = 0;
    return result;
}

NCCL(ncclGroupEnd, void)
{
    return group.depth ? nccl_group_end()
                       : nccl_fail(NCCL_INVALID_USAGE, "ncclGroupEnd: no group was started");
}

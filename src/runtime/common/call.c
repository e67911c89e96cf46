/* Functions of the program that streams call. */
#include "runtime/common/common.h"
#include "base/mem.h"

struct kept_call {
    struct common_call call;
    bool again; /* it is part of a graph, which may be launched any number of times */
};

static _Thread_local bool is_called;

bool common_is_called(void)
{
    return is_called;
}

static void make_call(void *user, enum result result)
{
    struct kept_call kept = *(struct kept_call *)user;
    const struct common_call *call = &kept.call;
    if (!kept.again)
        mem_free(user);
    is_called = true;
    if (call->function)
        call->function(call->user);
    else
        call->callback(call->handle, (int)result, call->user);
    is_called = false;
}

enum result common_call_later(struct stream *stream, const struct common_call *call)
{
    struct kept_call *kept = mem_alloc(1, sizeof *kept);
    *kept = (struct kept_call){.call = *call, .again = stream_is_captured(stream)};
    enum result result = stream_host(stream, make_call, kept, call->callback != NULL);
    if (result)
        mem_free(kept);
    return result;
}

const struct common_call *common_call_of(const void *user)
{
    return &((const struct kept_call *)user)->call;
}

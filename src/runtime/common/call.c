/* Functions of the program that streams call. */
#include "runtime/common/common.h"
#include "base/mem.h"

struct kept_call {
    struct common_call call;
    bool again; /* it is part of a recording, which may be played any number of times */
};

static void make_call(void *user, enum result result)
{
    struct kept_call kept = *(struct kept_call *)user;
    const struct common_call *call = &kept.call;
    if (!kept.again)
        mem_free(user);
    if (call->function)
        call->function(call->user);
    else
        call->callback(call->handle, (int)result, call->user);
}

enum result common_call_later(struct stream *stream, const struct common_call *call)
{
    struct kept_call *kept = mem_alloc(1, sizeof *kept);
    *kept = (struct kept_call){.call = *call, .again = stream_is_recording(stream)};
    enum result result = stream_host(stream, make_call, kept, call->callback != NULL);
    if (result)
        mem_free(kept);
    return result;
}

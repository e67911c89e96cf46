#include "trace/codec.h"
#include "base/mem.h"

void trace_streams_init(struct trace_streams *streams)
{
    for (int i = 0; i < TRACE_STREAMS; i++) {
        streams->at[i] = mem_alloc(trace_stream_most((enum trace_stream)i) + TRACE_STREAM_PADDING, 1);
        streams->bytes[i] = 0;
    }
}

void trace_streams_fini(struct trace_streams *streams)
{
    for (int i = 0; i < TRACE_STREAMS; i++)
        mem_free(streams->at[i]);
}

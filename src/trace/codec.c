#include "trace/codec.h"
#include "base/mem.h"

uint8_t *trace_streams_room(struct trace_streams *streams, enum trace_stream stream, size_t bytes)
{
    if (streams->room[stream] < bytes + TRACE_STREAM_PADDING) {
        mem_free(streams->at[stream]);
        streams->room[stream] = bytes + TRACE_STREAM_PADDING;
        streams->at[stream] = mem_alloc(streams->room[stream], 1);
    }
    return streams->at[stream];
}

void trace_streams_fini(struct trace_streams *streams)
{
    for (int i = 0; i < TRACE_STREAMS; i++)
        mem_free(streams->at[i]);
}

/* Recordings: the result of stream capture. A recording is the list of what was submitted while it was made,
 * in the order of submission, which respects all dependences of streams and events. To play it, copies of its
 * commands are submitted in that order to one stream. */
#include "driver/internal.h"
#include "base/mem.h"

struct recording {
    struct stream *origin; /* NULL once it is complete */
    struct command **commands;
    size_t count, capacity;
};

void recording_add(struct recording *recording, struct command *command)
{
    mem_grow(recording->commands, recording->count, recording->capacity);
    recording->commands[recording->count++] = command;
}

enum result recording_join(struct recording *recording, struct stream *stream)
{
    if (stream->recording && stream->recording != recording)
        return driver_fail(RESULT_STREAM_CAPTURE_MERGE, "the stream is captured already, by itself");
    if (stream == stream->device->default_stream)
        return driver_fail(RESULT_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
    stream->recording = recording;
    return RESULT_SUCCESS;
}

bool recording_began_in(const struct recording *recording, const struct stream *stream)
{
    return recording && recording->origin == stream;
}

enum result stream_record_begin(struct stream *stream)
{
    struct commands *commands = &stream->device->driver->commands;
    struct recording *recording = mem_alloc(1, sizeof *recording);
    pthread_mutex_lock(&commands->lock);
    enum result result = device_usable(stream->device);
    if (!result && stream->recording)
        result = driver_fail(RESULT_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured already");
    if (!result)
        result = recording_join(recording, stream);
    if (!result) {
        recording->origin = stream;
        commands->recordings++;
    }
    pthread_mutex_unlock(&commands->lock);
    if (result)
        mem_free(recording);
    return result;
}

/* All streams that joined go back to work. */
static void leave(struct driver *driver, const struct recording *recording)
{
    for (unsigned i = 0; i < driver->device_count; i++) {
        struct device *device = &driver->devices[i];
        for (struct stream *stream = device->streams; stream; stream = stream->next) {
            if (stream->recording == recording)
                stream->recording = NULL;
        }
        events_leave(device, recording);
    }
}

enum result stream_record_end(struct stream *stream, struct recording **recording)
{
    struct driver *driver = stream->device->driver;
    pthread_mutex_lock(&driver->commands.lock);
    struct recording *made = stream->recording;
    bool good = made && made->origin == stream;
    if (good) {
        made->origin = NULL;
        leave(driver, made);
        driver->commands.recordings--;
    }
    pthread_mutex_unlock(&driver->commands.lock);
    *recording = good ? made : NULL;
    return good ? RESULT_SUCCESS
                : driver_fail(RESULT_STREAM_CAPTURE_UNMATCHED, "no capture was begun in this stream");
}

bool stream_is_recording(const struct stream *stream)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    bool recording = stream->recording;
    pthread_mutex_unlock(&commands->lock);
    return recording;
}

static enum result play(const struct recording *recording, struct stream *stream)
{
    enum result result = RESULT_SUCCESS;
    for (size_t i = 0; i < recording->count && !result; i++)
        result = commands_submit(stream, command_copy(recording->commands[i]), false, NULL);
    return result;
}

enum result recordings_play(struct recording *const *recordings, size_t count, struct stream *stream,
                            bool auto_free)
{
    enum result result = device_usable(stream->device);
    if (!result)
        result = memory_graph_launch(recordings, count, stream, auto_free);
    for (size_t i = 0; i < count && !result; i++)
        result = play(recordings[i], stream);
    memory_graph_submitted(stream);
    return result;
}

enum result recording_play(struct recording *recording, struct stream *stream)
{
    return recordings_play(&recording, 1, stream, false);
}

const struct command *recording_command(const struct recording *recording, size_t index)
{
    return recording->commands[index];
}

size_t recording_count(const struct recording *recording)
{
    return recording->count;
}

void recording_free(struct recording *recording)
{
    for (size_t i = 0; i < recording->count; i++)
        command_free(recording->commands[i]);
    mem_free(recording->commands);
    mem_free(recording);
}

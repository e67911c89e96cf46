#include "driver/tracing.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "exec/watch.h"
#include "trace/place.h"
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOGETHER = 256, PROCESSES_MOST = 10000 };

struct sm_trace {
    struct trace_writer *writer; /* NULL: nothing came yet */
    uint64_t accesses;
    uint32_t waiting; /* accesses not given to the writer */
    struct trace_access together[TOGETHER];
};

struct device_watch {
    struct watch watch; /* first: it is what we are called with */
    struct tracing *tracing;
    struct sm_trace *sms;
    uint32_t first; /* number of its first SM */
};

struct tracing {
    struct text prefix;
    char *run_dir;         /* or NULL */
    struct text note;      /* in it: our file */
    unsigned device_count; /* and of each: */
    struct device_watch *devices;
    uint32_t sm_count; /* of a device */
    pthread_mutex_t launches;
    pthread_mutex_t lock;       /* of what follows */
    struct output_place *place; /* NULL: nothing came yet */
    struct err err;
    _Atomic bool failed;
};

static void fail(struct tracing *tracing, const struct err *err)
{
    pthread_mutex_lock(&tracing->lock);
    if (!tracing->failed)
        tracing->err = *err;
    tracing->failed = true;
    pthread_mutex_unlock(&tracing->lock);
}

/* ---- where traces go ---- */

static bool write_note(const struct tracing *tracing, const char *text, struct err *err)
{
    struct file_writer writer;
    if (!tracing->run_dir)
        return true;
    if (!file_open(&writer, tracing->note.at, err))
        return false;
    fputs(text, writer.stream);
    return file_close(&writer, err);
}

/* Which of the program's processes we are: the first number that nobody has taken. */
static bool take_number(struct tracing *tracing, struct err *err)
{
    for (unsigned number = 0; tracing->run_dir && number < PROCESSES_MOST; number++) {
        tracing->note.length = 0;
        text_add(&tracing->note, "%s/traces.%u", tracing->run_dir, number);
        int file = open(tracing->note.at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST)
            continue;
        if (file < 0)
            return err_set(err, "cannot write %s: %s", tracing->note.at, strerror(errno));
        close(file);
        if (number)
            text_add(&tracing->prefix, ".p%u", number);
        break;
    }
    return true;
}

static bool find_place(struct tracing *tracing, struct err *err)
{
    struct text line = {0};
    if (tracing->place)
        return true;
    if (!take_number(tracing, err))
        return false;
    tracing->place = output_new(tracing->prefix.at, err);
    if (!tracing->place)
        return false;
    text_add(&line, "unfinished %s\n", output_folder(tracing->place));
    bool good = write_note(tracing, line.at, err);
    text_fini(&line);
    return good;
}

static struct trace_writer *open_trace(struct tracing *tracing, uint32_t number, struct err *err)
{
    struct text path = {0};
    struct trace_writer *writer = NULL;
    pthread_mutex_lock(&tracing->lock);
    if (find_place(tracing, err)) {
        text_add(&path, "%s/%u.htrace", output_folder(tracing->place), number);
        writer = trace_writer_new(path.at, err);
    }
    pthread_mutex_unlock(&tracing->lock);
    text_fini(&path);
    return writer;
}

/* ---- accesses ---- */

static void write_together(struct tracing *tracing, struct sm_trace *sm)
{
    struct err err;
    if (!tracing->failed && !trace_write(sm->writer, sm->together, sm->waiting, &err))
        fail(tracing, &err);
    sm->accesses += sm->waiting;
    sm->waiting = 0;
}

static void accessed(struct watch *watch, uint32_t number, uint64_t at, uint32_t bytes, bool writes)
{
    struct device_watch *device = (struct device_watch *)watch;
    struct sm_trace *sm = &device->sms[number];
    struct err err;
    if (__builtin_expect(!sm->writer, 0)) {
        if (!device->tracing->failed &&
            !(sm->writer = open_trace(device->tracing, device->first + number, &err)))
            fail(device->tracing, &err);
        if (!sm->writer)
            return;
    }
    sm->together[sm->waiting++] = trace_access(at, watch->instructions[number], bytes, writes);
    if (sm->waiting == TOGETHER)
        write_together(device->tracing, sm);
}

struct tracing *tracing_new(const char *prefix, const char *run_dir, unsigned devices,
                            uint32_t sms_of_a_device)
{
    struct tracing *tracing = mem_alloc(1, sizeof *tracing);
    text_add(&tracing->prefix, "%s", prefix);
    tracing->run_dir = run_dir ? mem_text(run_dir) : NULL;
    tracing->device_count = devices;
    tracing->devices = mem_alloc(devices, sizeof *tracing->devices);
    tracing->sm_count = sms_of_a_device;
    pthread_mutex_init(&tracing->launches, NULL);
    pthread_mutex_init(&tracing->lock, NULL);
    for (unsigned i = 0; i < devices; i++) {
        struct device_watch *device = &tracing->devices[i];
        device->watch.instructions = mem_alloc(sms_of_a_device, sizeof *device->watch.instructions);
        device->watch.accessed = accessed;
        device->tracing = tracing;
        device->sms = mem_alloc(sms_of_a_device, sizeof *device->sms);
        device->first = i * sms_of_a_device;
    }
    return tracing;
}

struct watch *tracing_watch(struct tracing *tracing, unsigned device)
{
    return &tracing->devices[device].watch;
}

void tracing_lock(struct tracing *tracing)
{
    if (tracing)
        pthread_mutex_lock(&tracing->launches);
}

void tracing_unlock(struct tracing *tracing)
{
    if (tracing)
        pthread_mutex_unlock(&tracing->launches);
}

/* ---- the end ---- */

static void close_sm(struct tracing *tracing, struct sm_trace *sm)
{
    struct err err;
    if (!sm->writer)
        return;
    write_together(tracing, sm);
    if (tracing->failed)
        trace_writer_abandon(sm->writer);
    else if (!trace_writer_close(sm->writer, &err))
        fail(tracing, &err);
    sm->writer = NULL;
}

struct sums {
    uint32_t first, last, sms;
    uint64_t accesses, bytes;
};

static void add_sm(const struct tracing *tracing, const struct sm_trace *sm, uint32_t number,
                   struct sums *sums)
{
    struct text path = {0};
    struct stat info;
    if (!sm->accesses)
        return;
    output_name(tracing->place, number, &path);
    sums->bytes += stat(path.at, &info) ? 0 : (uint64_t)info.st_size;
    text_fini(&path);
    sums->first = sums->sms ? sums->first : number;
    sums->last = number;
    sums->sms++;
    sums->accesses += sm->accesses;
}

static bool tell(const struct tracing *tracing, struct err *err)
{
    struct sums sums = {0};
    struct text line = {0};
    for (unsigned d = 0; d < tracing->device_count; d++)
        for (uint32_t i = 0; i < tracing->sm_count; i++)
            add_sm(tracing, &tracing->devices[d].sms[i], tracing->devices[d].first + i, &sums);
    text_add(&line, "whole %u %u %u %" PRIu64 " %" PRIu64 " %s\n", sums.first, sums.last, sums.sms,
             sums.accesses, sums.bytes, tracing->prefix.at);
    bool good = write_note(tracing, line.at, err);
    text_fini(&line);
    return good;
}

static void tell_why(const struct tracing *tracing, const struct err *why)
{
    struct text line = {0};
    struct err ignored; /* then "unfinished" stays */
    text_add(&line, "failed %s\n", why->text);
    if (tracing->note.at)
        write_note(tracing, line.at, &ignored);
    text_fini(&line);
}

bool tracing_finish(struct tracing *tracing, struct err *err)
{
    for (unsigned d = 0; d < tracing->device_count; d++)
        for (uint32_t i = 0; i < tracing->sm_count; i++)
            close_sm(tracing, &tracing->devices[d].sms[i]);
    if (tracing->failed)
        *err = tracing->err;
    if (!tracing->failed && (!tracing->place || (output_commit(tracing->place, err) && tell(tracing, err))))
        return true;
    tell_why(tracing, err);
    return false;
}

void tracing_free(struct tracing *tracing)
{
    if (!tracing)
        return;
    for (unsigned d = 0; d < tracing->device_count; d++) {
        for (uint32_t i = 0; i < tracing->sm_count; i++) /* of what was not finished */
            if (tracing->devices[d].sms[i].writer)
                trace_writer_abandon(tracing->devices[d].sms[i].writer);
        mem_free(tracing->devices[d].watch.instructions);
        mem_free(tracing->devices[d].sms);
    }
    if (tracing->place)
        output_free(tracing->place);
    pthread_mutex_destroy(&tracing->launches);
    pthread_mutex_destroy(&tracing->lock);
    text_fini(&tracing->prefix);
    text_fini(&tracing->note);
    mem_free(tracing->run_dir);
    mem_free(tracing->devices);
    mem_free(tracing);
}

#include "serve/isas.h"
#include "gcn3_run/program.h"
#include "ptx_run/object.h"
#include "ptxas/ptxas.h"
#include "replay/replay.h"
#include "base/mem.h"

#include <string.h>

static void *load_ptx(const void *bytes, size_t count, struct err *err)
{
    struct archive archive = archive_reader(bytes, count);
    struct ptx_object object = {0};
    struct program *program = NULL;
    ptx_object_archive(&object, &archive);
    if (archive_at_end(&archive))
        program = ptx_object_link(&object, &ptxas, err);
    else
        err_set(err, "this is no code object of PTX");
    ptx_object_fini(&object);
    return program;
}

static struct kernel *find_ptx(void *program, const char *name)
{
    return program_kernel(program, name);
}

static void unload_ptx(void *program)
{
    program_free(program);
}

/* The address of the image, which the program has placed there; then the file. */
static void *load_gcn3(const void *bytes, size_t count, struct err *err)
{
    uint64_t address = 0;
    if (count < sizeof address) {
        err_set(err, "this is no code object of an AMD GPU");
        return NULL;
    }
    memcpy(&address, bytes, sizeof address);
    struct gcn3_object *object =
        gcn3_object_load("a code object", (const char *)bytes + sizeof address, count - sizeof address, err);
    return object ? gcn3_program_new(object, address) : NULL;
}

static struct kernel *find_gcn3(void *program, const char *name)
{
    return gcn3_program_kernel(program, name);
}

static void unload_gcn3(void *program)
{
    gcn3_program_free(program);
}

/* A launch of a trace: its number, then the trace's folder. One reader serves all launches of a trace. */
struct replayed {
    struct shared_reader {
        struct shared_reader *next;
        struct itrace_reader *reader;
        size_t users;
    } * shared;
    struct kernel *kernel;
};

static struct shared_reader *readers; /* who loads code does so in one thread */

static struct shared_reader *find_reader(const char *folder, struct err *err)
{
    struct shared_reader *shared = readers;
    while (shared && strcmp(itrace_reader_folder(shared->reader), folder) != 0)
        shared = shared->next;
    if (shared)
        return shared;
    struct itrace_reader *reader = itrace_reader_new(folder, err);
    if (!reader)
        return NULL;
    shared = mem_alloc(1, sizeof *shared);
    *shared = (struct shared_reader){.next = readers, .reader = reader};
    return readers = shared;
}

static void *load_replay(const void *bytes, size_t count, struct err *err)
{
    uint64_t number = 0;
    struct text folder = {0};
    if (count < sizeof number) {
        err_set(err, "this is no launch of a trace");
        return NULL;
    }
    memcpy(&number, bytes, sizeof number);
    text_add_bytes(&folder, (const char *)bytes + sizeof number, count - sizeof number);
    struct shared_reader *shared = find_reader(folder.at, err);
    bool good = shared && (number < itrace_reader_trace(shared->reader)->launch_count ||
                           err_set(err, "%s is another trace here", folder.at));
    text_fini(&folder);
    if (!good)
        return NULL;
    struct replayed *replayed = mem_alloc(1, sizeof *replayed);
    *replayed = (struct replayed){shared, replay_kernel_new(shared->reader, number)};
    shared->users++;
    return replayed;
}

static struct kernel *find_replay(void *program, const char *name)
{
    (void)name; /* it has one */
    return ((struct replayed *)program)->kernel;
}

static void unload_replay(void *program)
{
    struct replayed *replayed = program;
    struct shared_reader **link = &readers, *shared = replayed->shared;
    replay_kernel_free(replayed->kernel);
    mem_free(replayed);
    if (--shared->users)
        return;
    while (*link != shared)
        link = &(*link)->next;
    *link = shared->next;
    itrace_reader_free(shared->reader);
    mem_free(shared);
}

static const struct serve_isa isas[] = {{"replay", load_replay, find_replay, unload_replay},
                                        {"ptx", load_ptx, find_ptx, unload_ptx},
                                        {"gcn3", load_gcn3, find_gcn3, unload_gcn3}};

const struct serve_isa *serve_isa_find(const char *name)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!strcmp(isas[i].name, name))
            return &isas[i];
    }
    return NULL;
}

/* Accel-Sim's lists become a trace of instructions. */
#include "exchange/accelsim.h"
#include "exchange/accelsim_importing.h"
#include "exchange/accelsim_tracez.h"
#include "base/text.h"

#include <sys/stat.h>

struct list {
    struct importing *of;
    struct import import;
};

bool accelsim_is_blank(const char *at, const char **end)
{
    while (at < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
        --*end;
    return at == *end;
}

int accelsim_next_line(struct import *import, const char **at, const char **end, struct err *err)
{
    int got;
    do
        got = import_line(import, at, end, err);
    while (!got && accelsim_is_blank(*at, end));
    return got;
}

bool accelsim_begins(const char **at, const char *end, const char *name)
{
    size_t length = strlen(name);
    if ((size_t)(end - *at) < length || memcmp(*at, name, length) != 0)
        return false;
    *at += length;
    while (*at < end && (**at == ' ' || **at == '='))
        ++*at;
    return true;
}

void importing_call(struct importing *of, enum itrace_call_kind kind, const uint64_t *fields, uint32_t count)
{
    struct itrace *trace = of->trace;
    mem_grow(trace->calls, trace->call_count, trace->call_capacity);
    struct itrace_call *call = &trace->calls[trace->call_count++];
    *call = (struct itrace_call){.kind = kind};
    memcpy(call->field, fields, count * sizeof *fields);
}

/* ---- lists ---- */

/* "MemcpyHtoD,ADDRESS,BYTES". */
static bool parse_copy(struct list *r, const char *at, const char *end, uint64_t *to, uint64_t *bytes)
{
    const char *line = at;
    at += strlen("MemcpyHtoD");
    bool good = at < end && *at++ == ',';
    if (good && end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    if (good && import_hex(&at, end, to) && at < end && *at++ == ',' && import_decimal(&at, end, bytes) &&
        at == end && *bytes <= UINT64_C(1) << 40 && *to <= UINT64_MAX - *bytes)
        return true;
    import_refuse(&r->import, line, end, "MemcpyHtoD,ADDRESS,BYTES", r->of->err);
    return false;
}

/* Copies may go on in the next region, which is met in order then. */
static bool add_copy(struct list *r, uint64_t to, uint64_t bytes)
{
    struct importing *of = r->of;
    const uint64_t time = TIME_CALL;
    while (bytes) {
        uint64_t room = (UINT64_C(1) << REGION_SHIFT) - (to & ((UINT64_C(1) << REGION_SHIFT) - 1));
        uint64_t now = min_u64(bytes, room), at;
        if (!regions_move(&of->regions, to, &at))
            return err_set(of->err, "%s:%" PRIu64 ": addresses of more than 256 GiB of memory",
                           r->import.input.name, r->import.line);
        /* stream gpu direction to pitch slice is_host from pitch slice is_host width height depth */
        const uint64_t copy[] = {0, 0, 0, at, now, now, SIDE_GPU, 0, now, now, SIDE_PLAIN, now, 1, 1};
        const uint64_t wait[] = {0, ++of->commands};
        importing_call(of, CALL_TIME, &time, 1);
        importing_call(of, CALL_COPY, copy, COUNT_OF(copy));
        importing_call(of, CALL_WAIT, wait, COUNT_OF(wait));
        to += now;
        bytes -= now;
    }
    return true;
}

/* First, regions that copies go to, by address: so most of memory keeps its order. */
static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A file beside the list. */
static void beside(const char *list, const char *at, const char *end, struct text *path)
{
    const char *slash = strrchr(list, '/');
    if (slash)
        text_add_bytes(path, list, (size_t)(slash - list) + 1);
    text_add_bytes(path, at, (size_t)(end - at));
}

static bool take_command(struct list *r, const char *path, const char *at, const char *end, bool only_copies)
{
    uint64_t to, bytes;
    if (end - at >= 10 && !memcmp(at, "MemcpyHtoD", 10)) {
        if (!parse_copy(r, at, end, &to, &bytes))
            return false;
        if (!only_copies)
            return add_copy(r, to, bytes);
        for (uint64_t i = to >> REGION_SHIFT; bytes && i <= (to + bytes - 1) >> REGION_SHIFT; i++)
            if (!regions_move(&r->of->regions, i << REGION_SHIFT, &(uint64_t){0}))
                return err_set(r->of->err, "%s:%" PRIu64 ": addresses of more than 256 GiB of memory",
                               r->import.input.name, r->import.line);
        return true;
    }
    if (only_copies || end - at < 6 || memcmp(at, "kernel", 6) != 0)
        return true; /* others are of no meaning to Accel-Sim, too */
    struct text file = {0};
    beside(path, at, end, &file);
    bool good = importing_kernel(r->of, file.at);
    text_fini(&file);
    return good;
}

static bool import_list(struct importing *of, const char *path, bool only_copies)
{
    struct list r = {.of = of};
    const char *at, *end;
    bool good = input_open(&r.import.input, path, of->err);
    int got = 0;
    while (good && !(got = accelsim_next_line(&r.import, &at, &end, of->err)))
        good = take_command(&r, path, at, end, only_copies);
    good = good && got != IMPORT_BAD;
    input_close(&r.import.input);
    return good;
}

/* ---- which ---- */

static bool name_ends(const char *path, size_t length, const char *ending)
{
    size_t own = strlen(ending);
    return length >= own && !memcmp(path + length - own, ending, own);
}

static size_t unpacked_length(const char *path)
{
    static const char *const packed[] = {".xz", ".zst", ".gz"};
    size_t length = strlen(path);
    for (size_t i = 0; i < COUNT_OF(packed); i++)
        if (name_ends(path, length, packed[i]))
            return length - strlen(packed[i]);
    return length;
}

enum kind { KIND_NONE, KIND_LIST, KIND_KERNEL };

static enum kind kind_of(const char *path)
{
    struct err ignored;
    struct input input;
    size_t length = unpacked_length(path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    enum kind kind = KIND_NONE;
    if (name_ends(path, length, ".traceg") || tracez_is(path))
        return KIND_KERNEL;
    if (!strncmp(name, "kernelslist", 11))
        return KIND_LIST;
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) /* others can be read only once */
        return KIND_NONE;
    if (input_open(&input, path, &ignored)) {
        const char *at = input.at;
        if (accelsim_begins(&at, input.end, "-kernel name =") ||
            accelsim_begins(&at, input.end, "-kernel id ="))
            kind = KIND_KERNEL;
        else if (accelsim_begins(&at, input.end, "MemcpyHtoD,") || accelsim_begins(&at, input.end, "kernel-"))
            kind = KIND_LIST;
    }
    input_close(&input);
    return kind;
}

bool accelsim_is(const char *path)
{
    return kind_of(path) != KIND_NONE;
}

/* ---- the whole ---- */

static void finish_trace(struct importing *of)
{
    struct itrace *trace = of->trace;
    for (size_t i = 0; i < of->kernel_count; i++) {
        mem_grow(trace->kernels, trace->kernel_count, trace->kernel_capacity);
        struct itrace_kernel *to = &trace->kernels[trace->kernel_count++];
        sass_kernel_finish(of->kernels[i], trace, to);
        to->number = i + 1;
    }
    trace->arenas = mem_alloc(3, sizeof *trace->arenas); /* nothing of the host's, nor of managed memory */
    trace->arena_count = trace->arena_capacity = 3;
    trace->arenas[2] = (struct itrace_arena){.base = ITRACE_DEVICE_AT, .bytes = regions_bytes(&of->regions)};
}

static bool import_all_kernels(struct importing *of, const char *path)
{
    const uint64_t stream[4] = {0};
    bool good = true;
    importing_call(of, CALL_STREAM, stream, COUNT_OF(stream));
    if (kind_of(path) == KIND_KERNEL)
        return importing_kernel(of, path);
    good = import_list(of, path, true);
    if (of->regions.count)
        qsort(of->regions.at, of->regions.count, sizeof *of->regions.at, by_address);
    good = good && import_list(of, path, false);
    return good && (of->trace->launch_count || err_set(of->err, "%s: no kernel is listed in it", path));
}

bool accelsim_import(const char *path, const char *folder, const _Atomic int *interrupt, struct err *err)
{
    struct importing of = {.interrupt = interrupt, .err = err};
    if (!(of.writer = itrace_writer_new(folder, 0, err)))
        return false;
    of.trace = itrace_new();
    of.trace->command = mem_text(path);
    of.trace->system = mem_text("v100");
    of.trace->isa = mem_text("SASS");
    of.trace->lanes = SASS_LANES;
    of.line.boxes = mem_alloc(SASS_BOX_MOST, sizeof *of.line.boxes);
    bool good = import_all_kernels(&of, path);
    if (good) {
        finish_trace(&of);
        good = itrace_writer_finish(of.writer, of.trace, err);
    } else {
        itrace_writer_abandon(of.writer);
    }
    for (size_t i = 0; i < of.kernel_count; i++)
        sass_kernel_free(of.kernels[i]);
    mem_free(of.kernels);
    mem_free(of.regions.at);
    mem_free(of.line.boxes);
    mem_free(of.request.pieces);
    istream_writer_fini(&of.stream);
    itrace_free(of.trace);
    return good;
}

#include "ptx_run/builtin_rows.h"
#include "exec/heap.h"
#include "exec/print.h"
#include "ptx_run/access.h"
#include "base/bits.h"

#include <stdio.h>
#include <string.h>

/* Reads of a thread's memory at a generic address, byte by byte; for what is rare. */
bool builtin_get(const struct warp *w, uint32_t lane, uint64_t at, void *to, size_t bytes)
{
    char *out = to;
    for (size_t i = 0; i < bytes; i++, at++) {
        enum ptx_space space = access_space_at(at);
        struct range range;
        if (space == PTX_LOCAL) {
            if (at - WINDOW_LOCAL >= w->local_bytes)
                return false;
            out[i] = *(const char *)access_local(w, at - WINDOW_LOCAL, lane);
        } else if (space == PTX_SHARED) {
            uint64_t offset = at - WINDOW_SHARED - w->isa.block->shared_from;
            if (offset >= w->isa.block->shared_bytes)
                return false;
            out[i] = w->isa.block->shared[offset];
        } else {
            if (!worker_find(w->isa.block->worker, at, &range))
                return false;
            size_t some = min_u64(bytes - i, range.at + range.bytes - at);
            memcpy(out + i, (const char *)(uintptr_t)at, some);
            i += some - 1, at += some - 1;
        }
    }
    return true;
}

static bool read_text(const struct warp *w, uint32_t lane, uint64_t at, struct text *text)
{
    for (char byte;; at++) {
        if (!builtin_get(w, lane, at, &byte, 1) || text->length > 65536)
            return false;
        if (!byte)
            return true;
        text_add_bytes(text, &byte, 1);
    }
}

uint64_t builtin_read(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i += 4)
        value |= (uint64_t) * (const uint32_t *)access_local(w, at + i, lane) << 8 * i;
    return value;
}

void builtin_write(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < bytes; i += 4)
        *(uint32_t *)access_local(w, at + i, lane) = (uint32_t)(value >> 8 * i);
}

/* A word of `bytes` of them that a generic address leads to; NULL: the thread may not go there. */
static void *word_at(const struct warp *w, uint32_t lane, uint64_t at, size_t bytes, size_t word, bool writes)
{
    enum ptx_space space = access_space_at(at);
    struct range range;
    if (space == PTX_LOCAL && at - WINDOW_LOCAL + bytes <= w->local_bytes)
        return access_local(w, at - WINDOW_LOCAL + word, lane);
    if (space == PTX_SHARED && at - WINDOW_SHARED + bytes <= w->isa.block->shared_bytes)
        return w->isa.block->shared + (at - WINDOW_SHARED) + word;
    if (space == PTX_LOCAL || space == PTX_SHARED || !worker_find(w->isa.block->worker, at + word, &range) ||
        (writes && range.read_only))
        return NULL;
    return (void *)(uintptr_t)(at + word);
}

bool builtin_store(const struct warp *w, uint32_t lane, uint64_t at, const void *from, size_t bytes)
{
    if (at % sizeof(uint32_t) || bytes % sizeof(uint32_t))
        return false;
    for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
        void *to = word_at(w, lane, at, bytes, i, true);
        if (!to)
            return false;
        memcpy(to, (const char *)from + i, sizeof(uint32_t));
    }
    return true;
}

bool builtin_load(const struct warp *w, uint32_t lane, uint64_t at, void *to, size_t bytes)
{
    if (at % sizeof(uint32_t) || bytes % sizeof(uint32_t))
        return false;
    for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
        const void *from = word_at(w, lane, at, bytes, i, false);
        if (!from)
            return false;
        memcpy((char *)to + i, from, sizeof(uint32_t));
    }
    return true;
}

/* printf */

enum { PRINTF_ARGUMENTS = 32 }; /* that a GPU passes on, at most */

struct format {
    struct print_source base; /* first */
    const struct warp *warp;
    uint32_t lane;
    uint64_t arguments; /* the next one's address */
    uint32_t used;      /* of them */
};

static uint64_t next_argument(struct print_source *source, uint32_t bytes)
{
    struct format *format = (struct format *)(void *)source;
    uint64_t value = 0;
    format->used++;
    format->arguments = (format->arguments + bytes - 1) / bytes * bytes;
    source->good &= builtin_get(format->warp, format->lane, format->arguments, &value, bytes);
    format->arguments += bytes;
    return value;
}

static bool next_string(struct print_source *source, struct text *text)
{
    struct format *format = (struct format *)(void *)source;
    uint64_t at = next_argument(source, 8);
    if (at)
        source->good &= read_text(format->warp, format->lane, at, text);
    return at;
}

static void run_printf(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    struct worker *worker = w->isa.block->worker;
    EACH_LANE (lane, active) {
        struct text text = {0};
        struct format format = {.base = {next_argument, next_string, true}, .warp = w, .lane = lane};
        uint64_t at = builtin_read(w, lane, params[0], 8);
        format.arguments = builtin_read(w, lane, params[1], 8);
        if (!at) { /* so does an H200 */
            builtin_write(w, lane, result, 4, UINT32_MAX);
            continue;
        }
        if (!read_text(w, lane, at, &text))
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, at, "the format of printf cannot be read");
        worker->line.length = 0;
        print_formatted(&worker->line, text.at ? text.at : "", &format.base);
        text_fini(&text);
        if (!format.base.good)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, format.arguments,
                       "an argument of printf cannot be read");
        print_line(worker);
        builtin_write(w, lane, result, 4, min_u64(format.used, PRINTF_ARGUMENTS)); /* so did an H200 */
    }
}

/* assert */
static void run_assert(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    uint32_t lane = first_lane(active);
    struct text texts[3] = {0}; /* the condition, the file, the function */
    static const int places[] = {0, 1, 3};
    (void)result;
    for (int i = 0; i < 3; i++)
        if (!read_text(w, lane, builtin_read(w, lane, params[places[i]], 8), &texts[i]))
            text_add(&texts[i], "?");
    char said[1024];
    snprintf(said, sizeof said, "%s:%u: %s: assertion `%s` failed", texts[1].at ? texts[1].at : "",
             (uint32_t)builtin_read(w, lane, params[2], 4), texts[2].at ? texts[2].at : "",
             texts[0].at ? texts[0].at : "");
    for (int i = 0; i < 3; i++)
        text_fini(&texts[i]);
    warp_fault(w, op, active, FAULT_ASSERT, 0, "%s", said);
}

/* malloc and free */
static void run_malloc(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct worker *worker = w->isa.block->worker;
    struct heap *heap = worker->grid->launch->heap;
    (void)op;
    EACH_LANE (lane, active) {
        uint64_t bytes = builtin_read(w, lane, params[0], 8);
        builtin_write(w, lane, result, 8, heap ? heap_take(heap, worker->sm, bytes) : 0);
    }
}

static void run_free(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    const struct worker *worker = w->isa.block->worker;
    struct heap *heap = worker->grid->launch->heap;
    (void)result;
    EACH_LANE (lane, active) {
        uint64_t at = builtin_read(w, lane, params[0], 8);
        if (at && (!heap || !heap_give(heap, worker->sm, at)))
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, at,
                       "free of 0x%llx, which malloc of a kernel did not give", (unsigned long long)at);
    }
}

/* Of a graph's conditional node: the handle is where its value is. */
static void run_set_conditional(struct warp *w, const struct op *op, lanes active,
                                const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    struct range range;
    (void)result;
    EACH_LANE (lane, active) {
        uint64_t handle = builtin_read(w, lane, params[0], 8);
        uint32_t value = (uint32_t)builtin_read(w, lane, params[1], 4);
        if (!worker_find(w->isa.block->worker, handle, &range) || handle % sizeof value)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, handle, "0x%llx is no conditional handle",
                       (unsigned long long)handle);
        else
            __atomic_store_n((uint32_t *)(uintptr_t)handle, value, __ATOMIC_RELEASE);
    }
}

static const struct builtin rows[] = {
    {"vprintf", run_printf, true, false, {8, 8}, 4, false},
    {"__assertfail", run_assert, false, false, {8, 8, 4, 8, 8}, 0, false},
    {"malloc", run_malloc, true, false, {8}, 8, false},
    {"free", run_free, true, false, {8}, 0, false},
    {"cudaGraphSetConditional", run_set_conditional, false, false, {8, 4}, 0, false}};

static const struct builtin *find_row(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    for (const struct builtin *row = builtin_launches; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    for (const struct builtin *row = builtin_questions; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    for (const struct builtin *row = builtin_updates; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

builtin_fn *builtin_find(const char *name)
{
    const struct builtin *row = find_row(name);
    return row ? row->run : NULL;
}

bool builtin_is_ordered(const char *name)
{
    const struct builtin *row = find_row(name);
    return row && row->is_ordered;
}

bool builtin_launches_any(const char *name)
{
    const struct builtin *row = find_row(name);
    return row && row->launches;
}

bool builtin_submits(const char *name)
{
    const struct builtin *row = find_row(name);
    return row && row->submits;
}

bool builtin_fits(const char *name, const struct call_value *params, uint32_t param_count,
                  const struct call_value *results, uint32_t result_count)
{
    const struct builtin *row = find_row(name);
    uint32_t wanted = 0;
    while (wanted < BUILTIN_PARAMS && row->params[wanted])
        wanted++;
    if (param_count != wanted || result_count != (row->result ? 1 : 0))
        return false;
    for (uint32_t i = 0; i < wanted; i++)
        if (params[i].bytes != row->params[i])
            return false;
    return !row->result || results[0].bytes == row->result;
}

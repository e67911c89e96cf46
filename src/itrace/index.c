/* The index of a trace: written and read by the same functions. Units and atomic operations are told by name,
 * so that a trace stays good when some are added. Roles and kinds of calls are numbers: increase VERSION when
 * one is put before others. */
#include "itrace/itrace.h"
#include "itrace/blob.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/text.h"
#include "exec/atomics.h"
#include "exec/cga.h"

#include <zstd.h>

static const char magic[8] = "HdlItrc";
/* The second one if launches have clusters: others are as they were. */
enum { VERSION = 2, VERSION_CLUSTERS = 3, INDEX_MOST = 1 << 30, LEVEL = 3 };

struct coder {
    bool reading;
    struct blob *out;
    struct scan in;
    struct itrace *trace;
    uint8_t units[256]; /* reading: of the file, to ours */
};

/* ---- numbers and texts ---- */

static void code_number(struct coder *c, uint64_t *value)
{
    if (c->reading)
        *value = scan_varint(&c->in);
    else
        blob_put_varint(c->out, *value);
}

#define CODE(c, member)                                                                                      \
    do {                                                                                                     \
        uint64_t code_value = (uint64_t)(member);                                                            \
        code_number(c, &code_value);                                                                         \
        if ((c)->reading)                                                                                    \
            (member) = (__typeof__(member))code_value;                                                       \
    } while (0)

/* How many elements follow; each takes a byte at least, so a damaged number is found before memory is made.
 */
static uint64_t code_count(struct coder *c, uint64_t count)
{
    code_number(c, &count);
    if (c->reading && count > (uint64_t)(c->in.end - c->in.at)) {
        c->in.bad = true;
        return 0;
    }
    return count;
}

/* NULL is told as such. */
static void code_text(struct coder *c, const char **text)
{
    uint64_t length = *text && !c->reading ? strlen(*text) + 1 : 0;
    code_number(c, &length);
    if (!c->reading) {
        blob_put_all(c->out, *text, length ? length - 1 : 0);
        return;
    }
    *text = NULL;
    const char *at = length ? (const char *)scan_take(&c->in, length - 1) : NULL;
    if (!at)
        return;
    struct text copy = {0};
    text_add_bytes(&copy, at, length - 1);
    *text = itrace_text(c->trace, copy.at ? copy.at : "");
    text_fini(&copy);
}

static void code_own_text(struct coder *c, char **text)
{
    const char *told = *text;
    code_text(c, &told);
    if (c->reading)
        *text = told ? mem_text(told) : NULL;
}

/* ---- kernels ---- */

static void code_units(struct coder *c)
{
    static const char *const names[] = {
#define U(P, S, id, name, ...) #name,
        ISA_UNITS(U, , )
#undef U
    };
    uint64_t count = code_count(c, UNIT_COUNT);
    c->in.bad |= count > COUNT_OF(c->units);
    for (uint64_t i = 0; i < count && !c->in.bad; i++) {
        const char *name = c->reading ? NULL : names[i];
        code_text(c, &name);
        uint32_t own = 0;
        while (c->reading && name && own < UNIT_COUNT && strcmp(names[own], name) != 0)
            own++;
        c->units[i] = (uint8_t)own; /* UNIT_COUNT: no longer known */
    }
}

/* Numbers stay those of the trace: a part that is cut from it has the same. */
static void code_operations(struct coder *c, struct itrace_operations *operations)
{
    uint64_t count = code_count(c, operations->count);
    c->in.bad |= count > ITRACE_OPERATIONS;
    if (c->in.bad)
        return;
    operations->count = (uint32_t)count;
    if (c->reading)
        memset(operations->own, UINT8_MAX, sizeof operations->own);
    for (uint32_t i = 0; i < operations->count; i++) {
        code_text(c, &operations->names[i]);
        for (uint32_t own = 0; c->reading && operations->names[i] && own < atomic_row_count; own++)
            if (!strcmp(atomic_rows[own].name, operations->names[i]))
                operations->own[i] = (uint8_t)own;
    }
}

static void code_row(struct coder *c, struct isa_timing *row)
{
    CODE(c, row->registers);
    CODE(c, row->reads);
    CODE(c, row->writes);
    CODE(c, row->steps);
    CODE(c, row->first_step);
    uint64_t bits =
        row->guards | (uint64_t)row->counters << 4 | (uint64_t)row->merged << 6 | (uint64_t)row->plain << 7;
    code_number(c, &bits);
    if (c->reading) {
        row->guards = bits & 15;
        row->counters = bits >> 4 & 3;
        row->merged = bits >> 6 & 1;
        row->plain = bits >> 7 & 1;
    }
    CODE(c, row->role);
    CODE(c, row->role_count);
}

static void code_place(struct coder *c, struct code_place *place)
{
    code_text(c, &place->file);
    code_text(c, &place->function);
    code_text(c, &place->kernel);
    code_text(c, &place->module);
    code_text(c, &place->instruction);
    CODE(c, place->line);
    CODE(c, place->ptx_line);
    CODE(c, place->code_at);
    uint64_t flags = place->is_atomic | place->is_shared << 1;
    code_number(c, &flags);
    if (c->reading) {
        place->is_atomic = flags & 1;
        place->is_shared = flags >> 1 & 1;
    }
}

/* A row refers to registers and steps that are there. */
static bool row_fits(const struct itrace_code *own, const struct isa_timing *row, uint32_t slots)
{
    uint32_t registers = (uint32_t)row->reads + row->writes;
    if (row->registers > own->register_count || registers > own->register_count - row->registers ||
        row->first_step > own->step_count || row->steps > own->step_count - row->first_step ||
        row->role >= ROLE_COUNT || row->reads > 32 || row->guards > row->reads)
        return false;
    for (uint32_t i = 0; i < registers; i++)
        if (own->code.slots_at + own->code.registers[row->registers + i] >= slots)
            return false;
    return true;
}

static void code_code(struct coder *c, struct itrace_code *own, uint32_t slots)
{
    struct isa_code *code = &own->code;
    struct isa_timing *rows = (struct isa_timing *)(uintptr_t)code->timing;
    uint16_t *registers = (uint16_t *)(uintptr_t)code->registers;
    struct isa_step *steps = (struct isa_step *)(uintptr_t)code->steps;
    code->count = (uint32_t)code_count(c, code->count);
    own->register_count = (uint32_t)code_count(c, own->register_count);
    own->step_count = (uint32_t)code_count(c, own->step_count);
    CODE(c, code->slots_at);
    CODE(c, code->counted_at);
    CODE(c, code->code_at);
    CODE(c, code->step_bytes);
    if (c->reading) {
        code->timing = rows = mem_alloc((size_t)code->count + 1, sizeof *rows);
        code->registers = registers = mem_alloc((size_t)own->register_count + 1, sizeof *registers);
        code->steps = steps = mem_alloc((size_t)own->step_count + 1, sizeof *steps);
        own->places = mem_alloc((size_t)code->count + 1, sizeof *own->places);
    }
    for (uint32_t i = 0; i < own->register_count; i++)
        CODE(c, registers[i]);
    for (uint32_t i = 0; i < own->step_count; i++) {
        CODE(c, steps[i].unit);
        CODE(c, steps[i].flags);
        if (c->reading)
            steps[i].unit = c->units[steps[i].unit];
        c->in.bad |= c->reading && steps[i].unit >= UNIT_COUNT;
    }
    for (uint32_t i = 0; i < code->count; i++) {
        code_row(c, &rows[i]);
        code_place(c, &own->places[i]);
        c->in.bad |= c->reading && !row_fits(own, &rows[i], slots);
    }
}

/* What a place says of units is found from the steps again. */
static void count_units(struct itrace_code *own)
{
    for (uint32_t i = 0; i < own->code.count; i++) {
        const struct isa_timing *row = &own->code.timing[i];
        for (uint32_t k = 0; k < row->steps; k++) {
            uint8_t *count = &own->places[i].steps[own->code.steps[row->first_step + k].unit];
            *count += *count < UINT8_MAX;
        }
    }
}

static void code_kernel(struct coder *c, struct itrace_kernel *kernel)
{
    struct kernel_facts *facts = &kernel->facts;
    code_text(c, &facts->name);
    CODE(c, facts->param_bytes);
    CODE(c, facts->shared_bytes);
    CODE(c, facts->local_bytes);
    CODE(c, facts->const_bytes);
    CODE(c, facts->registers);
    CODE(c, facts->max_threads);
    CODE(c, facts->ordered);
    CODE(c, kernel->number);
    CODE(c, kernel->slots);
    CODE(c, kernel->code_bytes);
    CODE(c, kernel->dynamic_shared_at);
    kernel->code_count = (uint32_t)code_count(c, kernel->code_count);
    if (c->reading) {
        facts->name = facts->name ? facts->name : "";
        kernel->codes = mem_alloc(kernel->code_count + 1, sizeof *kernel->codes);
        kernel->code_capacity = kernel->code_count + 1;
    }
    c->in.bad |= c->reading && !kernel->code_count;
    for (uint32_t i = 0; i < kernel->code_count && !c->in.bad; i++) {
        code_code(c, &kernel->codes[i], kernel->slots);
        if (c->reading && !c->in.bad)
            count_units(&kernel->codes[i]);
    }
}

/* ---- launches and calls ---- */

static void code_chunk(struct coder *c, struct itrace_chunk *chunk)
{
    CODE(c, chunk->at);
    CODE(c, chunk->bytes);
    CODE(c, chunk->raw_bytes);
    CODE(c, chunk->first_block);
    CODE(c, chunk->block_count);
}

static void code_launch(struct coder *c, struct itrace_launch *launch)
{
    CODE(c, launch->number);
    CODE(c, launch->kernel);
    CODE(c, launch->device);
    for (int i = 0; i < 3; i++) {
        CODE(c, launch->grid[i]);
        CODE(c, launch->block[i]);
    }
    CODE(c, launch->dimensions);
    CODE(c, launch->shared_bytes);
    CODE(c, launch->carveout_bytes);
    CODE(c, launch->max_dynamic);
    CODE(c, launch->carveout);
    CODE(c, launch->cache);
    CODE(c, launch->cooperative);
    CODE(c, launch->workspace);
    CODE(c, launch->recorded);
    CODE(c, launch->doubts);
#define C(name) CODE(c, launch->counts.name);
    LAUNCH_COUNTS(C)
#undef C
    launch->chunk_count = code_count(c, launch->chunk_count);
    if (c->reading)
        launch->chunks = mem_alloc(launch->chunk_count + 1, sizeof *launch->chunks);
    for (size_t i = 0; i < launch->chunk_count; i++)
        code_chunk(c, &launch->chunks[i]);
    launch->place_count = (uint32_t)code_count(c, launch->place_count);
    if (c->reading)
        launch->places = mem_alloc((size_t)launch->place_count + 1, sizeof *launch->places);
    for (uint32_t i = 0; i < launch->place_count; i++) {
        CODE(c, launch->places[i].first);
        CODE(c, launch->places[i].end);
        CODE(c, launch->places[i].member);
    }
}

/* The last part of the index, only in traces with clusters: how many launches have some, then each one's
 * number in the list and its cluster. */
static void code_clusters(struct coder *c)
{
    struct itrace *t = c->trace;
    uint64_t count = 0;
    for (size_t i = 0; i < t->launch_count; i++)
        count += itrace_launch_cluster(&t->launches[i]) > 1;
    if (c->reading ? c->in.at == c->in.end : !count)
        return;
    count = code_count(c, count);
    size_t next = 0;
    for (uint64_t i = 0; i < count && !c->in.bad; i++, next++) {
        while (!c->reading && itrace_launch_cluster(&t->launches[next]) == 1)
            next++;
        CODE(c, next);
        c->in.bad |= next >= t->launch_count;
        for (int k = 0; k < 3 && !c->in.bad; k++)
            CODE(c, t->launches[next].cluster[k]);
    }
}

static void code_call(struct coder *c, struct itrace_call *call)
{
    CODE(c, call->kind);
    if (call->kind >= CALL_KINDS) {
        c->in.bad = true;
        call->kind = 0;
    }
    for (uint32_t i = 0; i < itrace_call_field_count(call->kind); i++)
        CODE(c, call->field[i]);
}

/* ---- all of it ---- */

static void code_all(struct coder *c)
{
    struct itrace *t = c->trace;
    code_own_text(c, &t->command);
    code_own_text(c, &t->system);
    code_own_text(c, &t->settings);
    code_own_text(c, &t->isa);
    code_own_text(c, &t->why_cut);
    CODE(c, t->lanes);
    code_units(c);
    code_operations(c, &t->operations);
#define EACH_OF(list, count, capacity, code)                                                                 \
    (count) = code_count(c, count);                                                                          \
    if (c->reading) {                                                                                        \
        (list) = mem_alloc((count) + 1, sizeof *(list));                                                     \
        (capacity) = (count) + 1;                                                                            \
    }                                                                                                        \
    for (size_t i = 0; i < (count) && !c->in.bad; i++)                                                       \
        code(c, &(list)[i]);
    EACH_OF(t->kernels, t->kernel_count, t->kernel_capacity, code_kernel)
    EACH_OF(t->launches, t->launch_count, t->launch_capacity, code_launch)
    EACH_OF(t->calls, t->call_count, t->call_capacity, code_call)
#undef EACH_OF
    t->arena_count = code_count(c, t->arena_count);
    if (c->reading)
        t->arenas = mem_alloc(t->arena_count + 1, sizeof *t->arenas);
    for (size_t i = 0; i < t->arena_count; i++) {
        CODE(c, t->arenas[i].base);
        CODE(c, t->arenas[i].bytes);
    }
    code_clusters(c);
}

void itrace_encode_index(const struct itrace *trace, struct blob *bytes)
{
    struct coder c = {.out = bytes, .trace = (struct itrace *)(uintptr_t)trace};
    code_all(&c);
}

/* Launches refer to kernels that are there, and their chunks hold their blocks, in order. */
static bool launch_fits(const struct itrace *trace, const struct itrace_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], next = 0;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (launch->kernel >= trace->kernel_count || !blocks || blocks > UINT32_MAX * UINT64_C(65536) ||
        !threads || threads > 1024 || (launch->recorded && !launch->chunk_count))
        return false;
    for (size_t i = 0; i < launch->chunk_count; i++) {
        if (launch->chunks[i].first_block != next || !launch->chunks[i].block_count ||
            launch->chunks[i].block_count > blocks - next)
            return false;
        next += launch->chunks[i].block_count;
    }
    for (int i = 0; i < 3 && launch->cluster[i]; i++)
        if (launch->cluster[i] > CLUSTER_MOST || launch->grid[i] % launch->cluster[i])
            return false;
    return itrace_launch_cluster(launch) <= CLUSTER_MOST && (!launch->recorded || next == blocks);
}

static bool call_fits(const struct itrace *trace, const struct itrace_call *call, uint64_t *streams)
{
    *streams += call->kind == CALL_STREAM;
    if (call->kind == CALL_LAUNCH && call->field[1] >= trace->launch_count)
        return false;
    bool has_stream = call->kind == CALL_LAUNCH || call->kind == CALL_COPY || call->kind == CALL_FILL ||
                      call->kind == CALL_PREFETCH || call->kind == CALL_COMMAND || call->kind == CALL_AFTER ||
                      call->kind == CALL_WAIT;
    return (!has_stream || call->field[0] < *streams) &&
           (call->kind != CALL_AFTER || call->field[1] < *streams) &&
           (call->kind != CALL_TOUCH_BY || call->field[3] < *streams);
}

static bool all_fits(const struct itrace *trace)
{
    uint64_t streams = 0;
    if (trace->lanes != 32 && trace->lanes != 64)
        return false;
    for (size_t i = 0; i < trace->launch_count; i++)
        if (!launch_fits(trace, &trace->launches[i]))
            return false;
    for (size_t i = 0; i < trace->call_count; i++)
        if (!call_fits(trace, &trace->calls[i], &streams))
            return false;
    return true;
}

struct itrace *itrace_decode_index(const void *bytes, size_t count, const char *name, struct err *err)
{
    struct coder c = {.reading = true, .trace = itrace_new()};
    c.in = (struct scan){.at = bytes, .end = (const uint8_t *)bytes + count};
    code_all(&c);
    if (!c.in.bad && c.in.at == c.in.end && all_fits(c.trace))
        return c.trace;
    itrace_free(c.trace);
    err_set(err, "%s is damaged", name);
    return NULL;
}

/* ---- files ---- */

struct index_head {
    char magic[8];
    uint32_t version, unused;
    uint64_t raw_bytes, digest; /* of the inflated bytes */
};

static void path_of(const char *folder, struct text *path)
{
    text_add(path, "%s/index", folder);
}

bool itrace_write_index(const struct itrace *trace, const char *folder, struct err *err)
{
    struct blob raw = {0};
    struct text path = {0};
    struct file_writer writer;
    itrace_encode_index(trace, &raw);
    if (raw.count > INDEX_MOST) {
        blob_fini(&raw);
        return err_set(err, "the program made too many calls for a trace");
    }
    size_t most = ZSTD_compressBound(raw.count);
    void *packed = mem_alloc(most, 1);
    size_t bytes = ZSTD_compress(packed, most, raw.at, raw.count, LEVEL);
    REQUIRE(!ZSTD_isError(bytes));
    struct index_head head = {
        .version = VERSION, .raw_bytes = raw.count, .digest = digest_bytes(0, raw.at, raw.count)};
    memcpy(head.magic, magic, sizeof magic);
    for (size_t i = 0; i < trace->launch_count; i++)
        if (itrace_launch_cluster(&trace->launches[i]) > 1)
            head.version = VERSION_CLUSTERS;
    path_of(folder, &path);
    bool good = file_open(&writer, path.at, err);
    if (good) {
        fwrite(&head, sizeof head, 1, writer.stream);
        fwrite(packed, bytes, 1, writer.stream);
        good = file_close(&writer, err);
    }
    text_fini(&path);
    mem_free(packed);
    blob_fini(&raw);
    return good;
}

static bool inflate(const struct text *file, const char *path, struct blob *raw, struct err *err)
{
    struct index_head head;
    if (file->length < sizeof head || memcmp(file->at, magic, sizeof magic) != 0)
        return err_set(err, "%s is not the index of a trace of instructions", path);
    memcpy(&head, file->at, sizeof head);
    if (head.version != VERSION && head.version != VERSION_CLUSTERS)
        return err_set(err, "%s has version %u, and this Heddle reads versions %d and %d", path, head.version,
                       VERSION, VERSION_CLUSTERS);
    if (head.raw_bytes > INDEX_MOST)
        return err_set(err, "%s is damaged", path);
    raw->at = mem_alloc(head.raw_bytes + 1, 1);
    raw->count = ZSTD_decompress(raw->at, head.raw_bytes, file->at + sizeof head, file->length - sizeof head);
    if (raw->count != head.raw_bytes || digest_bytes(0, raw->at, raw->count) != head.digest)
        return err_set(err, "%s is damaged", path);
    return true;
}

struct itrace *itrace_read_index(const char *folder, struct err *err)
{
    struct text path = {0}, file = {0};
    struct blob raw = {0};
    struct itrace *trace = NULL;
    path_of(folder, &path);
    if (file_read(path.at, INDEX_MOST, &file, err) && inflate(&file, path.at, &raw, err))
        trace = itrace_decode_index(raw.at, raw.count, path.at, err);
    if (trace)
        trace->digest = digest_bytes(0, raw.at, raw.count);
    blob_fini(&raw);
    text_fini(&file);
    text_fini(&path);
    return trace;
}

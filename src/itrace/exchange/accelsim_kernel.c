/* A kernel of Accel-Sim's becomes a launch of a trace of instructions. */
#include "exchange/accelsim_importing.h"
#include "exchange/accelsim_tracez.h"
#include "base/text.h"

struct header {
    struct text name;
    uint64_t grid[3], block[3], shared, registers, version;
    bool has_grid, has_block, has_format;
    struct accelsim_form form;
    struct sass_windows windows;
};

/* The last instruction of a warp: what comes of it shows in the next line. */
struct pending {
    bool is_one;
    struct sass_place place;
    lane_mask active;
    uint32_t pc;
    struct isa_stepped stepped;
    struct istream_step step;
};

/* The kernel being read. */
struct reading {
    struct importing *of;
    struct import import;  /* only its name and line where it is packed */
    struct tracez *packed; /* or NULL */
    struct header header;
    struct sass_kernel *kernel;
    struct itrace_launch *launch;
    struct itrace_launch_writer *writer;
    uint64_t block, blocks;
    uint32_t warps;
    lane_mask alive; /* lanes of the warp */
    lane_mask last;  /* lanes of its last instruction that had any */
    struct pending pending;
};

/* ---- lines ---- */

static int next_line(struct reading *r, const char **at, const char **end)
{
    int got;
    if (!r->packed)
        return accelsim_next_line(&r->import, at, end, r->of->err);
    do
        got = tracez_line(r->packed, at, end, &r->import.line, r->of->err);
    while (!got && accelsim_is_blank(*at, end));
    return got;
}

static bool refuse(const struct reading *r, const char *at, const char *end, const char *expected)
{
    import_refuse(&r->import, at, end, expected, r->of->err);
    return false;
}

static bool is_cut(const struct reading *r)
{
    return err_set(r->of->err, "%s: it is cut: it ends in block %" PRIu64 " of %" PRIu64,
                   r->import.input.name, r->block, r->blocks);
}

/* "(1,2,3)" or "1,2,3". */
static bool three(const char *at, const char *end, uint64_t values[3])
{
    bool open = at < end && *at == '(';
    at += open;
    for (int i = 0; i < 3; i++) {
        skip_blanks(&at, end);
        if (!import_decimal(&at, end, &values[i]) || (i < 2 && (at == end || *at++ != ',')))
            return false;
    }
    return at + open == end;
}

/* ---- the header ---- */

static bool number(const char *at, const char *end, uint64_t *value)
{
    bool is_hex = end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    at += is_hex ? 2 : 0;
    return is_hex ? import_hex(&at, end, value) : import_decimal(&at, end, value);
}

static bool take_key(struct reading *r, const char *line, const char *end)
{
    struct header *h = &r->header;
    const char *at = line;
    uint64_t value = 0;
    if (accelsim_begins(&at, end, "-kernel name")) {
        text_add_bytes(&h->name, at, (size_t)min_u64((uint64_t)(end - at), 2000));
    } else if (accelsim_begins(&at, end, "-grid dim")) {
        h->has_grid = three(at, end, h->grid);
        return h->has_grid || refuse(r, line, end, "-grid dim = (X,Y,Z)");
    } else if (accelsim_begins(&at, end, "-block dim")) {
        h->has_block = three(at, end, h->block);
        return h->has_block || refuse(r, line, end, "-block dim = (X,Y,Z)");
    } else if (accelsim_begins(&at, end, "-shmem base_addr")) {
        return number(at, end, &h->windows.shared) || refuse(r, line, end, "an address");
    } else if (accelsim_begins(&at, end, "-local mem base_addr")) {
        return number(at, end, &h->windows.local) || refuse(r, line, end, "an address");
    } else if (accelsim_begins(&at, end, "-shmem")) {
        return number(at, end, &h->shared) || refuse(r, line, end, "bytes of shared memory");
    } else if (accelsim_begins(&at, end, "-nregs")) {
        return number(at, end, &h->registers) || refuse(r, line, end, "a number of registers");
    } else if (accelsim_begins(&at, end, "-accelsim tracer version")) {
        return (number(at, end, &h->version) && h->version >= 3 && h->version <= 6) ||
               refuse(r, line, end, "a trace of version 3, 4, 5 or 6");
    } else if (accelsim_begins(&at, end, "-enable lineinfo")) {
        h->form.line_numbers = number(at, end, &value) && value;
    }
    return true;
}

/* Sizes that a GPU can have. */
static bool check_header(struct reading *r)
{
    const struct header *h = &r->header;
    const char *name = r->import.input.name;
    bool sane = h->has_grid && h->has_block;
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3 && sane; i++) {
        sane = h->grid[i] && h->grid[i] <= INT32_MAX && h->block[i] && h->block[i] <= 1024;
        blocks *= h->grid[i];
        threads *= h->block[i];
        sane = sane && blocks <= UINT32_MAX && threads <= 1024;
    }
    if (!h->has_format)
        return err_set(r->of->err, "%s: it is cut: expected '#traces format' behind its header", name);
    if (!sane)
        return err_set(r->of->err, "%s: expected -grid dim and -block dim, of 1 to 1024 threads", name);
    if (!h->version)
        return err_set(r->of->err, "%s: expected -accelsim tracer version = 3, 4, 5 or 6", name);
    if (h->shared > 1 << 20 || h->registers > 1024)
        return err_set(r->of->err, "%s: expected at most 1 MiB of shared memory and 1024 registers", name);
    r->blocks = blocks;
    r->warps = (uint32_t)(threads + SASS_LANES - 1) / SASS_LANES;
    return true;
}

static bool read_header(struct reading *r)
{
    const char *at, *end;
    int got;
    while (!(got = next_line(r, &at, &end)) && *at != '#')
        if (*at == '-' && !take_key(r, at, end))
            return false;
    if (got == IMPORT_BAD)
        return false;
    r->header.has_format = !got;
    r->header.form.values = r->header.version == 6;
    r->header.form.two = r->header.form.values || (!got && memmem(at, (size_t)(end - at), "immediate2", 10));
    return check_header(r);
}

/* ---- instructions ---- */

static void put_pending(struct reading *r)
{
    struct importing *of = r->of;
    struct pending *p = &r->pending;
    if (p->is_one)
        istream_put(&of->stream, &p->place.layer->stream, r->kernel->context_count, p->place.number,
                    p->active, &p->stepped, &p->step, &of->request);
    p->is_one = false;
}

/* Where the warp went from its last instruction. */
static void settle_pending(struct reading *r, uint32_t pc, uint32_t mask)
{
    struct pending *p = &r->pending;
    if (p->is_one && p->place.layer->timing[p->place.number].role == ROLE_BRANCH) {
        p->stepped.branched = pc != p->pc + SASS_STEP;
        p->stepped.moved = true;
        p->stepped.diverged = p->stepped.branched && mask && (mask & p->active) != p->active;
    }
    put_pending(r);
}

static void arrive(struct reading *r, const struct sass_row *row, struct istream_step *step)
{
    const struct accelsim_line *line = &r->of->line;
    uint64_t first = line->immediate_count ? line->immediates[0] : 0;
    uint64_t count = line->immediate_count == 2 ? line->immediates[1] : first > 15 ? first : 0;
    step->arrives = true;
    step->waits = row->waits;
    step->barrier = (uint32_t)(first <= 15 ? first : 1);
    step->expected = (uint32_t)(count <= 1024 ? count : 0);
    step->whole = row->waits && line->mask == r->alive;
    step->threads = isa_count_lanes(line->mask);
    if (step->expected && line->mask == r->alive) /* counted in whole warps */
        step->threads = SASS_LANES;
    step->waiting = row->waits ? line->mask : 0;
    r->pending.stepped.moved = true;
    r->pending.stepped.waits = step->whole;
}

static void count_line(struct reading *r)
{
    struct launch_result *counts = &r->launch->counts;
    counts->warp_instructions++;
    counts->thread_instructions += isa_count_lanes(r->pending.active);
    counts->thread_instructions_pred_on += isa_count_lanes(r->pending.stepped.mask);
}

static bool take_instruction(struct reading *r, const char *begin, const char *end)
{
    struct importing *of = r->of;
    struct accelsim_line *line = &of->line;
    struct pending *p = &r->pending;
    const char *at = begin;
    if (accelsim_line_begin(&r->import, &r->header.form, begin, &at, end, line, of->err))
        return false;
    settle_pending(r, line->pc, line->mask);
    if (accelsim_line_rest(&r->import, &r->header.form, begin, at, end, line, of->err))
        return false;
    if (line->mask & ~r->alive)
        return refuse(r, begin, end, "lanes that exist and have not ended");
    struct sass_place place;
    if (!sass_kernel_find(r->kernel, &r->import, line, &p->place, &place, of->err))
        return false;
    const struct sass_row *row = &place.layer->rows[place.number];
    if (!sass_request(row, line, &r->header.windows, &of->regions, &of->request))
        return err_set(of->err, "%s:%" PRIu64 ": addresses of more than 256 GiB of memory",
                       r->import.input.name, r->import.line);
    r->last = line->mask ? line->mask : r->last;
    *p = (struct pending){.is_one = true,
                          .place = place,
                          .active = line->mask           ? line->mask
                                    : r->last & r->alive ? r->last & r->alive
                                                         : r->alive,
                          .pc = line->pc,
                          .stepped = {.mask = line->mask}};
    if (place.layer->timing[place.number].role == ROLE_BARRIER && line->mask)
        arrive(r, row, &p->step);
    if (row->exits && line->mask) {
        p->step.exits = isa_count_lanes(line->mask);
        p->stepped.moved = true;
        r->alive &= ~(lane_mask)line->mask;
    }
    count_line(r);
    return true;
}

/* ---- blocks ---- */

static bool read_warp(struct reading *r, uint32_t warp, struct chunk_block *block)
{
    struct importing *of = r->of;
    uint64_t threads = r->header.block[0] * r->header.block[1] * r->header.block[2], value, count;
    const char *at, *end;
    int got = next_line(r, &at, &end);
    const char *line = at;
    if (got)
        return got == IMPORT_END ? is_cut(r) : false;
    if (!accelsim_begins(&at, end, "warp") || !import_decimal(&at, end, &value) || at != end || value != warp)
        return refuse(r, line, end, "'warp = N', for each warp of the block in order");
    if ((got = next_line(r, &at, &end)))
        return got == IMPORT_END ? is_cut(r) : false;
    line = at;
    if (!accelsim_begins(&at, end, "insts") || !import_decimal(&at, end, &count) || at != end || !count)
        return refuse(r, line, end, "'insts = N', at least 1");
    r->alive = UINT64_MAX >> (ISA_LANES - min_u64(threads - (uint64_t)warp * SASS_LANES, SASS_LANES));
    r->last = r->alive;
    r->pending = (struct pending){0};
    for (uint64_t i = 0; i < count; i++) {
        if ((got = next_line(r, &at, &end)))
            return got == IMPORT_END ? is_cut(r) : false;
        if (!r->alive)
            return refuse(r, at, end, "no instruction behind the end of all lanes");
        if (!take_instruction(r, at, end))
            return false;
    }
    if (r->alive)
        return err_set(of->err, "%s:%" PRIu64 ": expected EXIT of all lanes at the end of the warp",
                       r->import.input.name, r->import.line);
    put_pending(r);
    istream_end(&of->stream);
    chunk_block_add(block, &of->stream);
    istream_writer_reset(&of->stream);
    return true;
}

/* Lines of clusters, of Accel-Sim 2, if there are any: blocks of a cluster are replayed as any others. */
static bool skip_clusters(struct reading *r)
{
    const char *at, *end;
    for (int i = 0; i < 3 && !r->packed; i++) {
        struct import before = r->import;
        int got = next_line(r, &at, &end);
        if (got)
            return got == IMPORT_END ? is_cut(r) : false;
        if (!accelsim_begins(&at, end, "cluster")) { /* it has none: back */
            r->import.input.at = (char *)(uintptr_t)at;
            r->import.line = before.line;
            return true;
        }
    }
    return true;
}

static bool read_block(struct reading *r)
{
    const uint64_t *grid = r->header.grid;
    struct chunk_block block = {0};
    uint64_t id[3];
    const char *at, *end;
    int got = next_line(r, &at, &end);
    const char *line = at;
    if (got)
        return got == IMPORT_END ? is_cut(r) : false;
    if (!accelsim_begins(&at, end, "thread block") || !three(at, end, id) || id[0] >= grid[0] ||
        id[1] >= grid[1] || id[2] >= grid[2] || (id[2] * grid[1] + id[1]) * grid[0] + id[0] != r->block)
        return refuse(r, line, end, "'thread block = X,Y,Z', for each block of the grid in order");
    bool good = skip_clusters(r);
    for (uint32_t i = 0; i < r->warps && good; i++)
        good = read_warp(r, i, &block);
    if (good)
        itrace_launch_writer_add(r->writer, r->block, &block);
    chunk_block_fini(&block);
    if (!good)
        return false;
    got = next_line(r, &at, &end);
    if (got || !accelsim_begins(&at, end, "#END_TB"))
        return got == IMPORT_BAD ? false : got ? is_cut(r) : refuse(r, at, end, "#END_TB");
    return true;
}

static bool read_blocks(struct reading *r)
{
    const char *at, *end;
    int got;
    while (!(got = next_line(r, &at, &end))) {
        if (*r->of->interrupt)
            return err_set(r->of->err, "interrupted; nothing was written");
        if (!accelsim_begins(&at, end, "#BEGIN_TB"))
            return refuse(r, at, end, "#BEGIN_TB");
        if (r->block == r->blocks)
            return refuse(r, at, end, "no more blocks than the grid has");
        if (!read_block(r))
            return false;
        r->block++;
    }
    return got == IMPORT_END && (r->block == r->blocks || is_cut(r));
}

/* ---- kernels ---- */

static size_t find_kernel(struct importing *of, const char *name)
{
    for (size_t i = 0; i < of->kernel_count; i++)
        if (!strcmp(of->kernels[i]->name, name))
            return i;
    struct sass_kernel *made = mem_alloc(1, sizeof *made);
    made->name = mem_text(name);
    mem_grow(of->kernels, of->kernel_count, of->kernel_capacity);
    of->kernels[of->kernel_count] = made;
    return of->kernel_count++;
}

static void begin_launch(struct reading *r)
{
    struct importing *of = r->of;
    const struct header *h = &r->header;
    struct itrace *trace = of->trace;
    size_t kernel = find_kernel(of, h->name.at ? h->name.at : r->import.input.name);
    uint64_t is_launch = TIME_LAUNCH, fields[2] = {0, trace->launch_count};
    r->kernel = of->kernels[kernel];
    r->kernel->max_registers = (uint32_t)max_u64(r->kernel->max_registers, h->registers);
    mem_grow(trace->launches, trace->launch_count, trace->launch_capacity);
    r->launch = &trace->launches[trace->launch_count];
    *r->launch = (struct itrace_launch){.number = trace->launch_count,
                                        .kernel = (uint32_t)kernel,
                                        .shared_bytes = (uint32_t)h->shared,
                                        .max_dynamic = (int64_t)h->shared,
                                        .carveout = (uint32_t)-1};
    trace->launch_count++;
    for (int i = 0; i < 3; i++) {
        r->launch->grid[i] = (uint32_t)h->grid[i];
        r->launch->block[i] = (uint32_t)h->block[i];
    }
    r->launch->counts.warps = r->blocks * r->warps;
    r->launch->counts.threads = r->blocks * itrace_launch_threads(r->launch);
    importing_call(of, CALL_TIME, &is_launch, 1);
    importing_call(of, CALL_LAUNCH, fields, 2);
    of->commands++;
    r->writer = itrace_launch_writer_new(of->writer);
}

bool importing_kernel(struct importing *of, const char *path)
{
    struct reading r = {.of = of};
    bool is_packed = tracez_is(path);
    bool good = is_packed ? (r.packed = tracez_open(path, of->err)) != NULL
                          : input_open(&r.import.input, path, of->err);
    if (is_packed)
        r.import.input.name = mem_text(path);
    else if (good && r.import.input.at == r.import.input.end)
        good = err_set(of->err, "%s: it is empty", path);
    good = good && read_header(&r);
    if (good) {
        begin_launch(&r);
        good = read_blocks(&r);
        if (!itrace_launch_writer_end(r.writer, good, r.launch) && good)
            good = err_set(of->err, "cannot write the trace: is the disk full?");
    }
    tracez_close(r.packed);
    if (is_packed)
        mem_free(r.import.input.name);
    else
        input_close(&r.import.input);
    text_fini(&r.header.name);
    return good;
}

/* The state of a launch's blocks on an SM, written and read: registers, memory, where each thread is. Code is
 * made anew by whoever reads, from the same program: pointers into it travel as numbers of functions and
 * operations, those into registers and shared memory as offsets. */
#include "exec/memory.h"
#include "exec/step.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum { MOST_BLOCKS = 1 << 16, MOST_FRAMES = 1 << 20 };

/* ---- code ---- */

/* Functions by number from 1 on; 0: none. */
const struct code *code_archive(const struct kernel *kernel, const struct code *code, struct archive *archive)
{
    size_t count = kernel->program->function_count;
    uint64_t number = 0;
    for (size_t i = 0; code && i < count && !number; i++)
        number = kernel->codes[i] == code ? i + 1 : 0;
    number = archive_number(archive, number, count);
    if (!number)
        return NULL;
    archive_check(archive, kernel->codes[number - 1]);
    return kernel->codes[number - 1];
}

/* Operations of a function by number from 1 on; 0: none of it. */
const struct op *op_archive(const struct code *code, const struct op *op, struct archive *archive)
{
    uint64_t number = 0;
    if (code && op >= code->ops && op < code->ops + code->op_count)
        number = (uint64_t)(op - code->ops) + 1;
    number = archive_number(archive, number, code ? code->op_count : 0);
    return number ? &code->ops[number - 1] : NULL;
}

/* ---- warps ---- */

static void archive_frame(const struct warp *w, struct frame *frame, struct archive *archive)
{
    const struct kernel *kernel = w->block->worker->grid->kernel;
    struct frame flat = *frame;
    flat.code = NULL;
    ARCHIVE_VALUE(archive, flat);
    flat.code = code_archive(kernel, frame->code, archive);
    if (archive->reading) {
        const struct code *code = flat.code;
        archive_check(archive, code && flat.registers_at <= w->file_bytes &&
                                   code->frame_bytes <= w->file_bytes - flat.registers_at &&
                                   flat.local_at <= w->local_bytes &&
                                   code->local_bytes <= w->local_bytes - flat.local_at);
        *frame = flat;
    }
}

static bool level_fits(const struct fragment *f, const struct level *level)
{
    return level->frames && level->frames <= f->frame_count &&
           level->pc < f->frames[level->frames - 1].code->op_count;
}

static void archive_fragment(const struct warp *w, struct fragment *f, struct archive *archive)
{
    f->depth = (uint32_t)archive_number(archive, f->depth, LEVELS_MOST);
    archive_bytes(archive, f->levels, f->depth * sizeof *f->levels);
    uint32_t count = (uint32_t)archive_number(archive, f->frame_count, MOST_FRAMES);
    for (uint32_t i = 0; i < count && archive->good; i++) {
        if (archive->reading)
            fragment_push(f, (struct frame){0});
        archive_frame(w, &f->frames[i], archive);
    }
    f->state = (enum fragment_state)archive_number(archive, f->state, FRAGMENT_AT_SYNC);
    f->barrier = (uint32_t)archive_number(archive, f->barrier, UINT32_MAX);
    ARCHIVE_VALUE(archive, f->waiting);
    for (uint32_t i = 0; i < f->depth && archive->reading && archive->good; i++)
        archive_check(archive, level_fits(f, &f->levels[i]));
}

/* All that there are, of which the first fragment_count are in use; the others are kept for later. */
static void archive_fragments(struct warp *w, struct archive *archive)
{
    uint32_t now = 0, in_use;
    while (w->now && w->fragments[now++] != w->now)
        ;
    in_use = (uint32_t)archive_number(archive, w->fragment_count, WARP_LANES);
    w->fragment_count = 0;
    for (uint32_t i = 0; i < in_use; i++) {
        struct fragment *f = archive->reading ? fragment_new(w) : w->fragments[i];
        archive_fragment(w, f, archive);
        if (archive->reading && archive->good)
            archive_check(archive, f->depth && f->frame_count);
    }
    w->fragment_count = in_use;
    now = (uint32_t)archive_number(archive, now, in_use);
    w->now = now ? w->fragments[now - 1] : NULL;
}

static void archive_memory(struct warp *w, struct archive *archive)
{
    uint64_t file = archive_number(archive, w->file_bytes, warp_most_file(w));
    uint64_t local = archive_number(archive, w->local_bytes, warp_most_local(w));
    if (archive->reading) {
        mem_free(w->file);
        mem_free(w->local);
        w->file = mem_alloc_lines(file, 1);
        w->local = mem_alloc(local, WARP_LANES);
        w->file_bytes = file;
        w->local_bytes = local;
    }
    archive_sparse(archive, w->file, file);
    archive_sparse(archive, w->local, local * WARP_LANES);
}

static void archive_warp(struct block *block, struct warp *w, struct archive *archive)
{
    const struct kernel *kernel = block->worker->grid->kernel;
    w->block = block;
    w->index = (uint32_t)(w - block->warps);
    ARCHIVE_VALUE(archive, w->exists);
    ARCHIVE_VALUE(archive, w->alive);
    ARCHIVE_VALUE(archive, w->active);
    ARCHIVE_VALUE(archive, w->turn);
    ARCHIVE_VALUE(archive, w->slices);
    ARCHIVE_VALUE(archive, w->slice);
    ARCHIVE_VALUE(archive, w->spins);
    ARCHIVE_VALUE(archive, w->constants_of);
    archive_memory(w, archive);
    archive_fragments(w, archive);
    w->code = code_archive(kernel, w->code, archive);
    w->at = op_archive(w->code, w->at, archive);
    uint64_t registers = archive_number(archive, (uint64_t)(w->registers - w->file), w->file_bytes);
    if (w->code)
        archive_check(archive, w->code->frame_bytes <= w->file_bytes - registers);
    w->registers = w->file + registers;
}

/* ---- blocks ---- */

static void archive_block(struct team *team, struct block *block, struct archive *archive)
{
    const struct grid *grid = &team->grid;
    const struct launch *launch = grid->launch;
    uint64_t shared = grid->kernel->dynamic_shared_at + launch->shared_bytes;
    if (archive->reading) {
        block->worker = team->worker;
        block->warps = mem_alloc(grid->warps_per_block, sizeof *block->warps);
        block->warp_count = block->warp_capacity = grid->warps_per_block;
        block->shared = shared ? mem_alloc_lines(shared, 1) : NULL;
        block->shared_bytes = block->shared_capacity = shared;
    }
    archive_expect(archive, block->warp_count);
    archive_expect(archive, block->shared_bytes);
    block->number = archive_number(archive, block->number, grid->block_count - 1);
    ARCHIVE_VALUE(archive, block->id);
    ARCHIVE_VALUE(archive, block->alive);
    ARCHIVE_VALUE(archive, block->clock_from);
    ARCHIVE_VALUE(archive, block->clock_reads);
    ARCHIVE_VALUE(archive, block->instructions);
    ARCHIVE_VALUE(archive, block->barriers);
    ARCHIVE_VALUE(archive, block->patience);
    archive_sparse(archive, block->shared, block->shared_bytes);
    for (uint32_t i = 0; i < block->warp_count && archive->good; i++)
        archive_warp(block, &block->warps[i], archive);
}

static uint32_t count_blocks(const struct team *team)
{
    uint32_t count = 0;
    for (const struct block *block = team->worker->made; block; block = block->made_before)
        count++;
    return count;
}

/* Blocks by number from 1 on, the one made last first; 0: none. */
struct block *block_archive(struct team *team, const struct block *block, struct archive *archive)
{
    struct block *at = team->worker->made;
    uint64_t number = 0;
    if (block)
        for (number = 1; at != block; at = at->made_before)
            number++;
    number = archive_number(archive, number, count_blocks(team));
    for (at = team->worker->made; number > 1; number--)
        at = at->made_before;
    return number ? at : NULL;
}

static void archive_blocks(struct team *team, struct archive *archive)
{
    struct worker *worker = team->worker;
    uint64_t count = archive_number(archive, count_blocks(team), MOST_BLOCKS);
    struct block **link = &worker->made;
    for (uint64_t i = 0; i < count && archive->good; i++, link = &(*link)->made_before) {
        if (archive->reading)
            *link = mem_alloc(1, sizeof **link);
        archive_block(team, *link, archive);
    }
    struct block *free_one = worker->pool, **last = &worker->pool; /* those to use again, in their order */
    for (uint64_t i = 0; archive->good && i <= count; i++) {
        struct block *block = block_archive(team, free_one, archive);
        if (!block)
            break;
        if (archive->reading)
            *last = block;
        else
            free_one = block->next;
        last = &block->next;
    }
    *last = NULL;
}

/* ---- the team ---- */

static struct delivery delivery_without_pointers(const struct delivery *of)
{
    struct delivery flat = *of;
    flat.access = NULL;
    flat.registers = flat.barrier = NULL;
    return flat;
}

static struct request request_without_pointers(const struct request *request)
{
    struct request flat = *request;
    flat.of = delivery_without_pointers(&request->of);
    flat.pieces = NULL;
    flat.piece_count = flat.piece_capacity = 0;
    return flat;
}

/* What of it was of another instruction may be seen by the next: all but what points somewhere. */
static void archive_request(struct request *request, struct archive *archive)
{
    struct request flat = request_without_pointers(request);
    ARCHIVE_VALUE(archive, flat);
    if (archive->reading)
        *request = request_without_pointers(&flat);
}

static void archive_code_shape(const struct kernel *kernel, struct archive *archive)
{
    archive_expect(archive, kernel->slots);
    archive_expect(archive, kernel->access_count);
    archive_expect(archive, kernel->program->function_count);
    for (size_t i = 0; i < kernel->program->function_count; i++) {
        const struct code *code = kernel->codes[i];
        archive_expect(archive, code ? code->op_count : 0);
        archive_expect(archive, code ? code->frame_bytes : 0);
    }
}

void team_archive(struct team *team, struct archive *archive)
{
    struct grid *grid = &team->grid;
    int stop = grid->stop;
    archive_expect(archive, sizeof(struct warp));
    archive_expect(archive, sizeof(struct block));
    archive_code_shape(grid->kernel, archive);
    archive_expect(archive, grid->block_count);
    archive_expect(archive, grid->param_bytes);
    if (!archive->good)
        return;
    archive_bytes(archive, grid->params, grid->param_bytes);
    ARCHIVE_VALUE(archive, stop);
    grid->stop = stop;
    ARCHIVE_VALUE(archive, team->fault);
    ARCHIVE_VALUE(archive, team->worker->result);
    archive_request(&team->request, archive);
    archive_blocks(team, archive);
}

/* ---- what is under way ---- */

/* A place in a warp's registers, in its local memory or in its block's shared memory. */
static char *place_archive(const struct warp *w, char *place, uint64_t bytes, struct archive *archive)
{
    const struct {
        char *at;
        uint64_t bytes;
    } parts[] = {{NULL, 0},
                 {w->file, w->file_bytes},
                 {w->block->shared, w->block->shared_bytes},
                 {w->local, w->local_bytes * WARP_LANES}};
    uint64_t part = 0;
    for (uint32_t i = 1; place && i < COUNT_OF(parts); i++)
        if ((uint64_t)(place - parts[i].at) < parts[i].bytes)
            part = i;
    REQUIRE(!place || part || archive->reading);
    part = archive_number(archive, part, COUNT_OF(parts) - 1);
    if (!part)
        return NULL;
    uint64_t offset = archive_number(archive, (uint64_t)(place - parts[part].at), parts[part].bytes);
    return archive_check(archive, bytes <= parts[part].bytes - offset) ? parts[part].at + offset : NULL;
}

static const struct access *access_archive(const struct kernel *kernel, const struct access *access,
                                           struct archive *archive)
{
    uint64_t number = archive_number(archive, access ? access->number : 0, kernel->access_count);
    return archive->reading ? memory_access(kernel, (uint32_t)number) : access;
}

/* Whether values can be written to the registers it names. */
static bool registers_fit(const struct delivery *of, uint64_t room)
{
    uint64_t end = of->kind == REQUEST_ATOMIC ? of->d + (uint64_t)of->register_bytes * WARP_LANES : 0;
    for (uint32_t v = 0; of->kind == REQUEST_LOAD && v < of->access->count; v++)
        end = max_u64(end, of->access->registers[v] + (uint64_t)of->access->register_bytes * WARP_LANES);
    return end <= room;
}

void delivery_archive(const struct warp *w, struct delivery *of, struct archive *archive)
{
    const struct kernel *kernel = w->block->worker->grid->kernel;
    struct delivery flat = delivery_without_pointers(of);
    ARCHIVE_VALUE(archive, flat);
    flat = delivery_without_pointers(&flat);
    archive_check(archive, flat.kind <= REQUEST_PIECES);
    if (flat.kind == REQUEST_LOAD) {
        flat.access = access_archive(kernel, of->access, archive);
        archive_check(archive, flat.access);
    }
    if (flat.kind == REQUEST_LOAD || flat.kind == REQUEST_ATOMIC) {
        flat.registers = place_archive(w, of->registers, 0, archive);
        uint64_t room = flat.registers ? (uint64_t)(w->file + w->file_bytes - flat.registers) : 0;
        archive_check(archive, archive->good && registers_fit(&flat, room));
    }
    flat.barrier = place_archive(w, of->barrier, 8, archive);
    if (archive->reading)
        *of = flat;
}

void piece_archive(const struct warp *w, struct piece *piece, struct archive *archive)
{
    ARCHIVE_VALUE(archive, piece->at);
    ARCHIVE_VALUE(archive, piece->bytes);
    ARCHIVE_VALUE(archive, piece->lane);
    piece->host = place_archive(w, piece->host, piece->bytes, archive);
}

/* The state of warps in checkpoints: registers, memory, the position of each thread. The reader generates the
 * code again from the same program. So pointers into code are saved as numbers of functions and operations,
 * those into registers and shared memory as offsets. */
#include "ptx_run/archive.h"
#include "ptx_run/access.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum { MOST_FRAMES = 1 << 20 };

/* ---- code ---- */

/* Functions by number from 1 on; 0: none. */
static const struct code *code_archive(const struct ptx_kernel *kernel, const struct code *code,
                                       struct archive *archive)
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
static const struct op *op_archive(const struct code *code, const struct op *op, struct archive *archive)
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
    const struct ptx_kernel *kernel = ptx_kernel_of(w->isa.block->worker->grid->kernel);
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

void ptx_archive_warp(struct isa_warp *isa, struct archive *archive)
{
    struct warp *w = ptx_warp(isa);
    const struct ptx_kernel *kernel = warp_kernel(w);
    ARCHIVE_VALUE(archive, w->exists);
    ARCHIVE_VALUE(archive, w->alive);
    ARCHIVE_VALUE(archive, w->arrived);
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
    if (archive->reading) {
        isa->ended = !w->fragment_count;
        isa->code = w->code ? &w->code->isa : NULL;
        isa->next = w->at ? &w->code->isa.timing[w->at - w->code->ops] : NULL;
    }
}

void ptx_archive_shape(const struct kernel *base, struct archive *archive)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(base);
    archive_expect(archive, kernel->program->function_count);
    for (size_t i = 0; i < kernel->program->function_count; i++) {
        const struct code *code = kernel->codes[i];
        archive_expect(archive, code ? code->op_count : 0);
        archive_expect(archive, code ? code->frame_bytes : 0);
    }
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
                 {w->isa.block->shared, w->isa.block->shared_bytes},
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

static const struct access *access_archive(const struct ptx_kernel *kernel, const struct access *access,
                                           struct archive *archive)
{
    uint64_t number = archive_number(archive, access ? access->number : 0, kernel->base.access_count);
    return archive->reading ? access_find(kernel, (uint32_t)number) : access;
}

static bool is_load(const struct delivery *of)
{
    return of->kind == REQUEST_LOAD || of->kind == REQUEST_CONSTANT;
}

/* Whether values can be written to the registers it names. */
static bool registers_fit(const struct delivery *of, uint64_t room)
{
    const struct access *access = of->how;
    uint64_t end = of->kind == REQUEST_ATOMIC
                       ? max_u64(of->d, of->d_upper) + (uint64_t)of->register_bytes * WARP_LANES
                       : 0;
    for (uint32_t v = 0; is_load(of) && v < access->count; v++)
        end = max_u64(end, access->registers[v] + (uint64_t)access->register_bytes * WARP_LANES);
    return end <= room;
}

/* An operation of any of the kernel's functions. */
static const struct op *any_op_archive(const struct ptx_kernel *kernel, const struct op *op,
                                       struct archive *archive)
{
    const struct code *code = NULL;
    for (size_t i = 0; op && i < kernel->program->function_count && !code; i++) {
        const struct code *one = kernel->codes[i];
        code = one && op >= one->ops && op < one->ops + one->op_count ? one : NULL;
    }
    code = code_archive(kernel, code, archive);
    return code ? op_archive(code, op, archive) : NULL;
}

void ptx_archive_delivery(const struct isa_warp *isa, struct delivery *of, struct archive *archive)
{
    const struct warp *w = (const struct warp *)(const void *)isa;
    const struct ptx_kernel *kernel = warp_kernel(w);
    struct delivery flat = team_bare_delivery(of);
    ARCHIVE_VALUE(archive, flat);
    flat = team_bare_delivery(&flat);
    archive_check(archive, flat.kind <= REQUEST_PIECES && flat.width == WARP_LANES);
    if (is_load(&flat)) {
        flat.how = access_archive(kernel, of->how, archive);
        archive_check(archive, flat.how);
    }
    if (is_load(&flat) || flat.kind == REQUEST_ATOMIC) {
        flat.registers = place_archive(w, of->registers, 0, archive);
        uint64_t room = flat.registers ? (uint64_t)(w->file + w->file_bytes - flat.registers) : 0;
        archive_check(archive, archive->good && registers_fit(&flat, room));
    }
    if (flat.kind == REQUEST_PIECES && flat.stage_bytes) {
        flat.how = any_op_archive(kernel, of->how, archive);
        flat.registers = place_archive(w, of->registers, 0, archive);
        uint64_t room = flat.registers ? (uint64_t)(w->file + w->file_bytes - flat.registers) : 0;
        archive_check(archive, flat.how && tex_results_fit(flat.how, room));
    }
    flat.barrier = place_archive(w, of->barrier, 8, archive);
    if (archive->reading)
        *of = flat;
}

void ptx_archive_piece(const struct isa_warp *isa, struct piece *piece, struct archive *archive)
{
    const struct warp *w = (const struct warp *)(const void *)isa;
    ARCHIVE_VALUE(archive, piece->at);
    ARCHIVE_VALUE(archive, piece->bytes);
    ARCHIVE_VALUE(archive, piece->lane);
    ARCHIVE_VALUE(archive, piece->stage_at);
    piece->host = place_archive(w, piece->host, piece->bytes, archive);
}

const struct isa_code *ptx_archive_code(const struct kernel *base, const struct isa_code *code,
                                        struct archive *archive)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(base);
    const struct code *found = NULL;
    for (size_t i = 0; code && i < kernel->program->function_count && !found; i++)
        found = kernel->codes[i] && &kernel->codes[i]->isa == code ? kernel->codes[i] : NULL;
    found = code_archive(kernel, found, archive);
    return found ? &found->isa : NULL;
}

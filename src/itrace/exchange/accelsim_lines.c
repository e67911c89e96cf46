#include "exchange/accelsim_lines.h"
#include "exec/atomics.h"
#include "base/bits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STEP_PC = 16, LANES = 32, CHUNK = 16 };

/* By unit: an opcode of Volta that Accel-Sim runs on the unit that is most like it. Memory has others. */
static const char *const unit_opcodes[UNIT_COUNT] = {
    [UNIT_ALU] = "IADD3",     [UNIT_IMAD] = "IMAD",   [UNIT_WIDE] = "IMAD.WIDE", [UNIT_FMA] = "FFMA",
    [UNIT_HALF] = "HFMA2",    [UNIT_FP64] = "DFMA",   [UNIT_SFU] = "MUFU.RCP",   [UNIT_CVT] = "F2I",
    [UNIT_CVT64] = "F2F.F64", [UNIT_TENSOR] = "HMMA", [UNIT_IMMA] = "IMMA",      [UNIT_TEX] = "TEX",
    [UNIT_CONTROL] = "BRA",   [UNIT_JUMP] = "BRA",    [UNIT_CALL] = "CALL",      [UNIT_SYNC] = "NOP",
    [UNIT_SHUFFLE] = "SHFL",  [UNIT_VOTE] = "VOTE",   [UNIT_MATCH] = "MATCH",    [UNIT_UNIFORM] = "MOV",
    [UNIT_SPECIAL] = "S2R",   [UNIT_CONST] = "MOV",   [UNIT_LSU] = "NOP"};

bool accelsim_lines_need_ampere(const struct itrace *trace, const struct itrace_kernel *kernel)
{
    bool needs = trace->isa && !strcmp(trace->isa, "SASS");
    for (uint32_t c = 0; c < kernel->code_count; c++)
        for (uint32_t i = 0; i < kernel->codes[c].code.count; i++) {
            const char *text = kernel->codes[c].places[i].instruction;
            needs |= kernel->codes[c].code.timing[i].role == ROLE_COMMIT ||
                     (text && !strncmp(text, "cp.async", 8)); /* bulk copies are not committed */
        }
    return needs;
}

void accelsim_lines_init(struct accelsim_lines *lines, const struct itrace *trace,
                         const struct itrace_launch *launch)
{
    *lines = (struct accelsim_lines){.kernel = &trace->kernels[launch->kernel],
                                     .is_sass = trace->isa && !strcmp(trace->isa, "SASS"),
                                     .threads = itrace_launch_threads(launch)};
    accelsim_registers_init(&lines->registers, lines->kernel);
}

void accelsim_lines_fini(struct accelsim_lines *lines)
{
    accelsim_registers_fini(&lines->registers);
    text_fini(&lines->text);
    mem_free(lines->chunks);
}

void accelsim_lines_begin(struct accelsim_lines *lines, lane_mask exists)
{
    lines->text.length = 0;
    lines->count = lines->commits = lines->last_pc = 0;
    lines->alive = exists;
    lines->waiting = 0;
    accelsim_registers_begin(&lines->registers);
}

/* ---- a line ---- */

struct line {
    uint32_t pc;
    lane_mask mask;
    int to; /* or -1 */
    const char *opcode;
    struct accelsim_sources from;
    uint32_t width; /* 0: no addresses, or none for any lane */
    const uint64_t *at;
    uint64_t immediate;
};

static void add_addresses(const struct line *line, struct text *text)
{
    if (!line->mask) {
        text_add(text, " 1 0x0 0");
        return;
    }
    uint32_t first = first_lane(line->mask), last = first;
    lane_mask rest = line->mask & (line->mask - 1), run = line->mask >> first;
    int64_t stride = rest ? (int64_t)(line->at[first_lane(rest)] - line->at[first]) : 0;
    bool regular = rest && !(run & (run + 1)) && stride == (int32_t)stride;
    EACH_LANE (i, regular ? rest : 0) {
        regular &= (int64_t)(line->at[i] - line->at[last]) == stride;
        last = i;
    }
    text_add(text, " %d 0x%" PRIx64, regular ? 1 : 2, line->at[first]);
    if (regular)
        text_add(text, " %" PRId64, stride);
    last = first;
    EACH_LANE (i, regular ? 0 : rest) {
        text_add(text, " %" PRId64, (int64_t)(line->at[i] - line->at[last]));
        last = i;
    }
}

static void add_line(struct accelsim_lines *lines, const struct line *line)
{
    struct text *text = &lines->text;
    text_add(text, "%04x %08" PRIx64 " %d ", line->pc, line->mask, line->to >= 0);
    if (line->to >= 0)
        text_add(text, "R%d ", line->to);
    text_add(text, "%s %u", line->opcode, line->from.count);
    for (uint32_t i = 0; i < line->from.count; i++)
        text_add(text, " R%u", line->from.at[i]);
    text_add(text, " %u", line->width);
    if (line->width)
        add_addresses(line, text);
    text_add(text, " %" PRIu64 " \n", line->immediate);
    lines->count++;
    lines->last_pc = line->pc;
}

/* ---- memory ---- */

static const char *width_text(uint32_t bytes)
{
    return bytes == 1 ? ".U8" : bytes == 2 ? ".U16" : bytes <= 4 ? "" : bytes <= 8 ? ".64" : ".128";
}

static void add_access(struct accelsim_lines *lines, struct line line, const char *opcode, uint32_t bytes,
                       const uint64_t at[], lane_mask mask)
{
    char text[32];
    snprintf(text, sizeof text, "%s%s", opcode, width_text(bytes));
    bool is_box = !strncmp(line.opcode, "UTMA", 4) || !strncmp(line.opcode, "UBLK", 4); /* has other lines */
    line.opcode = lines->is_sass && !is_box ? line.opcode : text;
    line.mask = mask;
    line.width = bytes > 8 ? 16 : bytes > 4 ? 8 : bytes > 2 ? 4 : bytes;
    line.at = at;
    add_line(lines, &line);
}

/* ---- pieces: accesses of a warp as a whole, such as matrices and bulk copies ---- */

static int by_place(const void *a, const void *b)
{
    const struct accelsim_chunk *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The bytes of all pieces, in parts of 16 that are aligned, each once: what a lane can access. */
static void find_chunks(struct accelsim_lines *lines, const struct request *request)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        for (uint64_t at = piece->at, end = at + piece->bytes, next; at < end; at = next) {
            next = min_u64(at / CHUNK * CHUNK + CHUNK, end);
            mem_grow(lines->chunks, count, lines->chunk_capacity);
            lines->chunks[count++] = (struct accelsim_chunk){at / CHUNK * CHUNK, (uint32_t)(at % CHUNK),
                                                             (uint32_t)(at % CHUNK + next - at)};
        }
    }
    if (count)
        qsort(lines->chunks, count, sizeof *lines->chunks, by_place);
    for (size_t i = 0; i < count; i++) {
        const struct accelsim_chunk *one = &lines->chunks[i];
        struct accelsim_chunk *last = &lines->chunks[kept ? kept - 1 : 0];
        if (kept && last->at == one->at) {
            last->first = (uint32_t)min_u64(last->first, one->first);
            last->end = (uint32_t)max_u64(last->end, one->end);
        } else {
            lines->chunks[kept++] = *one;
        }
    }
    lines->chunk_count = kept;
}

/* Bytes of the smallest access that has all of it: a power of two, where it begins at a multiple of that. */
static uint32_t chunk_width(const struct accelsim_chunk *chunk)
{
    uint32_t width = 1;
    while (chunk->first / width != (chunk->end - 1) / width)
        width *= 2;
    return width;
}

/* The n-th of so many equal parts of the chunks: lines of up to 32 lanes. Only the last line of the
 * instruction has its destination: a wide load writes up to four registers, and lines that share one wait for
 * each other. */
static void add_chunks(struct accelsim_lines *lines, struct line line, const struct request *request,
                       uint32_t part, uint32_t parts)
{
    uint64_t at[LANES];
    uint32_t count = 0, width = 0;
    int to = part + 1 == parts ? line.to : -1;
    const char *opcode = request->of.is_async ? "LDGSTS.E" : request->writes ? "STG.E" : "LDG.E";
    size_t end = lines->chunk_count * (part + 1) / parts;
    line.to = -1;
    for (size_t i = lines->chunk_count * part / parts; i < end; i++) {
        uint32_t own = chunk_width(&lines->chunks[i]);
        if (count == LANES || (count && own != width)) {
            add_access(lines, line, opcode, width, at, UINT32_MAX >> (LANES - count));
            count = 0;
        }
        width = own;
        at[count++] = lines->chunks[i].at + lines->chunks[i].first / width * width;
    }
    line.to = to;
    if (count)
        add_access(lines, line, opcode, width, at, UINT32_MAX >> (LANES - count));
    else
        add_line(lines, &line);
}

static const char *atomic_opcode(const struct request *request)
{
    bool floats = request->of.operation < atomic_row_count && atomic_rows[request->of.operation].floats;
    if (request->of.returns)
        return floats ? "ATOMG.E.ADD.F32" : "ATOMG.E.ADD";
    return floats ? "RED.E.ADD.F32" : "RED.E.ADD";
}

static void add_global(struct accelsim_lines *lines, const struct line *line, const struct request *request)
{
    const struct delivery *of = &request->of;
    switch ((enum request_kind)of->kind) {
    case REQUEST_NONE:
    case REQUEST_SIGNAL:
    case REQUEST_PIECES: /* on all lines of the instruction that can access memory */
        break;
    case REQUEST_ATOMIC:
        add_access(lines, *line, atomic_opcode(request), of->bytes, of->at, of->lanes);
        break;
    case REQUEST_STORE:
        add_access(lines, *line, "STG.E", of->bytes, of->at, of->lanes);
        break;
    case REQUEST_CONSTANT: /* Accel-Sim has no constant caches */
    case REQUEST_LOAD:
        add_access(lines, *line, of->keep || of->kind == REQUEST_CONSTANT ? "LDG.E" : "LDG.E.STRONG.GPU",
                   of->bytes, of->at, of->lanes);
        break;
    }
}

static void add_request(struct accelsim_lines *lines, const struct line *line, const struct request *request,
                        const struct isa_timing *row)
{
    uint64_t shared_at[ISA_LANES], local_at[ISA_LANES];
    EACH_LANE (i, request->shared)
        shared_at[i] = request->shared_at[i];
    EACH_LANE (i, request->local)
        local_at[i] = request->local_at[i] & ~UINT64_C(3); /* words lie apart, each aligned */
    add_global(lines, line, request);
    if (request->shared)
        add_access(lines, *line,
                   request->shared_atomic ? "ATOMS.ADD"
                   : row->writes          ? "LDS"
                                          : "STS",
                   request->shared_bytes, shared_at, request->shared);
    if (request->local)
        add_access(lines, *line, request->local_writes ? "STL" : "LDL",
                   (uint32_t)max_u64(request->local_bytes, 4), local_at, request->local);
    if (request->param) {
        struct line constant = *line;
        constant.opcode = "MOV";
        add_line(lines, &constant);
    }
}

/* ---- steps ---- */

/* A barrier is Accel-Sim's once all lanes of the warp have come. */
static bool comes_to_barrier(struct accelsim_lines *lines, const struct iwalk_step *step, struct line *line)
{
    const struct istream_run *run = step->run;
    if (!run || !(run->events & EVENT_ARRIVES))
        return false;
    if (!(run->events & EVENT_WAITS) || (run->expected && run->expected < lines->threads)) {
        lines->lost_barriers = true;
        return false;
    }
    lines->waiting |= step->mask;
    if ((lines->waiting & lines->alive) != lines->alive)
        return false;
    line->mask = lines->waiting;
    lines->waiting = 0;
    return true;
}

static void choose_opcode(struct accelsim_lines *lines, const struct iwalk_step *step, uint32_t unit,
                          bool is_last, struct line *line)
{
    const struct code_place *place = &lines->kernel->codes[step->code].places[step->instruction];
    uint32_t role = step->row->role;
    line->opcode = lines->is_sass && place->instruction ? place->instruction : unit_opcodes[unit];
    if (!is_last)
        return;
    if (step->run && step->run->events & EVENT_EXITS)
        line->opcode = "EXIT";
    else if (role == ROLE_BARRIER)
        line->opcode = comes_to_barrier(lines, step, line) ? "BAR.SYNC" : "NOP";
    else if (role == ROLE_FENCE || role == ROLE_FENCE_SYSTEM || role == ROLE_FENCE_BLOCK)
        line->opcode = "MEMBAR";
    else if (role == ROLE_COMMIT && ++lines->commits)
        line->opcode = "LDGDEPBAR";
    else if ((role == ROLE_COPIES || role == ROLE_ALL_COPIES) && lines->commits) {
        line->opcode = "DEPBAR.LE";
        line->immediate = role == ROLE_COPIES ? min_u64(step->row->role_count, lines->commits) : 0;
    } else if (lines->is_sass && unit == UNIT_LSU && !step->row->plain && !step->request)
        line->opcode = "NOP"; /* an access by no lane */
}

/* What a step needs of those before it, and of the instruction's sources. */
static void choose_sources(const struct isa_step *step, const struct accelsim_sources *sources, int last,
                           const struct accelsim_sources *all, struct line *line)
{
    bool chained = step->flags & (STEP_CHAINED | STEP_GUARDED);
    if (step->flags & STEP_JOINS)
        line->from = *all;
    else if (chained && last >= 0)
        line->from = (struct accelsim_sources){1, {(uint16_t)last}};
    else
        line->from = *sources;
}

void accelsim_lines_put(struct accelsim_lines *lines, const struct iwalk_step *step)
{
    const struct isa_timing *row = step->row;
    const struct isa_code *code = &lines->kernel->codes[step->code].code;
    const struct isa_step *steps = code->steps + row->first_step;
    bool exits = step->run && step->run->events & EVENT_EXITS;
    struct accelsim_sources sources, all = {0};
    uint32_t result = 0, memory = UINT32_MAX; /* which steps write the result, access memory */
    int last = -1;
    accelsim_sources(&lines->registers, code, row, &sources);
    int to = accelsim_destination(&lines->registers, lines->kernel, step->code, row, &sources);
    for (uint32_t i = 0; i < row->steps; i++) {
        result = steps[i].flags & STEP_BESIDE ? result : i;
        bool can = steps[i].unit == UNIT_LSU || steps[i].unit == UNIT_CONST;
        memory = can && step->request && memory == UINT32_MAX ? i : memory;
    }
    bool has_pieces = memory != UINT32_MAX && step->request->of.kind == REQUEST_PIECES;
    uint32_t part = 0, parts = 0;
    for (uint32_t i = memory; has_pieces && i < row->steps; i++)
        parts += steps[i].unit == steps[memory].unit;
    if (has_pieces)
        find_chunks(lines, step->request);
    for (uint32_t i = 0; i < row->steps; i++) {
        struct line line = {.pc = (uint32_t)code->code_at + (row->first_step + i) * STEP_PC,
                            .mask = step->mask};
        bool is_beside = steps[i].flags & STEP_BESIDE;
        choose_sources(&steps[i], &sources, last, &all, &line);
        line.to = i == result                    ? to
                  : exits && i + 1 == row->steps ? -1
                                                 : accelsim_temporary(row->first_step + i);
        choose_opcode(lines, step, steps[i].unit, i + 1 == row->steps, &line);
        if (has_pieces && i >= memory && steps[i].unit == steps[memory].unit)
            add_chunks(lines, line, step->request, part++, parts);
        if (i == memory)
            add_request(lines, &line, step->request, row);
        else if (!has_pieces || i < memory || steps[i].unit != steps[memory].unit)
            add_line(lines, &line);
        if (!is_beside && line.to >= 0) {
            last = line.to;
            accelsim_sources_add(&all, (uint16_t)last);
        }
    }
    if (exits && !row->steps)
        add_line(lines, &(struct line){
                            .pc = lines->last_pc + STEP_PC, .mask = step->mask, .to = -1, .opcode = "EXIT"});
    if (exits)
        lines->alive &= ~step->mask;
}

void accelsim_lines_end(struct accelsim_lines *lines)
{
    if (lines->alive)
        add_line(
            lines,
            &(struct line){.pc = lines->last_pc + STEP_PC, .mask = lines->alive, .to = -1, .opcode = "EXIT"});
}

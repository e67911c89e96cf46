/* Faults of work-items, and where they are in the program. */
#include "gcn3_run/wave.h"
#include "base/text.h"
#include "exec/place.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names that last. */
static char names[GCN3_TARGETS][GCN3_OP_COUNT][40];

static void make_names(void)
{
    for (int target = 0; target < GCN3_TARGETS; target++)
        for (int op = 1; op < GCN3_OP_COUNT; op++) {
            int length;
            const char *text = gcn3_name((enum gcn3_op)op, (enum gcn3_target)target, &length);
            snprintf(names[target][op], sizeof names[target][op], "%.*s", length, text);
        }
}

static const char *name_of(enum gcn3_op op, enum gcn3_target target)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_names);
    return names[target][op];
}

static void place_of(const struct gcn3_program *program, const char *kernel, uint32_t number,
                     struct code_place *place)
{
    const struct gcn3_lowered *op = &program->ops[number];
    *place = (struct code_place){.kernel = kernel, .module = program->object->name, .instruction = "end"};
    if (number >= program->count)
        return;
    const char *file;
    uint32_t line;
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    place->instruction =
        op->inst.op == GCN3_INVALID ? "data" : name_of((enum gcn3_op)op->inst.op, program->target);
    place->code_at = op->at;
    place->is_atomic = op->access.is_atomic;
    place->is_shared = row->unit == GCN3_UNIT_LDS;
    place->steps[program->steps[op->at / 4].unit] = 1;
    if (gcn3_object_line(program->object, op->at, &file, &line) && line) {
        place->file = file;
        place->line = line;
    }
}

void gcn3_place(const struct kernel *base, const struct isa_code *code, uint32_t op, struct code_place *place)
{
    (void)code; /* functions are in the program of their kernel */
    place_of(gcn3_kernel(base)->program, base->facts.name, op, place);
}

_Noreturn void gcn3_fault(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                          enum fault_kind kind, uint64_t address, const char *format, ...)
{
    struct text where = {0};
    struct code_place place;
    char said[1400], told[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    /* a part of an instruction is no instruction of the program */
    const struct gcn3_lowered *ops = w->program->ops;
    uint32_t number = op >= ops && op <= ops + w->program->count ? (uint32_t)(op - ops) : w->pc - 1;
    place_of(w->program, w->isa.block->worker->grid->kernel->facts.name, number, &place);
    place_tell(&place, &where);
    snprintf(told, sizeof told, "%s", where.at);
    text_fini(&where);
    block_fault(w->isa.block, w->isa.index * GCN3_LANES + lane, kind, address, told, said);
}

_Noreturn void gcn3_fault_lds(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t at,
                              uint32_t bytes)
{
    bool before = (int32_t)at < 0; /* addresses have 32 bits */
    gcn3_fault(w, op, lane, FAULT_ADDRESS, at,
               "%s of %u bytes at byte %s%llu of the work-group's %llu bytes of LDS",
               op->access.writes ? "a write" : "a read", bytes, before ? "-" : "",
               (unsigned long long)(before ? -(int64_t)(int32_t)at : (int64_t)at),
               (unsigned long long)w->isa.block->shared_bytes);
}

/* ---- blocks that cannot go on ---- */

void gcn3_describe(const struct block *block, struct text *text)
{
    text_add(text, "of work-group (%u,%u,%u)", block->id[0], block->id[1], block->id[2]);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct gcn3_wave *w = gcn3_wave(block_warp(block, i));
        if (w->isa.ended)
            continue;
        struct code_place place;
        place_of(w->program, block->worker->grid->kernel->facts.name, w->pc ? w->pc - 1 : 0, &place);
        text_add(text, ", wave %u is at ", i);
        place_tell_short(&place, text);
        if (i >= 7) {
            text_add(text, ", ...");
            return;
        }
    }
}

void gcn3_deadlock(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct gcn3_wave *w = gcn3_wave(block_warp(block, i));
        if (w->isa.ended)
            continue;
        struct text text = {0};
        char where[1000];
        gcn3_describe(block, &text);
        snprintf(where, sizeof where, "%s", text.at);
        text_fini(&text);
        gcn3_fault(w, &w->program->ops[w->pc ? w->pc - 1 : 0], 0, FAULT_DEADLOCK, 0,
                   "waits at a barrier that other waves never reach; %s", where);
    }
    BUG("a block without waves waits");
}

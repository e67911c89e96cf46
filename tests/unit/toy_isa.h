/* A toy instruction set with warps of 64 lanes: the proof that a model runs what is neither PTX nor 32 lanes
 * wide, through isa/warp.h alone. Lanes have TOY_REGISTERS registers of 32 bits; memory is reached by an
 * index of words from one of the kernel's parameters; lanes diverge by IF and END, which change who is
 * active. */
#ifndef TOY_ISA_H
#define TOY_ISA_H

#include "base/archive.h"
#include "base/mem.h"
#include "base/text.h"
#include "exec/atomics.h"
#include "exec/block.h"
#include "exec/place.h"

#include <stdio.h>
#include <string.h>

enum {
    TOY_LANES = 64,
    TOY_REGISTERS = 32,
    TOY_MANY = 12, /* registers of a wide access */
    TOY_OWN = 64,  /* words of a lane's own memory */
    TOY_IFS = 4,
    TOY_CODE = 1024,
    TOY_ADD_U32 = 0
};

/*  name, unit, role, and how many registers from a and b on it reads, and from d on it writes */
#define TOY_OPS(T)                                                                                           \
    T(THREAD, SPECIAL, NONE, 0, 0, 1)     /* d = the thread's number in the grid */                          \
    T(SET, ALU, NONE, 0, 0, 1)            /* d = number */                                                   \
    T(ADD, ALU, NONE, 1, 1, 1)            /* d = a + b */                                                    \
    T(MUL, IMAD, NONE, 1, 1, 1)           /* d = a * b */                                                    \
    T(LESS, ALU, NONE, 1, 1, 1)           /* d = a < b */                                                    \
    T(LOAD, LSU, NONE, 1, 0, 1)           /* d = parameter[number][a] */                                     \
    T(STORE, LSU, NONE, 1, 1, 0)          /* parameter[number][a] = b */                                     \
    T(COUNT, LSU, NONE, 1, 1, 1)          /* d = parameter[number][a], to which b is added */                \
    T(LOADS, LSU, NONE, 1, 0, TOY_MANY)   /* d.. = parameter[number][a..] */                                 \
    T(STORES, LSU, NONE, 1, TOY_MANY, 0)  /* parameter[number][a..] = b.. */                                 \
    T(FIXED, CONST, NONE, 1, 0, TOY_MANY) /* LOADS of what no kernel writes, by the constant caches */       \
    T(SAVE, LSU, NONE, 1, 1, 0)           /* own[a] = b: local memory */                                     \
    T(FETCH, LSU, NONE, 1, 0, 1)          /* d = own[a] */                                                   \
    T(PUT, LSU, NONE, 1, 1, 0)            /* shared[a] = b */                                                \
    T(GET, LSU, NONE, 1, 0, 1)            /* d = shared[a] */                                                \
    T(BARRIER, SYNC, BARRIER, 0, 0, 0)    /* of the block's warps */                                         \
    T(IF, CONTROL, NONE, 1, 0, 0)         /* until END only for lanes whose a is not 0 */                    \
    T(END, CONTROL, NONE, 0, 0, 0)                                                                           \
    T(LOOP, CONTROL, BRANCH, 1, 0, 0) /* to instruction `number` while a is not 0 in some lane */            \
    T(EXIT, CONTROL, NONE, 0, 0, 0)

enum toy_op {
#define T(name, ...) TOY_##name,
    TOY_OPS(T)
#undef T
        TOY_OP_COUNT
};

static const struct toy_row {
    const char *name;
    uint8_t unit, role, a, b, d;
} toy_rows[] = {
#define T(name, unit, role, a, b, d) {#name, UNIT_##unit, ROLE_##role, a, b, d},
    TOY_OPS(T)
#undef T
};

struct toy_inst {
    enum toy_op op;
    uint8_t d, a, b;
    uint32_t number;
};

struct toy_kernel {
    struct kernel base; /* first */
    const struct toy_inst *insts;
    uint32_t count;
    struct isa_code code;
    struct isa_timing timing[TOY_CODE];
    struct isa_step steps[TOY_CODE];
    uint16_t registers[(1 + TOY_MANY) * TOY_CODE];
};

struct toy_warp {
    struct isa_warp isa; /* first */
    uint32_t r[TOY_REGISTERS][TOY_LANES], own[TOY_OWN][TOY_LANES];
    lane_mask ifs[TOY_IFS];
    uint32_t if_count, pc;
    bool waits;
};

static struct toy_warp *toy_warp(const struct isa_warp *warp)
{
    return (struct toy_warp *)(uintptr_t)warp;
}

static struct toy_kernel *toy_kernel(const struct kernel *kernel)
{
    return (struct toy_kernel *)(uintptr_t)kernel;
}

static const struct toy_kernel *toy_kernel_of(const struct isa_warp *warp)
{
    return toy_kernel(warp->block->worker->grid->kernel);
}

/* ---- what time sees ---- */

static bool toy_prepare(struct kernel *base, struct err *err)
{
    struct toy_kernel *kernel = toy_kernel(base);
    uint32_t used = 0;
    if (kernel->count > TOY_CODE)
        return err_set(err, "%u instructions", kernel->count);
    for (uint32_t i = 0; i < kernel->count; i++) {
        const struct toy_inst *inst = &kernel->insts[i];
        const struct toy_row *row = &toy_rows[inst->op];
        struct isa_timing *timing = &kernel->timing[i];
        *timing = (struct isa_timing){.registers = used, .steps = 1, .first_step = i, .role = row->role};
        for (uint16_t k = 0; k < row->a; k++)
            kernel->registers[used++] = inst->a + k;
        for (uint16_t k = 0; k < row->b; k++)
            kernel->registers[used++] = inst->b + k;
        timing->reads = (uint8_t)(row->a + row->b);
        for (uint16_t k = 0; k < row->d; k++)
            kernel->registers[used++] = inst->d + k;
        timing->writes = row->d;
        kernel->steps[i] = (struct isa_step){.unit = row->unit};
    }
    kernel->code = (struct isa_code){.timing = kernel->timing,
                                     .registers = kernel->registers,
                                     .steps = kernel->steps,
                                     .count = kernel->count,
                                     .step_bytes = 8};
    base->code = &kernel->code;
    base->slots = TOY_REGISTERS;
    base->code_bytes = 8u * kernel->count;
    return true;
}

static void toy_place(const struct kernel *base, const struct isa_code *code, uint32_t instruction,
                      struct code_place *place)
{
    (void)code;
    const struct toy_kernel *kernel = toy_kernel(base);
    *place = (struct code_place){.kernel = base->facts.name,
                                 .module = "toy",
                                 .instruction = toy_rows[kernel->insts[instruction].op].name};
}

/* ---- warps ---- */

static void toy_start(struct isa_warp *isa, lane_mask exists)
{
    struct toy_warp *w = toy_warp(isa);
    struct isa_warp kept = *isa;
    memset(w, 0, sizeof *w);
    w->isa = kept;
    isa->active = exists;
    isa->code = &toy_kernel_of(isa)->code;
}

static void toy_fini(struct isa_warp *isa)
{
    (void)isa; /* it owns nothing */
}

static bool toy_settle(struct isa_warp *isa)
{
    const struct toy_warp *w = toy_warp(isa);
    isa->next = &toy_kernel_of(isa)->timing[w->pc];
    return !isa->ended && !w->waits;
}

static bool toy_is_awake(const struct isa_warp *isa)
{
    return !toy_warp(isa)->waits;
}

/* After a warp arrived or ended. */
static void toy_check_barrier(struct block *block)
{
    uint32_t left = 0, waiting = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        left += !block_warp(block, i)->ended;
        waiting += toy_warp(block_warp(block, i))->waits;
    }
    for (uint32_t i = 0; i < block->warp_count && waiting == left; i++)
        toy_warp(block_warp(block, i))->waits = false;
    block->opened |= waiting == left;
}

/* Where a lane's word is. */
static uint64_t toy_at(const struct isa_warp *isa, const struct toy_inst *inst, uint32_t lane)
{
    uint64_t base;
    memcpy(&base, isa->block->worker->grid->params + 8 * inst->number, 8);
    return base + 4 * (uint64_t)toy_warp(isa)->r[inst->a][lane];
}

static enum request_kind toy_kind(const struct toy_inst *inst)
{
    switch (inst->op) {
    case TOY_FIXED:
        return REQUEST_CONSTANT;
    case TOY_STORE:
    case TOY_STORES:
        return REQUEST_STORE;
    case TOY_COUNT:
        return REQUEST_ATOMIC;
    default:
        return REQUEST_LOAD;
    }
}

/* Done here without time; with it, the model is told. */
static void toy_global(struct isa_warp *isa, const struct toy_inst *inst)
{
    struct toy_warp *w = toy_warp(isa);
    struct request *request = isa->block->worker->request;
    enum request_kind kind = toy_kind(inst);
    uint32_t words = kind == REQUEST_STORE ? toy_rows[inst->op].b : toy_rows[inst->op].d;
    EACH_LANE (i, isa->active) {
        uint64_t at = toy_at(isa, inst, i);
        uint32_t *word = (uint32_t *)(uintptr_t)at;
        struct range range;
        if (!image_find(isa->block->worker->grid->launch->image, at, &range))
            block_fault(isa->block, isa->index * TOY_LANES + i, FAULT_ADDRESS, at, toy_rows[inst->op].name,
                        "an address of nobody");
        if (request) {
            request->of.at[i] = at;
            request->operand[i] = w->r[inst->b][i];
        } else if (kind == REQUEST_ATOMIC) {
            w->r[inst->d][i] = __atomic_fetch_add(word, w->r[inst->b][i], __ATOMIC_SEQ_CST);
        } else {
            for (uint32_t k = 0; k < words; k++)
                if (kind == REQUEST_STORE)
                    word[k] = w->r[inst->b + k][i];
                else
                    w->r[inst->d + k][i] = word[k];
        }
    }
    if (!request || !isa->active)
        return;
    request->of.kind = (uint8_t)kind;
    request->of.lanes = isa->active;
    request->of.bytes = (uint8_t)(4 * words);
    request->of.keep = true;
    request->of.acquires = false;
    request->of.operation = TOY_ADD_U32;
    request->of.returns = true;
    request->of.registers = (char *)(kind == REQUEST_STORE ? w->r[inst->b] : w->r[inst->d]);
}

static void toy_local(struct isa_warp *isa, const struct toy_inst *inst)
{
    struct toy_warp *w = toy_warp(isa);
    struct request *request = isa->block->worker->request;
    EACH_LANE (i, isa->active) {
        uint32_t at = w->r[inst->a][i];
        if (inst->op == TOY_SAVE)
            w->own[at][i] = w->r[inst->b][i];
        else
            w->r[inst->d][i] = w->own[at][i];
        if (request)
            request->local_at[i] = 4 * at;
    }
    if (request) {
        request->local = isa->active;
        request->local_bytes = 4;
        request->local_writes = inst->op == TOY_SAVE;
    }
}

static void toy_shared(struct isa_warp *isa, const struct toy_inst *inst)
{
    struct toy_warp *w = toy_warp(isa);
    struct request *request = isa->block->worker->request;
    uint32_t *shared = (uint32_t *)(void *)isa->block->shared;
    EACH_LANE (i, isa->active) {
        uint32_t at = w->r[inst->a][i];
        if (inst->op == TOY_PUT)
            shared[at] = w->r[inst->b][i];
        else
            w->r[inst->d][i] = shared[at];
        if (request)
            request->shared_at[i] = 4 * at;
    }
    if (request) {
        request->shared = isa->active;
        request->shared_bytes = 4;
    }
}

static void toy_compute(struct toy_warp *w, const struct toy_inst *inst)
{
    const struct block *block = w->isa.block;
    EACH_LANE (i, w->isa.active) {
        uint32_t a = w->r[inst->a][i], b = w->r[inst->b][i];
        uint32_t thread =
            (uint32_t)block->number * block->worker->grid->threads_per_block + w->isa.index * TOY_LANES + i;
        w->r[inst->d][i] = inst->op == TOY_THREAD ? thread
                           : inst->op == TOY_SET  ? inst->number
                           : inst->op == TOY_ADD  ? a + b
                           : inst->op == TOY_MUL  ? a * b
                                                  : a < b;
    }
}

static void toy_step(struct isa_warp *isa, struct isa_stepped *stepped)
{
    struct toy_warp *w = toy_warp(isa);
    const struct toy_inst *inst = &toy_kernel_of(isa)->insts[w->pc];
    struct launch_result *result = &isa->block->worker->result;
    lane_mask any = 0;
    *stepped = (struct isa_stepped){.mask = isa->active};
    result->warp_instructions++;
    result->thread_instructions += isa_count_lanes(isa->active);
    w->pc++;
    isa->next++;
    switch (inst->op) {
    case TOY_LOAD:
    case TOY_STORE:
    case TOY_LOADS:
    case TOY_STORES:
    case TOY_FIXED:
    case TOY_COUNT:
        toy_global(isa, inst);
        break;
    case TOY_SAVE:
    case TOY_FETCH:
        toy_local(isa, inst);
        break;
    case TOY_PUT:
    case TOY_GET:
        toy_shared(isa, inst);
        break;
    case TOY_IF:
        EACH_LANE (i, isa->active)
            any |= (lane_mask)(w->r[inst->a][i] != 0) << i;
        w->ifs[w->if_count++] = isa->active;
        isa->active = any;
        break;
    case TOY_END:
        isa->active = w->ifs[--w->if_count];
        break;
    case TOY_LOOP:
        EACH_LANE (i, isa->active)
            any |= (lane_mask)(w->r[inst->a][i] != 0) << i;
        result->branches++;
        stepped->branched = stepped->moved = any != 0;
        w->pc = any ? inst->number : w->pc;
        break;
    case TOY_BARRIER:
        w->waits = stepped->moved = true;
        toy_check_barrier(isa->block);
        stepped->waits = w->waits;
        break;
    case TOY_EXIT:
        isa->ended = stepped->moved = true;
        toy_check_barrier(isa->block);
        break;
    default:
        toy_compute(w, inst);
    }
}

static enum isa_ran toy_run(struct isa_warp *isa)
{
    struct isa_stepped stepped;
    while (toy_settle(isa))
        toy_step(isa, &stepped);
    return isa->ended ? RAN_OUT : RAN_WAITS;
}

static void toy_check_limits(struct isa_warp *isa)
{
    (void)isa; /* there are none */
}

/* ---- memory ---- */

/* A lane's words are in registers that follow each other. */
static char *toy_word(const struct delivery *of, uint32_t word, uint32_t lane)
{
    return of->registers + 4 * (word * TOY_LANES + lane);
}

static void toy_deliver(const struct delivery *of, uint64_t from, const unsigned char *data, lane_mask who)
{
    EACH_LANE (i, who)
        for (uint32_t k = 0; k < of->bytes / 4; k++)
            memcpy(toy_word(of, k, i), data + (of->at[i] - from) + 4 * k, 4);
}

static void toy_collect(const struct request *request, uint64_t from, lane_mask who, unsigned char *data,
                        uint32_t *masks)
{
    EACH_LANE (i, who)
        for (uint32_t k = 0; k < request->of.bytes / 4; k++) {
            uint32_t at = (uint32_t)(request->of.at[i] - from) + 4 * k;
            memcpy(data + at, toy_word(&request->of, k, i), 4);
            masks[at / 32] |= UINT32_C(15) << at % 32;
        }
}

static void toy_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old)
{
    uint32_t word = (uint32_t)old;
    memcpy(of->registers + 4 * lane, &word, 4);
}

static void toy_complete(struct isa_warp *isa, const struct delivery *of, const unsigned char *stage)
{
    (void)isa, (void)of, (void)stage; /* nothing is asynchronous, nor staged */
}

/* ---- blocks that cannot go on ---- */

static bool toy_force(struct block *block)
{
    (void)block;
    return false;
}

static void toy_describe(const struct block *block, struct text *text)
{
    text_add(text, "block %llu waits", (unsigned long long)block->number);
}

static void toy_deadlock(struct block *block)
{
    block_fault(block, 0, FAULT_DEADLOCK, 0, "somewhere", "waits for ever");
}

/* ---- checkpoints ---- */

static void toy_archive_shape(const struct kernel *base, struct archive *archive)
{
    archive_expect(archive, toy_kernel(base)->count);
}

static void toy_archive_warp(struct isa_warp *isa, struct archive *archive)
{
    struct toy_warp *w = toy_warp(isa);
    archive_bytes(archive, w->r, sizeof w->r);
    archive_bytes(archive, w->own, sizeof w->own);
    archive_bytes(archive, w->ifs, sizeof w->ifs);
    w->if_count = (uint32_t)archive_number(archive, w->if_count, TOY_IFS);
    w->pc = (uint32_t)archive_number(archive, w->pc, toy_kernel_of(isa)->count);
    w->waits = archive_number(archive, w->waits, 1);
    isa->code = &toy_kernel_of(isa)->code;
    isa->next = &isa->code->timing[w->pc];
}

static const struct isa_code *toy_archive_code(const struct kernel *base, const struct isa_code *code,
                                               struct archive *archive)
{
    return archive_number(archive, code != NULL, 1) ? &toy_kernel(base)->code : NULL;
}

static void toy_archive_delivery(const struct isa_warp *isa, struct delivery *of, struct archive *archive)
{
    struct toy_warp *w = toy_warp(isa);
    uint64_t place = (uint64_t)(of->registers - (char *)w->r);
    struct delivery flat = team_bare_delivery(of);
    ARCHIVE_VALUE(archive, flat);
    place = archive_number(archive, place, sizeof w->r - sizeof *w->r);
    archive_check(archive, place + flat.bytes / 4 * sizeof *w->r <= sizeof w->r);
    *of = team_bare_delivery(&flat);
    of->registers = (char *)w->r + place;
}

static void toy_archive_piece(const struct isa_warp *isa, struct piece *piece, struct archive *archive)
{
    (void)isa, (void)piece;
    archive_check(archive, false); /* it has none */
}

static const struct isa_ops toy_isa = {.name = "toy",
                                       .block_word = "block",
                                       .thread_word = "thread",
                                       .lanes = TOY_LANES,
                                       .warp_bytes = sizeof(struct toy_warp),
                                       .prepare = toy_prepare,
                                       .start = toy_start,
                                       .fini = toy_fini,
                                       .run = toy_run,
                                       .settle = toy_settle,
                                       .step = toy_step,
                                       .is_awake = toy_is_awake,
                                       .check_limits = toy_check_limits,
                                       .deliver = toy_deliver,
                                       .collect = toy_collect,
                                       .deliver_old = toy_deliver_old,
                                       .complete = toy_complete,
                                       .force = toy_force,
                                       .describe = toy_describe,
                                       .deadlock = toy_deadlock,
                                       .place = toy_place,
                                       .archive_shape = toy_archive_shape,
                                       .archive_warp = toy_archive_warp,
                                       .archive_code = toy_archive_code,
                                       .archive_delivery = toy_archive_delivery,
                                       .archive_piece = toy_archive_piece};

#endif

/* DS: the LDS of a work-group, and what passes between lanes through its crossbar. */
#include "gcn3_run/wave.h"
#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

/* ---- what an instruction does to a value ---- */

/* Names behind "ds_"; the type is the last part of the name. Old value to new one: `a` is in LDS, b and c are
 * data. */
#define CHANGES(C)                                                                                           \
    C(add, is_float ? sum(a, b) : a + b)                                                                     \
    C(sub, a - b)                                                                                            \
    C(rsub, b - a)                                                                                           \
    C(inc, a >= b ? 0 : a + 1)                                                                               \
    C(dec, !a || a > b ? b : a - 1)                                                                          \
    C(min, less(a, b, type, bytes) ? a : b)                                                                  \
    C(max, less(b, a, type, bytes) ? a : b)                                                                  \
    C(and, a &b)                                                                                             \
    C(or, a | b)                                                                                             \
    C(xor, a ^ b)                                                                                            \
    C(mskor, (a & ~b) | c)                                                                                   \
    C(wrxchg, b)                                                                                             \
    C(cmpst, same(a, b, type, bytes) ? c : a)                                                                \
    C(wrap, a >= b ? a - b : a + c)

enum change {
#define C(name, meaning) CHANGE_##name,
    CHANGES(C)
#undef C
        CHANGE_NONE
};

static double number_of(uint64_t bits, uint32_t bytes)
{
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, 4);
    memcpy(&number, &bits, 8);
    return bytes == 4 ? (double)single : number;
}

/* Only f32 adds. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    float result = (float)number_of(a, 4) + (float)number_of(b, 4);
    uint32_t bits;
    memcpy(&bits, &result, 4);
    return bits;
}

static bool less(uint64_t a, uint64_t b, char type, uint32_t bytes)
{
    if (type == 'f')
        return number_of(a, bytes) < number_of(b, bytes);
    if (type == 'i')
        return bytes == 4 ? (int32_t)a < (int32_t)b : (int64_t)a < (int64_t)b;
    return a < b;
}

static bool same(uint64_t a, uint64_t b, char type, uint32_t bytes)
{
    return type == 'f' ? number_of(a, bytes) == number_of(b, bytes) : a == b;
}

static uint64_t changed(enum change change, uint64_t a, uint64_t b, uint64_t c, char type, uint32_t bytes)
{
    bool is_float = type == 'f';
    uint64_t result = 0;
    switch (change) {
#define C(name, meaning)                                                                                     \
    case CHANGE_##name:                                                                                      \
        result = (meaning);                                                                                  \
        break;
        CHANGES(C)
#undef C
    case CHANGE_NONE:
        break;
    }
    return bytes == 4 ? (uint32_t)result : result;
}

static enum change change_of(const char *text)
{
    static const char *const names[] = {
#define C(name, meaning) #name,
        CHANGES(C)
#undef C
    };
    size_t length = strcspn(text + strlen("ds_"), "_2");
    for (int i = 0; i < CHANGE_NONE; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], text + strlen("ds_"), length))
            return (enum change)i;
    return CHANGE_NONE;
}

static char type_of(const char *text)
{
    return strrchr(text, '_')[1];
}

/* ---- places ---- */

/* Two offsets count elements, or 64 of them; one counts bytes. */
static uint32_t step_of(const struct gcn3_row *row)
{
    uint32_t element = row->memory_bytes / 2;
    if (!(row->flags & GCN3_TWO_OFFSETS))
        return 1;
    return strstr(row->text, "st64") ? 64 * element : element;
}

unsigned char *gcn3_lds_place(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t at,
                              uint32_t bytes)
{
    struct block *block = w->isa.block;
    if (UNLIKELY(at + bytes > block->shared_bytes))
        gcn3_fault_lds(w, op, lane, at, bytes);
    uint32_t align = bytes >= 8 ? 4 : bytes; /* longer ones are two accesses of words */
    if (UNLIKELY(at & (align - 1)))
        gcn3_fault(w, op, lane, FAULT_MISALIGNED, at,
                   "an access of %u bytes at byte %llu of LDS, not aligned to %u", bytes,
                   (unsigned long long)at, align);
    return (unsigned char *)block->shared + at;
}

/* A lane's address, without offsets that an instruction scales. */
static uint32_t address_of(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane)
{
    if (op->inst.a.kind == GCN3_VGPR)
        return w->v[op->inst.a.number][lane];
    return (w->s[GCN3_M0] & 0xffff) + 4 * lane; /* addtid */
}

/* An atomic operation: whether the order of several matters. */
static enum shared_use use_of(const struct gcn3_lowered *op)
{
    bool is_whole = op->access.type != 'f';
    switch ((enum change)op->access.change) {
    case CHANGE_add:
    case CHANGE_sub:
    case CHANGE_min:
    case CHANGE_max:
    case CHANGE_and:
    case CHANGE_or:
    case CHANGE_xor:
        return op->access.returns ? SHARED_CHANGE : is_whole ? SHARED_COMMUTES : SHARED_WRITE;
    default:
        return op->access.returns ? SHARED_CHANGE : SHARED_WRITE;
    }
}

static void note(struct gcn3_wave *w, const struct gcn3_lowered *op, lane_mask lanes, uint32_t bytes)
{
    struct request *request = w->isa.block->worker->request;
    if (!request)
        return;
    request->shared = lanes;
    request->shared_bytes = (uint8_t)bytes;
    request->shared_atomic = op->access.is_atomic;
    request->shared_use = (uint8_t)use_of(op);
    EACH_LANE (i, lanes)
        request->shared_at[i] = (uint32_t)address_of(w, op, i) + (uint32_t)op->inst.offset;
}

static uint64_t data_of(const struct gcn3_wave *w, const struct gcn3_operand *operand, uint32_t lane)
{
    if (operand->kind != GCN3_VGPR)
        return 0;
    uint64_t value = w->v[operand->number][lane];
    return operand->dwords == 2 ? value | (uint64_t)w->v[operand->number + 1][lane] << 32 : value;
}

static void count(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op, 1 << GCN3_LGKM);
}

/* ---- reading and writing ---- */

/* Places are addresses and an offset. Whether some place, which may be that of a lane that is off, is behind
 * the last one or not aligned. */
FOR_EACH_HOST static bool add_offset(const uint32_t address[GCN3_LANES], uint32_t offset, uint32_t last,
                                     uint32_t align, uint32_t at[GCN3_LANES])
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        at[i] = address[i] + offset;
        bad |= (uint32_t) - (at[i] > last) | (at[i] & (align - 1));
    }
    return bad;
}

/* Where the lanes' elements are. Checked for all lanes at once, and one by one only if need be. */
static void find_places(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t offset, uint32_t bytes,
                        uint32_t at[GCN3_LANES])
{
    uint64_t room = w->isa.block->shared_bytes;
    uint32_t last = room < bytes ? 0 : (uint32_t)room - bytes, align = bytes >= 8 ? 4 : bytes;
    const uint32_t *address = w->v[op->inst.a.number];
    if (UNLIKELY(op->inst.a.kind != GCN3_VGPR)) {
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            at[i] = address_of(w, op, i);
        address = at;
    }
    bool bad = add_offset(address, offset, last, align, at);
    if (UNLIKELY(bad || room < bytes))
        EACH_LANE (i, gcn3_exec(w))
            gcn3_lds_place(w, op, i, at[i], bytes);
}

static void note_places(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint32_t at[GCN3_LANES],
                        uint32_t gap)
{
    struct request *request = w->isa.block->worker->request;
    if (!request)
        return;
    request->shared = gcn3_exec(w);
    request->shared_bytes = op->access.bytes;
    request->shared_atomic = false;
    request->shared_use = op->access.writes ? SHARED_WRITE : SHARED_READ;
    request->shared_gap = gap;
    memcpy(request->shared_at, at, sizeof request->shared_at);
}

/* A word of each lane that is on. */
FOR_EACH_HOST static void read_words(const char *shared, const uint32_t at[GCN3_LANES], lane_mask lanes,
                                     uint32_t to[GCN3_LANES])
{
    if (lanes == UINT64_MAX)
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            memcpy(&to[i], shared + at[i], 4);
    else
        EACH_LANE (i, lanes)
            memcpy(&to[i], shared + at[i], 4);
}

static void write_words(char *shared, const uint32_t at[GCN3_LANES], lane_mask lanes,
                        const uint32_t from[GCN3_LANES])
{
    EACH_LANE (i, lanes)
        memcpy(shared + at[i], &from[i], 4);
}

static void move_words(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint32_t at[GCN3_LANES],
                       uint32_t words, uint32_t from, uint32_t to)
{
    char *shared = w->isa.block->shared;
    for (uint32_t k = 0; k < words; k++)
        if (op->access.writes)
            write_words(shared + 4 * k, at, gcn3_exec(w), w->v[from + k]);
        else
            read_words(shared + 4 * k, at, gcn3_exec(w), gcn3_landing(w)[to + k]);
}

static void move_one(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t at[GCN3_LANES], bytes = op->access.bytes;
    char *shared = w->isa.block->shared;
    count(w, op);
    find_places(w, op, (uint32_t)op->inst.offset, bytes, at);
    note_places(w, op, at, 0);
    if (bytes >= 4) {
        move_words(w, op, at, bytes / 4, op->inst.b.number, op->inst.d.number);
        return;
    }
    EACH_LANE (i, gcn3_exec(w))
        if (op->access.writes)
            gcn3_give_lane(w, op, i, (unsigned char *)shared + at[i]);
        else
            gcn3_take_lane(w, op, i, (unsigned char *)shared + at[i]);
}

/* All places are found before the first is read: the address may be a destination. */
static void move_two(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    uint32_t element = op->access.bytes / 2, words = element / 4, step = op->access.step;
    uint32_t first[GCN3_LANES], second[GCN3_LANES];
    count(w, op);
    find_places(w, op, (uint32_t)inst->offset * step, element, first);
    find_places(w, op, inst->offset1 * step, element, second);
    note_places(w, op, first, (inst->offset1 - (uint32_t)inst->offset) * step);
    move_words(w, op, first, words, inst->b.number, inst->d.number);
    move_words(w, op, second, words, inst->c.number, inst->d.number + words);
}

static void change(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    bool is_two = gcn3_rows[inst->op].flags & GCN3_TWO_OFFSETS;
    uint32_t halves = is_two ? 2 : 1, bytes = op->access.bytes / halves, step = op->access.step;
    uint32_t offsets[2] = {(uint32_t)inst->offset * step, inst->offset1 * step};
    uint32_t(*to)[GCN3_LANES] = gcn3_landing(w);
    lane_mask lanes = gcn3_exec(w);
    count(w, op);
    EACH_LANE (i, lanes) {
        uint32_t base = w->v[inst->a.number][i];
        uint64_t data[2] = {data_of(w, &inst->b, i), data_of(w, &inst->c, i)};
        for (uint32_t half = 0; half < halves; half++) {
            uint64_t old = 0;
            unsigned char *place = gcn3_lds_place(w, op, i, base + offsets[half], bytes);
            memcpy(&old, place, bytes);
            uint64_t new = changed((enum change)op->access.change, old, data[half], is_two ? 0 : data[1],
                                   op->access.type, bytes);
            memcpy(place, &new, bytes);
            for (uint32_t k = 0; op->access.returns && k < bytes / 4; k++)
                to[inst->d.number + half * (bytes / 4) + k][i] = (uint32_t)(old >> 32 * k);
        }
    }
    note(w, op, lanes, op->access.bytes);
    if (is_two && w->isa.block->worker->request)
        w->isa.block->worker->request->shared_gap = offsets[1] - offsets[0];
}

/* The second operand is in LDS, too: its distance is in words, with a sign. */
static void change_by_other(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t bytes = op->access.bytes;
    int32_t distance = 4 * ((int32_t)((uint32_t)op->inst.offset << 17) >> 17);
    enum change how = op->access.is_atomic ? (enum change)op->access.change : CHANGE_wrxchg;
    lane_mask lanes = gcn3_exec(w);
    count(w, op);
    EACH_LANE (i, lanes) {
        uint32_t at = w->v[op->inst.a.number][i];
        uint64_t old = 0, other = 0;
        unsigned char *place = gcn3_lds_place(w, op, i, at, bytes);
        memcpy(&other, gcn3_lds_place(w, op, i, at + (uint32_t)distance, bytes), bytes);
        memcpy(&old, place, bytes);
        uint64_t new = changed(how, old, other, 0, op->access.type, bytes);
        memcpy(place, &new, bytes);
    }
    note(w, op, lanes, bytes);
}

/* ds_append, ds_consume: one counter, moved by the number of lanes. */
static void move_counter(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t(*to)[GCN3_LANES] = gcn3_landing(w);
    lane_mask lanes = gcn3_exec(w);
    uint32_t old, at = (w->s[GCN3_M0] >> 16) + (uint32_t)op->inst.offset;
    uint32_t by = (uint32_t)__builtin_popcountll(lanes);
    struct request *request = w->isa.block->worker->request;
    unsigned char *place = gcn3_lds_place(w, op, 0, at, 4);
    count(w, op);
    memcpy(&old, place, 4);
    uint32_t new = op->inst.op == GCN3_DS_APPEND ? old + by : old - by;
    memcpy(place, &new, 4);
    EACH_LANE (i, lanes)
        to[op->inst.d.number][i] = old;
    if (request) {
        request->shared = 1;
        request->shared_bytes = 4;
        request->shared_atomic = true;
        request->shared_use = SHARED_CHANGE;
        request->shared_at[0] = at;
    }
}

/* ---- between lanes ---- */

/* The lane that a lane gets its value from; beyond the wave: none. */
static uint32_t swizzle_source(uint32_t lane, uint32_t pattern)
{
    if (pattern & 0x8000) /* four lanes at a time */
        return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
    uint32_t in_half = lane & 31, and_mask = pattern & 31, or_mask = pattern >> 5 & 31,
             xor_mask = pattern >> 10 & 31;
    return (lane & 32) | (((in_half & and_mask) | or_mask) ^ xor_mask);
}

static void swizzle(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t got[GCN3_LANES], (*to)[GCN3_LANES] = gcn3_landing(w);
    lane_mask lanes = gcn3_exec(w);
    count(w, op);
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        uint32_t from = swizzle_source(i, (uint32_t)op->inst.offset);
        got[i] = lanes >> from & 1 ? w->v[op->inst.a.number][from] : 0;
    }
    EACH_LANE (i, lanes)
        to[op->inst.d.number][i] = got[i];
}

/* permute: each lane sends; of several to one lane the highest wins. bpermute: each lane fetches. */
static void permute(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t got[GCN3_LANES] = {0}, (*to)[GCN3_LANES] = gcn3_landing(w);
    const uint32_t *at = w->v[op->inst.a.number], *data = w->v[op->inst.b.number];
    lane_mask lanes = gcn3_exec(w);
    count(w, op);
    EACH_LANE (i, lanes) {
        uint32_t other = (at[i] + (uint32_t)op->inst.offset) / 4 % GCN3_LANES;
        if (op->inst.op == GCN3_DS_PERMUTE_B32)
            got[other] = data[i];
        else
            got[i] = lanes >> other & 1 ? data[other] : 0;
    }
    EACH_LANE (i, lanes)
        to[op->inst.d.number][i] = got[i];
}

static void nothing(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    count(w, op);
}

gcn3_run_fn *gcn3_lds(struct gcn3_lowered *op)
{
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    struct gcn3_data *access = &op->access;
    if (op->inst.gds)
        return NULL;
    if (op->inst.op == GCN3_DS_SWIZZLE_B32)
        return swizzle;
    if (op->inst.op == GCN3_DS_PERMUTE_B32 || op->inst.op == GCN3_DS_BPERMUTE_B32)
        return permute;
    if (op->inst.op == GCN3_DS_NOP)
        return nothing;
    access->bytes = row->memory_bytes;
    access->dwords = (uint8_t)((access->bytes + 3) / 4);
    access->is_atomic = (row->flags & GCN3_ATOMIC) != 0;
    access->returns = access->is_atomic && row->flags & GCN3_RETURNS;
    access->writes = access->is_atomic || strstr(row->text, "write");
    access->is_signed = strstr(row->text, "_i8") || strstr(row->text, "_i16");
    access->step = (uint16_t)step_of(row);
    access->change = (uint8_t)change_of(row->text);
    access->type = type_of(row->text);
    if (op->inst.op == GCN3_DS_APPEND || op->inst.op == GCN3_DS_CONSUME) {
        access->bytes = 4;
        access->is_atomic = access->writes = access->returns = true;
        return move_counter;
    }
    if (strstr(row->text, "src2")) {
        access->writes = true;
        return change_by_other;
    }
    if (access->is_atomic)
        return access->change == CHANGE_NONE ? NULL : change;
    if (!access->bytes)
        return NULL;
    return row->flags & GCN3_TWO_OFFSETS ? move_two : move_one;
}

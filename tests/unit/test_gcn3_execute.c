/* The executors of GCN3 against the cases of tests/oracle/gcn3: each is one instruction, in a program of its
 * own that is made, started and stepped as any other. What a case does not name is filled with a pattern, and
 * must be the same afterwards. */
#include "check.h"
#include "gcn3_cases.h"

#include "base/mem.h"
#include "exec/atomics.h"
#include "gcn3_run/alu.h"
#include "gcn3_run/program.h"
#include "gcn3_run/wave.h"

#include <sys/mman.h>

#define CASES     GCN3_CASES_FOLDER "/cases.zst"
#define MEMORY_AT UINT64_C(0x7f0000000000) /* the cases' own, of which flat scratch is in the wave here */

enum {
    MEMORY_BYTES = 1 << 16,
    LDS_BYTES = 1 << 15,
    PRIVATE_BYTES = 64, /* of a lane: FLAT_SCRATCH says so */
    SCRATCH_BYTES = PRIVATE_BYTES * GCN3_LANES,
    VGPRS = 256,
    CODE_MOST = 1 << 18
};

static const uint32_t s_nop = 0xbf800000;

/* All that an instruction may change. */
struct state {
    uint32_t v[VGPRS][GCN3_LANES], s[GCN3_SCALARS], mode, scc;
    unsigned char lds[LDS_BYTES], memory[MEMORY_BYTES], scratch[SCRATCH_BYTES];
};

static struct state pattern, before;

/* What a case says of its program. */
struct facts {
    uint64_t pc, next, scratch_at;
    bool has_lds;
};

/* How cases run. */
struct way {
    struct image *image;
    bool has_time;
    int level; /* of executors: gcn3_vector_executor_at */
};

enum outcome { PASSES, FAILS, MISSING, FAULTS, OUTCOMES };

/* ---- a program of one instruction ---- */

static void put_word(struct gcn3_object *object, uint64_t at, uint32_t word)
{
    memcpy(object->image + at, &word, 4);
}

/* Code at the instruction, with one behind it; and one where a branch goes. */
static void add_code(struct gcn3_object *object, const struct gcn3_case *one, uint64_t pc, uint64_t next)
{
    uint64_t bytes = 4 * (uint64_t)one->word_count;
    bool branches = next < pc || next > pc + bytes;
    struct gcn3_segment own = {pc, bytes + 4, GCN3_EXECUTE}, other = {next, 4, GCN3_EXECUTE};
    put_word(object, pc + bytes, s_nop);
    if (branches)
        put_word(object, next, s_nop);
    for (unsigned i = 0; i < one->word_count; i++)
        put_word(object, pc + 4 * i, one->words[i]);
    bool is_first = next < pc;
    object->segments = mem_alloc(2, sizeof *object->segments);
    object->segments[branches && is_first] = own;
    if (branches)
        object->segments[!is_first] = other;
    object->segment_count = branches ? 2 : 1;
}

/* A jump may go to where no code can be: that is a fault, which names the place. */
static bool is_far(const struct facts *facts)
{
    uint64_t apart = facts->next > facts->pc ? facts->next - facts->pc : facts->pc - facts->next;
    return apart >= CODE_MOST || facts->next % 4;
}

static struct gcn3_program *program_of(const struct gcn3_case *one, const struct facts *facts)
{
    uint64_t next = is_far(facts) ? facts->pc : facts->next;
    uint64_t low = next < facts->pc ? next : facts->pc, high = next > facts->pc ? next : facts->pc;
    uint64_t base = low & ~(uint64_t)(GCN3_PAGE - 1);
    struct gcn3_object *object = mem_alloc(1, sizeof *object);
    object->name = mem_text("case");
    object->gfx = one->gfx == 8 ? 803 : one->gfx == 9 ? 900 : 906;
    object->target = one->gfx == 8 ? "gfx803" : one->gfx == 9 ? "gfx900" : "gfx906";
    object->image_bytes = (high - base + 16 + GCN3_PAGE) & ~(uint64_t)(GCN3_PAGE - 1);
    object->image = mem_alloc(object->image_bytes, 1);
    object->kernels = mem_alloc(1, sizeof *object->kernels);
    object->kernel_count = 1;
    object->kernels[0] = (struct gcn3_kernel_info){
        .name = mem_text("case"), .entry = facts->pc - base, .vgprs = VGPRS, .private_bytes = PRIVATE_BYTES};
    add_code(object, one, facts->pc - base, next - base);
    return gcn3_program_new(object, base);
}

/* ---- states ---- */

static void fill_pattern(void)
{
    uint32_t word = 1, *words = (uint32_t *)(void *)&pattern;
    for (size_t i = 0; i < sizeof pattern / 4; i++) {
        word = word * 1664525 + 1013904223;
        words[i] = word;
    }
    pattern.mode = pattern.scc = 0;
}

static unsigned char *bytes_at(struct state *state, const struct case_item *item, const struct facts *facts)
{
    if (item->space == CASE_LDS)
        return item->where + item->count <= LDS_BYTES ? state->lds + item->where : NULL;
    uint64_t at = item->where - MEMORY_AT, in_scratch = item->where - facts->scratch_at;
    if (at + item->count <= MEMORY_BYTES)
        return state->memory + at;
    return in_scratch + item->count <= SCRATCH_BYTES ? state->scratch + in_scratch : NULL;
}

static unsigned register_of(unsigned special)
{
    static const unsigned char numbers[] = {[CASE_VCC] = GCN3_VCC,
                                            [CASE_EXEC] = GCN3_EXEC,
                                            [CASE_M0] = GCN3_M0,
                                            [CASE_FLAT_SCRATCH] = GCN3_FLAT_SCRATCH};
    return special < sizeof numbers ? numbers[special] : 0;
}

static void set_special(struct state *state, unsigned special, uint64_t value)
{
    unsigned number = register_of(special);
    if (number)
        state->s[number] = (uint32_t)value;
    if (number && special != CASE_M0)
        state->s[number + 1] = (uint32_t)(value >> 32);
    if (special == CASE_MODE)
        state->mode = (uint32_t)value;
    if (special == CASE_SCC)
        state->scc = (uint32_t)value;
}

static uint64_t special_of(const struct state *state, unsigned special)
{
    unsigned number = register_of(special);
    if (number)
        return special == CASE_M0 ? state->s[number]
                                  : state->s[number] | (uint64_t)state->s[number + 1] << 32;
    return special == CASE_MODE ? state->mode : state->scc;
}

static void set_item(struct state *state, const struct case_item *item, const struct facts *facts)
{
    if (item->space == CASE_SPECIAL)
        set_special(state, item->index, case_item_value(item, 0));
    for (unsigned i = 0; item->space == CASE_SGPR && i < item->count; i++)
        state->s[item->index + i] = (uint32_t)case_item_value(item, i);
    for (unsigned i = 0; item->space == CASE_VGPR && i < GCN3_LANES; i++)
        for (unsigned k = 0; k < item->width; k++)
            if (item->where >> i & 1)
                state->v[item->index + k][i] = (uint32_t)(case_item_value(item, i) >> 32 * k);
    if (item->space == CASE_LDS || item->space == CASE_MEMORY) {
        unsigned char *place = bytes_at(state, item, facts);
        assert_non_null(place);
        memcpy(place, item->data, item->count);
    }
}

static void read_facts(const struct gcn3_case *one, struct facts *facts)
{
    const unsigned char *at = one->items;
    struct case_item item;
    struct err err;
    *facts = (struct facts){0};
    for (unsigned i = 0; i < one->before + one->after; i++) {
        assert_true(case_item_read(one, &at, &item, &err));
        if (item.space != CASE_SPECIAL)
            continue;
        uint64_t value = case_item_value(&item, 0);
        if (item.index == CASE_PC)
            *(i < one->before ? &facts->pc : &facts->next) = value;
        if (item.index == CASE_SCRATCH_BASE)
            facts->scratch_at += value;
        if (item.index == CASE_FLAT_SCRATCH && i < one->before)
            facts->scratch_at += (value >> 32 & 0xffffff) * 256;
        if (item.index == CASE_SHARED_BASE)
            assert_int_equal(value, gcn3_shared_base);
        if (item.index == CASE_PRIVATE_BASE)
            assert_int_equal(value, gcn3_private_base);
        facts->has_lds |= item.index == CASE_LDS_SIZE;
    }
}

static void set_before(const struct gcn3_case *one, const struct facts *facts)
{
    const unsigned char *at = one->items;
    struct case_item item;
    struct err err;
    before = pattern;
    for (unsigned i = 0; i < one->before && case_item_read(one, &at, &item, &err); i++)
        set_item(&before, &item, facts);
}

/* ---- running ---- */

static void load_state(struct gcn3_wave *w, const struct state *from)
{
    memcpy(w->v, from->v, sizeof from->v);
    memcpy(w->s, from->s, sizeof from->s);
    w->mode = from->mode;
    w->scc = from->scc;
    memcpy(w->scratch, from->scratch, SCRATCH_BYTES);
    memcpy(w->isa.block->shared, from->lds, LDS_BYTES);
    memcpy((void *)(uintptr_t)MEMORY_AT, from->memory, MEMORY_BYTES);
    w->isa.active = gcn3_exec(w);
}

static void save_state(const struct gcn3_wave *w, struct state *to)
{
    memcpy(to->v, w->v, sizeof to->v);
    memcpy(to->s, w->s, sizeof to->s);
    to->mode = w->mode;
    to->scc = w->scc;
    memcpy(to->scratch, w->scratch, SCRATCH_BYTES);
    memcpy(to->lds, w->isa.block->shared, LDS_BYTES);
    memcpy(to->memory, (void *)(uintptr_t)MEMORY_AT, MEMORY_BYTES);
}

/* As a model with time does it, but at once. */
static void answer(struct gcn3_wave *w, const struct request *request)
{
    const struct delivery *of = &request->of;
    for (size_t i = 0; i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        void *at = (void *)(uintptr_t)piece->at;
        void *host = piece->host ? (void *)piece->host : request->stage + piece->stage_at;
        memcpy(request->writes ? at : host, request->writes ? host : at, piece->bytes);
    }
    if (of->stage_bytes)
        gcn3_complete(&w->isa, of, request->stage);
    bool by_lanes = of->kind != REQUEST_NONE && of->kind != REQUEST_PIECES;
    EACH_LANE (i, by_lanes ? of->lanes : 0) {
        unsigned char *data = (unsigned char *)(uintptr_t)of->at[i];
        lane_mask lane = UINT64_C(1) << i;
        uint32_t masks[4] = {0};
        if (of->kind == REQUEST_STORE) {
            gcn3_collect(request, of->at[i], lane, data, masks);
        } else if (of->kind == REQUEST_ATOMIC) {
            uint64_t old = atomic_perform(of->operation, data, request->operand[i], request->compare[i]);
            if (of->returns)
                gcn3_deliver_old(of, i, old);
        } else {
            gcn3_deliver(of, of->at[i], data, lane);
        }
    }
}

static bool step(struct worker *worker, struct gcn3_wave *w)
{
    jmp_buf on_fault;
    worker->on_fault = &on_fault;
    if (setjmp(on_fault))
        return false;
    struct isa_stepped stepped;
    gcn3_step(&w->isa, &stepped);
    if (worker->request) {
        answer(w, worker->request);
        gcn3_arrived(w, 0, 0);
    }
    return true;
}

/* Gives the address where the program goes on. False: a fault. */
static bool run_one(struct gcn3_program *program, const struct way *way, struct state *after, uint64_t *pc,
                    struct fault *fault)
{
    struct request request = {0};
    struct kernel *kernel = gcn3_program_kernel_at(program, 0);
    struct err err;
    assert_true(kernel_prepare(kernel, &err));
    struct launch launch = {.kernel = kernel,
                            .image = way->image,
                            .grid = {1, 1, 1},
                            .block = {GCN3_LANES, 1, 1},
                            .shared_bytes = LDS_BYTES,
                            .threads = 1};
    struct grid grid = {0};
    *fault = (struct fault){0};
    grid_init(&grid, &launch, 1, 0, fault);
    struct worker *worker = worker_new(&grid);
    worker->request = way->has_time ? &request : NULL;
    struct block *block = worker_begin_block(worker, 0);
    struct gcn3_wave *w = gcn3_wave(block_warp(block, 0));
    load_state(w, &before);
    bool ran = step(worker, w);
    save_state(w, after);
    *pc = program->base + program->ops[w->pc].at;
    worker_end_block(worker, block);
    worker_free(worker);
    mem_free(request.pieces);
    mem_free(request.stage);
    grid_fini(&grid);
    return ran;
}

/* ---- comparing: what fits is put back, so that the rest must be as it was ---- */

static bool lanes_fit(struct state *after, const struct case_item *item, char why[200])
{
    for (unsigned i = 0; i < GCN3_LANES; i++) {
        if (!(item->where >> i & 1))
            continue;
        uint64_t expected = case_item_value(item, i), result = 0;
        for (unsigned k = 0; k < item->width; k++)
            result |= (uint64_t)after->v[item->index + k][i] << 32 * k;
        if (!case_item_fits(item, expected, result)) {
            snprintf(why, 200, "v%u lane %u: expected %0*llx, got %0*llx", item->index, i,
                     (int)item->width * 8, (unsigned long long)expected, (int)item->width * 8,
                     (unsigned long long)result);
            return false;
        }
        for (unsigned k = 0; k < item->width; k++)
            after->v[item->index + k][i] = before.v[item->index + k][i];
    }
    return true;
}

static bool scalars_fit(struct state *after, const struct case_item *item, char why[200])
{
    for (unsigned i = 0; i < item->count; i++) {
        uint32_t *result = &after->s[item->index + i];
        if (!case_item_fits(item, case_item_value(item, i), *result)) {
            snprintf(why, 200, "s%u: expected %08llx, got %08x", item->index + i,
                     (unsigned long long)case_item_value(item, i), *result);
            return false;
        }
        *result = before.s[item->index + i];
    }
    return true;
}

static bool special_fits(struct state *after, const struct case_item *item, char why[200])
{
    uint64_t expected = case_item_value(item, 0), result = special_of(after, item->index);
    if (!case_item_fits(item, expected, result)) {
        snprintf(why, 200, "special %u: expected %llx, got %llx", item->index, (unsigned long long)expected,
                 (unsigned long long)result);
        return false;
    }
    set_special(after, item->index, special_of(&before, item->index));
    return true;
}

static bool bytes_fit(struct state *after, const struct case_item *item, const struct facts *facts,
                      char why[200])
{
    unsigned char *result = bytes_at(after, item, facts), *old = bytes_at(&before, item, facts);
    for (unsigned i = 0; i < item->count; i++)
        if (result[i] != item->data[i]) {
            snprintf(why, 200, "%s 0x%llx: expected %02x, got %02x",
                     item->space == CASE_LDS ? "LDS" : "memory", (unsigned long long)item->where + i,
                     item->data[i], result[i]);
            return false;
        }
    memcpy(result, old, item->count);
    return true;
}

static bool item_fits(struct state *after, const struct case_item *item, const struct facts *facts,
                      char why[200])
{
    switch (item->space) {
    case CASE_VGPR:
        return lanes_fit(after, item, why);
    case CASE_SGPR:
        return scalars_fit(after, item, why);
    case CASE_SPECIAL:
        return item->index == CASE_PC || special_fits(after, item, why);
    default:
        return bytes_fit(after, item, facts, why);
    }
}

static bool rest_is_as_before(const struct state *after, char why[200])
{
    if (!memcmp(after, &before, sizeof before))
        return true;
    const unsigned char *is = (const void *)after, *was = (const void *)&before;
    size_t at = 0;
    while (is[at] == was[at])
        at++;
    snprintf(why, 200, "something else changed: byte %zu of the state (v%zu lane %zu, if below %zu; s%zu)",
             at, at / 256, at / 4 % 64, sizeof before.v, (at - sizeof before.v) / 4);
    return false;
}

static bool all_fits(const struct gcn3_case *one, const struct facts *facts, struct state *after, uint64_t pc,
                     char why[200])
{
    const unsigned char *at = one->items;
    struct case_item item;
    struct err err;
    if (pc != facts->next) {
        snprintf(why, 200, "pc: expected 0x%llx, got 0x%llx", (unsigned long long)facts->next,
                 (unsigned long long)pc);
        return false;
    }
    for (unsigned i = 0; i < one->before + one->after; i++) {
        assert_true(case_item_read(one, &at, &item, &err));
        if (i >= one->before && !item_fits(after, &item, facts, why))
            return false;
    }
    return rest_is_as_before(after, why);
}

/* Heddle reports what hardware lets pass: that is a fault where the case only ignores a lane. */
static bool is_due(const struct fault *fault, const struct facts *facts)
{
    if (fault->kind == FAULT_INSTRUCTION)
        return is_far(facts) && fault->address == facts->next;
    return fault->kind == FAULT_ADDRESS && strstr(fault->text, "bytes of LDS") &&
           fault->address + 16 > LDS_BYTES;
}

static enum outcome check_case(const struct gcn3_case *one, const struct way *way, char why[200],
                               enum gcn3_format *format)
{
    static struct state after;
    struct facts facts;
    struct fault fault;
    uint64_t pc;
    read_facts(one, &facts);
    set_before(one, &facts);
    struct gcn3_program *program = program_of(one, &facts);
    struct gcn3_lowered *op = &program->ops[gcn3_kernel(gcn3_program_kernel_at(program, 0))->entry];
    *format = (enum gcn3_format)op->inst.format;
    gcn3_vector_fn *fn = gcn3_vector_executor_at(way->level, (enum gcn3_op)op->inst.op);
    if (fn && op->more)
        op->more = (const void *)(uintptr_t)fn;
    enum outcome outcome = MISSING;
    snprintf(why, 200, "has no executor");
    if (op->run != gcn3_unknown) {
        if (run_one(program, way, &after, &pc, &fault))
            outcome = all_fits(one, &facts, &after, pc, why) ? PASSES : FAILS;
        else
            outcome = is_due(&fault, &facts) ? FAULTS : FAILS;
        if (outcome == FAULTS || (outcome == FAILS && fault.kind != FAULT_NONE))
            snprintf(why, 200, "%s", strrchr(fault.text, ':') - 40);
    }
    gcn3_program_free(program);
    return outcome;
}

/* ---- */

static struct image *map_memory(void)
{
    void *got = mmap((void *)(uintptr_t)MEMORY_AT, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_int_equal((uintptr_t)got, MEMORY_AT);
    struct image *image = image_new();
    image_add(image, (struct range){.at = MEMORY_AT, .bytes = MEMORY_BYTES, .what = "the case's memory"});
    return image;
}

/* Without what LLVM adds for the encoding. */
static void name_of(const struct gcn3_case *one, char name[64])
{
    static const char *const endings[] = {"_e32", "_e64", "_sdwa", "_dpp"};
    snprintf(name, 64, "%.*s", (int)strcspn(one->text, " "), one->text);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(name), own = strlen(endings[i]);
        if (length > own && !strcmp(name + length - own, endings[i]))
            name[length - own] = 0;
    }
}

static void tell_counts(unsigned counts[GCN3_FORMAT_COUNT][OUTCOMES])
{
    static const char *const formats[] = {
#define F(name) #name,
        GCN3_FORMATS(F)
#undef F
    };
    for (int i = 0; i < GCN3_FORMAT_COUNT; i++)
        if (counts[i][PASSES] + counts[i][FAILS] + counts[i][MISSING] + counts[i][FAULTS])
            print_message("%-7s %4u pass, %u fail, %u have no executor, %u are faults\n", formats[i],
                          counts[i][PASSES], counts[i][FAILS], counts[i][MISSING], counts[i][FAULTS]);
}

/* To look closer: GCN3_ONLY is what names begin with, GCN3_CASES another file of cases. */
static void run_all(const struct way *way)
{
    unsigned counts[GCN3_FORMAT_COUNT][OUTCOMES] = {0}, wrong = 0;
    const char *only = getenv("GCN3_ONLY"), *path = getenv("GCN3_CASES");
    struct gcn3_cases cases;
    struct gcn3_case one;
    struct err err;
    char last[64] = "";
    if (!gcn3_cases_open(&cases, path ? path : CASES, &err))
        fail_msg("%s", err.text);
    while (gcn3_cases_next(&cases, &one, &err)) {
        char why[200], name[64];
        enum gcn3_format format;
        name_of(&one, name);
        if (only && strncmp(only, name, strlen(only)) != 0)
            continue;
        enum outcome outcome = check_case(&one, way, why, &format);
        counts[format][outcome]++;
        bool is_wrong = outcome == FAILS || outcome == MISSING;
        wrong += is_wrong;
        if (is_wrong && (only || strcmp(last, name) != 0)) /* the first of a name */
            print_message("gfx%u %s: %s\n", one.gfx, one.text, why);
        if (is_wrong)
            snprintf(last, sizeof last, "%s", name);
    }
    assert_string_equal(err.text, "");
    gcn3_cases_close(&cases);
    tell_counts(counts);
    if (wrong)
        fail_msg("%u cases are wrong", wrong);
}

static int begin(void **state)
{
    fill_pattern();
    *state = map_memory();
    return 0;
}

static int end(void **state)
{
    image_free(*state);
    return munmap((void *)(uintptr_t)MEMORY_AT, MEMORY_BYTES);
}

static void executors_agree_with_the_oracle(void **state)
{
    run_all(&(struct way){.image = *state, .level = GCN3_LEVELS - 1});
}

static void executors_for_any_host_do_as_well(void **state)
{
    for (int level = 0; level < GCN3_LEVELS - 1; level++)
        run_all(&(struct way){.image = *state, .level = level});
}

static void what_memory_brings_later_is_the_same(void **state)
{
    run_all(&(struct way){.image = *state, .has_time = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executors_agree_with_the_oracle),
        cmocka_unit_test(executors_for_any_host_do_as_well),
        cmocka_unit_test(what_memory_brings_later_is_the_same),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

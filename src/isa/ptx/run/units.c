/* Textures, surfaces and matrices: moves lanes' operands to and from the pure functions of texture.h and
 * matrix.h. */
#include "ptx_run/matrix.h"
#include "ptx_run/access.h"
#include "isa/request.h"
#include "ptx_run/sync.h"
#include "exec/atomics.h"
#include "exec/texture.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* Textures and surfaces */

struct texture_access {
    struct texture_form form;
    uint32_t results[4], coordinates[4], level, gradients[8]; /* places; of the second from 4 on */
    uint32_t result_bytes, coordinate_count, gradient_count;
    uint32_t atomic; /* of a reduction: the row of exec/atomics.h */
};

/* The object that a lane names: by its handle, or by the address of a reference, which holds that. */
static const struct texture *name_texture(struct warp *w, const struct op *op, uint32_t lane, uint64_t *named)
{
    const struct image *image = w->isa.block->worker->grid->launch->image;
    uint64_t handle = *named = ((const uint64_t *)warp_at(w, op->a))[lane];
    const struct texture *texture = image_texture(image, handle);
    struct range range;
    if (LIKELY(texture != NULL))
        return texture;
    if (handle % sizeof handle || !worker_find(w->isa.block->worker, handle, &range) ||
        range.bytes - (handle - range.at) < sizeof handle)
        return NULL;
    *named = *(const uint64_t *)(uintptr_t)handle;
    return image_texture(image, *named);
}

static const struct texture *find_texture(struct warp *w, const struct op *op, uint32_t lane)
{
    uint64_t handle;
    const struct texture *texture = name_texture(w, op, lane, &handle);
    if (!texture && !handle)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_TEXTURE, 0, "a texture or surface that is not bound");
    if (!texture)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_TEXTURE, handle,
                   "0x%llx is no texture or surface object", (unsigned long long)handle);
    return texture;
}

static float float_at(const struct warp *w, uint32_t place, uint32_t lane)
{
    return ((const float *)warp_at(w, place))[lane];
}

/* What a lane asks for, as its registers are now. */
static struct texture_request request_of(const struct warp *w, const struct texture_access *x, uint32_t lane)
{
    struct texture_request request = {.form = &x->form};
    for (uint32_t i = 0; i < x->coordinate_count; i++)
        request.at[i] = ((const uint32_t *)warp_at(w, x->coordinates[i]))[lane];
    if (x->form.lod == LOD_LEVEL)
        request.level = ((const uint32_t *)warp_at(w, x->level))[lane];
    for (uint32_t i = 0; i < x->gradient_count; i++) {
        request.dx[i] = float_at(w, x->gradients[i], lane);
        request.dy[i] = float_at(w, x->gradients[4 + i], lane);
    }
    return request;
}

static void fetch(struct warp *w, const struct op *op, uint32_t lane, const struct texture_request *request,
                  uint32_t out[4])
{
    if (!texture_fetch(find_texture(w, op, lane), request, out))
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_TEXTURE, 0,
                   "the texture is of another kind than the instruction");
}

/* A lane's fetch on a request's stage, where its texels follow as memory brings them. */
struct staged_fetch {
    uint64_t handle;
    uint32_t lane, texels, texel_bytes;
    uint32_t at[4], level;
    float dx[3], dy[3];
};

static void stage_fetch(struct warp *w, const struct op *op, uint32_t lane, struct request *told)
{
    struct texture_touched touched = {0};
    struct texture_request request = request_of(w, op->more, lane);
    struct staged_fetch staged = {.lane = lane, .level = request.level};
    uint32_t unused[4];
    (void)name_texture(w, op, lane, &staged.handle);
    request.touched = &touched;
    fetch(w, op, lane, &request, unused);
    staged.texels = touched.count;
    staged.texel_bytes = touched.bytes;
    memcpy(staged.at, request.at, sizeof staged.at);
    memcpy(staged.dx, request.dx, sizeof staged.dx);
    memcpy(staged.dy, request.dy, sizeof staged.dy);
    uint64_t at = told->of.stage_bytes + sizeof staged, end = at + touched.count * touched.bytes;
    if (end > told->stage_capacity) {
        told->stage = mem_resize(told->stage, told->stage_capacity, 2 * end, 1);
        told->stage_capacity = 2 * end;
    }
    memcpy(told->stage + told->of.stage_bytes, &staged, sizeof staged);
    for (uint32_t i = 0; i < touched.count; i++) {
        access_add_piece(told, (uintptr_t)touched.at[i], NULL, touched.bytes, lane);
        told->pieces[told->piece_count - 1].stage_at = at + i * touched.bytes;
    }
    told->of.stage_bytes = end;
}

void tex_complete(struct warp *w, const struct delivery *of, const unsigned char *stage)
{
    const struct op *op = of->how;
    const struct texture_access *x = op->more;
    struct staged_fetch staged;
    for (uint64_t at = 0; at < of->stage_bytes;) {
        REQUIRE(of->stage_bytes - at >= sizeof staged);
        memcpy(&staged, stage + at, sizeof staged);
        at += sizeof staged;
        REQUIRE(staged.lane < WARP_LANES &&
                (uint64_t)staged.texels * staged.texel_bytes <= of->stage_bytes - at);
        struct texture_request request = {.form = &x->form, .level = staged.level, .texels = stage + at};
        memcpy(request.at, staged.at, sizeof staged.at);
        memcpy(request.dx, staged.dx, sizeof staged.dx);
        memcpy(request.dy, staged.dy, sizeof staged.dy);
        at += (uint64_t)staged.texels * staged.texel_bytes;
        uint32_t out[4];
        const struct texture *texture =
            image_texture(w->isa.block->worker->grid->launch->image, staged.handle);
        REQUIRE(texture && texture_fetch(texture, &request, out));
        for (uint32_t i = 0; i < x->form.elements; i++)
            lane_set(of->registers + x->results[i], x->result_bytes, staged.lane, out[i]);
    }
}

/* A model that keeps time brings the texels, and the value is made of them when all are there. */
static void request_fetch(struct warp *w, const struct op *op, lanes active, struct request *told)
{
    EACH_LANE (lane, active)
        stage_fetch(w, op, lane, told);
    told->of.how = op;
    told->of.registers = w->registers;
    if (told->piece_count) {
        told->of.kind = REQUEST_PIECES;
        told->of.keep = true;
    } else { /* all of them outside of the texture */
        tex_complete(w, &told->of, told->stage);
        told->of.stage_bytes = 0;
    }
}

static void run_fetch(struct warp *w, const struct op *op, lanes active)
{
    const struct texture_access *x = op->more;
    struct request *told = w->isa.block->worker->request;
    if (told) {
        request_fetch(w, op, active, told);
        return;
    }
    uint32_t out[4][WARP_LANES];
    EACH_LANE (lane, active) {
        uint32_t got[4];
        struct texture_request request = request_of(w, x, lane);
        fetch(w, op, lane, &request, got);
        for (uint32_t i = 0; i < 4; i++)
            out[i][lane] = got[i];
    }
    for (uint32_t i = 0; i < x->form.elements; i++)
        EACH_LANE (lane, active)
            lane_set(warp_at(w, x->results[i]), x->result_bytes, lane, out[i][lane]);
}

bool tex_results_fit(const struct op *op, uint64_t room)
{
    if (op->run.exec != run_fetch)
        return false;
    const struct texture_access *x = op->more;
    for (uint32_t i = 0; i < x->form.elements; i++)
        if (x->results[i] + (uint64_t)x->result_bytes * WARP_LANES > room)
            return false;
    return true;
}

static void run_query(struct warp *w, const struct op *op, lanes active)
{
    const struct texture_access *x = op->more;
    EACH_LANE (lane, active) {
        uint32_t out = 0, level = x->form.query_level ? ((const uint32_t *)warp_at(w, x->level))[lane] : 0;
        if (!texture_query(find_texture(w, op, lane), &x->form, level, &out))
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_TEXTURE, 0,
                       "the object does not have this property");
        lane_set(warp_at(w, x->results[0]), x->result_bytes, lane, out);
    }
}

static void bad_surface(struct warp *w, const struct op *op, uint32_t lane)
{
    warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, 0,
               "a surface access outside of the surface, not aligned, or of another kind");
}

/* A model that keeps time moves the bytes itself, between memory and the lane's registers. */
static void request_surface(struct warp *w, const struct op *op, uint32_t lane, const uint32_t at[4])
{
    const struct texture_access *x = op->more;
    struct request *told = w->isa.block->worker->request;
    unsigned char *place = NULL;
    enum surface_place found = surface_find(find_texture(w, op, lane), &x->form, at, &place);
    uint32_t bytes = (uint32_t)min_u64(surface_element_bytes(&x->form), x->result_bytes);
    if (found == SURFACE_FAULT)
        bad_surface(w, op, lane);
    told->of.keep = true;
    told->writes = x->form.op == TEXTURE_SUST;
    for (uint32_t i = 0; i < x->form.elements; i++) {
        char *value = (char *)warp_at(w, x->results[i]) + (size_t)lane * x->result_bytes;
        if (!told->writes)
            memset(value, 0, x->result_bytes);
        if (found == SURFACE_AT)
            access_add_piece(told, (uintptr_t)place + i * bytes, value, bytes, lane);
    }
    if (told->piece_count)
        told->of.kind = REQUEST_PIECES;
}

static void run_surface(struct warp *w, const struct op *op, lanes active)
{
    const struct texture_access *x = op->more;
    bool stores = x->form.op == TEXTURE_SUST;
    EACH_LANE (lane, active) {
        uint32_t at[4] = {0};
        uint64_t values[4] = {0};
        for (uint32_t i = 0; i < x->coordinate_count; i++)
            at[i] = ((const uint32_t *)warp_at(w, x->coordinates[i]))[lane];
        if (w->isa.block->worker->request) {
            request_surface(w, op, lane, at);
            continue;
        }
        const struct texture *surface = find_texture(w, op, lane);
        for (uint32_t i = 0; i < x->form.elements && stores; i++)
            values[i] = lane_get(warp_at(w, x->results[i]), x->result_bytes, lane);
        if (stores ? !surface_store(surface, &x->form, at, values)
                   : !surface_load(surface, &x->form, at, values))
            bad_surface(w, op, lane);
        for (uint32_t i = 0; i < x->form.elements && !stores; i++)
            lane_set(warp_at(w, x->results[i]), x->result_bytes, lane, values[i]);
    }
}

/* Where a reduction's lane changes the surface; NULL: nowhere. */
static unsigned char *reduced_at(struct warp *w, const struct op *op, uint32_t lane)
{
    const struct texture_access *x = op->more;
    const struct texture *surface = find_texture(w, op, lane);
    unsigned char *place = NULL;
    uint32_t at[4] = {0};
    for (uint32_t i = 0; i < x->coordinate_count; i++)
        at[i] = ((const uint32_t *)warp_at(w, x->coordinates[i]))[lane];
    if (x->form.in_texels) {
        bool layered = x->form.geometry == GEOMETRY_A1D || x->form.geometry == GEOMETRY_A2D;
        int64_t bytes = surface_element_bytes(&x->form), most = INT32_MAX / bytes;
        int64_t texel = (int32_t)at[layered];
        at[layered] = (uint32_t)(int32_t)((texel < -most ? -most : texel > most ? most : texel) * bytes);
    }
    if (surface_find(surface, &x->form, at, &place) == SURFACE_FAULT)
        bad_surface(w, op, lane);
    return place;
}

/* No result, and the order does not matter. In a model that keeps time, memory does it. */
static void run_reduction(struct warp *w, const struct op *op, lanes active)
{
    const struct texture_access *x = op->more;
    struct request *told = w->isa.block->worker->request;
    lanes who = 0;
    EACH_LANE (lane, active) {
        unsigned char *place = reduced_at(w, op, lane);
        uint64_t value = lane_get(warp_at(w, x->results[0]), x->result_bytes, lane);
        if (!place)
            continue;
        who |= UINT32_C(1) << lane;
        if (told) {
            told->of.at[lane] = (uintptr_t)place;
            told->operand[lane] = value;
        } else {
            atomic_perform((uint8_t)x->atomic, place, value, 0);
        }
    }
    if (!told || !who)
        return;
    told->of.kind = REQUEST_ATOMIC;
    told->of.lanes = who;
    told->of.bytes = surface_element_bytes(&x->form);
    told->of.register_bytes = x->result_bytes;
    told->of.registers = w->registers;
    told->of.operation = (uint8_t)x->atomic;
    told->of.returns = told->of.acquires = false;
}

/* The atomic operation that a reduction is: of sured.p without a sign, as surfaces of integers mostly are. */
static bool find_reduction(struct texture_access *x)
{
    static const char *const names[] = {[REDUCE_ADD] = "add",
                                        [REDUCE_MIN] = "min",
                                        [REDUCE_MAX] = "max",
                                        [REDUCE_AND] = "and",
                                        [REDUCE_OR] = "or"};
    bool bits = x->form.reduction == REDUCE_AND || x->form.reduction == REDUCE_OR;
    bool is_signed = x->form.type == ELEMENT_S32 || x->form.type == ELEMENT_S64;
    char opcode[16];
    snprintf(opcode, sizeof opcode, ".%s.%c%u", names[x->form.reduction],
             bits        ? 'b'
             : is_signed ? 's'
                         : 'u',
             8 * surface_element_bytes(&x->form));
    return access_atomic(opcode, &x->atomic);
}

static bool lower_list(struct lower *lower, const struct ptx_operand *operand, enum isa_type type,
                       bool written, uint32_t most, uint32_t *places, uint32_t *count)
{
    uint32_t n = operand->kind == PTX_OP_VECTOR ? operand->count : 1;
    if (n > most)
        return lower_fail(lower, "more than %u registers", most) == LOWERED;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *one =
            operand->kind == PTX_OP_VECTOR ? lower_element(lower, operand, i) : operand;
        if (written ? !lower_destination(lower, one, type, &places[i])
                    : !lower_source(lower, one, type, &places[i]))
            return false;
    }
    *count = n;
    return true;
}

/* Results of any register width; all of one instruction have the same. */
static bool lower_results(struct lower *lower, const struct ptx_operand *operand, uint32_t *places,
                          uint32_t *bytes)
{
    uint32_t n = operand->kind == PTX_OP_VECTOR ? operand->count : 1;
    bool seen = false;
    *bytes = 4;
    if (n > 4)
        return lower_fail(lower, "more than 4 registers") == LOWERED;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *one =
            operand->kind == PTX_OP_VECTOR ? lower_element(lower, operand, i) : operand;
        uint32_t size;
        if (!lower_register(lower, one, &places[i], &size))
            return false;
        if (one->kind == PTX_OP_SINK)
            continue;
        if (seen && *bytes != size)
            return lower_fail(lower, "registers of different widths") == LOWERED;
        *bytes = size, seen = true;
    }
    return true;
}

enum lowered lower_texture(struct lower *lower, struct op *op)
{
    struct texture_access *x = lower_own(lower, sizeof *x);
    if (!texture_parse(lower->inst->opcode, &x->form) || (x->form.op == TEXTURE_SURED && !find_reduction(x)))
        return lower_fail(lower, "Heddle does not know this texture or surface instruction");
    bool stores = x->form.op == TEXTURE_SUST || x->form.op == TEXTURE_SURED;
    const struct ptx_operand *value = lower_operand(lower, stores ? 1 : 0);
    const struct ptx_operand *address = lower_operand(lower, stores ? 0 : 1);
    op->unit = UNIT_TEX;
    op->more = x;
    op->run.exec = x->form.op == TEXTURE_TXQ || x->form.op == TEXTURE_SUQ    ? run_query
                   : x->form.op == TEXTURE_TEX || x->form.op == TEXTURE_TLD4 ? run_fetch
                   : x->form.op == TEXTURE_SURED                             ? run_reduction
                                                                             : run_surface;
    if (address->kind != PTX_OP_MEMORY || !address->count)
        return lower_fail(lower, "a texture or surface in brackets was expected");
    if (!lower_results(lower, value, x->results, &x->result_bytes) ||
        !lower_source(lower, lower_element(lower, address, 0), TYPE_u64, &op->a))
        return LOWER_FAILED;
    if (address->count > 1) { /* with a sampler: {texture, sampler, coordinates} is not used by CUDA */
        const struct ptx_operand *list = lower_element(lower, address, address->count - 1);
        if (!lower_list(lower, list, TYPE_u32, false, 4, x->coordinates, &x->coordinate_count))
            return LOWER_FAILED;
        x->coordinate_count = (uint32_t)min_u64(x->coordinate_count, texture_coordinates(&x->form));
    }
    if (x->form.lod == LOD_LEVEL || x->form.query_level) {
        uint32_t count;
        return lower_list(lower, lower_operand(lower, 2), TYPE_u32, false, 1, &x->level, &count)
                   ? LOWERED
                   : LOWER_FAILED;
    }
    if (x->form.lod == LOD_GRADIENT) {
        uint32_t first, second;
        if (!lower_list(lower, lower_operand(lower, 2), TYPE_f32, false, 4, x->gradients, &first) ||
            !lower_list(lower, lower_operand(lower, 3), TYPE_f32, false, 4, x->gradients + 4, &second))
            return LOWER_FAILED;
        if (!first || first != second)
            return lower_fail(lower, "two gradients of the same size were expected");
        x->gradient_count = (uint32_t)min_u64(first, 3); /* the fourth of a 3D gradient is not used */
    }
    return LOWERED;
}

/* Matrices */

struct matrix_access {
    struct sync_form sync;
    struct matrix_form form;
    struct access access;
    struct matrix_plan plan;
    uint32_t a[MATRIX_REGISTERS], b[MATRIX_REGISTERS], c[MATRIX_REGISTERS], d[MATRIX_REGISTERS]; /* places */
    uint32_t metadata, selector; /* of a sparse A */
    bool has_stride;
};

static void resolve(const struct warp *w, const uint32_t *places, uint32_t count, void *registers[])
{
    for (uint32_t i = 0; i < count; i++)
        registers[i] = warp_at(w, places[i]);
}

static void run_mma(struct warp *w, const struct op *op, lanes active)
{
    const struct matrix_access *x = op->more;
    void *a[MATRIX_REGISTERS], *b[MATRIX_REGISTERS], *c[MATRIX_REGISTERS], *d[MATRIX_REGISTERS];
    (void)active;
    resolve(w, x->a, x->form.a.registers, a);
    resolve(w, x->b, x->form.b.registers, b);
    resolve(w, x->c, x->form.c.registers, c);
    resolve(w, x->d, x->form.d.registers, d);
    matrix_mma(&x->form, &x->plan, d, (const void *const *)a, (const void *const *)b, (const void *const *)c);
}

static void run_sparse(struct warp *w, const struct op *op, lanes active)
{
    const struct matrix_access *x = op->more;
    void *given[MATRIX_REGISTERS], *b[MATRIX_REGISTERS], *c[MATRIX_REGISTERS], *d[MATRIX_REGISTERS];
    (void)active;
    resolve(w, x->a, x->form.given.registers, given);
    resolve(w, x->b, x->form.b.registers, b);
    resolve(w, x->c, x->form.c.registers, c);
    resolve(w, x->d, x->form.d.registers, d);
    matrix_mma_sparse(&x->form, &x->plan, d, (const void *const *)given, warp_at(w, x->metadata), x->selector,
                      (const void *const *)b, (const void *const *)c);
}

/* Rows of 16 bytes, at the addresses of the lanes below 8 * count. */
static void run_ldmatrix(struct warp *w, const struct op *op, lanes active)
{
    const struct matrix_access *x = op->more;
    uint32_t used = x->form.count >= 4 ? UINT32_MAX : (UINT32_C(1) << 8 * x->form.count) - 1;
    uint16_t rows[WARP_LANES][8];
    char *at[WARP_LANES];
    void *registers[MATRIX_REGISTERS];
    resolve(w, x->d, x->form.count, registers);
    if (active & used)
        access_resolve(w, op, &x->access, active & used, at);
    if (x->form.kind == MATRIX_STMATRIX) {
        matrix_stmatrix(&x->form, rows, (const void *const *)registers);
        EACH_LANE (lane, active & used)
            memcpy(at[lane], rows[lane], sizeof rows[lane]);
    } else {
        memset(rows, 0, sizeof rows);
        EACH_LANE (lane, active & used)
            memcpy(rows[lane], at[lane], sizeof rows[lane]);
        matrix_ldmatrix(&x->form, registers, (const uint16_t(*)[8])rows);
    }
}

static void run_movmatrix(struct warp *w, const struct op *op, lanes active)
{
    const struct matrix_access *x = op->more;
    (void)active;
    matrix_movmatrix(warp_at(w, x->d[0]), warp_at(w, x->a[0]));
}

static bool in_block(const struct warp *w, const char *place)
{
    return place >= w->isa.block->shared && place < w->isa.block->shared + w->isa.block->shared_bytes;
}

/* Each lane's pieces of a matrix in memory. */
static void run_matrix_memory(struct warp *w, const struct op *op, lanes active)
{
    const struct matrix_access *x = op->more;
    const struct matrix_operand *operand = &x->form.d;
    bool stores = x->form.kind == MATRIX_STORE;
    struct access access = x->access;
    struct op moved = *op;
    moved.more = op;
    uint32_t wide = operand->type == MATRIX_f64 ? 8 : 4;
    struct request *request = w->isa.block->worker->request;
    EACH_LANE (lane, active) {
        struct matrix_run runs[MATRIX_RUNS];
        uint32_t rows = operand->by_column ? operand->rows : operand->columns;
        int64_t stride = x->has_stride ? (int32_t)((const uint32_t *)warp_at(w, op->b))[lane] : (int64_t)rows;
        uint32_t count = matrix_runs(operand, lane, stride, runs);
        for (uint32_t i = 0; i < count; i++) {
            char *places[WARP_LANES];
            access.bytes = runs[i].bytes;
            moved.value = op->value + runs[i].offset;
            access_resolve(w, &moved, &access, UINT32_C(1) << lane, places);
            if (in_block(w, places[lane]))
                access_tell(w, lane, true,
                            (uint64_t)(places[lane] - w->isa.block->shared) + w->isa.block->shared_from,
                            runs[i].bytes, stores);
            else
                access_tell(w, lane, false, (uintptr_t)places[lane], runs[i].bytes, stores);
            char *value = (char *)warp_at(w, x->d[runs[i].number]) + (size_t)wide * lane + runs[i].byte;
            if (request && !in_block(w, places[lane])) {
                request->of.kind = REQUEST_PIECES;
                request->of.keep = true;
                request->writes = stores;
                access_add_piece(request, (uintptr_t)places[lane], value, runs[i].bytes, lane);
                continue;
            }
            memcpy(stores ? places[lane] : value, stores ? value : places[lane], runs[i].bytes);
        }
    }
}

static bool lower_matrix_registers(struct lower *lower, uint32_t operand, const struct matrix_operand *matrix,
                                   bool written, uint32_t *places)
{
    uint32_t count;
    enum isa_type type = matrix->type == MATRIX_f64 ? TYPE_f64 : TYPE_u32;
    if (!lower_list(lower, lower_operand(lower, operand), type, written, MATRIX_REGISTERS, places, &count))
        return false;
    if (matrix->registers && count != matrix->registers)
        return lower_fail(lower, "%u registers were expected, there are %u", matrix->registers, count) ==
               LOWERED;
    return true;
}

static bool lower_matrix_address(struct lower *lower, struct op *op, struct matrix_access *x,
                                 uint32_t operand)
{
    x->access.space = access_space_named(lower->inst->opcode);
    x->access.count = 1;
    x->access.bytes = 16;
    x->access.writes = x->form.kind == MATRIX_STMATRIX || x->form.kind == MATRIX_STORE;
    return lower_address(lower, lower_operand(lower, operand), op, &x->access);
}

static bool lower_sparse(struct lower *lower, struct matrix_access *x)
{
    const struct ptx_operand *selector = lower_operand(lower, 5);
    if (!lower_source(lower, lower_operand(lower, 4), TYPE_u32, &x->metadata))
        return false;
    if (selector->kind != PTX_OP_INTEGER || !matrix_has_selector(&x->form, (uint64_t)selector->value))
        return lower_fail(lower, "this sparsity selector is not one of the instruction's") == LOWERED;
    x->selector = (uint32_t)selector->value;
    return true;
}

enum lowered lower_matrix(struct lower *lower, struct op *op)
{
    struct matrix_access *x = (void *)lower_sync(lower, op, NULL, sizeof *x);
    x->sync.who = MEMBERS_ALL;
    if (!matrix_parse(lower->inst->opcode, &x->form))
        return lower_fail(lower, "Heddle does not know this matrix instruction");
    const struct matrix_form *form = &x->form;
    bool good = true;
    switch (form->kind) {
    case MATRIX_MMA:
        x->sync.run = form->sparse ? run_sparse : run_mma;
        matrix_plan(form, matrix_model(90), &x->plan);
        good = lower_matrix_registers(lower, 0, &form->d, true, x->d) &&
               lower_matrix_registers(lower, 1, form->sparse ? &form->given : &form->a, false, x->a) &&
               lower_matrix_registers(lower, 2, &form->b, false, x->b) &&
               lower_matrix_registers(lower, 3, &form->c, false, x->c) &&
               (!form->sparse || lower_sparse(lower, x));
        break;
    case MATRIX_LDMATRIX:
    case MATRIX_STMATRIX: {
        bool stores = form->kind == MATRIX_STMATRIX;
        x->sync.run = run_ldmatrix;
        good = lower_matrix_registers(lower, stores, &form->d, !stores, x->d) &&
               lower_matrix_address(lower, op, x, !stores);
        break;
    }
    case MATRIX_MOVMATRIX:
        x->sync.run = run_movmatrix;
        good = lower_matrix_registers(lower, 0, &form->d, true, x->d) &&
               lower_matrix_registers(lower, 1, &form->d, false, x->a);
        break;
    case MATRIX_LOAD:
    case MATRIX_STORE: {
        bool stores = form->kind == MATRIX_STORE;
        x->sync.run = run_matrix_memory;
        x->has_stride = lower->inst->count > 2;
        good = lower_matrix_registers(lower, stores, &form->d, !stores, x->d) &&
               lower_matrix_address(lower, op, x, !stores) &&
               (!x->has_stride || lower_source(lower, lower_operand(lower, 2), TYPE_u32, &op->b));
        break;
    }
    }
    return good ? LOWERED : LOWER_FAILED;
}

/* Image instructions (MIMG): loads, stores, atomics, samples and gathers. Each touches texels by a resource
 * in scalar registers; what texture.c and sampler.c refuse is a fault. */
#include "gcn3_run/image.h"
#include "base/bits.h"
#include "exec/number.h"
#include "gcn3_run/buffer.h"

#include <string.h>

/* What makes registers of texels. With time it is the beginning of the stage; texels follow, by lane. */
struct fetch {
    struct gcn3_texture texture;
    lane_mask lanes;
    struct gcn3_around around[GCN3_LANES];
};

/* ---- resources and addresses ---- */

/* gfx9 has 16 bits of an address in place of short resources. */
static bool is_a16(const struct gcn3_inst *inst)
{
    return inst->r128 && inst->target != GCN3_GFX803;
}

static bool has_level(const struct gcn3_inst *inst)
{
    return inst->op == GCN3_IMAGE_LOAD_MIP || inst->op == GCN3_IMAGE_STORE_MIP;
}

static void take_texture(struct gcn3_wave *w, const struct gcn3_lowered *op, struct gcn3_texture *texture)
{
    const struct gcn3_inst *inst = &op->inst;
    const char *defect = gcn3_texture_take(&w->s[inst->resource.number], (enum gcn3_target)inst->target,
                                           inst->r128 && inst->target == GCN3_GFX803, texture);
    if (defect)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "an image: %s", defect);
    uint32_t body = texture->axes + inst->da + has_level(inst);
    uint32_t end = inst->a.number + op->access.before + (is_a16(inst) ? (body + 1) / 2 : body);
    if (end > gcn3_kernel_of(w)->vgprs)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "coordinates in v%u, and the wave has %u VGPRs", end - 1,
                   gcn3_kernel_of(w)->vgprs);
}

/* A coordinate, by its number: those of the axes, the layer, the level. */
static uint32_t coordinate(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t number,
                           uint32_t lane)
{
    uint32_t first = op->inst.a.number + op->access.before;
    if (is_a16(&op->inst))
        return w->v[first + number / 2][lane] >> 16 * (number % 2) & 0xffff;
    return w->v[first + number][lane];
}

static float coordinate_float(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t number,
                              uint32_t lane)
{
    uint32_t bits = coordinate(w, op, number, lane);
    return is_a16(&op->inst) ? f32_f16((uint16_t)bits) : f32_bits(bits);
}

/* Of a load, store or atomic: texels by number. There is no level but the first. */
static void find_texels(const struct gcn3_wave *w, const struct gcn3_lowered *op, struct fetch *fetch)
{
    const struct gcn3_texture *texture = &fetch->texture;
    EACH_LANE (i, fetch->lanes) {
        uint32_t place[GCN3_AXES] = {0};
        for (uint32_t axis = 0; axis < texture->axes; axis++)
            place[axis] = coordinate(w, op, axis, i);
        uint32_t layer = op->inst.da && texture->layers ? coordinate(w, op, texture->axes, i) : 0;
        gcn3_texel_around(texture, place, layer, &fetch->around[i]);
        if (has_level(&op->inst) && coordinate(w, op, texture->axes + op->inst.da, i))
            fetch->around[i].inside = 0;
    }
}

/* 6 bits for each axis. */
static void find_offsets(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                         int32_t offset[GCN3_AXES])
{
    uint32_t bits = op->access.has_offsets ? w->v[op->inst.a.number][lane] : 0;
    for (uint32_t axis = 0; axis < GCN3_AXES; axis++)
        offset[axis] = (int32_t)(bits << (26 - 8 * axis)) >> 26;
}

static void find_samples(struct gcn3_wave *w, const struct gcn3_lowered *op, struct fetch *fetch)
{
    struct gcn3_texture *texture = &fetch->texture;
    struct gcn3_sampler sampler;
    const char *defect = gcn3_sampler_take(&w->s[op->inst.sampler.number], &sampler);
    bool gathers = gcn3_rows[op->inst.op].flags & GCN3_GATHER;
    if (!defect && gathers && texture->axes != 2)
        defect = "only images of 2 dimensions are gathered";
    if (defect)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "a sampler: %s", defect);
    sampler.is_unnormalized |= op->inst.unorm;
    gcn3_sample_border(&sampler, texture);
    EACH_LANE (i, fetch->lanes) {
        float place[GCN3_AXES] = {0}, layer = 0;
        int32_t offset[GCN3_AXES];
        for (uint32_t axis = 0; axis < texture->axes; axis++)
            place[axis] = coordinate_float(w, op, axis, i);
        if (op->inst.da)
            layer = coordinate_float(w, op, texture->axes, i);
        find_offsets(w, op, i, offset);
        gcn3_sample_around(texture, &sampler, place, offset, layer, gathers, &fetch->around[i]);
    }
}

/* A fault, if a texel is not in memory that the kernel may use. */
static void check_texels(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct fetch *fetch)
{
    struct gcn3_lowered sized = *op;
    sized.access.bytes = (uint8_t)fetch->texture.texel_bytes;
    uint32_t corners = 0;
    EACH_LANE (i, fetch->lanes)
        corners |= fetch->around[i].corners; /* a power of 2, the same for all lanes */
    for (uint32_t corner = 0; corner < corners; corner++) {
        uint64_t at[GCN3_LANES];
        lane_mask lanes = 0;
        EACH_LANE (i, fetch->lanes) {
            at[i] = fetch->around[i].at[corner];
            lanes |= (lane_mask)(fetch->around[i].inside >> corner & 1) << i;
        }
        gcn3_check_global(w, &sized, at, lanes);
    }
}

/* ---- texels and registers ---- */

/* Only components of the mask have a register. */
static void take(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct fetch *fetch, uint32_t lane,
                 unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST])
{
    const struct gcn3_texture *texture = &fetch->texture;
    const struct gcn3_around *around = &fetch->around[lane];
    uint32_t colour[GCN3_COMPONENTS], selected[GCN3_COMPONENTS], kept[GCN3_COMPONENTS], count = 0;
    if (gcn3_rows[op->inst.op].flags & GCN3_GATHER) {
        uint32_t which = op->inst.dmask ? (uint32_t)__builtin_ctz(op->inst.dmask) : 0;
        gcn3_sample_gather(texture, around, texels, which, kept);
        count = GCN3_COMPONENTS;
    } else {
        gcn3_sample_mix(texture, around, texels, colour);
        gcn3_format_select(texture->select, texture->number, colour, selected);
        for (uint32_t k = 0; k < GCN3_COMPONENTS; k++)
            if (op->inst.dmask >> k & 1)
                kept[count++] = selected[k];
    }
    gcn3_take_components(w, op, lane, texture->number, kept, count);
}

static void give(const struct gcn3_wave *w, const struct gcn3_lowered *op, const struct fetch *fetch,
                 uint32_t lane, unsigned char *texel)
{
    const struct gcn3_texture *texture = &fetch->texture;
    uint32_t given[GCN3_COMPONENTS], colour[GCN3_COMPONENTS] = {0}, texel_colour[GCN3_COMPONENTS] = {0};
    uint32_t count = (uint32_t)__builtin_popcount(op->inst.dmask);
    gcn3_give_components(w, op, lane, texture->number, given, count);
    for (uint32_t k = GCN3_COMPONENTS; k--;)
        if (op->inst.dmask >> k & 1)
            colour[k] = given[--count];
    gcn3_format_place(texture->select, colour, texel_colour);
    gcn3_format_write(texture->data, texture->number, texel_colour, texel);
}

/* ---- without time ---- */

static void perform(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct fetch *fetch)
{
    uint32_t bytes = fetch->texture.texel_bytes;
    EACH_LANE (i, fetch->lanes) {
        const struct gcn3_around *around = &fetch->around[i];
        unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST];
        if (op->access.writes) {
            if (around->inside)
                give(w, op, fetch, i, (unsigned char *)(uintptr_t)around->at[0]);
            continue;
        }
        for (uint32_t corner = 0; corner < around->corners; corner++)
            if (around->inside >> corner & 1)
                memcpy(texels[corner], (const void *)(uintptr_t)around->at[corner], bytes);
        take(w, op, fetch, i, texels);
    }
}

/* ---- with time ---- */

static uint64_t stage_at(uint32_t lane, uint32_t corner)
{
    return sizeof(struct fetch) + (uint64_t)(GCN3_CORNERS * lane + corner) * GCN3_ELEMENT_MOST;
}

static void ask(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct fetch *fetch)
{
    unsigned char *stage = gcn3_ask_stage(w, stage_at(GCN3_LANES, 0));
    memcpy(stage, fetch, sizeof *fetch);
    EACH_LANE (i, fetch->lanes) {
        const struct gcn3_around *around = &fetch->around[i];
        if (op->access.writes && around->inside)
            give(w, op, fetch, i, stage + stage_at(i, 0));
        for (uint32_t corner = 0; corner < around->corners; corner++)
            if (around->inside >> corner & 1)
                gcn3_ask_staged(w, op, around->at[corner], stage_at(i, corner), fetch->texture.texel_bytes,
                                i);
    }
    w->isa.block->worker->request->of.stage_bytes = op->access.writes ? 0 : (uint32_t)stage_at(GCN3_LANES, 0);
}

void gcn3_image_complete(struct gcn3_wave *w, const struct gcn3_lowered *op, const unsigned char *stage)
{
    struct fetch fetch;
    memcpy(&fetch, stage, sizeof fetch);
    EACH_LANE (i, fetch.lanes) {
        unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST];
        memcpy(texels, stage + stage_at(i, 0), sizeof texels);
        take(w, op, &fetch, i, texels);
    }
}

static bool touches_memory(const struct fetch *fetch)
{
    bool touches = false;
    EACH_LANE (i, fetch->lanes)
        touches |= fetch->around[i].inside;
    return touches;
}

/* ---- the instructions ---- */

static void access(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct fetch fetch;
    memset(&fetch, 0, sizeof fetch); /* it may become a part of a checkpoint */
    fetch.lanes = gcn3_exec(w);
    take_texture(w, op, &fetch.texture);
    if (gcn3_rows[op->inst.op].flags & GCN3_SAMPLER)
        find_samples(w, op, &fetch);
    else
        find_texels(w, op, &fetch);
    check_texels(w, op, &fetch);
    bool has_time = w->isa.block->worker->request;
    if (has_time && touches_memory(&fetch))
        ask(w, op, &fetch);
    else
        perform(w, op, &fetch);
    if (has_time)
        gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

/* Outside of the image nothing is done, and 0 was there. */
static void atomic(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    static const unsigned char zeros[8];
    struct fetch fetch = {.lanes = gcn3_exec(w)};
    uint64_t at[GCN3_LANES];
    lane_mask inside = 0;
    take_texture(w, op, &fetch.texture);
    if (fetch.texture.texel_bytes != op->access.bytes)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "an atomic operation of %u bytes on texels of %u",
                   op->access.bytes, fetch.texture.texel_bytes);
    find_texels(w, op, &fetch);
    EACH_LANE (i, fetch.lanes) {
        at[i] = fetch.around[i].at[0];
        inside |= (lane_mask)fetch.around[i].inside << i;
    }
    EACH_LANE (i, op->access.returns ? fetch.lanes & ~inside : 0)
        gcn3_take_lane(w, op, i, zeros);
    gcn3_access_global(w, op, at, inside);
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

/* Width, height, depth or layers, levels; of a level that there is not, 0. */
static void get_resinfo(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct gcn3_texture texture;
    take_texture(w, op, &texture);
    uint32_t facts[GCN3_COMPONENTS] = {texture.size[0], texture.size[1], texture.size[2], texture.levels};
    if (texture.layers)
        facts[texture.axes] = texture.layers;
    EACH_LANE (i, gcn3_exec(w)) {
        uint32_t kept[GCN3_COMPONENTS], count = 0;
        bool is_there = !w->v[op->inst.a.number][i];
        for (uint32_t k = 0; k < GCN3_COMPONENTS; k++)
            if (op->inst.dmask >> k & 1)
                kept[count++] = is_there || k == GCN3_COMPONENTS - 1 ? facts[k] : 0;
        gcn3_take_components(w, op, i, texture.number, kept, count);
    }
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

/* ---- which are executed ---- */

static gcn3_run_fn *lower_atomic(struct gcn3_lowered *op)
{
    struct gcn3_data *data = &op->access;
    bool swaps = op->inst.op == GCN3_IMAGE_ATOMIC_CMPSWAP;
    data->bytes = op->inst.dmask == (swaps ? 15 : 3) ? 8 : 4;
    data->dwords = data->bytes / 4;
    data->is_atomic = data->writes = true;
    data->returns = op->inst.glc;
    op->inst.d.dwords = data->dwords; /* of a comparison's data, only the old value comes back */
    return gcn3_set_atomic(data, gcn3_rows[op->inst.op].text) ? atomic : NULL;
}

/* Suffixes behind the name; with one level, those that choose a level do nothing. */
static gcn3_run_fn *lower_sample(struct gcn3_lowered *op, const char *suffixes)
{
    static const char *const known[] = {"", "_l", "_lz", "_cl", "_b", "_b_cl"};
    size_t length = strlen(suffixes);
    op->access.has_offsets = length >= 2 && !strcmp(suffixes + length - 2, "_o");
    length -= op->access.has_offsets ? 2 : 0;
    op->access.before = (uint8_t)(op->access.has_offsets + !strncmp(suffixes, "_b", 2));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strlen(known[i]) == length && !strncmp(suffixes, known[i], length))
            return access;
    return NULL;
}

gcn3_run_fn *gcn3_image(struct gcn3_lowered *op)
{
    static const char samples[] = "image_sample", gathers[] = "image_gather4";
    const char *text = gcn3_rows[op->inst.op].text;
    op->access.bytes = 4; /* or else: the resource says */
    switch ((int)op->inst.op) {
    case GCN3_IMAGE_STORE:
    case GCN3_IMAGE_STORE_MIP:
        op->access.writes = true;
        return access;
    case GCN3_IMAGE_LOAD:
    case GCN3_IMAGE_LOAD_MIP:
        return access;
    case GCN3_IMAGE_GET_RESINFO:
        return get_resinfo;
    default:
        break;
    }
    if (gcn3_rows[op->inst.op].flags & GCN3_ATOMIC)
        return lower_atomic(op);
    if (!strncmp(text, samples, sizeof samples - 1))
        return lower_sample(op, text + sizeof samples - 1);
    if (!strncmp(text, gathers, sizeof gathers - 1) && op->inst.op != GCN3_IMAGE_GATHER4H)
        return lower_sample(op, text + sizeof gathers - 1);
    return NULL;
}

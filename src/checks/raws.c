/* Findings while a launch runs, as numbers; their words are found when it has ended. */
#include "checks/parts.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "exec/place.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    enum check check;
    const char *what;
} kinds[] = {
#define K(id, check, what) {CHECK_##check, what},
    KINDS(K)
#undef K
};

/* ---- sites ---- */

static struct checked_code *code_of(struct checked_launch *launch, const struct isa_code *code)
{
    for (size_t i = launch->code_count; i-- > 0;)
        if (launch->codes[i].code == code)
            return &launch->codes[i];
    mem_grow(launch->codes, launch->code_count, launch->code_capacity);
    struct checked_code *made = &launch->codes[launch->code_count++];
    *made = (struct checked_code){code, mem_alloc(code->count + 1, sizeof *made->sites),
                                  mem_alloc(code->count + 1, sizeof *made->variables)};
    if (launch->own->find_shared && launch->checks >> CHECK_memory & 1)
        launch->own->find_shared(launch->launch->kernel, code, made->variables);
    return made;
}

uint16_t site_of(struct checked_launch *launch, const struct isa_code *code, uint32_t instruction)
{
    const struct checked_code *own = code_of(launch, code);
    uint16_t *site = &own->sites[instruction];
    if (*site)
        return *site;
    if (launch->site_count >= UINT16_MAX) /* further ones share the last */
        return UINT16_MAX;
    if (!launch->site_count)
        launch->site_count = 1;
    while (launch->site_capacity <= launch->site_count) {
        size_t more = launch->site_capacity ? 2 * launch->site_capacity : 64;
        launch->sites = mem_resize(launch->sites, launch->site_capacity, more, sizeof *launch->sites);
        launch->site_capacity = more;
    }
    launch->sites[launch->site_count] = (struct site){code, instruction, own->variables[instruction]};
    return *site = (uint16_t)launch->site_count++;
}

/* ---- the list ---- */

static uint64_t hash_of(const struct raw *raw)
{
    uint64_t key = (uint64_t)raw->kind << 40 | (uint64_t)raw->is_shared << 33 |
                   (uint64_t)raw->same_block << 32 | (uint32_t)raw->first << 16 | raw->second;
    return key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static bool is_like(const struct raw *a, const struct raw *b)
{
    return a->kind == b->kind && a->is_shared == b->is_shared && a->same_block == b->same_block &&
           a->first == b->first && a->second == b->second;
}

/* Its place, or where that would be. */
static uint32_t *slot_of(const struct checked_launch *launch, const struct raw *raw)
{
    size_t slot = hash_of(raw) & (launch->slot_count - 1);
    while (launch->raw_slots[slot] && !is_like(&launch->raws[launch->raw_slots[slot] - 1], raw))
        slot = (slot + 1) & (launch->slot_count - 1);
    return &launch->raw_slots[slot];
}

static void grow_slots(struct checked_launch *launch)
{
    mem_free(launch->raw_slots);
    launch->slot_count = launch->slot_count ? 2 * launch->slot_count : 64;
    launch->raw_slots = mem_alloc(launch->slot_count, sizeof *launch->raw_slots);
    for (size_t i = 0; i < launch->raw_count; i++)
        *slot_of(launch, &launch->raws[i]) = (uint32_t)i + 1;
}

void raw_add(struct checked_launch *launch, const struct raw *raw)
{
    if (!(launch->checks >> kinds[raw->kind].check & 1))
        return;
    if (2 * launch->raw_count >= launch->slot_count)
        grow_slots(launch);
    uint32_t *slot = slot_of(launch, raw);
    if (!*slot) {
        mem_grow(launch->raws, launch->raw_count, launch->raw_capacity);
        launch->raws[launch->raw_count++] = *raw;
        *slot = (uint32_t)launch->raw_count;
    }
    launch->raws[*slot - 1].count++;
}

void raw_add_sync(struct checked_block *own, enum kind kind, uint16_t first, uint16_t site, uint32_t warp,
                  lane_mask lanes)
{
    raw_add(own->launch, &(struct raw){.kind = (uint8_t)kind,
                                       .same_block = true,
                                       .first = first,
                                       .second = site,
                                       .other = {own->number, warp * own->lanes + first_lane(lanes)},
                                       .lanes = lanes});
}

/* ---- words ---- */

static void tell_site(const struct checked_launch *launch, uint16_t site, struct text *text)
{
    struct code_place place = {0};
    if (!site || site >= launch->site_count) {
        text_add(text, "an unknown place");
        return;
    }
    kernel_place_in(launch->launch->kernel, launch->sites[site].code, launch->sites[site].instruction,
                    &place);
    place_tell(&place, text);
}

static void tell_actor(const struct checked_launch *launch, const struct actor *actor, struct text *text)
{
    const uint32_t *grid = launch->launch->grid, *block = launch->launch->block;
    uint64_t number = actor->block;
    text_add(text, "%s (%u,%u,%u) of %s (%u,%u,%u)", launch->own->thread_word, actor->thread % block[0],
             actor->thread / block[0] % block[1], actor->thread / block[0] / block[1],
             launch->own->block_word, (uint32_t)(number % grid[0]), (uint32_t)(number / grid[0] % grid[1]),
             (uint32_t)(number / grid[0] / grid[1]));
}

static void tell_place(const struct checked_launch *launch, const struct raw *raw, struct text *text)
{
    struct text where = {0};
    if (raw->is_shared) {
        text_add(text, "%u bytes at 0x%" PRIx64 " of shared memory", raw->bytes, raw->at);
        return;
    }
    image_describe(launch->launch->image, raw->at, &where);
    text_add(text, "%u bytes at 0x%" PRIx64 ", %s", raw->bytes, raw->at, where.at ? where.at : "");
    text_fini(&where);
}

static void tell_what(const struct raw *raw, struct text *text)
{
    enum check check = kinds[raw->kind].check;
    text_add(text, "%s", kinds[raw->kind].what);
    if (check == CHECK_race || check == CHECK_init)
        text_add(text, " (%s memory%s)", raw->is_shared ? "shared" : "global",
                 check == CHECK_init ? ""
                 : raw->same_block   ? ", threads of a block"
                                     : ", threads of different blocks");
}

static void tell_detail(const struct checked_launch *launch, const struct raw *raw, struct text *text)
{
    if (raw->first && kinds[raw->kind].check == CHECK_race) {
        tell_actor(launch, &raw->one, text);
        text_add(text, ", then ");
    }
    tell_actor(launch, &raw->other, text);
    if (raw->lanes)
        text_add(text, ", lanes 0x%" PRIx64, raw->lanes);
    if (raw->kind == KIND_BEYOND)
        text_add(text, "; the array %s has %" PRIu64 " bytes from 0x%" PRIx64 " on",
                 launch->sites[raw->second].variable.name, launch->sites[raw->second].variable.bytes,
                 launch->sites[raw->second].variable.at);
    if (raw->bytes) {
        text_add(text, ": ");
        tell_place(launch, raw, text);
    }
}

/* Barriers at one line of the source are one barrier: the compiler has made several of it. */
static bool is_one_line(const struct checked_launch *launch, const struct raw *raw)
{
    struct code_place one = {0}, other = {0};
    if (!raw->first || (raw->kind != KIND_OTHER_PLACE && raw->kind != KIND_DIVERGENT))
        return false;
    const struct site *first = &launch->sites[raw->first], *second = &launch->sites[raw->second];
    kernel_place_in(launch->launch->kernel, first->code, first->instruction, &one);
    kernel_place_in(launch->launch->kernel, second->code, second->instruction, &other);
    return one.file && other.file && one.line == other.line && !strcmp(one.file, other.file);
}

static void tell_raw(struct checked_launch *launch, const struct raw *raw)
{
    struct text what = {0}, first = {0}, second = {0}, detail = {0};
    uint16_t earlier = raw->first ? raw->first : raw->second;
    tell_what(raw, &what);
    tell_site(launch, earlier, &first);
    if (raw->first)
        tell_site(launch, raw->second, &second);
    tell_detail(launch, raw, &detail);
    findings_add(&launch->checker->findings,
                 &(struct finding){.check = kinds[raw->kind].check,
                                   .what = what.at,
                                   .kernel = demangled(launch->launch->kernel->facts.name),
                                   .first = first.at,
                                   .second = second.at,
                                   .detail = detail.at,
                                   .launch = launch->number,
                                   .count = raw->count});
    text_fini(&what);
    text_fini(&first);
    text_fini(&second);
    text_fini(&detail);
}

void raws_tell(struct checked_launch *launch)
{
    for (size_t i = 0; i < launch->raw_count; i++)
        if (!is_one_line(launch, &launch->raws[i]))
            tell_raw(launch, &launch->raws[i]);
}

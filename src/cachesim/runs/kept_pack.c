#include "cachesim/runs/kept.h"

#include <string.h>

struct packed {
    uint64_t name_bytes; /* with its zero byte; the name is behind this, counters of each tile behind that */
    uint64_t tiles, accesses;
    struct coherent_counters l1, l2;
    double transfer_s, l1_s, l2_s;
};

static void add_shape(struct text *text, const char *name, const struct cache_shape *shape)
{
    text_add(text, " %s=%llu,%u,%u", name, (unsigned long long)shape->bytes, shape->ways, shape->line_bytes);
}

void configuration_name(const struct configuration *one, struct text *name)
{
    const struct caches_spec *spec = &one->spec;
    setting_print("machine", spec, name);
    text_add(name, " tiles=%u", spec->tiles);
    add_shape(name, "l1", &spec->l1);
    if (spec->machine != CACHES_L1)
        add_shape(name, "l2", &spec->l2);
    text_add(name, " policy=");
    setting_print("policy", spec, name);
    text_add(name, " snoop=%u quantum=%llu seed=%llu", spec->snoop, (unsigned long long)spec->quantum,
             (unsigned long long)spec->seed);
}

void configuration_pack(const struct configuration *one, struct text *text)
{
    const struct caches_result *result = &one->result;
    size_t each = one->spec.tiles * sizeof *result->l1_of;
    struct text name = {0};
    configuration_name(one, &name);
    struct packed packed = {.name_bytes = name.length + 1,
                            .tiles = one->spec.tiles,
                            .accesses = result->accesses,
                            .l1 = result->l1,
                            .l2 = result->l2,
                            .transfer_s = result->transfer_s,
                            .l1_s = result->l1_s,
                            .l2_s = result->l2_s};
    text_add_bytes(text, (const char *)&packed, sizeof packed);
    text_add_bytes(text, name.at, name.length + 1);
    text_add_bytes(text, (const char *)result->l1_of, each);
    text_add_bytes(text, (const char *)result->l2_of, each);
    text_fini(&name);
}

const char *configuration_packed_name(const char *bytes, size_t count)
{
    struct packed packed;
    if (count < sizeof packed)
        return NULL;
    memcpy(&packed, bytes, sizeof packed);
    const char *name = bytes + sizeof packed;
    size_t left = count - sizeof packed;
    if (!packed.name_bytes || packed.name_bytes > left || name[packed.name_bytes - 1] ||
        packed.tiles > CACHES_TILES_MOST)
        return NULL;
    return left - packed.name_bytes == 2 * packed.tiles * sizeof(struct coherent_counters) ? name : NULL;
}

bool configuration_unpack(struct configuration *one, const char *bytes, size_t count)
{
    struct packed packed;
    struct text name = {0};
    const char *packed_name = configuration_packed_name(bytes, count);
    configuration_name(one, &name);
    bool good = packed_name && !strcmp(packed_name, name.at);
    text_fini(&name);
    if (!good)
        return false;
    memcpy(&packed, bytes, sizeof packed);
    struct caches_result *result = &one->result;
    size_t each = one->spec.tiles * sizeof *result->l1_of;
    const char *of = packed_name + packed.name_bytes;
    result->accesses = packed.accesses;
    result->l1 = packed.l1;
    result->l2 = packed.l2;
    result->transfer_s = packed.transfer_s;
    result->l1_s = packed.l1_s;
    result->l2_s = packed.l2_s;
    memcpy(result->l1_of, of, each);
    memcpy(result->l2_of, of + each, each);
    return true;
}

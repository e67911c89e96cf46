/* A replacement policy: the line that was used least often leaves.
 *
 *   heddle bench transpose --mode timing --plugin ./lfu.so --set sm.l1_policy=lfu
 *   heddle caches --plugin ./lfu.so --policy lfu ...
 *
 * The state is a byte for each way: how often its line was used. When one reaches 255, all are halved, so that
 * what was used long ago counts less. */
#include <heddle_plugin.h>

static void used(uint8_t *uses, uint32_t ways, uint32_t way)
{
    if (++uses[way] == UINT8_MAX)
        for (uint32_t i = 0; i < ways; i++)
            uses[i] /= 2;
}

static void came(uint8_t *uses, uint32_t ways, uint32_t way)
{
    (void)ways;
    uses[way] = 1;
}

/* The first of the least used. */
static uint32_t choose(uint8_t *uses, uint32_t ways, uint64_t among, uint64_t seed)
{
    uint32_t best = ways;
    (void)seed;
    for (uint32_t way = 0; way < ways; way++)
        if ((among >> way & 1) && (best == ways || uses[way] < uses[best]))
            best = way;
    return best;
}

static const struct heddle_replacement policies[] = {
    {"lfu", "the line that was used least often leaves", used, came, choose}, {0}};

HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "lfu", policies, NULL, NULL};

/* How many registers are live while a region is scheduled. */
#include "ptxas/schedule_parts.h"
#include "base/mem.h"

static void set_live(struct schedule *s, uint32_t index, bool live)
{
    if (s->live[index] == live)
        return;
    s->live[index] = live;
    s->pressure += live ? s->lives.size[index] : -(int32_t)s->lives.size[index];
    mem_grow(s->touched, s->touched_count, s->touched_capacity);
    s->touched[s->touched_count++] = index;
}

static void see_write_back(void *context, uint32_t index, bool written)
{
    struct schedule *s = context;
    if (written && lives_kills(&s->lives, s->inst, index))
        set_live(s, index, false);
}

static void see_read_back(void *context, uint32_t index, bool written)
{
    struct schedule *s = context;
    if (!written || !lives_kills(&s->lives, s->inst, index))
        set_live(s, index, true);
}

void pressure_pass(struct schedule *s, uint32_t inst)
{
    s->inst = inst;
    lives_each(&s->lives, inst, see_write_back, s);
    lives_each(&s->lives, inst, see_read_back, s);
}

void pressure_begin_block(struct schedule *s, uint32_t block)
{
    while (s->touched_count)
        s->live[s->touched[--s->touched_count]] = false;
    s->pressure = 0;
    for (uint32_t w = 0; w < s->lives.words; w++) {
        uint64_t bits = s->lives.out[(size_t)block * s->lives.words + w];
        for (; bits; bits &= bits - 1)
            set_live(s, s->shared[64 * w + (uint32_t)__builtin_ctzll(bits)], true);
    }
}

static struct held *held_of(struct schedule *s, uint32_t index)
{
    struct held *held = &s->held[index];
    if (held->region != s->region)
        *held = (struct held){.region = s->region, .behind = s->live[index]};
    return held;
}

static void see_name(void *context, uint32_t index, bool written)
{
    struct schedule *s = context;
    struct held *held = held_of(s, index);
    held->left += !written;
    mem_grow(s->names, s->name_count, s->name_capacity);
    s->names[s->name_count++] = (struct schedule_name){index, written};
}

void pressure_begin_region(struct schedule *s)
{
    s->name_count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->nodes[i].names = s->name_count;
        lives_each(&s->lives, s->nodes[i].inst, see_name, s);
        s->nodes[i].name_count = s->name_count - s->nodes[i].names;
    }
    for (uint32_t i = s->count; i-- > 0;)
        pressure_pass(s, s->nodes[i].inst);
    for (uint32_t i = 0; i < s->name_count; i++)
        s->held[s->names[i].index].now = s->live[s->names[i].index];
}

int32_t pressure_change(const struct schedule *s, const struct node *node)
{
    int32_t change = 0;
    for (uint32_t i = 0; i < node->name_count; i++) {
        const struct schedule_name *name = &s->names[node->names + i];
        const struct held *held = &s->held[name->index];
        if (name->written)
            change += held->now ? 0 : s->lives.size[name->index];
        else if (held->now && held->left == 1 && !held->behind)
            change -= s->lives.size[name->index];
    }
    return change;
}

/* The walk back left what holds before the region; from here on it goes forward. */
void pressure_issue(struct schedule *s, const struct node *node)
{
    for (uint32_t i = 0; i < node->name_count; i++) {
        const struct schedule_name *name = &s->names[node->names + i];
        struct held *held = &s->held[name->index];
        if (name->written && !held->now) {
            held->now = true;
            s->running += s->lives.size[name->index];
        } else if (!name->written && !--held->left && held->now && !held->behind) {
            held->now = false;
            s->running -= s->lives.size[name->index];
        }
    }
}

#include "report/compare/pairing.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

struct shape {
    double sides[6]; /* of the grid, of the block */
};

/* A shape, with the launches of both runs that have it. */
struct shaped {
    struct shape shape;
    struct launch_list before, after;
};

static struct shape shape_of(const struct json_value *launch)
{
    struct shape shape = {{0}};
    for (size_t i = 0; i < 6; i++)
        json_number(json_element(json_member(launch, i < 3 ? "grid" : "block"), i % 3), &shape.sides[i]);
    return shape;
}

static bool is_same(const struct shape *a, const struct shape *b)
{
    bool same = true;
    for (size_t i = 0; i < 6; i++)
        same &= a->sides[i] == b->sides[i];
    return same;
}

static void tell_shape(const struct shape *shape, struct text *text)
{
    const double *s = shape->sides;
    text_add(text, "(%.0f, %.0f, %.0f)x(%.0f, %.0f, %.0f)", s[0], s[1], s[2], s[3], s[4], s[5]);
}

static void add(struct launch_list *list, const struct json_value *launch)
{
    mem_grow(list->at, list->count, list->capacity);
    list->at[list->count++] = launch;
}

struct shapes {
    struct shaped *at;
    size_t count, capacity;
};

static struct shaped *find(struct shapes *shapes, const struct json_value *launch)
{
    struct shape shape = shape_of(launch);
    for (size_t i = 0; i < shapes->count; i++)
        if (is_same(&shapes->at[i].shape, &shape))
            return &shapes->at[i];
    mem_grow(shapes->at, shapes->count, shapes->capacity);
    shapes->at[shapes->count] = (struct shaped){.shape = shape};
    return &shapes->at[shapes->count++];
}

static struct launch_group *new_group(struct pairing *pairing)
{
    mem_grow(pairing->groups, pairing->group_count, pairing->group_capacity);
    pairing->groups[pairing->group_count] = (struct launch_group){0};
    return &pairing->groups[pairing->group_count++];
}

static void note_rest(struct pairing *pairing, const struct shape *shape, bool in_before, size_t count)
{
    struct launch_rest rest = {.in_before = in_before, .count = count};
    if (!count)
        return;
    tell_shape(shape, &rest.shape);
    mem_grow(pairing->rests, pairing->rest_count, pairing->rest_capacity);
    pairing->rests[pairing->rest_count++] = rest;
}

static void pair_same(struct pairing *pairing, const struct shaped *shaped)
{
    size_t pairs = min_u64(shaped->before.count, shaped->after.count);
    struct launch_group *group = new_group(pairing);
    tell_shape(&shaped->shape, &group->shape);
    for (size_t i = 0; i < pairs; i++) {
        add(&group->before, shaped->before.at[i]);
        add(&group->after, shaped->after.at[i]);
    }
    note_rest(pairing, &shaped->shape, true, shaped->before.count - pairs);
    note_rest(pairing, &shaped->shape, false, shaped->after.count - pairs);
}

/* Launches of a run whose shape the other does not have, by shape: in the order of their shapes' first ones.
 */
static void pair_changed(struct pairing *pairing, const struct shapes *shapes)
{
    size_t b = 0, a = 0;
    for (;;) {
        while (b < shapes->count && (shapes->at[b].after.count || !shapes->at[b].before.count))
            b++;
        while (a < shapes->count && (shapes->at[a].before.count || !shapes->at[a].after.count))
            a++;
        if (b == shapes->count && a == shapes->count)
            return;
        const struct shaped *old = b < shapes->count ? &shapes->at[b++] : NULL,
                            *new = a < shapes->count ? &shapes->at[a++] : NULL;
        size_t pairs = old && new ? min_u64(old->before.count, new->after.count) : 0;
        struct launch_group *group = pairs ? new_group(pairing) : NULL;
        for (size_t i = 0; i < pairs; i++) {
            add(&group->before, old->before.at[i]);
            add(&group->after, new->after.at[i]);
        }
        if (group) {
            group->changed = true;
            tell_shape(&new->shape, &group->shape);
            text_add(&group->shape, ", was ");
            tell_shape(&old->shape, &group->shape);
        }
        if (old)
            note_rest(pairing, &old->shape, true, old->before.count - pairs);
        if (new)
            note_rest(pairing, &new->shape, false, new->after.count - pairs);
    }
}

void pairing_make(struct pairing *pairing, const struct launch_list *before, const struct launch_list *after)
{
    struct shapes shapes = {0};
    *pairing = (struct pairing){0};
    for (size_t i = 0; i < before->count; i++)
        add(&find(&shapes, before->at[i])->before, before->at[i]);
    for (size_t i = 0; i < after->count; i++)
        add(&find(&shapes, after->at[i])->after, after->at[i]);
    for (size_t i = 0; i < shapes.count; i++)
        if (shapes.at[i].before.count && shapes.at[i].after.count)
            pair_same(pairing, &shapes.at[i]);
    pair_changed(pairing, &shapes);
    pairing->shapes = shapes.count;
    for (size_t i = 0; i < shapes.count; i++) {
        mem_free(shapes.at[i].before.at);
        mem_free(shapes.at[i].after.at);
    }
    mem_free(shapes.at);
}

void pairing_fini(struct pairing *pairing)
{
    for (size_t i = 0; i < pairing->group_count; i++) {
        text_fini(&pairing->groups[i].shape);
        mem_free(pairing->groups[i].before.at);
        mem_free(pairing->groups[i].after.at);
    }
    for (size_t i = 0; i < pairing->rest_count; i++)
        text_fini(&pairing->rests[i].shape);
    mem_free(pairing->groups);
    mem_free(pairing->rests);
}

bool pairing_is_alike(const struct launch_list *a, const struct launch_list *b)
{
    bool alike = a->count && a->count == b->count;
    for (size_t i = 0; alike && i < a->count; i++) {
        struct shape x = shape_of(a->at[i]), y = shape_of(b->at[i]);
        alike = is_same(&x, &y);
    }
    return alike;
}

#include "cachesim/runs/sweep.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/unit.h"

#include <stddef.h>
#include <stdio.h>

const struct sweep_key sweep_keys[] = {
#define X(name, kind, member, help)                                                                          \
    {name, SWEEP_##kind, offsetof(struct caches_spec, member), sizeof(((struct caches_spec *)0)->member),    \
     help},
    SWEEP_KEYS(X)
#undef X
        {NULL, 0, 0, 0, NULL}};

/* ---- values ---- */

static const char *const machines[] = {
#define X(name, text, help) text,
    CACHES_MACHINES(X)
#undef X
        NULL};

static const char *machine_name(uint32_t number)
{
    return machines[number];
}

/* `name_of` gives NULL behind the last. */
static bool choice_parse(const char *(*name_of)(uint32_t number), const char *text, uint64_t *choice,
                         struct err *err)
{
    for (*choice = 0; name_of((uint32_t)*choice); ++*choice) {
        if (!strcmp(name_of((uint32_t)*choice), text))
            return true;
    }
    err_set(err, "expected");
    for (uint32_t i = 0; name_of(i); i++)
        err_add(err, "%s %s", !i ? "" : name_of(i + 1) ? "," : " or", name_of(i));
    err_add(err, ", not '%.80s'", text);
    return false;
}

bool caches_machine_parse(const char *text, uint64_t *machine, struct err *err)
{
    return choice_parse(machine_name, text, machine, err);
}

bool policy_parse(const char *text, uint64_t *policy, struct err *err)
{
    return choice_parse(replace_name, text, policy, err);
}

bool quantum_parse(const char *text, uint64_t *quantum, struct err *err)
{
    enum { QUANTUM_MOST = 1 << 24 };
    struct err why;
    *quantum = 0;
    if (!strcmp(text, "exact"))
        return true;
    if (unit_parse(UNIT_count, text, quantum, &why) && *quantum && *quantum <= QUANTUM_MOST)
        return true;
    return err_set(err, "expected exact, or accesses from 1 to %d, not '%.80s'", QUANTUM_MOST, text);
}

bool size_parse(const char *text, uint64_t *bytes, struct err *err)
{
    struct err why;
    return unit_parse(UNIT_count, text, bytes, &why) || unit_parse(UNIT_size, text, bytes, err);
}

static bool value_parse(const struct sweep_key *key, const char *text, uint64_t *value, struct err *err)
{
    switch (key->kind) {
    case SWEEP_SIZE:
        return size_parse(text, value, err);
    case SWEEP_MACHINE:
        return caches_machine_parse(text, value, err);
    case SWEEP_POLICY:
        return policy_parse(text, value, err);
    case SWEEP_QUANTUM:
        return quantum_parse(text, value, err);
    default:
        return unit_parse(UNIT_count, text, value, err);
    }
}

void sweep_value_print(const struct sweep_key *key, uint64_t value, struct text *text)
{
    if (key->kind == SWEEP_MACHINE)
        text_add(text, "%s", machines[value]);
    else if (key->kind == SWEEP_POLICY)
        text_add(text, "%s", replace_name((uint32_t)value));
    else if (key->kind == SWEEP_QUANTUM && !value)
        text_add(text, "exact");
    else
        unit_print(key->kind == SWEEP_SIZE ? UNIT_size : UNIT_count, value, text);
}

uint64_t sweep_value_of(const struct sweep_key *key, const struct caches_spec *spec)
{
    const char *at = (const char *)spec + key->at;
    uint32_t word;
    uint64_t value;
    memcpy(&word, at, sizeof word);
    if (key->bytes == sizeof word)
        return word;
    memcpy(&value, at, sizeof value);
    return value;
}

/* ---- parsing ---- */

static bool wrong(const struct sweep_axis *axis, const struct err *why, struct err *err)
{
    return err_set(err, "--sweep: %s: %s", axis->key->name, why->text);
}

static bool add_value(struct sweep_axis *axis, uint64_t value, struct err *err)
{
    struct err why;
    if (axis->key->bytes == sizeof(uint32_t) && value > UINT32_MAX) {
        err_set(&why, "%llu is too large", (unsigned long long)value);
        return wrong(axis, &why, err);
    }
    for (size_t i = 0; i < axis->count; i++) {
        if (axis->values[i] == value)
            return true;
    }
    mem_grow(axis->values, axis->count, axis->capacity);
    axis->values[axis->count++] = value;
    return true;
}

/* "A..B": A, twice that, and so on up to B; B itself in any case. */
static bool add_range(struct sweep_axis *axis, const char *from, const char *to, struct err *err)
{
    uint64_t first, last;
    struct err why;
    if (axis->key->kind == SWEEP_MACHINE || axis->key->kind == SWEEP_POLICY) {
        err_set(&why, "'%.40s..%.40s': only numbers have ranges", from, to);
        return wrong(axis, &why, err);
    }
    if (!value_parse(axis->key, from, &first, &why) || !value_parse(axis->key, to, &last, &why))
        return wrong(axis, &why, err);
    if (!first || first > last) {
        err_set(&why, "'%.40s..%.40s': expected a range upwards, by doubling, such as %s", from, to,
                axis->key->kind == SWEEP_SIZE ? "16KiB..1MiB" : "1..16");
        return wrong(axis, &why, err);
    }
    for (uint64_t value = first; value<last; value = value> UINT64_MAX / 2 ? last : 2 * value) {
        if (!add_value(axis, value, err))
            return false;
    }
    return add_value(axis, last, err);
}

static bool parse_values(struct sweep_axis *axis, char *text, struct err *err)
{
    uint64_t value;
    struct err why;
    for (char *next = text, *one; next;) {
        one = next;
        next += strcspn(next, "|:");
        next = *next ? (*next = 0, next + 1) : NULL;
        char *dots = strstr(one, "..");
        if (dots) {
            *dots = 0;
            if (!add_range(axis, one, dots + 2, err))
                return false;
        } else if (!value_parse(axis->key, one, &value, &why)) {
            return wrong(axis, &why, err);
        } else if (!add_value(axis, value, err)) {
            return false;
        }
    }
    return true;
}

static bool find_key(const char *name, const struct sweep_key **key, struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (*key = sweep_keys; (*key)->name; ++*key) {
        if (!strcmp((*key)->name, name))
            return true;
        nearest_try(&nearest, (*key)->name);
    }
    err_set(err, "--sweep: unknown key '%.80s'", name);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    else
        err_add(err, " (see `heddle help caches`)");
    return false;
}

/* "KEY=VALUES" */
static bool parse_axis(struct sweep *sweep, char *text, struct err *err)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return err_set(err, "--sweep: expected KEY=VALUES, such as l1.size=16KiB..1MiB, not '%.80s'", text);
    *equals = 0;
    if (sweep_has(sweep, text))
        return err_set(err, "--sweep: %s comes twice", text);
    struct sweep_axis *axis = &sweep->axes[sweep->count];
    if (!find_key(text, &axis->key, err))
        return false;
    sweep->count++;
    return parse_values(axis, equals + 1, err);
}

bool sweep_parse(struct sweep *sweep, const char *text, struct err *err)
{
    char *copy = mem_text(text);
    bool good = true;
    for (char *next = copy, *one; good && next;) {
        one = next;
        next += strcspn(next, ",");
        next = *next ? (*next = 0, next + 1) : NULL;
        good = parse_axis(sweep, one, err);
    }
    mem_free(copy);
    if (good && sweep_count(sweep) > SWEEP_MOST)
        good = err_set(err, "--sweep: these are more than %d configurations", SWEEP_MOST);
    return good;
}

void sweep_fini(struct sweep *sweep)
{
    for (size_t i = 0; i < SWEEP_AXES_MOST; i++)
        mem_free(sweep->axes[i].values);
}

bool sweep_has(const struct sweep *sweep, const char *key)
{
    for (size_t i = 0; i < sweep->count; i++) {
        if (!strcmp(sweep->axes[i].key->name, key))
            return true;
    }
    return false;
}

/* ---- combinations ---- */

size_t sweep_count(const struct sweep *sweep)
{
    size_t count = 1;
    for (size_t i = 0; i < sweep->count && count <= SWEEP_MOST; i++)
        count *= sweep->axes[i].count;
    return count;
}

void sweep_apply(const struct sweep *sweep, size_t number, struct caches_spec *spec)
{
    for (size_t i = sweep->count; i-- > 0;) {
        const struct sweep_axis *axis = &sweep->axes[i];
        uint64_t value = axis->values[number % axis->count];
        uint32_t word = (uint32_t)value;
        number /= axis->count;
        memcpy((char *)spec + axis->key->at,
               axis->key->bytes == sizeof word ? (const void *)&word : (const void *)&value,
               axis->key->bytes);
    }
}

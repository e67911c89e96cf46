#include "exec/watch_afar.h"
#include "base/mem.h"

#include <string.h>

struct told_access {
    uint64_t at, instructions; /* of its SM, since the access before */
    uint32_t sm, bytes;        /* bytes 0: it is no access, only instructions */
    uint32_t writes, unused;
};

struct watch_afar {
    struct watch watch; /* first: it is what is called */
    uint32_t sms;
    struct text *told; /* by SM: struct told_access */
};

static void add(struct watch_afar *afar, const struct told_access *one)
{
    text_add_bytes(&afar->told[one->sm], (const char *)one, sizeof *one);
    afar->watch.instructions[one->sm] = 0;
}

static void accessed(struct watch *watch, uint32_t sm, uint64_t at, uint32_t bytes, bool writes)
{
    add((struct watch_afar *)watch,
        &(struct told_access){
            .at = at, .instructions = watch->instructions[sm], .sm = sm, .bytes = bytes, .writes = writes});
}

struct watch_afar *watch_afar_new(uint32_t sms)
{
    struct watch_afar *afar = mem_alloc(1, sizeof *afar);
    afar->sms = sms;
    afar->told = mem_alloc(sms, sizeof *afar->told);
    afar->watch.instructions = mem_alloc(sms, sizeof *afar->watch.instructions);
    afar->watch.accessed = accessed;
    return afar;
}

void watch_afar_free(struct watch_afar *afar)
{
    if (!afar)
        return;
    for (uint32_t i = 0; i < afar->sms; i++)
        text_fini(&afar->told[i]);
    mem_free(afar->told);
    mem_free(afar->watch.instructions);
    mem_free(afar);
}

struct watch *watch_afar_watch(struct watch_afar *afar)
{
    return &afar->watch;
}

void watch_afar_tell(struct watch_afar *afar, struct text *bytes)
{
    for (uint32_t i = 0; i < afar->sms; i++) {
        struct text *told = &afar->told[i];
        if (afar->watch.instructions[i])
            add(afar, &(struct told_access){.instructions = afar->watch.instructions[i], .sm = i});
        if (told->length)
            text_add_bytes(bytes, told->at, told->length);
        told->length = 0;
    }
}

bool watch_afar_take(struct watch *watch, uint32_t sms, const char *bytes, size_t count)
{
    struct told_access one;
    for (size_t at = 0; at + sizeof one <= count; at += sizeof one) {
        memcpy(&one, bytes + at, sizeof one);
        if (one.sm >= sms)
            return false;
        watch->instructions[one.sm] += one.instructions;
        if (one.bytes)
            watch->accessed(watch, one.sm, one.at, one.bytes, one.writes);
    }
    return count % sizeof one == 0;
}

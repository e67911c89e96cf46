#include "itrace/itrace.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/atomics.h"

struct call_row {
    const char *name, *fields;
};

static const struct call_row call_rows[] = {
#define C(id, name, fields) {name, fields},
    ITRACE_CALLS(C)
#undef C
};

const char *itrace_call_name(uint32_t kind)
{
    return call_rows[kind].name;
}

const char *itrace_call_fields(uint32_t kind)
{
    return call_rows[kind].fields;
}

uint32_t itrace_call_field_count(uint32_t kind)
{
    uint32_t count = 1;
    for (const char *at = call_rows[kind].fields; *at; at++)
        count += *at == ' ';
    return count;
}

const char *itrace_doubt_text(uint32_t doubt)
{
    static const char *const texts[] = {
#define D(id, text) text,
        ITRACE_DOUBTS(D)
#undef D
    };
    return texts[doubt];
}

struct itrace *itrace_new(void)
{
    struct itrace *trace = mem_alloc(1, sizeof *trace);
    struct itrace_operations *operations = &trace->operations;
    REQUIRE(atomic_row_count <= ITRACE_OPERATIONS);
    memset(operations->own, UINT8_MAX, sizeof operations->own);
    for (uint32_t i = 0; i < atomic_row_count; i++) {
        operations->names[i] = atomic_rows[i].name;
        operations->own[i] = (uint8_t)i;
    }
    operations->count = atomic_row_count;
    return trace;
}

/* Mostly the text of the place before: places of one file follow each other. */
uint64_t itrace_threads(const struct itrace *trace)
{
    uint64_t last = 0;
    for (size_t i = 0; i < trace->call_count; i++)
        if (trace->calls[i].kind == CALL_THREAD)
            last = max_u64(last, trace->calls[i].field[0]);
    return add_saturating(last, 1);
}

const char *itrace_text(struct itrace *trace, const char *text)
{
    enum { LOOK_BACK = 64 };
    if (!text)
        return NULL;
    for (size_t i = trace->text_count, least = i > LOOK_BACK ? i - LOOK_BACK : 0; i-- > least;)
        if (!strcmp(trace->texts[i], text))
            return trace->texts[i];
    mem_grow(trace->texts, trace->text_count, trace->text_capacity);
    return trace->texts[trace->text_count++] = mem_text(text);
}

static void free_kernel(struct itrace_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        struct itrace_code *own = &kernel->codes[i];
        mem_free((void *)(uintptr_t)own->code.timing);
        mem_free((void *)(uintptr_t)own->code.registers);
        mem_free((void *)(uintptr_t)own->code.steps);
        mem_free(own->places);
    }
    mem_free(kernel->codes);
}

void itrace_free(struct itrace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->kernel_count; i++)
        free_kernel(&trace->kernels[i]);
    for (size_t i = 0; i < trace->launch_count; i++) {
        mem_free(trace->launches[i].chunks);
        mem_free(trace->launches[i].places);
    }
    for (size_t i = 0; i < trace->text_count; i++)
        mem_free(trace->texts[i]);
    mem_free(trace->command);
    mem_free(trace->system);
    mem_free(trace->settings);
    mem_free(trace->isa);
    mem_free(trace->why_cut);
    mem_free(trace->kernels);
    mem_free(trace->launches);
    mem_free(trace->calls);
    mem_free(trace->arenas);
    mem_free(trace->texts);
    mem_free(trace);
}

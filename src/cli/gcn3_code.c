#include "cli/gcn3_code.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "gcn3/gcn3.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum gcn3_target target_of(const struct gcn3_object *object)
{
    return object->gfx == 803 ? GCN3_GFX803 : object->gfx == 900 ? GCN3_GFX900 : GCN3_GFX906;
}

/* Behind its last byte: its symbol says it, or the next function begins, or the segment ends there. */
static uint64_t end_of(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel)
{
    if (kernel->code_bytes)
        return kernel->entry + kernel->code_bytes;
    uint64_t end = object->image_bytes;
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct gcn3_segment *segment = &object->segments[i];
        if (kernel->entry >= segment->at && kernel->entry - segment->at < segment->bytes)
            end = segment->at + segment->bytes;
    }
    for (size_t i = 0; i < object->symbol_count; i++) {
        if (object->symbols[i].at > kernel->entry && object->symbols[i].bytes)
            end = min_u64(end, object->symbols[i].at);
    }
    return end;
}

/* Calls it for each instruction of the kernel, with NULL for a word that is none. */
typedef void each_inst(void *user, uint64_t at, const struct gcn3_inst *inst);

static void for_each(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel, each_inst *each,
                     void *user)
{
    uint64_t end = end_of(object, kernel);
    enum { WORD = 4 };
    for (uint64_t at = kernel->entry; at + WORD <= end;) {
        struct gcn3_inst inst;
        bool known = gcn3_decode(target_of(object), object->image + at, end - at, &inst);
        each(user, at, known ? &inst : NULL);
        at += known ? inst.bytes : WORD;
    }
}

/* ---- counts ---- */

struct counting {
    struct gcn3_code *code;
    struct names names;
    size_t capacity;
};

static void count(void *user, uint64_t at, const struct gcn3_inst *inst)
{
    struct counting *counting = user;
    struct gcn3_code *code = counting->code;
    (void)at;
    if (!inst) {
        code->unknown_bytes += 4;
        return;
    }
    char name[48];
    int length;
    const char *text = gcn3_name(inst->op, inst->target, &length);
    snprintf(name, sizeof name, "%.*s", length, text);
    size_t number = names_add(&counting->names, name);
    if (number == code->opcode_count) {
        mem_grow(code->opcodes, code->opcode_count, counting->capacity);
        memcpy(code->opcodes[code->opcode_count++].name, name, sizeof name);
    }
    code->opcodes[number].count++;
    code->instructions++;
}

static int by_count(const void *left, const void *right)
{
    const struct gcn3_opcode_count *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->name, b->name);
}

void cmd_gcn3_code_count(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel,
                         struct gcn3_code *code)
{
    struct counting counting = {.code = code};
    *code = (struct gcn3_code){0};
    for_each(object, kernel, count, &counting);
    if (code->opcode_count)
        qsort(code->opcodes, code->opcode_count, sizeof *code->opcodes, by_count);
    names_fini(&counting.names);
}

void cmd_gcn3_code_fini(struct gcn3_code *code)
{
    mem_free(code->opcodes);
    *code = (struct gcn3_code){0};
}

/* ---- disassembly ---- */

struct printing {
    const struct gcn3_object *object;
    const char *file;
    uint32_t line;
};

static void print_line(struct printing *printing, uint64_t at)
{
    const char *file;
    uint32_t line;
    if (!gcn3_object_line(printing->object, at, &file, &line) ||
        (file == printing->file && line == printing->line))
        return;
    printf("; %s:%" PRIu32 "\n", file, line);
    printing->file = file;
    printing->line = line;
}

static void add_inst(const uint32_t word, const struct gcn3_inst *inst, struct text *text)
{
    if (inst)
        gcn3_print(inst, text);
    else
        text_add(text, ".long 0x%08" PRIx32 "  // no instruction", word);
}

static void print_target(const struct gcn3_object *object, uint64_t to)
{
    printf("  // to %06" PRIx64, to);
    for (size_t i = 0; i < object->symbol_count; i++) {
        if (object->symbols[i].at == to) {
            printf(" <%s>", object->symbols[i].name);
            return;
        }
    }
}

static void print_inst(void *user, uint64_t at, const struct gcn3_inst *inst)
{
    struct printing *printing = user;
    struct text text = {0};
    uint32_t words[3] = {0};
    uint64_t to;
    print_line(printing, at);
    memcpy(words, printing->object->image + at, inst ? inst->bytes : sizeof *words);
    add_inst(words[0], inst, &text);
    printf("  %06" PRIx64 "  %08" PRIx32, at, words[0]);
    if (inst && inst->bytes > 4)
        printf(" %08" PRIx32, words[1]);
    else
        printf("         ");
    printf("  %s", text.at);
    if (inst && gcn3_branch(inst, at, &to))
        print_target(printing->object, to);
    putchar('\n');
    text_fini(&text);
}

void cmd_gcn3_code_print(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel)
{
    struct printing printing = {.object = object};
    for_each(object, kernel, print_inst, &printing);
}

/* ---- for others ---- */

struct handing_on {
    const struct gcn3_object *object;
    void (*each)(void *user, uint64_t at, const struct text *text);
    void *user;
};

static void hand_on(void *user, uint64_t at, const struct gcn3_inst *inst)
{
    const struct handing_on *handing_on = user;
    struct text text = {0};
    uint32_t word;
    memcpy(&word, handing_on->object->image + at, sizeof word);
    add_inst(word, inst, &text);
    handing_on->each(handing_on->user, at, &text);
    text_fini(&text);
}

void cmd_gcn3_code_each(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel,
                        void (*each)(void *user, uint64_t at, const struct text *text), void *user)
{
    for_each(object, kernel, hand_on, &(struct handing_on){object, each, user});
}

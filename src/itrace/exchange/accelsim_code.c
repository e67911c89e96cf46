#include "exchange/accelsim_code.h"
#include "exec/atomics.h"

/* ---- what an opcode says ---- */

struct opcode_text {
    const char *at;
    size_t length;
};

static bool has(const struct opcode_text *text, const char *name)
{
    return sass_has(text->at, text->length, name);
}

/* A row of exec/atomics.h. What is not known counts as an exchange. */
static uint8_t atomic_of(const struct opcode_text *text, uint32_t bytes)
{
    static const struct {
        const char *modifier, *name;
    } kinds[] = {{"MIN", "min"}, {"MAX", "max"}, {"INC", "inc"}, {"DEC", "dec"},   {"AND", "and"},
                 {"OR", "or"},   {"XOR", "xor"}, {"CAS", "cas"}, {"EXCH", "exch"}, {"ADD", "add"}};
    const char *type = has(text, "F32") || has(text, "F") ? "f32" : has(text, "F64") ? "f64" : NULL;
    char names[3][32];
    size_t kind = 0;
    while (kind < COUNT_OF(kinds) && !has(text, kinds[kind].modifier))
        kind++;
    const char *name = kind < COUNT_OF(kinds) ? kinds[kind].name : "exch";
    snprintf(names[0], sizeof names[0], "%s.%s", name, type ? type : "");
    snprintf(names[1], sizeof names[1], "%s.u%u", name, 8 * bytes);
    snprintf(names[2], sizeof names[2], "%s.b%u", name, 8 * bytes);
    for (size_t k = type ? 0 : 1; k < COUNT_OF(names); k++)
        for (uint32_t i = 0; i < atomic_row_count; i++)
            if (!strcmp(atomic_rows[i].name, names[k]) && atomic_rows[i].bytes == bytes)
                return (uint8_t)i;
    for (uint32_t i = 0; i < atomic_row_count; i++)
        if (!strcmp(atomic_rows[i].name, bytes == 8 ? "exch.b64" : "exch.b32"))
            return (uint8_t)i;
    BUG("no exchange among atomic operations");
}

static uint8_t unit_of(const struct sass_opcode *row, const struct opcode_text *text)
{
    if (row->unit == UNIT_IMAD && has(text, "WIDE"))
        return UNIT_WIDE;
    if (row->unit == UNIT_CVT && (has(text, "F64") || has(text, "S64") || has(text, "U64")))
        return UNIT_CVT64;
    return row->unit;
}

static uint8_t role_of(const struct sass_opcode *row, const struct opcode_text *text)
{
    if (row->role == ROLE_FENCE)
        return has(text, "SYS") ? ROLE_FENCE_SYSTEM : has(text, "CTA") ? ROLE_FENCE_BLOCK : ROLE_FENCE;
    return row->role;
}

/* Bytes of a lane: as the trace says, but for what it does not say. */
static uint8_t bytes_of(const struct sass_opcode *row, const struct opcode_text *text, uint32_t width)
{
    if (row->does == SASS_ATOMIC || row->does == SASS_REDUCES)
        return has(text, "64") || has(text, "F64") ? 8 : 4;
    if (!strcmp(row->name, "LDSM") || !strcmp(row->name, "STSM"))
        return 16;
    return (uint8_t)(width <= 16 ? max_u64(width, 1) : 32);
}

/* Registers that a matrix of an HMMA or IMMA takes. */
static uint32_t matrix_registers(const struct opcode_text *text, uint32_t source)
{
    bool large = has(text, "16816") || has(text, "16832"), wide = has(text, "F32") || has(text, "S32");
    return source == 0 ? (large ? 4 : 2) : source == 1 ? (large ? 2 : 1) : wide ? 4 : 2;
}

static uint32_t to_registers(const struct sass_opcode *row, const struct opcode_text *text, uint32_t bytes)
{
    if (row->unit == UNIT_TENSOR || row->unit == UNIT_IMMA)
        return row->to > 1 ? row->to : matrix_registers(text, 2);
    if (!strcmp(row->name, "LDSM"))
        return has(text, "4") ? 4 : has(text, "2") ? 2 : 1;
    if (!row->to)
        return (bytes + 3) / 4;
    bool wide = has(text, "WIDE") ||
                (row->unit == UNIT_CVT && (has(text, "F64") || has(text, "S64") || has(text, "U64")));
    return wide ? 2 : row->to == 2 && has(text, "32") ? 1 : row->to;
}

/* Of a memory access the first is the address, of 64 bits where ".E" says so; the others are data. */
static uint32_t from_registers(const struct sass_opcode *row, const struct opcode_text *text, uint32_t bytes,
                               uint32_t source)
{
    if (row->unit == UNIT_TENSOR || row->unit == UNIT_IMMA)
        return row->from > 1 ? row->from : matrix_registers(text, source);
    if (row->memory != SASS_NOTHING && row->memory != SASS_TMA)
        return source == 0                ? (has(text, "E") ? 2 : 1)
               : row->memory == SASS_COPY ? 2
               : row->does == SASS_READS  ? 1
                                          : (bytes + 3) / 4;
    if (row->unit == UNIT_CVT && has(text, "F64") && !strcmp(row->name, "F2F"))
        return 2;
    return row->from ? row->from : 1;
}

/* ---- layers ---- */

static struct sass_layer *add_layer(struct sass_kernel *kernel)
{
    struct sass_layer *layer = mem_alloc(1, sizeof *layer);
    layer->code.code_at = (uint64_t)kernel->layer_count * SASS_PC_MOST;
    layer->code.step_bytes = SASS_STEP;
    layer->stream.code = &layer->code;
    kernel->layers[kernel->layer_count++] = layer;
    return layer;
}

/* Instructions that were not executed yet take no time: they have no steps. */
static void reach(struct sass_layer *layer, uint32_t number)
{
    uint32_t capacity = layer->capacity ? layer->capacity : 64;
    while (capacity <= number)
        capacity *= 2;
    if (capacity != layer->capacity) {
        layer->timing = mem_resize(layer->timing, layer->capacity, capacity, sizeof *layer->timing);
        layer->steps = mem_resize(layer->steps, layer->capacity, capacity, sizeof *layer->steps);
        layer->rows = mem_resize(layer->rows, layer->capacity, capacity, sizeof *layer->rows);
        layer->context = mem_resize(layer->context, layer->capacity, capacity, sizeof *layer->context);
        layer->capacity = capacity;
        layer->code.timing = layer->timing;
        layer->code.steps = layer->steps;
        layer->stream.context = layer->context;
    }
    for (; layer->code.count <= number; layer->code.count++) {
        layer->timing[layer->code.count] = (struct isa_timing){.first_step = layer->code.count, .plain = 1};
        layer->context[layer->code.count] = UINT32_MAX;
    }
}

static void add_register(struct sass_kernel *kernel, struct sass_layer *layer, uint32_t number,
                         uint8_t *count)
{
    bool uniform = number >= SASS_UNIFORM;
    if (number >= (uniform ? SASS_UNIFORM + 63 : SASS_ZERO))
        return;
    mem_grow(layer->registers, layer->register_count, layer->register_capacity);
    layer->registers[layer->register_count++] = (uint16_t)number;
    kernel->used[number] = true;
    ++*count;
}

static void fill_row(struct sass_kernel *kernel, struct sass_layer *layer, uint32_t number,
                     const struct sass_opcode *opcode, const struct accelsim_line *line, uint64_t digest)
{
    const struct opcode_text text = {line->opcode, line->opcode_length};
    struct sass_row *row = &layer->rows[number];
    struct isa_timing *timing = &layer->timing[number];
    *row = (struct sass_row){.digest = digest,
                             .opcode = opcode,
                             .bytes = bytes_of(opcode, &text, line->width),
                             .exits = !strcmp(opcode->name, "EXIT"),
                             .keeps = !(has(&text, "STRONG") && (has(&text, "GPU") || has(&text, "SYS"))) &&
                                      !has(&text, "BYPASS"),
                             .waits = !has(&text, "ARV")};
    row->text = mem_alloc(text.length + 1, 1);
    memcpy(row->text, text.at, text.length);
    if (opcode->does == SASS_ATOMIC || opcode->does == SASS_REDUCES)
        row->operation = atomic_of(&text, row->bytes);
    *timing = (struct isa_timing){.registers = (uint32_t)layer->register_count,
                                  .steps = 1,
                                  .first_step = number,
                                  .plain = opcode->memory == SASS_NOTHING,
                                  .role = role_of(opcode, &text)};
    if (timing->role == ROLE_COPIES)
        timing->role_count = (uint16_t)(line->immediate_count ? min_u64(line->immediates[0], UINT16_MAX) : 0);
    for (uint32_t i = 0; i < line->from_count; i++)
        for (uint32_t k = 0, count = from_registers(opcode, &text, row->bytes, i);
             k < count && line->from[i] != SASS_NO_REGISTER; k++)
            add_register(kernel, layer, line->from[i] + k, &timing->reads);
    for (uint32_t k = 0, count = to_registers(opcode, &text, row->bytes);
         k < count && line->to != SASS_NO_REGISTER; k++)
        add_register(kernel, layer, line->to + k, &timing->writes);
    layer->steps[number] = (struct isa_step){.unit = unit_of(opcode, &text),
                                             .flags = opcode->memory == SASS_SHARED ? STEP_SHARED : 0};
    layer->code.registers = layer->registers;
    if (!timing->plain)
        layer->context[number] = kernel->context_count++;
}

/* ---- finding ---- */

static bool is_here(const struct sass_layer *layer, uint32_t number, uint64_t digest)
{
    return number < layer->code.count && layer->rows[number].digest == digest;
}

static bool is_free(const struct sass_layer *layer, uint32_t number)
{
    return number >= layer->code.count || !layer->rows[number].digest;
}

static struct sass_layer *find_layer(const struct sass_kernel *kernel, uint32_t number, uint64_t digest)
{
    for (uint32_t i = 0; i < kernel->layer_count; i++)
        if (is_here(kernel->layers[i], number, digest))
            return kernel->layers[i];
    return NULL;
}

static struct sass_layer *free_layer(struct sass_kernel *kernel, struct sass_layer *last, uint32_t number)
{
    if (last && is_free(last, number))
        return last;
    for (uint32_t i = 0; i < kernel->layer_count; i++)
        if (is_free(kernel->layers[i], number))
            return kernel->layers[i];
    return kernel->layer_count < SASS_LAYERS ? add_layer(kernel) : NULL;
}

static bool refuse(const struct import *import, const char *what, const struct accelsim_line *line,
                   struct err *err)
{
    return err_set(err, "%s:%" PRIu64 ": %s: %.*s", import->input.name, import->line, what,
                   (int)min_u64(line->opcode_length, 60), line->opcode);
}

bool sass_kernel_find(struct sass_kernel *kernel, const struct import *import,
                      const struct accelsim_line *line, const struct sass_place *last,
                      struct sass_place *found, struct err *err)
{
    uint32_t number = line->pc / SASS_STEP;
    uint64_t digest = digest_bytes(1, line->what, line->what_length) | 1;
    if (line->opcode_length >= 6 && !memcmp(line->opcode, "DEPBAR", 6) && line->immediate_count)
        digest = digest_word(digest, line->immediates[0]) | 1;
    if (line->pc % SASS_STEP || line->pc >= SASS_PC_MOST)
        return err_set(err,
                       "%s:%" PRIu64 ": expected an address that is a multiple of 16, below 16 MiB, not 0x%x",
                       import->input.name, import->line, line->pc);
    found->number = number;
    found->layer = last->layer;
    if (last->layer && is_here(last->layer, number, digest))
        return true;
    if ((found->layer = find_layer(kernel, number, digest)))
        return true;
    const struct sass_opcode *opcode = sass_find(line->opcode, line->opcode_length);
    if (!opcode)
        return refuse(import, "no opcode of Volta to Hopper that Heddle knows", line, err);
    if (!(found->layer = free_layer(kernel, last->layer, number)))
        return refuse(import, "more than 64 instructions have the address of this one", line, err);
    reach(found->layer, number);
    fill_row(kernel, found->layer, number, opcode, line, digest);
    return true;
}

/* ---- the end ---- */

static void finish_layer(struct sass_layer *layer, const uint16_t slots[], const char *name,
                         struct itrace *trace, struct itrace_code *to)
{
    to->code = layer->code;
    to->register_count = (uint32_t)layer->register_count;
    to->step_count = layer->code.count;
    for (size_t i = 0; i < layer->register_count; i++)
        layer->registers[i] = slots[layer->registers[i]];
    if (!layer->registers)
        layer->registers = mem_alloc(1, sizeof *layer->registers);
    to->code.registers = layer->registers;
    to->places = mem_alloc((size_t)layer->code.count + 1, sizeof *to->places);
    for (uint32_t i = 0; i < layer->code.count; i++) {
        if (!layer->rows[i].digest)
            continue;
        to->places[i] = (struct code_place){.kernel = itrace_text(trace, name),
                                            .module = itrace_text(trace, name),
                                            .instruction = itrace_text(trace, layer->rows[i].text),
                                            .code_at = i * SASS_STEP,
                                            .is_atomic = layer->rows[i].opcode->does >= SASS_ATOMIC,
                                            .is_shared = layer->rows[i].opcode->memory == SASS_SHARED};
    }
    layer->timing = NULL; /* they are the trace's now */
    layer->steps = NULL;
    layer->registers = NULL;
}

void sass_kernel_finish(struct sass_kernel *kernel, struct itrace *trace, struct itrace_kernel *to)
{
    uint16_t slots[SASS_REGISTERS] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < SASS_REGISTERS; i++)
        if (kernel->used[i])
            slots[i] = (uint16_t)count++;
    if (!kernel->layer_count)
        add_layer(kernel);
    reach(kernel->layers[0], 0);
    *to = (struct itrace_kernel){.facts = {.name = itrace_text(trace, kernel->name),
                                           .registers = kernel->max_registers,
                                           .local_bytes = kernel->local_bytes},
                                 .slots = count + 1};
    to->codes = mem_alloc(kernel->layer_count, sizeof *to->codes);
    to->code_count = to->code_capacity = kernel->layer_count;
    for (uint32_t i = 0; i < kernel->layer_count; i++) {
        finish_layer(kernel->layers[i], slots, kernel->name, trace, &to->codes[i]);
        to->code_bytes += (uint64_t)to->codes[i].code.count * SASS_STEP;
    }
}

void sass_kernel_free(struct sass_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->layer_count; i++) {
        struct sass_layer *layer = kernel->layers[i];
        for (uint32_t k = 0; k < layer->code.count; k++)
            mem_free(layer->rows[k].text);
        mem_free(layer->rows);
        mem_free(layer->context);
        mem_free(layer->timing);
        mem_free(layer->steps);
        mem_free(layer->registers);
        mem_free(layer);
    }
    mem_free(kernel->name);
    mem_free(kernel);
}

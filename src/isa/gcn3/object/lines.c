/* Where instructions come from: DWARF's line table (.debug_line, versions 2 to 5). What is broken in it is
 * left out; a code object without it is none the worse. */
#include "gcn3_object/parts.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

enum { /* DWARF's numbers */
       FORM_data2 = 0x05,
       FORM_data4 = 0x06,
       FORM_data8 = 0x07,
       FORM_string = 0x08,
       FORM_block = 0x09,
       FORM_data1 = 0x0b,
       FORM_strp = 0x0e,
       FORM_udata = 0x0f,
       FORM_data16 = 0x1e,
       FORM_line_strp = 0x1f,
       CONTENT_path = 1,
       CONTENT_directory = 2,
       OP_copy = 1,
       OP_advance_pc,
       OP_advance_line,
       OP_set_file,
       OP_set_column,
       OP_negate_stmt,
       OP_set_basic_block,
       OP_const_add_pc,
       OP_fixed_advance_pc,
       OP_EXTENDED = 0,
       EXTENDED_end_sequence = 1,
       EXTENDED_set_address,
};

struct cursor {
    const uint8_t *at, *end;
    bool broken;
};

struct entry { /* a directory or a file */
    const char *path;
    uint64_t directory;
};

struct unit {
    struct cursor at; /* of its bytes */
    const struct gcn3_bytes *line_strings, *strings;
    unsigned version;
    uint8_t min_bytes, line_range, opcode_base;
    int8_t line_base;
    uint8_t lengths[256];
    struct entry *entries[2]; /* directories, files */
    size_t counts[2], capacities[2];
    uint32_t *numbers; /* of files, in the object */
};

static uint64_t take(struct cursor *cursor, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->broken = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, min_u64(bytes, sizeof value));
    cursor->at += bytes;
    return value;
}

static uint64_t take_leb(struct cursor *cursor, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && !cursor->broken; shift += 7) {
        byte = take(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static const char *take_string(struct cursor *cursor)
{
    const char *text = (const char *)cursor->at;
    const uint8_t *end = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
    if (!end) {
        cursor->broken = true;
        return "";
    }
    cursor->at = end + 1;
    return text;
}

static void add_entry(struct unit *unit, unsigned which, struct entry entry)
{
    mem_grow(unit->entries[which], unit->counts[which], unit->capacities[which]);
    unit->entries[which][unit->counts[which]++] = entry;
}

/* ---- directories and files ---- */

static void take_form(struct unit *unit, uint64_t form, const char **text, uint64_t *number)
{
    struct cursor *at = &unit->at;
    switch (form) {
    case FORM_string:
        *text = take_string(at);
        break;
    case FORM_line_strp:
        *text = gcn3_elf_string(unit->line_strings, take(at, 4));
        break;
    case FORM_strp:
        *text = gcn3_elf_string(unit->strings, take(at, 4));
        break;
    case FORM_data1:
        *number = take(at, 1);
        break;
    case FORM_data2:
        *number = take(at, 2);
        break;
    case FORM_data4:
        *number = take(at, 4);
        break;
    case FORM_data8:
        *number = take(at, 8);
        break;
    case FORM_data16:
        take(at, 16);
        break;
    case FORM_udata:
        *number = take_leb(at, false);
        break;
    case FORM_block:
        take(at, take_leb(at, false));
        break;
    default:
        at->broken = true;
    }
}

static void take_entry_v5(struct unit *unit, unsigned which, const uint64_t (*formats)[2], size_t count)
{
    struct entry entry = {"", 0};
    for (size_t i = 0; i < count; i++) {
        const char *text = NULL;
        uint64_t number = 0;
        take_form(unit, formats[i][1], &text, &number);
        if (formats[i][0] == CONTENT_path && text)
            entry.path = text;
        if (formats[i][0] == CONTENT_directory)
            entry.directory = number;
    }
    add_entry(unit, which, entry);
}

static void take_table_v5(struct unit *unit, unsigned which)
{
    uint64_t formats[256][2], format_count = take(&unit->at, 1);
    for (uint64_t i = 0; i < format_count; i++) {
        formats[i][0] = take_leb(&unit->at, false);
        formats[i][1] = take_leb(&unit->at, false);
    }
    uint64_t count = take_leb(&unit->at, false);
    if (!format_count && count)
        unit->at.broken = true;
    for (uint64_t i = 0; i < count && !unit->at.broken; i++)
        take_entry_v5(unit, which, (const uint64_t(*)[2])formats, format_count);
}

static void take_tables_v4(struct unit *unit)
{
    const char *text;
    add_entry(unit, 0, (struct entry){"", 0}); /* numbers begin with 1 */
    add_entry(unit, 1, (struct entry){"", 0});
    while (!unit->at.broken && *(text = take_string(&unit->at)))
        add_entry(unit, 0, (struct entry){text, 0});
    while (!unit->at.broken && *(text = take_string(&unit->at))) {
        add_entry(unit, 1, (struct entry){text, take_leb(&unit->at, false)});
        take_leb(&unit->at, false);
        take_leb(&unit->at, false);
    }
}

/* The number of this path among the object's, which several units may name. */
static uint32_t file_number(struct gcn3_object *object, const char *directory, const char *name)
{
    struct text path = {0};
    bool whole = *name == '/' || !*directory;
    text_add(&path, "%s%s%s", whole ? "" : directory, whole ? "" : "/", name);
    for (size_t i = 0; i < object->file_count; i++) {
        if (!strcmp(object->files[i], path.at)) {
            text_fini(&path);
            return (uint32_t)i;
        }
    }
    size_t count = object->file_count++;
    object->files = mem_resize(object->files, count, count + 1, sizeof *object->files);
    object->files[count] = path.at;
    return (uint32_t)count;
}

static void number_files(struct unit *unit, struct gcn3_object *object)
{
    unit->numbers = mem_alloc(unit->counts[1] + 1, sizeof *unit->numbers);
    for (size_t i = 0; i < unit->counts[1]; i++) {
        const struct entry *file = &unit->entries[1][i];
        /* directory 0 is where the compiler ran, which says little: its files go by their own name */
        bool known = file->directory && file->directory < unit->counts[0];
        unit->numbers[i] =
            file_number(object, known ? unit->entries[0][file->directory].path : "", file->path);
    }
}

/* ---- the program that makes the table ---- */

struct state {
    uint64_t at, file, line;
};

static void emit(const struct unit *unit, struct gcn3_object *object, size_t *capacity,
                 const struct state *state, bool ends)
{
    bool known = state->file < unit->counts[1] && state->line <= UINT32_MAX && !ends;
    mem_grow(object->lines, object->line_count, *capacity);
    uint32_t order = ends ? 0 : (uint32_t)object->line_count + 1; /* what begins where another ends holds */
    object->lines[object->line_count++] = (struct gcn3_line){
        state->at, known ? unit->numbers[state->file] : 0, known ? (uint32_t)state->line : 0, order};
}

static void run_extended(struct unit *unit, struct gcn3_object *object, size_t *capacity, struct state *state)
{
    uint64_t bytes = take_leb(&unit->at, false);
    struct cursor inner = {unit->at.at, unit->at.at + min_u64(bytes, (uint64_t)(unit->at.end - unit->at.at)),
                           false};
    take(&unit->at, bytes);
    switch (take(&inner, 1)) {
    case EXTENDED_end_sequence:
        emit(unit, object, capacity, state, true);
        *state = (struct state){0, 1, 1};
        break;
    case EXTENDED_set_address:
        state->at = take(&inner, 8);
        break;
    }
}

static void run_standard(struct unit *unit, struct gcn3_object *object, size_t *capacity, struct state *state,
                         unsigned op)
{
    switch (op) {
    case OP_copy:
        emit(unit, object, capacity, state, false);
        break;
    case OP_advance_pc:
        state->at += take_leb(&unit->at, false) * unit->min_bytes;
        break;
    case OP_advance_line:
        state->line += take_leb(&unit->at, true);
        break;
    case OP_set_file:
        state->file = take_leb(&unit->at, false);
        break;
    case OP_const_add_pc:
        state->at += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->min_bytes;
        break;
    case OP_fixed_advance_pc:
        state->at += take(&unit->at, 2);
        break;
    default: /* of no interest, or unknown: their arguments are skipped */
        for (unsigned i = 0; i < unit->lengths[op]; i++)
            take_leb(&unit->at, false);
    }
}

static void run_program(struct unit *unit, struct gcn3_object *object, size_t *capacity)
{
    struct state state = {0, 1, 1};
    while (unit->at.at < unit->at.end && !unit->at.broken) {
        unsigned op = (unsigned)take(&unit->at, 1);
        if (op == OP_EXTENDED)
            run_extended(unit, object, capacity, &state);
        else if (op < unit->opcode_base)
            run_standard(unit, object, capacity, &state, op);
        else {
            unsigned adjusted = op - unit->opcode_base;
            state.at += (uint64_t)(adjusted / unit->line_range) * unit->min_bytes;
            state.line += (uint64_t)(unit->line_base + (int)(adjusted % unit->line_range));
            emit(unit, object, capacity, &state, false);
        }
    }
}

/* ---- units ---- */

static bool take_header(struct unit *unit)
{
    struct cursor *at = &unit->at;
    unit->version = (unsigned)take(at, 2);
    if (unit->version < 2 || unit->version > 5)
        return false;
    if (unit->version == 5)
        take(at, 2); /* sizes of addresses, of segment selectors */
    uint64_t header_bytes = take(at, 4);
    const uint8_t *program = at->at + min_u64(header_bytes, (uint64_t)(at->end - at->at));
    unit->min_bytes = (uint8_t)take(at, 1);
    if (unit->version >= 4)
        take(at, 1);
    take(at, 1); /* is_stmt */
    unit->line_base = (int8_t)take(at, 1);
    unit->line_range = (uint8_t)take(at, 1);
    unit->opcode_base = (uint8_t)take(at, 1);
    for (unsigned i = 1; i < unit->opcode_base; i++)
        unit->lengths[i] = (uint8_t)take(at, 1);
    if (unit->version == 5) {
        take_table_v5(unit, 0);
        take_table_v5(unit, 1);
    } else
        take_tables_v4(unit);
    bool good = !at->broken && unit->line_range && unit->opcode_base;
    at->at = program;
    return good;
}

static void read_unit(struct unit *unit, struct gcn3_object *object, size_t *capacity)
{
    if (take_header(unit)) {
        number_files(unit, object);
        run_program(unit, object, capacity);
    }
    mem_free(unit->entries[0]);
    mem_free(unit->entries[1]);
    mem_free(unit->numbers);
}

static int by_address(const void *left, const void *right)
{
    const struct gcn3_line *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void gcn3_object_read_lines(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    Elf64_Shdr section;
    struct gcn3_bytes table, line_strings = {0}, strings = {0};
    size_t capacity = 0;
    if (!gcn3_elf_find(elf, ".debug_line", SHT_PROGBITS, &section, &table))
        return;
    gcn3_elf_find(elf, ".debug_line_str", SHT_PROGBITS, &section, &line_strings);
    gcn3_elf_find(elf, ".debug_str", SHT_PROGBITS, &section, &strings);
    for (struct cursor at = {table.at, table.at + table.bytes, false}; at.at < at.end;) {
        uint64_t bytes = take(&at, 4);
        if (at.broken || bytes > (uint64_t)(at.end - at.at))
            break; /* cut off, or in the format of 64 bits */
        struct unit unit = {
            .at = {at.at, at.at + bytes, false}, .line_strings = &line_strings, .strings = &strings};
        read_unit(&unit, object, &capacity);
        at.at += bytes;
    }
    if (object->line_count)
        qsort(object->lines, object->line_count, sizeof *object->lines, by_address);
}

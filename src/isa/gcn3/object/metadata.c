/* What the metadata says of kernels: a note with MessagePack, or in version 2 with YAML. Both have the same
 * contents under nearly the same names. */
#include "gcn3_object/parts.h"
#include "base/bits.h"
#include "base/mem.h"
#include "gcn3_object/document.h"

#include <stdlib.h>

enum { NOTE_METADATA = 32, NOTE_METADATA_V2 = 10 };

enum field_type { TEXT, NUMBER, FLAG, SIZE3, SPACE, ACCESS, KIND };

/* `old`: the name in version 2, where that is another word. */
struct field {
    const char *name, *old;
    enum field_type type;
    size_t offset;
};

#define ARG_FIELD(member)    offsetof(struct gcn3_arg, member)
#define KERNEL_FIELD(member) offsetof(struct gcn3_kernel_info, member)

static const struct field arg_fields[] = {
    {".name", NULL, TEXT, ARG_FIELD(name)},
    {".type_name", NULL, TEXT, ARG_FIELD(type_name)},
    {".value_kind", NULL, KIND, ARG_FIELD(kind)},
    {".offset", NULL, NUMBER, ARG_FIELD(offset)},
    {".size", NULL, NUMBER, ARG_FIELD(bytes)},
    {".align", NULL, NUMBER, ARG_FIELD(align)},
    {".pointee_align", NULL, NUMBER, ARG_FIELD(pointee_align)},
    {".address_space", "AddrSpaceQual", SPACE, ARG_FIELD(space)},
    {".access", "AccQual", ACCESS, ARG_FIELD(access)},
    {".actual_access", "ActualAccQual", ACCESS, ARG_FIELD(actual_access)},
    {".is_const", NULL, FLAG, ARG_FIELD(is_const)},
    {".is_restrict", NULL, FLAG, ARG_FIELD(is_restrict)},
    {".is_volatile", NULL, FLAG, ARG_FIELD(is_volatile)},
    {".is_pipe", NULL, FLAG, ARG_FIELD(is_pipe)},
};

static const struct field kernel_fields[] = {
    {".language", NULL, TEXT, KERNEL_FIELD(language)},
    {".vec_type_hint", NULL, TEXT, KERNEL_FIELD(vec_type_hint)},
    {".reqd_workgroup_size", NULL, SIZE3, KERNEL_FIELD(required)},
    {".workgroup_size_hint", NULL, SIZE3, KERNEL_FIELD(hint)},
    {".max_flat_workgroup_size", NULL, NUMBER, KERNEL_FIELD(max_group_items)},
    {".kernarg_segment_align", NULL, NUMBER, KERNEL_FIELD(kernarg_align)},
};

static const char *const spaces[] = {
#define S(name) #name,
    GCN3_SPACES(S)
#undef S
};
static const char *const accesses[] = {
#define S(name) #name,
    GCN3_ACCESS(S)
#undef S
};
static const char *const kinds[] = {
#define ARG(id, name, value) name,
#include "gcn3_object/args.def"
#undef ARG
};

const char *gcn3_arg_kind_name(enum gcn3_arg_kind kind)
{
    return kind < GCN3_ARG_KINDS ? kinds[kind] : "?";
}

/* The number of the name in a list, or that of none_of_them. */
static unsigned number_of(const char *text, const char *const *names, size_t count, unsigned none_of_them)
{
    for (unsigned i = 0; text && i < count; i++) {
        if (document_same(text, names[i]))
            return i;
    }
    return none_of_them;
}

static void put_number(void *to, uint64_t number)
{
    uint32_t value = (uint32_t)min_u64(number, UINT32_MAX);
    memcpy(to, &value, sizeof value);
}

static void put_size(const struct document *document, uint32_t list, void *to)
{
    uint32_t node = document_node(document, list)->first;
    for (size_t i = 0; i < 3 && node; i++, node = document_node(document, node)->next)
        put_number((char *)to + i * sizeof(uint32_t), document_number(document, node));
}

static void put_text(char **to, const char *text)
{
    mem_free(*to);
    *to = text ? mem_text(text) : NULL;
}

static void put(const struct document *document, const struct field *field, uint32_t node, void *to)
{
    const char *text = document_text(document, node);
    switch (field->type) {
    case TEXT:
        put_text(to, text);
        break;
    case NUMBER:
        put_number(to, document_number(document, node));
        break;
    case FLAG:
        *(bool *)to = document_number(document, node) != 0;
        break;
    case SIZE3:
        put_size(document, node, to);
        break;
    case SPACE:
        *(enum gcn3_space *)to = number_of(text, spaces, COUNT_OF(spaces), GCN3_SPACE_none);
        break;
    case ACCESS:
        *(enum gcn3_access *)to = number_of(text, accesses, COUNT_OF(accesses), GCN3_ACCESS_default);
        break;
    case KIND:
        *(enum gcn3_arg_kind *)to = number_of(text, kinds, COUNT_OF(kinds), GCN3_ARG_KINDS);
        break;
    }
}

static void put_fields(const struct document *document, uint32_t map, const struct field *fields,
                       size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t node = document_find(document, map, fields[i].name);
        if (!node && fields[i].old)
            node = document_find(document, map, fields[i].old);
        if (node)
            put(document, &fields[i], node, (char *)to + fields[i].offset);
    }
}

/* ---- arguments ---- */

/* Version 2 does not say where arguments are: one behind another, aligned. */
static void place_arg(struct gcn3_arg *arg, uint64_t *end)
{
    uint64_t align = arg->align && !(arg->align & (arg->align - 1)) ? arg->align : 1;
    *end = (*end + align - 1) & ~(align - 1);
    arg->offset = (uint32_t)min_u64(*end, UINT32_MAX);
    *end += arg->bytes;
}

static bool check_arg(const struct gcn3_elf *elf, const struct gcn3_object *object,
                      const struct gcn3_kernel_info *kernel, const struct gcn3_arg *arg)
{
    const char *name = arg->name ? arg->name : "without a name";
    if (arg->kind == GCN3_ARG_KINDS)
        return err_set(elf->err, "%s: kernel %s: the kind of argument %s is not known", object->name,
                       kernel->name, name);
    if (!arg->bytes || (uint64_t)arg->offset + arg->bytes > kernel->kernarg_bytes)
        return err_set(elf->err, "%s: kernel %s: argument %s of %u bytes at %u is not within %u bytes",
                       object->name, kernel->name, name, arg->bytes, arg->offset, kernel->kernarg_bytes);
    if (!gcn3_arg_is_hidden(arg) && kernel->explicit_count != kernel->arg_count)
        return err_set(elf->err, "%s: kernel %s: argument %s is behind hidden ones", object->name,
                       kernel->name, name);
    return true;
}

static bool read_args(const struct gcn3_elf *elf, const struct gcn3_object *object,
                      const struct document *document, uint32_t list, struct gcn3_kernel_info *kernel)
{
    uint64_t end = 0;
    size_t capacity = 0;
    for (uint32_t node = document_node(document, list)->first; node;
         node = document_node(document, node)->next) {
        struct gcn3_arg arg = {.kind = GCN3_ARG_KINDS};
        put_fields(document, node, arg_fields, COUNT_OF(arg_fields), &arg);
        if (object->version == 2)
            place_arg(&arg, &end);
        mem_grow(kernel->args, kernel->arg_count, capacity);
        kernel->args[kernel->arg_count] = arg;
        if (!check_arg(elf, object, kernel, &arg)) {
            kernel->arg_count++;
            return false;
        }
        kernel->explicit_count += !gcn3_arg_is_hidden(&arg);
        kernel->arg_count++;
    }
    return true;
}

/* ---- kernels ---- */

static bool is_of(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel, const char *symbol)
{
    /* version 2 has NAME@kd here, and NAME as ELF's symbol */
    size_t length = object->version == 2 ? strcspn(symbol, "@") : strlen(symbol);
    return strlen(kernel->symbol) == length && !memcmp(kernel->symbol, symbol, length);
}

static struct gcn3_kernel_info *kernel_of(struct gcn3_object *object, const char *symbol)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        if (is_of(object, &object->kernels[i], symbol))
            return &object->kernels[i];
    }
    return NULL;
}

static bool read_kernel(const struct gcn3_elf *elf, struct gcn3_object *object,
                        const struct document *document, uint32_t map)
{
    const char *name = document_text(document, document_find(document, map, ".name"));
    uint32_t symbol_node = document_find(document, map, ".symbol");
    if (!symbol_node)
        symbol_node = document_find(document, map, "SymbolName");
    const char *symbol = document_text(document, symbol_node);
    struct gcn3_kernel_info *kernel = symbol || name ? kernel_of(object, symbol ? symbol : name) : NULL;
    if (!kernel || kernel->has_metadata)
        return err_set(elf->err, "%s: the metadata is of kernel %s, which is not there, or twice",
                       object->name, name ? name : "without a name");
    kernel->has_metadata = true;
    if (name)
        put_text(&kernel->name, name);
    static const char *const parts[] = {"Attrs", "CodeProps"}; /* of version 2 */
    put_fields(document, map, kernel_fields, COUNT_OF(kernel_fields), kernel);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        put_fields(document, document_find(document, map, parts[i]), kernel_fields, COUNT_OF(kernel_fields),
                   kernel);
    uint64_t bytes = document_number(document, document_find(document, map, ".kernarg_segment_size"));
    if (!kernel->kernarg_bytes && bytes <= UINT16_MAX) /* early files of version 3 have it here alone */
        kernel->kernarg_bytes = (uint32_t)bytes;
    return read_args(elf, object, document, document_find(document, map, ".args"), kernel);
}

/* ---- printf ---- */

/* The compiler escapes control characters, and colons, which separate fields. */
static char *plain_format(const char *text)
{
    static const char letters[] = "abfnrv", values[] = "\a\b\f\n\r\v";
    char *plain = mem_alloc(strlen(text) + 1, 1), *to = plain;
    while (*text) {
        const char *found = text[0] == '\\' && text[1] ? strchr(letters, text[1]) : NULL;
        if (found) {
            *to++ = values[found - letters];
            text += 2;
        } else if (!strncmp(text, "\\72", 3)) {
            *to++ = ':';
            text += 3;
        } else
            *to++ = *text++;
    }
    return plain;
}

static bool take_field(const char **text, uint32_t *value)
{
    char *end;
    unsigned long number = strtoul(*text, &end, 10);
    if (end == *text || *end != ':' || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    *text = end + 1;
    return true;
}

/* ID:COUNT:BYTES:...:FORMAT */
static bool read_print(const char *text, struct gcn3_print *print)
{
    if (!take_field(&text, &print->id) || !take_field(&text, &print->arg_count) ||
        print->arg_count > strlen(text))
        return false;
    print->arg_bytes = mem_alloc(print->arg_count + 1, sizeof *print->arg_bytes);
    for (uint32_t i = 0; i < print->arg_count; i++) {
        if (!take_field(&text, &print->arg_bytes[i]))
            return false;
    }
    print->format = plain_format(text);
    return true;
}

static bool read_prints(const struct gcn3_elf *elf, struct gcn3_object *object,
                        const struct document *document, uint32_t list)
{
    size_t capacity = 0;
    for (uint32_t node = document_node(document, list)->first; node;
         node = document_node(document, node)->next) {
        const char *text = document_text(document, node);
        mem_grow(object->prints, object->print_count, capacity);
        if (!text || !read_print(text, &object->prints[object->print_count++]))
            return err_set(elf->err, "%s: the metadata of a printf is not ID:COUNT:SIZES:FORMAT",
                           object->name);
    }
    return true;
}

static bool read_document(const struct gcn3_elf *elf, struct gcn3_object *object,
                          const struct document *document)
{
    uint32_t list = document_find(document, DOCUMENT_ROOT, "amdhsa.kernels");
    for (uint32_t node = document_node(document, list)->first; node;
         node = document_node(document, node)->next) {
        if (!read_kernel(elf, object, document, node))
            return false;
    }
    return read_prints(elf, object, document, document_find(document, DOCUMENT_ROOT, "amdhsa.printf"));
}

bool gcn3_object_read_metadata(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    struct document document = {0};
    struct gcn3_bytes note;
    struct err why;
    bool good = true;
    if (object->version == 2 && gcn3_elf_note(elf, "AMD", NOTE_METADATA_V2, &note))
        good = document_read_yaml(&document, (const char *)note.at, note.bytes, &why);
    else if (object->version > 2 && gcn3_elf_note(elf, "AMDGPU", NOTE_METADATA, &note))
        good = document_read_msgpack(&document, note.at, note.bytes, &why);
    if (!good)
        err_set(elf->err, "%s: %s", object->name, why.text);
    else
        good = read_document(elf, object, &document);
    document_fini(&document);
    return good;
}

/* Kernels, variables and functions, by ELF's symbols. */
#include "gcn3_object/parts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>

enum { SYMBOL_HSA_KERNEL = 10 }; /* STT_AMDGPU_HSA_KERNEL, of version 2 */

static const char suffix[] = ".kd";

static bool is_descriptor(const char *name, size_t *stem)
{
    size_t length = strlen(name), tail = sizeof suffix - 1;
    *stem = length - min_u64(length, tail);
    return length > tail && !strcmp(name + *stem, suffix);
}

static bool add_kernel(const struct gcn3_elf *elf, struct gcn3_object *object, const char *symbol,
                       size_t name_bytes, uint64_t at)
{
    size_t count = object->kernel_count;
    for (size_t i = 0; i < count; i++) {
        if (object->kernels[i].descriptor == at)
            return true; /* both tables have it */
    }
    object->kernel_count++;
    object->kernels = mem_resize(object->kernels, count, count + 1, sizeof *object->kernels);
    struct gcn3_kernel_info *kernel = &object->kernels[count];
    kernel->symbol = mem_text(symbol);
    kernel->name = memcpy(mem_alloc(name_bytes + 1, 1), symbol, name_bytes);
    kernel->descriptor = at;
    kernel->kernarg_align = 16;
    return gcn3_descriptor_read(object, kernel, elf->err);
}

static void add_variable(struct gcn3_object *object, const char *name, const Elf64_Sym *symbol)
{
    size_t count = object->variable_count;
    if (!symbol->st_size || !gcn3_object_holds(object, symbol->st_value, symbol->st_size, 0))
        return;
    object->variables = mem_resize(object->variables, count, count + 1, sizeof *object->variables);
    object->variables[count] = (struct gcn3_variable){mem_text(name), symbol->st_value, symbol->st_size};
    object->variable_count++;
}

static void add_symbol(struct gcn3_object *object, const char *name, const Elf64_Sym *symbol)
{
    size_t count = object->symbol_count;
    if (!gcn3_object_holds(object, symbol->st_value, 4, GCN3_EXECUTE))
        return;
    object->symbols = mem_resize(object->symbols, count, count + 1, sizeof *object->symbols);
    object->symbols[count] = (struct gcn3_symbol){mem_text(name), symbol->st_value, symbol->st_size};
    object->symbol_count++;
}

typedef bool each_symbol(const struct gcn3_elf *elf, struct gcn3_object *object, const char *name,
                         const Elf64_Sym *symbol);

static bool for_each(const struct gcn3_elf *elf, struct gcn3_object *object, uint32_t type, each_symbol *each)
{
    Elf64_Shdr section, names_section;
    struct gcn3_bytes symbols, names = {0};
    if (!gcn3_elf_find(elf, NULL, type, &section, &symbols) ||
        !gcn3_elf_section(elf, section.sh_link, &names_section) ||
        !gcn3_elf_part(elf, names_section.sh_offset, names_section.sh_size, &names))
        return true;
    for (size_t i = 0; i < symbols.bytes / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols.at + i * sizeof symbol, sizeof symbol);
        const char *name = gcn3_elf_string(&names, symbol.st_name);
        if (name && *name && symbol.st_shndx != SHN_UNDEF && !each(elf, object, name, &symbol))
            return false;
    }
    return true;
}

/* Early files have their kernels only in the full table. */
static bool take_kernel(const struct gcn3_elf *elf, struct gcn3_object *object, const char *name,
                        const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    size_t stem;
    if (object->version == 2)
        return type != SYMBOL_HSA_KERNEL || add_kernel(elf, object, name, strlen(name), symbol->st_value);
    return type != STT_OBJECT || !is_descriptor(name, &stem) ||
           add_kernel(elf, object, name, stem, symbol->st_value);
}

static bool take_variable(const struct gcn3_elf *elf, struct gcn3_object *object, const char *name,
                          const Elf64_Sym *symbol)
{
    size_t stem;
    (void)elf;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && !is_descriptor(name, &stem))
        add_variable(object, name, symbol);
    return true;
}

static bool take_code(const struct gcn3_elf *elf, struct gcn3_object *object, const char *name,
                      const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    (void)elf;
    if (type == STT_FUNC || type == STT_NOTYPE || type == SYMBOL_HSA_KERNEL)
        add_symbol(object, name, symbol);
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct gcn3_symbol *a = left, *b = right;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : strcmp(a->name, b->name);
}

/* How long the code of a kernel is: its symbol says it, behind the 256 bytes that version 2 begins with. */
static void set_code_bytes(struct gcn3_object *object, struct gcn3_kernel_info *kernel)
{
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct gcn3_symbol *symbol = &object->symbols[i];
        uint64_t end = symbol->at + symbol->bytes;
        if (kernel->entry >= symbol->at && kernel->entry < end && !strcmp(symbol->name, kernel->name) &&
            gcn3_object_holds(object, kernel->entry, end - kernel->entry, GCN3_EXECUTE))
            kernel->code_bytes = end - kernel->entry;
    }
}

bool gcn3_object_read_symbols(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    if (!for_each(elf, object, SHT_DYNSYM, take_kernel) || !for_each(elf, object, SHT_SYMTAB, take_kernel))
        return false;
    for_each(elf, object, SHT_DYNSYM, take_variable);
    for_each(elf, object, SHT_SYMTAB, take_code);
    if (!object->symbol_count)
        for_each(elf, object, SHT_DYNSYM, take_code);
    if (object->symbol_count)
        qsort(object->symbols, object->symbol_count, sizeof *object->symbols, by_address);
    for (size_t i = 0; i < object->kernel_count; i++)
        set_code_bytes(object, &object->kernels[i]);
    return true;
}

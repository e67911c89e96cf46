/* The image of a code object: its segments as they are loaded, and the addresses in it that depend on where
 * that is. */
#include "gcn3_object/parts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>

enum { RELOCATION_NONE = 0, RELOCATION_ABS64 = 3, RELOCATION_RELATIVE64 = 13 };

#define LARGEST_IMAGE (UINT64_C(1) << 28)

static bool add_segment(const struct gcn3_elf *elf, struct gcn3_object *object, const Elf64_Phdr *header)
{
    struct gcn3_bytes contents;
    uint64_t bytes = header->p_memsz, at = header->p_vaddr;
    if (at > LARGEST_IMAGE || bytes > LARGEST_IMAGE - at)
        return err_set(elf->err, "%s: a segment of %llu bytes at 0x%llx is beyond what is loaded",
                       object->name, (unsigned long long)bytes, (unsigned long long)at);
    if (header->p_filesz > bytes || !gcn3_elf_part(elf, header->p_offset, header->p_filesz, &contents))
        return err_set(elf->err, "%s: a segment is not all in the file, which may be cut off", object->name);
    size_t count = object->segment_count++;
    object->segments = mem_resize(object->segments, count, count + 1, sizeof *object->segments);
    object->segments[count] = (struct gcn3_segment){at, bytes, header->p_flags & 7};
    object->image_bytes = max_u64(object->image_bytes, at + bytes);
    return true;
}

static void copy_segments(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    Elf64_Phdr header;
    struct gcn3_bytes contents;
    for (size_t i = 0; gcn3_elf_segment(elf, i, &header); i++) {
        if (header.p_type == PT_LOAD && gcn3_elf_part(elf, header.p_offset, header.p_filesz, &contents) &&
            contents.bytes)
            memcpy(object->image + header.p_vaddr, contents.at, contents.bytes);
    }
}

static int by_address(const void *left, const void *right)
{
    const struct gcn3_segment *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

bool gcn3_object_map(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    Elf64_Phdr header;
    for (size_t i = 0; gcn3_elf_segment(elf, i, &header); i++) {
        if (header.p_type == PT_LOAD && !add_segment(elf, object, &header))
            return false;
    }
    if (!object->image_bytes)
        return err_set(elf->err, "%s: this code object has nothing to load", object->name);
    object->image_bytes = (object->image_bytes + GCN3_PAGE - 1) & ~(uint64_t)(GCN3_PAGE - 1);
    object->image = mem_alloc(object->image_bytes, 1);
    copy_segments(elf, object);
    qsort(object->segments, object->segment_count, sizeof *object->segments, by_address);
    return true;
}

bool gcn3_object_holds(const struct gcn3_object *object, uint64_t at, uint64_t bytes, unsigned access)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct gcn3_segment *segment = &object->segments[i];
        if (at >= segment->at && at - segment->at <= segment->bytes &&
            bytes <= segment->bytes - (at - segment->at) && (segment->access & access) == access)
            return true;
    }
    return false;
}

/* ---- relocations ---- */

static bool symbol_value(const struct gcn3_elf *elf, uint64_t index, uint64_t *value)
{
    Elf64_Shdr section;
    struct gcn3_bytes symbols;
    Elf64_Sym symbol;
    if (!gcn3_elf_find(elf, NULL, SHT_DYNSYM, &section, &symbols) || index >= symbols.bytes / sizeof symbol)
        return false;
    memcpy(&symbol, symbols.at + index * sizeof symbol, sizeof symbol);
    *value = symbol.st_value;
    return symbol.st_shndx != SHN_UNDEF;
}

static bool apply(const struct gcn3_elf *elf, struct gcn3_object *object, const Elf64_Rela *entry)
{
    uint64_t value = 0;
    uint32_t type = ELF64_R_TYPE(entry->r_info);
    if (type == RELOCATION_NONE)
        return true;
    if (type != RELOCATION_RELATIVE64 && type != RELOCATION_ABS64)
        return err_set(elf->err, "%s: relocations of type %u are not known", object->name, type);
    if (type == RELOCATION_ABS64 && !symbol_value(elf, ELF64_R_SYM(entry->r_info), &value))
        return err_set(elf->err, "%s: a symbol that it needs is not in it: link it with what defines it",
                       object->name);
    value += (uint64_t)entry->r_addend;
    if (!gcn3_object_holds(object, entry->r_offset, sizeof value, 0))
        return err_set(elf->err, "%s: a relocation is for 0x%llx, where nothing is loaded", object->name,
                       (unsigned long long)entry->r_offset);
    memcpy(object->image + entry->r_offset, &value, sizeof value);
    object->relative[object->relative_count++] = entry->r_offset;
    return true;
}

bool gcn3_object_relocate(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    Elf64_Shdr section;
    struct gcn3_bytes entries;
    for (size_t i = 0; gcn3_elf_section(elf, i, &section); i++) {
        if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC) ||
            !gcn3_elf_part(elf, section.sh_offset, section.sh_size, &entries))
            continue;
        size_t count = entries.bytes / sizeof(Elf64_Rela), before = object->relative_count;
        object->relative = mem_resize(object->relative, before, before + count + 1, sizeof *object->relative);
        for (size_t j = 0; j < count; j++) {
            Elf64_Rela entry;
            memcpy(&entry, entries.at + j * sizeof entry, sizeof entry);
            if (!apply(elf, object, &entry))
                return false;
        }
    }
    return true;
}

void gcn3_object_place(const struct gcn3_object *object, uint64_t address, void *memory)
{
    memcpy(memory, object->image, object->image_bytes);
    for (size_t i = 0; i < object->relative_count; i++) {
        uint64_t value;
        uint8_t *at = (uint8_t *)memory + object->relative[i];
        memcpy(&value, at, sizeof value);
        value += address;
        memcpy(at, &value, sizeof value);
    }
}

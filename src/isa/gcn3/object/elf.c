/* The ELF file of a code object: what it is, and its parts. Nothing is trusted. */
#include "gcn3_object/parts.h"
#include "base/bits.h"

enum {
    OSABI_HSA = 64,
    MACHINE_MASK = 0xff, /* of e_flags */
    NOTE_ISA_VERSION = 3,
};

/* The GPUs that ELF's flags name: code for others is named in messages. */
static const struct target {
    uint8_t flag;
    bool runs;
    uint32_t gfx;
    const char *name;
} targets[] = {
    {0x2a, true, 803, "gfx803"},    {0x2c, true, 900, "gfx900"},    {0x2f, true, 906, "gfx906"},
    {0x20, false, 600, "gfx600"},   {0x21, false, 601, "gfx601"},   {0x22, false, 700, "gfx700"},
    {0x23, false, 701, "gfx701"},   {0x28, false, 801, "gfx801"},   {0x29, false, 802, "gfx802"},
    {0x2b, false, 810, "gfx810"},   {0x2d, false, 902, "gfx902"},   {0x2e, false, 904, "gfx904"},
    {0x30, false, 908, "gfx908"},   {0x31, false, 909, "gfx909"},   {0x3f, false, 0, "gfx90a"},
    {0x40, false, 940, "gfx940"},   {0x4c, false, 942, "gfx942"},   {0x33, false, 1010, "gfx1010"},
    {0x36, false, 1030, "gfx1030"}, {0x41, false, 1100, "gfx1100"}, {0x4e, false, 1200, "gfx1200"},
};

bool gcn3_elf_part(const struct gcn3_elf *elf, uint64_t at, uint64_t bytes, struct gcn3_bytes *part)
{
    if (at > elf->file.bytes || bytes > elf->file.bytes - at)
        return false;
    *part = (struct gcn3_bytes){elf->file.at + at, (size_t)bytes};
    return true;
}

static bool take(const struct gcn3_elf *elf, uint64_t table, size_t index, size_t bytes, void *to)
{
    struct gcn3_bytes part;
    if (table > elf->file.bytes || !gcn3_elf_part(elf, table + index * bytes, bytes, &part))
        return false;
    memcpy(to, part.at, bytes);
    return true;
}

bool gcn3_elf_segment(const struct gcn3_elf *elf, size_t index, Elf64_Phdr *segment)
{
    return index < elf->header.e_phnum && take(elf, elf->header.e_phoff, index, sizeof *segment, segment);
}

bool gcn3_elf_section(const struct gcn3_elf *elf, size_t index, Elf64_Shdr *section)
{
    return index < elf->header.e_shnum && take(elf, elf->header.e_shoff, index, sizeof *section, section);
}

const char *gcn3_elf_string(const struct gcn3_bytes *table, uint64_t at)
{
    if (at >= table->bytes || !memchr(table->at + at, 0, table->bytes - at))
        return NULL;
    return (const char *)table->at + at;
}

bool gcn3_elf_find(const struct gcn3_elf *elf, const char *name, uint32_t type, Elf64_Shdr *section,
                   struct gcn3_bytes *contents)
{
    Elf64_Shdr header;
    struct gcn3_bytes names = {0};
    if (gcn3_elf_section(elf, elf->header.e_shstrndx, &header))
        gcn3_elf_part(elf, header.sh_offset, header.sh_size, &names);
    for (size_t i = 0; gcn3_elf_section(elf, i, section); i++) {
        const char *called = gcn3_elf_string(&names, section->sh_name);
        if ((!type || section->sh_type == type) && (!name || (called && !strcmp(called, name))) &&
            section->sh_type != SHT_NOBITS &&
            gcn3_elf_part(elf, section->sh_offset, section->sh_size, contents))
            return true;
    }
    return false;
}

static bool find_note(const struct gcn3_bytes *list, const char *owner, uint32_t type,
                      struct gcn3_bytes *note)
{
    enum { ALIGNMENT = 4 };
    size_t owner_bytes = strlen(owner) + 1;
    for (size_t at = 0; list->bytes - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr header;
        memcpy(&header, list->at + at, sizeof header);
        at += sizeof header;
        uint64_t name_bytes = ((uint64_t)header.n_namesz + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
        uint64_t bytes = ((uint64_t)header.n_descsz + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
        uint64_t left = list->bytes - at;
        if (name_bytes > left || header.n_descsz > left - name_bytes)
            return false;
        if (header.n_type == type && header.n_namesz == owner_bytes &&
            !memcmp(list->at + at, owner, owner_bytes)) {
            *note = (struct gcn3_bytes){list->at + at + name_bytes, header.n_descsz};
            return true;
        }
        at += min_u64(name_bytes + bytes, left);
    }
    return false;
}

bool gcn3_elf_note(const struct gcn3_elf *elf, const char *owner, uint32_t type, struct gcn3_bytes *note)
{
    struct gcn3_bytes list;
    Elf64_Phdr segment;
    Elf64_Shdr section;
    for (size_t i = 0; gcn3_elf_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_NOTE && gcn3_elf_part(elf, segment.p_offset, segment.p_filesz, &list) &&
            find_note(&list, owner, type, note))
            return true;
    }
    return gcn3_elf_find(elf, NULL, SHT_NOTE, &section, &list) && find_note(&list, owner, type, note);
}

/* Version 2 says its target in a note; its flags are not to be relied on. */
static uint32_t noted_gfx(const struct gcn3_elf *elf)
{
    struct {
        uint16_t vendor_bytes, architecture_bytes;
        uint32_t major, minor, stepping;
    } isa;
    struct gcn3_bytes note;
    if (!gcn3_elf_note(elf, "AMD", NOTE_ISA_VERSION, &note) || note.bytes < sizeof isa)
        return 0;
    memcpy(&isa, note.at, sizeof isa);
    bool small = isa.major < 100 && isa.minor < 10 && isa.stepping < 10;
    return small ? 100 * isa.major + 10 * isa.minor + isa.stepping : 0;
}

static bool find_target(const struct gcn3_elf *elf, struct gcn3_object *object)
{
    uint32_t flag = elf->header.e_flags & MACHINE_MASK;
    uint32_t gfx = object->version == 2 ? noted_gfx(elf) : 0;
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        if (gfx ? targets[i].gfx != gfx : targets[i].flag != flag)
            continue;
        object->gfx = targets[i].gfx;
        object->target = targets[i].name;
        return targets[i].runs ||
               err_set(elf->err, "%s: this code object is for %s; expected one for gfx803, gfx900 or gfx906",
                       object->name, targets[i].name);
    }
    return err_set(elf->err, "%s: this code object is for a GPU that is not known (ELF flags 0x%x)",
                   object->name, elf->header.e_flags);
}

static bool check_header(const struct gcn3_elf *elf, const char *name)
{
    const Elf64_Ehdr *header = &elf->header;
    if (header->e_machine != EM_AMDGPU)
        return err_set(elf->err, "%s: this ELF file has no code for AMD's GPUs (its machine is %u)", name,
                       header->e_machine);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return err_set(elf->err, "%s: expected an ELF file of 64 bits, little-endian", name);
    if (header->e_ident[EI_OSABI] != OSABI_HSA)
        return err_set(elf->err, "%s: expected code for HSA (OS ABI %d), not OS ABI %u", name, OSABI_HSA,
                       header->e_ident[EI_OSABI]);
    return true;
}

static bool check_type(const struct gcn3_elf *elf, const char *name)
{
    const Elf64_Ehdr *header = &elf->header;
    if (header->e_type == ET_REL)
        return err_set(elf->err, "%s: this object file was not linked: use `ld.lld -shared IN -o OUT` on it",
                       name);
    if (header->e_type != ET_DYN || (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr)) ||
        (header->e_shnum && header->e_shentsize != sizeof(Elf64_Shdr)))
        return err_set(elf->err, "%s: expected a shared object, as ld.lld -shared makes it", name);
    return true;
}

bool gcn3_elf_check(struct gcn3_elf *elf, struct gcn3_object *object)
{
    enum { LAST_VERSION = 6 };
    if (!gcn3_object_is(elf->file.at, elf->file.bytes))
        return err_set(elf->err, "%s: expected a code object, which is an ELF file", object->name);
    if (elf->file.bytes < sizeof elf->header)
        return err_set(elf->err, "%s: this ELF file ends in its header", object->name);
    memcpy(&elf->header, elf->file.at, sizeof elf->header);
    if (!check_header(elf, object->name))
        return false;
    object->version = elf->header.e_ident[EI_ABIVERSION] + 2u;
    if (object->version > LAST_VERSION)
        return err_set(elf->err, "%s: code objects of version %u are not known", object->name,
                       object->version);
    return find_target(elf, object) && check_type(elf, object->name);
}

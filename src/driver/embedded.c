#include "driver/embedded.h"
#include "driver/fatbin.h"

#include <elf.h>
#include <string.h>

struct file {
    const unsigned char *at;
    size_t bytes;
};

static bool inside(const struct file *file, uint64_t at, uint64_t bytes)
{
    return at <= file->bytes && bytes <= file->bytes - at;
}

static uint32_t magic_at(const unsigned char *at)
{
    uint32_t magic;
    memcpy(&magic, at, sizeof magic);
    return magic;
}

bool embedded_may_be(const void *file, size_t bytes)
{
    return (bytes >= SELFMAG && !memcmp(file, ELFMAG, SELFMAG)) ||
           (bytes >= sizeof(uint32_t) && magic_at(file) == FATBIN_MAGIC);
}

/* Fatbins one after another, with padding between them. */
static void read_list(const unsigned char *at, size_t bytes, embedded_each *each, void *user)
{
    enum { ALIGNMENT = 8, HEADER = 16 };
    for (size_t i = 0, length; i + HEADER <= bytes; i += length) {
        bool good = magic_at(at + i) == FATBIN_MAGIC && fatbin_length(at + i, &length) &&
                    length <= bytes - i && length;
        if (good)
            each(user, at + i, length);
        length = good ? (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    }
}

/* Section headers may lie anywhere: they are copied out. */
static Elf64_Shdr section_at(const struct file *file, const Elf64_Ehdr *header, size_t index)
{
    Elf64_Shdr section;
    memcpy(&section, file->at + header->e_shoff + index * sizeof section, sizeof section);
    return section;
}

static bool is_named(const struct file *file, const Elf64_Shdr *names, const Elf64_Shdr *section,
                     const char *name)
{
    size_t bytes = strlen(name) + 1;
    return section->sh_name <= names->sh_size && bytes <= names->sh_size - section->sh_name &&
           !memcmp(file->at + names->sh_offset + section->sh_name, name, bytes);
}

static void read_elf(const struct file *file, embedded_each *each, void *user)
{
    Elf64_Ehdr header;
    if (file->bytes < sizeof header)
        return;
    memcpy(&header, file->at, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shstrndx >= header.e_shnum ||
        !inside(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return;
    Elf64_Shdr names = section_at(file, &header, header.e_shstrndx);
    if (!inside(file, names.sh_offset, names.sh_size))
        return;
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section = section_at(file, &header, i);
        if (section.sh_type != SHT_NOBITS && inside(file, section.sh_offset, section.sh_size) &&
            (is_named(file, &names, &section, ".nv_fatbin") ||
             is_named(file, &names, &section, "__nv_relfatbin")))
            read_list(file->at + section.sh_offset, section.sh_size, each, user);
    }
}

void embedded_read(const void *at, size_t bytes, embedded_each *each, void *user)
{
    struct file file = {at, bytes};
    if (bytes >= SELFMAG && !memcmp(at, ELFMAG, SELFMAG))
        read_elf(&file, each, user);
    else
        read_list(file.at, bytes, each, user);
}

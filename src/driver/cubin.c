/* What machine code contains about its kernels: an ELF file with a section .nv.info, a list of attributes. */
#include "driver/fatbin.h"

#include <elf.h>
#include <string.h>

enum {
    FORMAT_SIZED = 4, /* an attribute with its bytes behind it; of the others, the value is in the header */
    ATTRIBUTE_REGISTERS = 0x2f, /* {u32 symbol, u32 registers} */
};

struct cubin {
    const uint8_t *at;
    size_t bytes;
    Elf64_Ehdr header;
};

struct piece {
    const uint8_t *at;
    size_t bytes;
};

static bool section(const struct cubin *cubin, size_t index, Elf64_Shdr *section)
{
    uint64_t offset = cubin->header.e_shoff + index * sizeof *section;
    if (index >= cubin->header.e_shnum || cubin->header.e_shoff > cubin->bytes || offset > cubin->bytes ||
        cubin->bytes - offset < sizeof *section)
        return false;
    memcpy(section, cubin->at + offset, sizeof *section);
    return true;
}

static bool content(const struct cubin *cubin, size_t index, struct piece *piece)
{
    Elf64_Shdr header;
    if (!section(cubin, index, &header) || header.sh_offset > cubin->bytes ||
        header.sh_size > cubin->bytes - header.sh_offset)
        return false;
    *piece = (struct piece){cubin->at + header.sh_offset, (size_t)header.sh_size};
    return true;
}

/* The string at this place of a table; NULL when it does not end there. */
static const char *string(const struct piece *table, size_t at)
{
    if (at >= table->bytes || !memchr(table->at + at, 0, table->bytes - at))
        return NULL;
    return (const char *)table->at + at;
}

static bool find_section(const struct cubin *cubin, const char *name, uint32_t type, size_t *index)
{
    struct piece names;
    if (!content(cubin, cubin->header.e_shstrndx, &names))
        return false;
    for (*index = 0; *index < cubin->header.e_shnum; ++*index) {
        Elf64_Shdr header;
        if (!section(cubin, *index, &header))
            return false;
        const char *called = string(&names, header.sh_name);
        if (called && strcmp(called, name) == 0 && (!type || header.sh_type == type))
            return true;
    }
    return false;
}

static const char *symbol_name(const struct piece *symbols, const struct piece *strings, uint32_t index)
{
    Elf64_Sym symbol;
    if (index >= symbols->bytes / sizeof symbol)
        return NULL;
    memcpy(&symbol, symbols->at + index * sizeof symbol, sizeof symbol);
    return string(strings, symbol.st_name);
}

static void read_info(const struct piece *info, const struct piece *symbols, const struct piece *strings,
                      cubin_kernel *each, void *user)
{
    for (size_t at = 0; at + 4 <= info->bytes;) {
        uint16_t size;
        memcpy(&size, info->at + at + 2, sizeof size);
        uint8_t format = info->at[at], attribute = info->at[at + 1];
        at += 4;
        if (format != FORMAT_SIZED)
            continue;
        if (size > info->bytes - at)
            return;
        if (attribute == ATTRIBUTE_REGISTERS && size >= 8) {
            uint32_t words[2];
            memcpy(words, info->at + at, sizeof words);
            const char *name = symbol_name(symbols, strings, words[0]);
            if (name)
                each(user, name, words[1]);
        }
        at += size;
    }
}

bool cubin_registers(const void *cubin, size_t bytes, cubin_kernel *each, void *user)
{
    struct cubin file = {.at = cubin, .bytes = bytes};
    size_t info_index, symbol_index;
    struct piece info, symbols, strings;
    Elf64_Shdr symbol_section;
    if (bytes < sizeof file.header || memcmp(cubin, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&file.header, cubin, sizeof file.header);
    if (!find_section(&file, ".nv.info", 0, &info_index) || !content(&file, info_index, &info) ||
        !find_section(&file, ".symtab", SHT_SYMTAB, &symbol_index) ||
        !content(&file, symbol_index, &symbols) || !section(&file, symbol_index, &symbol_section) ||
        !content(&file, symbol_section.sh_link, &strings))
        return false;
    read_info(&info, &symbols, &strings, each, user);
    return true;
}

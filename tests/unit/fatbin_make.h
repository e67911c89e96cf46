/* Makes fatbins and machine code for tests: as nvcc writes them, and broken. */
#ifndef TESTS_UNIT_FATBIN_MAKE_H
#define TESTS_UNIT_FATBIN_MAKE_H

#include "base/text.h"

#include <elf.h>
#include <lz4.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

enum { MAKE_RAW, MAKE_ZSTD = 0x8000, MAKE_LZ4 = 0x2000 };

static inline void put(struct text *text, const void *bytes, size_t count)
{
    text_add_bytes(text, bytes, count);
}

static inline void fatbin_begin(struct text *fatbin)
{
    static const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    put(fatbin, header, sizeof header);
}

/* Adds an entry; its flags say how it is packed. */
static inline void fatbin_entry(struct text *fatbin, uint16_t kind, uint32_t arch, uint64_t flags,
                                const void *image, size_t bytes)
{
    unsigned char header[64] = {0};
    static char packed[1 << 16];
    uint32_t header_bytes = sizeof header, packed_bytes = 0;
    uint64_t raw_bytes = 0;
    if (flags & MAKE_ZSTD)
        packed_bytes = (uint32_t)ZSTD_compress(packed, sizeof packed, image, bytes, 3);
    if (flags & MAKE_LZ4)
        packed_bytes = (uint32_t)LZ4_compress_default(image, packed, (int)bytes, sizeof packed);
    uint64_t payload = ((packed_bytes ? packed_bytes : bytes) + 7) / 8 * 8;
    if (packed_bytes)
        raw_bytes = bytes;
    memcpy(header, &kind, 2);
    memcpy(header + 4, &header_bytes, 4);
    memcpy(header + 8, &payload, 8);
    memcpy(header + 16, &packed_bytes, 4);
    memcpy(header + 28, &arch, 4);
    memcpy(header + 40, &flags, 8);
    memcpy(header + 56, &raw_bytes, 8);
    put(fatbin, header, sizeof header);
    put(fatbin, packed_bytes ? packed : image, packed_bytes ? packed_bytes : bytes);
    put(fatbin, "\0\0\0\0\0\0\0", payload - (packed_bytes ? packed_bytes : bytes));
    uint64_t total = fatbin->length - 16;
    memcpy(fatbin->at + 8, &total, 8);
}

/* An ELF that says how many registers one kernel has. */
static inline void cubin_make(struct text *cubin, const char *kernel, uint32_t registers)
{
    static const char names[] = "\0.nv.info\0.symtab\0.strtab\0";
    char strings[64] = {0};
    snprintf(strings + 1, sizeof strings - 1, "%s", kernel);
    const unsigned char info[] = {0x03, 0x1b, 0xff, 0, 0x04, 0x2f, 8, 0, 1, 0, 0, 0, (unsigned char)registers,
                                  0,    0,    0};
    Elf64_Sym symbols[2] = {{0}, {.st_name = 1}};
    size_t at = sizeof(Elf64_Ehdr);
    Elf64_Shdr sections[4] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_LOPROC, .sh_offset = at, .sh_size = sizeof info},
        {.sh_name = 10,
         .sh_type = SHT_SYMTAB,
         .sh_offset = at + sizeof info,
         .sh_size = sizeof symbols,
         .sh_link = 3},
        {.sh_name = 18,
         .sh_type = SHT_STRTAB,
         .sh_offset = at + sizeof info + sizeof symbols,
         .sh_size = sizeof strings},
    };
    Elf64_Ehdr header = {.e_shnum = 5, .e_shstrndx = 4, .e_shentsize = sizeof *sections};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    size_t name_at = at + sizeof info + sizeof symbols + sizeof strings;
    header.e_shoff = name_at + sizeof names;
    Elf64_Shdr name_section = {.sh_type = SHT_STRTAB, .sh_offset = name_at, .sh_size = sizeof names};
    put(cubin, &header, sizeof header);
    put(cubin, info, sizeof info);
    put(cubin, symbols, sizeof symbols);
    put(cubin, strings, sizeof strings);
    put(cubin, names, sizeof names);
    put(cubin, sections, sizeof sections);
    put(cubin, &name_section, sizeof name_section);
}

#endif

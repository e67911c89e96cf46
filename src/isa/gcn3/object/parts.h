/* What the files of this room share: the ELF file within its bounds, and the steps of loading. */
#ifndef GCN3_OBJECT_PARTS_H
#define GCN3_OBJECT_PARTS_H

#include "gcn3_object/object.h"

#include <elf.h>

struct gcn3_bytes {
    const uint8_t *at;
    size_t bytes;
};

struct gcn3_elf {
    struct gcn3_bytes file;
    Elf64_Ehdr header;
    struct err *err;
};

/* Part of the file; false, without a message, when it is not all there. */
bool gcn3_elf_part(const struct gcn3_elf *elf, uint64_t at, uint64_t bytes, struct gcn3_bytes *part);
bool gcn3_elf_segment(const struct gcn3_elf *elf, size_t index, Elf64_Phdr *segment);
bool gcn3_elf_section(const struct gcn3_elf *elf, size_t index, Elf64_Shdr *section);
/* The first section of this type (0: any) and name (NULL: any), with its contents. */
bool gcn3_elf_find(const struct gcn3_elf *elf, const char *name, uint32_t type, Elf64_Shdr *section,
                   struct gcn3_bytes *contents);
/* The string at this place of a table, or NULL when none ends there. */
const char *gcn3_elf_string(const struct gcn3_bytes *table, uint64_t at);
/* The description of the note of this owner and type. */
bool gcn3_elf_note(const struct gcn3_elf *elf, const char *owner, uint32_t type, struct gcn3_bytes *note);
bool gcn3_elf_check(struct gcn3_elf *elf, struct gcn3_object *object);

/* The steps, in this order. Each says what is wrong in elf->err. */
bool gcn3_object_map(const struct gcn3_elf *elf, struct gcn3_object *object);
bool gcn3_object_relocate(const struct gcn3_elf *elf, struct gcn3_object *object);
bool gcn3_object_read_symbols(const struct gcn3_elf *elf, struct gcn3_object *object);
bool gcn3_object_read_metadata(const struct gcn3_elf *elf, struct gcn3_object *object);
void gcn3_object_read_lines(const struct gcn3_elf *elf, struct gcn3_object *object);

/* Fills what a kernel's descriptor says; its `descriptor` and names are set. */
bool gcn3_descriptor_read(const struct gcn3_object *object, struct gcn3_kernel_info *kernel, struct err *err);

/* Whether the image has these bytes, and in a segment with this access, if any. */
bool gcn3_object_holds(const struct gcn3_object *object, uint64_t at, uint64_t bytes, unsigned access);

#endif

/* What QEMU itself calls of the C library. The result of time() is a register of the program, which plugins
 * cannot change; so QEMU gets its answer from us: where its table of imports has time, it has ours then. */
#include "cpu/qemu/plugin.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static __thread time_t answer; /* 0: none */

void tap_answer_time(uint64_t seconds)
{
    answer = (time_t)seconds;
}

static time_t simulated_time(time_t *place)
{
    time_t now = answer ? answer : time(NULL);
    answer = 0;
    if (place)
        *place = now;
    return now;
}

/* The tables of an object in memory. */
struct imports {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *rows[2]; /* of functions, and of addresses */
    size_t bytes[2];
};

static void read_dynamic(struct imports *imports, const Elf64_Dyn *row)
{
    for (; row->d_tag != DT_NULL; row++) {
        const void *at = (const void *)row->d_un.d_ptr;
        switch (row->d_tag) {
        case DT_SYMTAB:
            imports->symbols = at;
            break;
        case DT_STRTAB:
            imports->names = at;
            break;
        case DT_JMPREL:
            imports->rows[0] = at;
            break;
        case DT_PLTRELSZ:
            imports->bytes[0] = row->d_un.d_val;
            break;
        case DT_RELA:
            imports->rows[1] = at;
            break;
        case DT_RELASZ:
            imports->bytes[1] = row->d_un.d_val;
            break;
        }
    }
}

static void replace(uintptr_t place, void *function)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), page = place & ~(page_bytes - 1);
    if (mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE)) /* the loader made it read-only */
        return;
    memcpy((void *)place, &function, sizeof function);
    mprotect((void *)page, page_bytes, PROT_READ);
}

/* The first object is QEMU. One that is linked statically has no such table, and keeps its clock. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *user)
{
    struct imports imports = {0};
    (void)bytes, (void)user;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&imports, (const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    }
    for (int k = 0; k < 2 && imports.symbols && imports.names; k++) {
        for (size_t i = 0; i < imports.bytes[k] / sizeof(Elf64_Rela); i++) {
            const Elf64_Rela *row = &imports.rows[k][i];
            size_t symbol = ELF64_R_SYM(row->r_info);
            if (symbol && !strcmp(imports.names + imports.symbols[symbol].st_name, "time"))
                replace(info->dlpi_addr + row->r_offset, (void *)(uintptr_t)simulated_time);
        }
    }
    return 1;
}

void tap_replace_time(void)
{
    dl_iterate_phdr(look_at, NULL);
}

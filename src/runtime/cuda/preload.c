/* LD_PRELOADed into every program that `heddle run` starts. nvcc links the CUDA runtime into programs unless
 * told otherwise, so there is no library to take the place of: instead the symbol table of the program says
 * where its cuda... functions begin, and each gets a jump to ours written over its first bytes. That is done
 * before the program's own constructors, which register its kernels, have run. Libraries that the program is
 * linked with are treated the same; since their constructors may have run already, their kernels are
 * registered a second time, with ours.
 *
 * A program without such functions is left as it is: nothing but its section headers is read. */
#include "runtime/cuda/exports.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JUMP_BYTES = 5,    /* jmp rel32; the shortest entry point seen has 10 bytes */
    LANDING_BYTES = 16 /* jmp *0(%rip) and the address behind it */
};

/* An ELF file of this process, as it lies on disk. */
struct object {
    const char *path, *name; /* to read it by, and to tell it by */
    uintptr_t bias;          /* what is added to its addresses */
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections,
        *symbols;      /* symbols: those for the linker where it was stripped of the others */
    const char *names; /* of sections */
    bool has_kernels, is_stripped;
};

/* Our own functions, found when the first object needs them. */
static const struct export_row *exports;
static const struct older_row *older; /* those that CUDA 11 and 12 have otherwise */

/* Where landings are put: in reach of a jump from the object that is patched. */
struct landing_strip {
    unsigned char *next, *end;
};

static bool in_file(const struct object *object, uint64_t at, uint64_t bytes)
{
    return at <= object->size && bytes <= object->size - at;
}

static const Elf64_Shdr *section_of(const struct object *object, const char *name)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (!strcmp(object->names + object->sections[i].sh_name, name))
            return &object->sections[i];
    }
    return NULL;
}

/* Whether the file is an ELF file whose sections can be read; those are then in `object`. */
static bool read_sections(struct object *object)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    if (object->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
        header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum ||
        !in_file(object, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    object->sections = (const void *)(object->bytes + header->e_shoff);
    const Elf64_Shdr *names = &object->sections[header->e_shstrndx];
    if (!in_file(object, names->sh_offset, names->sh_size) || !names->sh_size ||
        object->bytes[names->sh_offset + names->sh_size - 1])
        return false;
    object->names = (const char *)object->bytes + names->sh_offset;
    object->is_stripped = true;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (object->sections[i].sh_name >= names->sh_size)
            return false;
        bool whole = object->sections[i].sh_type == SHT_SYMTAB;
        if (whole || (object->sections[i].sh_type == SHT_DYNSYM && !object->symbols))
            object->symbols = &object->sections[i];
        object->is_stripped &= !whole;
    }
    object->has_kernels = section_of(object, ".nv_fatbin") || section_of(object, "__nv_relfatbin");
    return true;
}

static bool open_object(struct object *object)
{
    struct stat status;
    int file = open(object->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (!fstat(file, &status) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return false;
    object->bytes = bytes;
    object->size = (size_t)status.st_size;
    return true;
}

/* Libraries of Heddle lie beside this one. */
static bool find_exports(void)
{
    Dl_info here;
    char path[4096];
    if (exports)
        return true;
    if (!dladdr((const void *)&exports, &here) || !strrchr(here.dli_fname, '/'))
        return false;
    int length = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
    if (snprintf(path, sizeof path, "%.*s/" CUDART_SONAME, length, here.dli_fname) >= (int)sizeof path)
        return false;
    void *cudart = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (cudart)
        older = dlsym(cudart, "heddle_cudart_older");
    if (older)
        exports = dlsym(cudart, "heddle_cudart_exports");
    if (!exports)
        dprintf(STDERR_FILENO, "heddle: cannot load %s: %s\n", path, dlerror());
    return exports != NULL;
}

/* What this version of CUDA means by the name. */
static void *export_find(const char *name, int version)
{
    for (const struct older_row *row = older; row->name; row++) {
        if (row->first <= version && version <= row->last && !strcmp(row->name, name))
            return row->function;
    }
    for (const struct export_row *row = exports; row->name; row++) {
        if (!strcmp(row->name, name))
            return row->function;
    }
    return NULL;
}

/* Memory near an address: tried at growing distances on both sides, as what is around it is not known. */
static bool strip_make(struct landing_strip *strip, uintptr_t near, size_t bytes)
{
    const uintptr_t step = UINT64_C(1) << 20, reach = UINT64_C(1) << 30;
    near &= ~(step - 1);
    for (uintptr_t away = step; away < reach; away += step) {
        for (int side = 0; side < 2; side++) {
            if (!side && near < away + step)
                continue;
            void *want = (void *)(side ? near + away : near - away);
            void *got = mmap(want, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == want) {
                strip->next = got;
                strip->end = strip->next + bytes;
                return true;
            }
            if (got != MAP_FAILED) /* a kernel too old to know MAP_FIXED_NOREPLACE put it elsewhere */
                munmap(got, bytes);
        }
    }
    return false;
}

static bool protect(uintptr_t at, size_t bytes, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = at & ~(page - 1);
    return !mprotect((void *)start, at + bytes - start, protection);
}

/* A landing for `to`, and a jump at `at` that leads there. */
static bool write_jump(struct landing_strip *strip, uintptr_t at, void *to)
{
    static const unsigned char indirect[] = {0xff, 0x25, 0, 0, 0, 0};
    unsigned char *landing = strip->next, jump[JUMP_BYTES] = {0xe9};
    int64_t distance = (int64_t)((uintptr_t)landing - (at + JUMP_BYTES));
    int32_t relative = (int32_t)distance;
    if (distance != relative || !protect(at, JUMP_BYTES, PROT_READ | PROT_WRITE))
        return false;
    strip->next += LANDING_BYTES;
    memcpy(landing, indirect, sizeof indirect);
    memcpy(landing + sizeof indirect, &to, sizeof to);
    memcpy(jump + 1, &relative, sizeof relative);
    memcpy((void *)at, jump, sizeof jump);
    return protect(at, JUMP_BYTES, PROT_READ | PROT_EXEC);
}

static bool is_entry_point(const Elf64_Sym *symbol, const char *name)
{
    return (!strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6)) &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_size >= JUMP_BYTES;
}

/* Functions by which the version of a runtime is known, as nothing else in it says it. */
enum { CUDA_10 = 10, CUDA_11, CUDA_12, CUDA_13 };
static const char *const signs[] = {
    [CUDA_11] = "cudaCtxResetPersistingL2Cache", /* since CUDA 11 */
    [CUDA_12] = "cudaGetDeviceProperties_v2",    /* of CUDA 12 alone */
    [CUDA_13] = "cudaThreadSynchronize",         /* until CUDA 12 */
};

static bool is_sign(const Elf64_Sym *symbol, const char *name)
{
    for (int version = CUDA_11; version <= CUDA_13; version++) {
        if (!strcmp(name, signs[version]))
            return is_entry_point(symbol, name);
    }
    return false;
}

/* What nvcc generates to register the kernels and variables of one source file. */
static bool is_registration(const Elf64_Sym *symbol, const char *name)
{
    return strstr(name, "__sti____cudaRegisterAll") && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           symbol->st_shndx != SHN_UNDEF;
}

/* Calls `visit` for every function in the object's symbol table that `wanted` wants. */
static bool each_function(const struct object *object, bool (*wanted)(const Elf64_Sym *, const char *),
                          bool (*visit)(void *user, uintptr_t at, const char *name), void *user)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Shdr *table = object->symbols;
    if (!table || table->sh_link >= header->e_shnum || !in_file(object, table->sh_offset, table->sh_size))
        return true;
    const Elf64_Shdr *texts = &object->sections[table->sh_link];
    if (!in_file(object, texts->sh_offset, texts->sh_size))
        return true;
    const Elf64_Sym *symbols = (const void *)(object->bytes + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const char *name = (const char *)object->bytes + texts->sh_offset + symbols[i].st_name;
        if (symbols[i].st_name < texts->sh_size && wanted(&symbols[i], name) &&
            !visit(user, object->bias + symbols[i].st_value, name))
            return false;
    }
    return true;
}

struct patching {
    struct landing_strip strip;
    size_t count;
    uintptr_t first;
    unsigned signs; /* a bit by version */
    int version;
};

static bool see_sign(void *user, uintptr_t at, const char *name)
{
    struct patching *patching = user;
    (void)at;
    for (int version = CUDA_11; version <= CUDA_13; version++)
        patching->signs |= (unsigned)!strcmp(name, signs[version]) << version;
    return true;
}

/* Of the runtime with these signs. A program that was linked with only some of a runtime's functions shows
 * none: only NVIDIA's is recognized, which is whole. */
static int version_of(unsigned seen)
{
    if (!(seen >> CUDA_13 & 1))
        return seen >> CUDA_12 & 1 ? CUDA_12 : CUDA_13;
    return seen >> CUDA_12 & 1 ? CUDA_12 : seen >> CUDA_11 & 1 ? CUDA_11 : CUDA_10;
}

static bool count_one(void *user, uintptr_t at, const char *name)
{
    struct patching *patching = user;
    (void)name;
    if (!patching->count++)
        patching->first = at;
    return true;
}

static bool patch_one(void *user, uintptr_t at, const char *name)
{
    struct patching *patching = user;
    void *ours = export_find(name, patching->version);
    return !ours || write_jump(&patching->strip, at, ours);
}

static bool call_one(void *user, uintptr_t at, const char *name)
{
    (void)user, (void)name;
    ((void (*)(void))at)();
    return true;
}

enum patched { NOTHING_TO_PATCH, PATCHED, NOT_PATCHED /* which was said */ };

static enum patched patch(const struct object *object)
{
    struct patching patching = {0};
    each_function(object, is_entry_point, count_one, &patching);
    each_function(object, is_sign, see_sign, &patching);
    patching.version = version_of(patching.signs);
    if (!patching.count)
        return NOTHING_TO_PATCH;
    if (patching.version < CUDA_11) {
        dprintf(STDERR_FILENO,
                "heddle: %s holds the runtime of CUDA 10 or older, and Heddle takes the place of those of "
                "CUDA 11 to 13; build it with one of these\n",
                object->name);
        return NOT_PATCHED;
    }
    if (!find_exports())
        return NOT_PATCHED;
    size_t bytes = patching.count * LANDING_BYTES;
    bool good = strip_make(&patching.strip, patching.first, bytes) &&
                each_function(object, is_entry_point, patch_one, &patching) &&
                !mprotect(patching.strip.end - bytes, bytes, PROT_READ | PROT_EXEC);
    if (!good)
        dprintf(
            STDERR_FILENO,
            "heddle: cannot put Heddle in the place of the CUDA runtime inside %s: the system does not let "
            "its code be changed; build it with NVCC_APPEND_FLAGS='-cudart shared'\n",
            object->name);
    return good ? PATCHED : NOT_PATCHED;
}

static bool is_import(const Elf64_Sym *symbol, const char *name)
{
    return symbol->st_shndx == SHN_UNDEF && !strcmp(name, "__cudaRegisterFatBinary");
}

/* Kernels whose runtime cannot be found: it is inside the program, not in a library, and without names. (One
 * inside a library is told of once it is used, by cuGetExportTable.) */
static void tell_hidden_runtime(const struct object *object)
{
    struct patching imports = {0};
    each_function(object, is_import, count_one, &imports);
    if (!object->has_kernels || !object->is_stripped || imports.count)
        return;
    dprintf(STDERR_FILENO,
            "heddle: %s was stripped of its symbols, so the CUDA runtime inside it cannot be replaced; link "
            "it without -s and strip, or build it with NVCC_APPEND_FLAGS='-cudart shared'\n",
            program_invocation_name);
}

/* Libraries seldom hold a runtime of their own: those with kernels, and NVIDIA's own where the program
 * insists on it (by an RPATH). */
static bool may_hold_runtime(const struct object *object, bool is_program)
{
    const char *slash = strrchr(object->path, '/');
    return is_program || object->has_kernels || !strncmp(slash ? slash + 1 : object->path, "libcudart.", 10);
}

static void visit(struct object *object, bool is_program)
{
    if (!open_object(object))
        return;
    bool readable = read_sections(object);
    enum patched patched =
        readable && may_hold_runtime(object, is_program) ? patch(object) : NOTHING_TO_PATCH;
    if (patched == PATCHED && !is_program)
        each_function(object, is_registration, call_one, NULL);
    if (patched == NOTHING_TO_PATCH && readable && is_program)
        tell_hidden_runtime(object);
    munmap((void *)(uintptr_t)object->bytes, object->size);
}

/* The object of this number in the order of loading, in a copy: nothing may be loaded while the list is
 * walked. */
struct nth {
    size_t wanted, seen;
    uintptr_t bias;
    char path[4096];
};

static int pick_nth(struct dl_phdr_info *info, size_t bytes, void *user)
{
    struct nth *nth = user;
    (void)bytes;
    if (nth->seen++ != nth->wanted)
        return 0;
    nth->bias = info->dlpi_addr;
    snprintf(nth->path, sizeof nth->path, "%s", nth->wanted ? info->dlpi_name : "/proc/self/exe");
    return 1;
}

static bool is_ours(const char *path)
{
    Dl_info here;
    const char *slash = strrchr(path, '/');
    return slash && dladdr((const void *)&exports, &here) &&
           !strncmp(here.dli_fname, path, (size_t)(slash - path) + 1) &&
           !strchr(here.dli_fname + (slash - path) + 1, '/');
}

__attribute__((constructor)) static void take_over(void)
{
    struct nth nth = {0};
    while (dl_iterate_phdr(pick_nth, &nth)) {
        struct object object = {
            .path = nth.path, .name = nth.wanted ? nth.path : program_invocation_name, .bias = nth.bias};
        if (!is_ours(nth.path))
            visit(&object, !nth.wanted);
        nth.wanted++;
        nth.seen = 0;
    }
}

/* A machine that is saved in the middle of a kernel, and what becomes of its file when bytes of it change.
 * The digest is made to fit, so that all of the loader is reached. */
#ifndef FUZZ_RESUME_H
#define FUZZ_RESUME_H

#include "base/archive.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"
#include "system/parts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RESUME_ARENA = 1 << 16, RESUME_AT = 8000 };

struct resume {
    struct system system;
    struct program *program;
    struct image *image;
    char *arena;
    struct launch launch;
    uint64_t param;
    struct text content; /* of a good file, without its digest */
    char path[64];
};

static const char resume_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.param .b32 r) deeper(.param .b32 n)\n{\n.reg .b32 %r<4>; .reg .pred %p;\n"
    "ld.param.b32 %r0, [n]; add.u32 %r1, %r0, 3; setp.gt.u32 %p, %r1, 40; @%p bra D; mul.lo.u32 %r1, %r1, "
    "5;\n"
    "D: st.param.b32 [r], %r1; ret;\n}\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<20>; .reg .b64 %l<9>; .reg .pred %p<4>;\n"
    ".shared .align 16 .b8 s[1024];\n"
    "ld.param.u64 %l0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4; add.s64 %l2, %l0, %l1; mov.u32 "
    "%r5, 0;\n"
    "L: ld.global.u32 %r1, [%l2]; ld.volatile.global.u32 %r6, [%l2+4096]; mov.u64 %l3, s; add.s64 %l4, %l3, "
    "%l1;\n"
    "st.shared.u32 [%l4], %r1; bar.sync 0; ld.shared.u32 %r2, [%l4]; atom.global.add.u32 %r3, [%l0+8192], "
    "%r2;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), deeper, (a); ld.param.b32 %r4, [b]; }\n"
    "setp.lt.u32 %p1, %r0, 11; @%p1 bra M; add.u32 %r4, %r4, %r6; st.global.u32 [%l2+12288], %r4;\n"
    "M: st.global.u32 [%l2], %r4; membar.gl; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 20; @%p2 bra L;\n"
    "ret;\n}\n";

static void resume_require(bool good, const struct err *err)
{
    if (!good) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

static uint64_t resume_place(void *user, const struct ptx_variable *variable, uint64_t bytes,
                             uint64_t alignment)
{
    (void)user, (void)variable, (void)bytes, (void)alignment;
    abort(); /* it has none */
}

static struct machine *resume_machine(struct resume *resume, const struct checkpoint_options *checkpoint,
                                      struct err *err)
{
    struct memory_range range = {
        .at = (uintptr_t)resume->arena, .bytes = RESUME_ARENA, .host = resume->arena};
    struct machine_options options = {.threads = 1, .wishes = {.profile = true}, .checkpoint = *checkpoint};
    struct machine *machine = machine_new(&resume->system, &options, err);
    if (machine)
        machine_set_memory(machine, &range, 1);
    return machine;
}

static void resume_init(struct resume *resume)
{
    static const char *const settings[] = {"gpu.sm_count=2", "l2.slices=2",  "l2.islands=1",
                                           "l2.bytes=64KiB", "l2.misses=16", "l2.requests=16",
                                           "sm.l1_misses=16"};
    struct err err = {{0}};
    *resume = (struct resume){0};
    resume_require(system_load(&resume->system, "", NULL, &err), &err);
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        resume_require(system_set(&resume->system, settings[i], &err), &err);
    struct ptx_module *module = ptx_parse("resume.ptx", resume_ptx, strlen(resume_ptx), &err);
    resume_require(module, &err);
    resume->program = program_new(&module, 1, &ptxas, resume_place, NULL, &err);
    resume_require(resume->program, &err);
    program_set_timed(resume->program);
    resume->image = image_new();
    resume->arena = mmap(NULL, RESUME_ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    image_add(resume->image, (struct range){(uintptr_t)resume->arena, RESUME_ARENA, "memory", false});
    resume->param = (uintptr_t)resume->arena;
    resume->launch = (struct launch){.kernel = program_kernel(resume->program, "k"),
                                     .image = resume->image,
                                     .params = &resume->param,
                                     .grid = {3, 1, 1},
                                     .block = {96, 1, 1},
                                     .threads = 1,
                                     .sm_count = 2,
                                     .stack_bytes = 4096};
    snprintf(resume->path, sizeof resume->path, "resume-%d.cp", (int)getpid());
    struct checkpoint_options checkpoint = {.write = resume->path, .at_cycles = RESUME_AT, .stop = true};
    struct machine *machine = resume_machine(resume, &checkpoint, &err);
    resume_require(machine, &err);
    struct task task = {.launch = &resume->launch, .blocks_per_sm = 2};
    machine_begin(machine, &task);
    machine_run(machine, &err);
    resume_require(machine_end(machine) == MACHINE_STOPPED, &err);
    gpu_kernel_stats_fini(&task.stats);
    machine_free(machine);
    resume_require(file_read(resume->path, 1 << 28, &resume->content, &err), &err);
    resume->content.length -= sizeof(uint64_t);
}

/* Loads the content, with a digest that fits; what was loaded can be written again. True: it was taken. */
static inline bool resume_try(struct resume *resume)
{
    struct err err = {{0}};
    uint64_t digest = digest_bytes(0, resume->content.at, resume->content.length);
    FILE *file = fopen(resume->path, "wb");
    if (!file || fwrite(resume->content.at, 1, resume->content.length, file) != resume->content.length ||
        fwrite(&digest, sizeof digest, 1, file) != 1 || fclose(file))
        abort();
    struct checkpoint_options checkpoint = {.resume = resume->path, .write = resume->path};
    struct machine *machine = resume_machine(resume, &checkpoint, &err);
    struct task task = {.launch = &resume->launch, .blocks_per_sm = 2};
    if (machine)
        machine_begin(machine, &task);
    struct local_machine *local = (struct local_machine *)machine;
    bool good = local && checkpoint_load(local, &err) && checkpoint_write(local, &err);
    gpu_kernel_stats_fini(&task.stats);
    machine_free(machine);
    return good;
}

static inline void resume_fini(struct resume *resume)
{
    text_fini(&resume->content);
    unlink(resume->path);
    program_free(resume->program);
    image_free(resume->image);
    munmap(resume->arena, RESUME_ARENA);
    system_fini(&resume->system);
}

#endif

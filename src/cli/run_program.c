/* heddle run: a program with our libraries. */
#include "cli/folder.h"
#include "cli/guard.h"
#include "cli/stats_launches.h"
#include "cli/process.h"
#include "cli/over_ranks.h"
#include "cli/run.h"
#include "plugin/plugin.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/install.h"
#include "base/mem.h"
#include "system/machine.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRELOAD "libheddle_preload.so"
#define MPI     "libheddle_mpi.so"
#define OPENCL  "libheddle_opencl.so"
#define HIP     "libamdhip64.so.5"
static const size_t PROGRAM_MOST = (size_t)1 << 34; /* bytes */

static bool fail(struct run *run, int status)
{
    run->status = status;
    return false;
}

static char *joined(const char *folder, size_t length, const char *name)
{
    struct text path = {0};
    text_add(&path, "%.*s/%s", (int)length, folder, name);
    return path.at;
}

/* The folder of this library, which is beside the heddle program; NULL when it is not there. */
static char *folder_of(const char *library, struct err *err)
{
    char *path = process_beside("run", library, err);
    if (path)
        *strrchr(path, '/') = 0;
    return path;
}

/* OpenCL's may not be there. */
static bool find_libraries(struct run *run, struct err *err)
{
    struct err unused;
    run->opencl = folder_of("opencl/" OPENCL, &unused);
    run->libraries = folder_of("cuda/" PRELOAD, err);
    run->hip = run->libraries ? folder_of("hip/" HIP, err) : NULL;
    return run->hip;
}

static bool find_program(struct run *run, struct err *err)
{
    run->path = process_find("run", run->request->words[0], &run->status, err);
    return run->path;
}

/* What a program's header says about how it runs. */
enum program_kind {
    PROGRAM_OTHER,   /* a script, or nothing that can run: the system says */
    PROGRAM_DYNAMIC, /* with libraries */
    PROGRAM_STATIC,  /* without: nothing can be put in the place of its functions */
    PROGRAM_FOREIGN  /* for another kind of machine */
};

static enum program_kind kind_of(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    enum program_kind kind = PROGRAM_OTHER;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return kind;
    if (pread(file, &header, sizeof header, 0) == sizeof header && !memcmp(header.e_ident, ELFMAG, SELFMAG)) {
        kind = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 ? PROGRAM_STATIC
                                                                                       : PROGRAM_FOREIGN;
        for (unsigned i = 0; kind == PROGRAM_STATIC && i < header.e_phnum; i++) {
            off_t at = (off_t)(header.e_phoff + i * sizeof segment);
            if (pread(file, &segment, sizeof segment, at) == sizeof segment && segment.p_type == PT_INTERP)
                kind = PROGRAM_DYNAMIC;
        }
    }
    close(file);
    return kind;
}

static void set_list(const char *variable, const char *first)
{
    const char *old = getenv(variable);
    struct text value = {0};
    text_add(&value, "%s%s%s", first, old && *old ? ":" : "", old ? old : "");
    setenv(variable, value.at, 1);
    text_fini(&value);
}

static void set_or_not(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

static void set_timing(const struct timing_request *timing)
{
    struct text settings = {0};
    for (size_t i = 0; i < timing->setting_count; i++)
        text_add(&settings, "%s\n", timing->settings[i]);
    set_or_not("HEDDLE_SETTINGS", settings.at);
    text_fini(&settings);
    struct text plugins = {0};
    plugin_add_list(&plugins);
    set_or_not(PLUGIN_VARIABLE, plugins.at);
    text_fini(&plugins);
    setenv("HEDDLE_MODE", timing_is_on(timing) ? "timing" : "functional", 1);
    set_or_not("HEDDLE_MAX_CYCLES", timing->max_cycles);
    set_or_not("HEDDLE_KERNELS", timing->kernels);
    set_or_not("HEDDLE_SERIES", timing->series);
    set_or_not("HEDDLE_REGION", timing->region);
    set_or_not("HEDDLE_CACHES", timing->cold_caches ? "cold" : NULL);
    set_or_not("HEDDLE_PROGRESS", timing->no_progress ? "no" : NULL);
}

/* The same path from any folder. What does not exist yet is in one that does. */
static void set_path(const char *variable, const char *path)
{
    char *folder = path && path[0] != '/' ? realpath(".", NULL) : NULL;
    char *whole = folder ? joined(folder, strlen(folder), path) : NULL;
    set_or_not(variable, whole ? whole : path);
    mem_free(whole);
    free(folder);
}

static void set_checkpoint(const struct run *run)
{
    const struct timing_request *timing = &run->request->timing;
    set_path("HEDDLE_CHECKPOINT", timing->checkpoint);
    set_path("HEDDLE_RESUME", timing->resume);
    set_path("HEDDLE_WRITE_LOAD", timing->write_load);
    set_path("HEDDLE_PLACEMENT", timing->placement);
    set_or_not("HEDDLE_CHECKPOINT_AT", timing->checkpoint_at);
    set_or_not("HEDDLE_CHECKPOINT_EVERY", timing->checkpoint_every);
    set_or_not("HEDDLE_CHECKPOINT_STOP", timing->checkpoint_stop ? "yes" : NULL);
    set_or_not("HEDDLE_IDENTITY", run->identity.at);
}

/* With simulated cores, the machine draws all: a program that draws has other addresses, and so other times.
 */
static void set_timeline(const struct run *run)
{
    const struct picture_options *picture = &run->request->timing.picture;
    bool draws = picture->path && !run->cpu;
    set_path("HEDDLE_TIMELINE", draws ? picture->path : NULL);
    set_or_not("HEDDLE_TIMELINE_DETAIL", !draws                        ? NULL
                                         : run->request->timing.shared ? "calls"
                                                                       : picture->detail);
    set_or_not("HEDDLE_TIMELINE_WINDOW", draws ? picture->window : NULL);
}

/* What the program's processes find: our libraries before others, and what the command line said. */
static void set_environment(const struct run *run)
{
    char *preload = joined(run->libraries, strlen(run->libraries), PRELOAD);
    const struct timing_request *timing = &run->request->timing;
    const char *system = timing->system;
    char *whole = system && strpbrk(system, "./") ? realpath(system, NULL) : NULL;
    if (run->opencl) { /* the loader of OpenCL finds a file there that names our library */
        set_list("LD_LIBRARY_PATH", run->opencl);
        setenv("OCL_ICD_VENDORS", run->opencl, 1);
    }
    /* a program's MPI looks for devices when it starts, and would begin to use the GPU by our libraries */
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    set_list("LD_LIBRARY_PATH", run->hip);
    set_list("LD_LIBRARY_PATH", run->libraries);
    if (run->request->timing.shared || run->system->spec.nodes > 1) { /* its processes may be ranks of MPI */
        char *mpi = joined(run->libraries, strlen(run->libraries), MPI);
        set_list("LD_PRELOAD", mpi);
        mem_free(mpi);
    }
    set_list("LD_PRELOAD", preload);
    if (timing->region && !strncmp(timing->region, "nvtx:", 5)) {
        char *library = joined(run->libraries, strlen(run->libraries), "libheddle.so");
        setenv("NVTX_INJECTION64_PATH", library, 1);
        mem_free(library);
    }
    setenv("HEDDLE_RUN_DIR", run->folder, 1);
    struct text kept = {0};
    text_add(&kept, "%llu-%llu", (unsigned long long)run->first_line, (unsigned long long)run->end_line - 1);
    set_or_not("HEDDLE_STATS_LAUNCHES", run->end_line > run->first_line ? kept.at : NULL);
    text_fini(&kept);
    if (run->request->bounds)
        setenv("HEDDLE_BOUNDS", run->request->bounds, 1);
    if (run->request->limit)
        setenv("HEDDLE_INSTRUCTION_LIMIT", run->request->limit, 1);
    if (system)
        setenv("HEDDLE_SYSTEM", whole ? whole : system, 1); /* the program may go to another folder */
    set_timing(timing);
    set_checkpoint(run);
    set_path("HEDDLE_ATTACH", timing->shared ? run->machine_path.at : timing->attach);
    set_or_not("HEDDLE_SEAT", timing->seat);
    set_path("HEDDLE_TRACE_MEM", run->request->trace_mem);
    set_path("HEDDLE_RECORD", timing->record);
    set_or_not("HEDDLE_CHECK", run->request->check.checks);
    set_or_not("HEDDLE_CHECK_SHOW", run->request->check.show);
    set_or_not("HEDDLE_LIVE", timing->shared ? NULL : timing->live); /* else the machine's process shows it */
    set_timeline(run);
    struct text limit = {0};
    text_add(&limit, "%llu", (unsigned long long)timing->record_limit);
    set_or_not("HEDDLE_RECORD_LIMIT", timing->record_limit ? limit.at : NULL);
    text_fini(&limit);
    /* What the program on simulated cores finds is the same with any number of threads. */
    if (run->cpu || (run->request->threads && !strcmp(run->request->threads, "all")))
        unsetenv("HEDDLE_THREADS");
    else if (run->request->threads)
        setenv("HEDDLE_THREADS", run->request->threads, 1);
    free(whole);
    mem_free(preload);
}

/* Which library the loader does not find, by letting it list what it would load; whether OpenCL is among it.
 */
static void find_missing(const struct run *run, struct text *missing, bool *uses_opencl)
{
    int ends[2];
    char line[4096];
    if (pipe2(ends, O_CLOEXEC))
        return;
    pid_t child = fork();
    if (!child) {
        set_environment(run);
        unsetenv("LD_PRELOAD");
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        execv(run->path, run->request->words);
        _exit(EXIT_CANNOT_RUN);
    }
    close(ends[1]);
    FILE *listed = fdopen(ends[0], "r");
    while (listed && fgets(line, sizeof line, listed)) {
        char *arrow = strstr(line, " => not found");
        *uses_opencl |= strstr(line, "libOpenCL.so.") != NULL;
        if (arrow && !missing->length)
            text_add(missing, "%.*s", (int)(arrow - line), line);
    }
    if (listed)
        fclose(listed);
    if (child > 0)
        waitpid(child, NULL, 0);
    char *name = missing->length ? text_trim(missing->at) : NULL;
    if (name && name != missing->at)
        memmove(missing->at, name, strlen(name) + 1);
}

static bool check_program(struct run *run, struct err *err)
{
    struct text missing = {0};
    bool uses_opencl = false;
    enum program_kind kind = kind_of(run->path);
    if (run->cpu && !cmd_cpu_prepare(run->cpu, run->path, &run->status, err))
        return false;
    if (run->cpu && kind != PROGRAM_DYNAMIC) /* it uses no GPU */
        return true;
    switch (kind) {
    case PROGRAM_FOREIGN:
        err_set(err, "run: %.200s is a program for another kind of machine, not for 64-bit x86", run->path);
        return fail(run, EXIT_CANNOT_RUN);
    case PROGRAM_STATIC:
        err_set(err,
                "run: %.200s is linked statically as a whole, so Heddle cannot take the place of its CUDA "
                "library; link it without -static",
                run->path);
        return fail(run, EXIT_CANNOT_RUN);
    case PROGRAM_DYNAMIC:
        find_missing(run, &missing, &uses_opencl);
        break;
    default:;
    }
    bool complete = !missing.length, lacks_opencl = complete && uses_opencl && !run->opencl;
    if (!complete && !strncmp(missing.at, "libcudart.so.", 13))
        err_set(
            err,
            "run: %.200s needs %.200s, and Heddle takes the place of the runtimes of CUDA 11 to 13; build "
            "it with one of these",
            run->path, missing.at);
    else if (!complete && !strncmp(missing.at, "libamdhip64.so.", 15))
        err_set(err, "run: %.200s needs %.200s, and Heddle takes the place of HIP 5's; build it with hipcc 5",
                run->path, missing.at);
    else if (!complete && !strncmp(missing.at, "libOpenCL.so.", 13))
        err_set(err, "run: %.200s needs %.200s: apt install ocl-icd-libopencl1", run->path, missing.at);
    else if (!complete)
        err_set(err, "run: %.200s needs %.200s, which is not found; LD_LIBRARY_PATH can name its folder",
                run->path, missing.at);
    else if (lacks_opencl)
        err_set(err,
                "run: %.200s uses OpenCL, and this Heddle was built without OpenCL's headers: apt install "
                "opencl-headers, and build it again",
                run->path);
    text_fini(&missing);
    return (complete && !lacks_opencl) || fail(run, EXIT_NOT_FOUND);
}

static bool make_folder(struct run *run, struct err *err)
{
    run->folder = folder_new(err);
    return run->folder || fail(run, 1);
}

/* What a checkpoint can be gone on from with: the same program and words. */
static bool identify(struct run *run, struct err *err)
{
    const struct timing_request *timing = &run->request->timing;
    struct text content = {0};
    if (!timing->checkpoint && !timing->resume)
        return true;
    if (!file_read(run->path, PROGRAM_MOST, &content, err))
        return fail(run, EXIT_CANNOT_RUN);
    text_add(&run->identity, "program = %s, digest %016llx\nwords =", run->path,
             (unsigned long long)digest_bytes(0, content.at, content.length));
    for (char **word = run->request->words + 1; *word; word++)
        text_add(&run->identity, " %s", *word);
    text_add(&run->identity, "\n");
    plugin_identify(&run->identity);
    text_fini(&content);
    return !timing->resume || machine_check_checkpoint(timing->resume, run->identity.at, err) ||
           fail(run, EXIT_FAILED);
}

static bool choose_lines(struct run *run, struct err *err)
{
    const struct run_request *request = run->request;
    return stats_launches_choose(request->stats ? request->stats : request->csv, request->stats_launches,
                                 &run->first_line, &run->end_line, err) ||
           fail(run, EXIT_USAGE);
}

bool cmd_run_prepare(struct run *run, const struct run_request *request, const struct system *system,
                     unsigned threads, struct run_cpu *cpu, struct err *err)
{
    *run = (struct run){.request = request, .status = 1, .system = system, .threads = threads, .cpu = cpu};
    return find_program(run, err) && find_libraries(run, err) && make_folder(run, err) &&
           check_program(run, err) && identify(run, err) && choose_lines(run, err);
}

/* Which instruction set QEMU emulates, if it is another than this machine's; else NULL. */
static const char *foreign_set(const struct run *run)
{
    const char *name = strrchr(run->cpu->emulator, '-'); /* qemu-aarch64 */
    return name && strcmp(name + 1, "x86_64") != 0 ? name + 1 : NULL;
}

/* Programs of another instruction set find its C library where Debian's cross compilers have it. */
static void set_prefix(const struct run *run)
{
    const char *set = foreign_set(run);
    struct text path = {0};
    text_add(&path, "/usr/%s-linux-gnu", set ? set : "");
    if (set && !access(path.at, R_OK))
        setenv("QEMU_LD_PREFIX", path.at, 0);
    text_fini(&path);
}

/* In the child. */
static void prepare(void *user)
{
    const struct run *run = user;
    set_environment(run);
    over_ranks_before();
    if (run->cpu) { /* QEMU itself runs with the libraries of this machine */
        set_prefix(run);
        set_or_not("LD_PRELOAD", run->cpu->own_preload);
        set_or_not("LD_LIBRARY_PATH", run->cpu->own_libraries);
        cmd_cpu_child(run->cpu);
    }
    if (run->identity.length || run->request->trace_mem ||
        run->request->timing.record) /* addresses of the program are the same in each run */
        personality(ADDR_NO_RANDOMIZE | (unsigned)personality(UINT32_MAX));
}

static bool start_machine(struct run *run, struct err *err)
{
    uint32_t gpus = run->request->timing.shared ? (uint32_t)run->system->spec.gpus : 0;
    if (run->cpu && !cmd_cpu_make_memory(run->cpu, run->system, gpus, err))
        return false;
    if (!run->request->timing.shared && !run->cpu)
        return true;
    if (!cmd_timeline_plan(&run->picture, &run->request->timing.picture, run->folder, run->cpu, err))
        return false;
    if (run->cpu)
        run->cpu->plan = run->picture.plan.path ? &run->picture.plan : NULL;
    if (!run->request->timing.shared)
        return true;
    text_add(&run->machine_path, "%s/machine", run->folder);
    struct serve_options how = {.path = run->machine_path.at,
                                .system = run->system,
                                .threads = run->threads,
                                .picture = run->picture.plan.path ? &run->picture.plan : NULL,
                                .show = run->request->timing.live,
                                .tell_shown = timing_tell_shown,
                                .patience_s = run->cpu                      ? 0
                                              : run->system->spec.nodes > 1 ? SHARED_MACHINE_RANK_PATIENCE_S
                                                                            : SHARED_MACHINE_PATIENCE_S};
    return run->cpu ? cmd_cpu_make_machine(run->cpu, &how, err)
                    : shared_machine_start(&run->machine, "run: --shared", &how, err);
}

/* Those of a program for another instruction set are in a folder by its name beside ours. */
static void make_foreign_words(struct run *run, const char *set)
{
    struct text folder = {0}, libraries = {0};
    const char *own = run->cpu->own_libraries;
    install_add_part(&folder, set);
    text_add(&libraries, "%s/cuda:%s/hip:%s/opencl%s%s", folder.at, folder.at, folder.at, own ? ":" : "",
             own ? own : "");
    cmd_cpu_make_words(run->cpu, run->path, run->request->words, NULL,
                       run->request->timing.shared ? libraries.at : own);
    text_fini(&folder);
    text_fini(&libraries);
}

/* The emulated program finds our libraries where it uses a GPU. */
static void make_cpu_words(struct run *run)
{
    const char *set = foreign_set(run);
    if (set) {
        make_foreign_words(run, set);
        return;
    }
    struct text preload = {0}, libraries = {0};
    const char *own = run->cpu->own_libraries;
    text_add(&preload, "%s/" PRELOAD, run->libraries);
    text_add(&libraries, "%s:%s", run->libraries, run->hip);
    if (run->opencl)
        text_add(&libraries, ":%s", run->opencl);
    if (own)
        text_add(&libraries, ":%s", own);
    bool uses_gpu = run->request->timing.shared;
    cmd_cpu_make_words(run->cpu, run->path, run->request->words, uses_gpu ? preload.at : NULL,
                       uses_gpu ? libraries.at : own);
    text_fini(&preload);
    text_fini(&libraries);
}

bool cmd_run_wait(struct run *run, struct err *err)
{
    struct process process = {.command = "run",
                              .path = run->path,
                              .words = run->request->words,
                              .prepare = prepare,
                              .user = run,
                              .status = EXIT_FAILED};
    guard_start(run->folder);
    if (run->cpu) {
        make_cpu_words(run);
        process.path = run->cpu->emulator;
        process.words = run->cpu->words;
    }
    bool started = start_machine(run, err) && (!run->cpu || cmd_cpu_begin_picture(run->cpu, err)) &&
                   process_start(&process, err);
    if (started && run->cpu)
        cmd_cpu_begin(run->cpu);
    if (started)
        process_wait(&process);
    if (started && run->cpu)
        cmd_cpu_end(run->cpu);
    shared_machine_end(&run->machine);
    run->interrupted = started && process_asked_to_end();
    run->status = process.status;
    run->signal = process.signal;
    run->wall_s = process.wall_s;
    run->cpu_s = process.cpu_s;
    return started;
}

void cmd_run_clean(struct run *run)
{
    cmd_timeline_forget(&run->picture);
    folder_free(run->folder);
    guard_end();
    mem_free(run->libraries);
    mem_free(run->opencl);
    mem_free(run->hip);
    mem_free(run->path);
    text_fini(&run->identity);
    text_fini(&run->machine_path);
}

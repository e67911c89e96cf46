/* heddle run: finding the program, starting it with our libraries, and waiting for it. */
#include "cli/folder.h"
#include "cli/run.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "system/machine.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRELOAD "libheddle_preload.so"
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

/* Our libraries are in the folder `cuda` beside the heddle program. */
static bool find_libraries(struct run *run, struct err *err)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return err_set(err, "run: cannot tell where heddle is: %s", strerror(errno));
    own[length] = 0;
    run->libraries = joined(own, (size_t)(strrchr(own, '/') - own), "cuda");
    char *preload = joined(run->libraries, strlen(run->libraries), PRELOAD);
    bool there = !access(preload, R_OK);
    if (!there)
        err_set(err, "run: %s is missing; build Heddle as a whole (./heddle does)", preload);
    mem_free(preload);
    return there;
}

/* As a shell looks for it: a name without a slash in the folders of PATH. */
static bool find_program(struct run *run, struct err *err)
{
    const char *name = run->request->words[0], *path = getenv("PATH");
    struct stat info;
    if (strchr(name, '/')) {
        run->path = mem_text(name);
    } else {
        for (const char *at = path ? path : ""; *at && !run->path; at += strcspn(at, ":"), at += *at == ':') {
            char *tried = joined(at, strcspn(at, ":"), name);
            if (!access(tried, X_OK) && !stat(tried, &info) && S_ISREG(info.st_mode))
                run->path = tried;
            else
                mem_free(tried);
        }
        if (!run->path && !access(name, F_OK)) {
            err_set(err, "run: there is no command %s; for the file in this folder say ./%s", name, name);
            return fail(run, EXIT_NOT_FOUND);
        }
    }
    if (!run->path || stat(run->path, &info)) {
        err_set(err, "run: cannot find the program %.200s%s%s", name, run->path ? ": " : "",
                run->path ? strerror(errno) : "");
        return fail(run, EXIT_NOT_FOUND);
    }
    if (!S_ISREG(info.st_mode) || access(run->path, X_OK)) {
        err_set(err, "run: cannot run %.200s: it is %s", name,
                S_ISDIR(info.st_mode) ? "a folder" : "not executable (chmod +x makes it so)");
        return fail(run, EXIT_CANNOT_RUN);
    }
    return true;
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
    setenv("HEDDLE_MODE", timing_is_on(timing) ? "timing" : "functional", 1);
    set_or_not("HEDDLE_MAX_CYCLES", timing->max_cycles);
    set_or_not("HEDDLE_KERNELS", timing->kernels);
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
    set_or_not("HEDDLE_CHECKPOINT_AT", timing->checkpoint_at);
    set_or_not("HEDDLE_CHECKPOINT_STOP", timing->checkpoint_stop ? "yes" : NULL);
    set_or_not("HEDDLE_IDENTITY", run->identity.at);
}

/* What the program's processes find: our libraries before others, and what the command line said. */
static void set_environment(const struct run *run)
{
    char *preload = joined(run->libraries, strlen(run->libraries), PRELOAD);
    const struct timing_request *timing = &run->request->timing;
    const char *system = timing->system;
    char *whole = system && strpbrk(system, "./") ? realpath(system, NULL) : NULL;
    set_list("LD_LIBRARY_PATH", run->libraries);
    set_list("LD_PRELOAD", preload);
    setenv("HEDDLE_RUN_DIR", run->folder, 1);
    if (run->request->bounds)
        setenv("HEDDLE_BOUNDS", run->request->bounds, 1);
    if (run->request->limit)
        setenv("HEDDLE_INSTRUCTION_LIMIT", run->request->limit, 1);
    if (system)
        setenv("HEDDLE_SYSTEM", whole ? whole : system, 1); /* the program may go to another folder */
    set_timing(timing);
    set_checkpoint(run);
    if (run->request->threads && !strcmp(run->request->threads, "all"))
        unsetenv("HEDDLE_THREADS");
    else if (run->request->threads)
        setenv("HEDDLE_THREADS", run->request->threads, 1);
    free(whole);
    mem_free(preload);
}

/* Which library the loader does not find, by letting it list what it would load. */
static void find_missing(const struct run *run, struct text *missing)
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
    switch (kind_of(run->path)) {
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
        find_missing(run, &missing);
        break;
    default:;
    }
    bool complete = !missing.length;
    if (!complete && !strncmp(missing.at, "libcudart.so.", 13))
        err_set(err,
                "run: %.200s needs %.200s, and Heddle takes the place of CUDA 13's runtime; build it with "
                "nvcc 13",
                run->path, missing.at);
    else if (!complete)
        err_set(err, "run: %.200s needs %.200s, which is not found; LD_LIBRARY_PATH can name its folder",
                run->path, missing.at);
    text_fini(&missing);
    return complete || fail(run, EXIT_NOT_FOUND);
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
    text_fini(&content);
    return !timing->resume || machine_check_checkpoint(timing->resume, run->identity.at, err) ||
           fail(run, EXIT_FAILED);
}

bool run_prepare(struct run *run, const struct run_request *request, struct err *err)
{
    *run = (struct run){.request = request, .status = 1};
    return find_program(run, err) && find_libraries(run, err) && make_folder(run, err) &&
           check_program(run, err) && identify(run, err);
}

/* ---- signals ---- */

/* What ends or wakes a program; the terminal's own go to the program, too, and are not sent a second time. */
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
static volatile pid_t program;

static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (program > 0 && info->si_code <= 0) /* sent by a process, not by the terminal */
        kill(program, number);
}

/* In the child: becomes the program, or tells the parent why it cannot. */
static _Noreturn void become_program(const struct run *run, int tell)
{
    set_environment(run);
    if (run->identity.length) /* addresses of the program are the same in each run */
        personality(ADDR_NO_RANDOMIZE | (unsigned)personality(UINT32_MAX));
    execv(run->path, run->request->words);
    int why = errno;
    _exit(write(tell, &why, sizeof why) == sizeof why ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND);
}

static bool start_program(struct run *run, struct err *err)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, old[PASSED_ON];
    sigset_t all, mask;
    int ends[2], why = 0;
    if (pipe2(ends, O_CLOEXEC)) /* closed by itself once the program runs */
        return err_set(err, "run: cannot start a process: %s", strerror(errno));
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* until it is known whom to pass signals on to */
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &action, &old[i]);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < PASSED_ON; i++)
            sigaction(passed_on[i], &old[i], NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become_program(run, ends[1]);
    }
    program = child;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    ssize_t told;
    while ((told = read(ends[0], &why, sizeof why)) < 0 && errno == EINTR)
        ;
    bool failed = told == sizeof why;
    close(ends[0]);
    if (child < 0)
        return err_set(err, "run: cannot start a process: %s", strerror(errno));
    if (failed) {
        waitpid(child, NULL, 0);
        err_set(err, "run: cannot run %.200s: %s", run->path,
                why == ENOEXEC  ? "it is no program that this machine knows"
                : why == ENOENT ? "the interpreter or loader that it names is missing"
                                : strerror(why));
        return fail(run, why == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
    }
    return true;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

bool run_wait(struct run *run, struct err *err)
{
    int status;
    struct rusage usage;
    double start = host_seconds();
    run->status = EXIT_CANNOT_RUN;
    if (!start_program(run, err))
        return false;
    while (waitpid(program, &status, 0) < 0) {
        if (errno != EINTR)
            BUG("waitpid: %s", strerror(errno));
    }
    program = 0;
    run->wall_s = host_seconds() - start;
    getrusage(RUSAGE_CHILDREN, &usage);
    run->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    run->status = run->signal ? 128 + run->signal : WEXITSTATUS(status);
    return true;
}

void run_clean(struct run *run)
{
    folder_free(run->folder);
    mem_free(run->libraries);
    mem_free(run->path);
    text_fini(&run->identity);
}

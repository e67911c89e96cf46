#include "cli/run_cpu.h"
#include "cli/cli.h"
#include "cli/process.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/install.h"
#include "base/mem.h"
#include "cpu/runs/magic.h"
#include "record/emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PLUGIN "cpu/libheddle_cpu.so"

/* ---- descriptions ---- */

static void add_known(const char *folder, struct err *err)
{
    DIR *open = opendir(folder);
    const char *before = "; there are";
    for (struct dirent *entry; open && (entry = readdir(open));) {
        size_t length = strlen(entry->d_name);
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".ini"))
            continue;
        err_add(err, "%s %.*s", before, (int)(length - 4), entry->d_name);
        before = ",";
    }
    if (open)
        closedir(open);
}

static bool read_description(struct run_cpu *cpu, const char *name, struct err *err)
{
    struct text folder = {0}, path = {0};
    install_add_data(&folder, "systems/cpu");
    if (strpbrk(name, "./"))
        text_add(&path, "%s", name);
    else
        text_add(&path, "%s/%s.ini", folder.at, name);
    bool there = !access(path.at, R_OK);
    bool good = there ? config_read(&cpu->config, path.at, err)
                      : err_set(err, "--cpu: there is no description %.200s", name);
    if (!there)
        add_known(folder.at, err);
    text_fini(&folder);
    text_fini(&path);
    return good;
}

bool cmd_cpu_load(struct run_cpu *cpu, const char *name, const char *const *settings, struct err *err)
{
    *cpu = (struct run_cpu){.name = name,
                            .shared_file = -1,
                            .own_preload = getenv("LD_PRELOAD"),
                            .own_libraries = getenv("LD_LIBRARY_PATH")};
    cpu_config_init(&cpu->config);
    bool good = read_description(cpu, name, err);
    for (; good && settings && *settings; settings++) {
        if (!strncmp(*settings, "cpu.", 4))
            good = config_set(&cpu->config, *settings, err);
    }
    return good && cpu_spec_fill(&cpu->spec, &cpu->config, err);
}

enum cpu_program cmd_cpu_program(const char *program)
{
    static const struct {
        const char *name;
        enum cpu_program uses;
    } names[] = {{"libcudart.so", CPU_PROGRAM_CUDA},
                 {"libcuda.so", CPU_PROGRAM_CUDA},
                 {"__cudaRegisterFatBinary", CPU_PROGRAM_CUDA},
                 {"libOpenCL.so", CPU_PROGRAM_AMD},
                 {"libamdhip64.so", CPU_PROGRAM_AMD}};
    static const size_t most = (size_t)1 << 34; /* bytes */
    struct text content = {0};
    struct err unused;
    int status;
    char *path = process_find("run", program, &status, &unused);
    enum cpu_program uses = CPU_PROGRAM_ALONE;
    bool good = path && file_read(path, most, &content, &unused);
    for (size_t k = 0; good && !uses && k < COUNT_OF(names); k++) {
        if (memmem(content.at, content.length, names[k].name, strlen(names[k].name)))
            uses = names[k].uses;
    }
    text_fini(&content);
    mem_free(path);
    return uses;
}

/* ---- the process ---- */

bool cmd_cpu_prepare(struct run_cpu *cpu, const char *path, int *status, struct err *err)
{
    struct err why;
    *status = EXIT_CANNOT_RUN;
    const char *name = emulator_of("run --cpu", path, err);
    if (!name)
        return false;
    cpu->emulator = process_find("run", name, status, &why);
    if (!cpu->emulator)
        return err_set(
            err, "run: --cpu: %s is missing, which runs the program: sudo apt-get install qemu-user", name);
    *status = EXIT_FAILED;
    cpu->plugin = process_beside("run", PLUGIN, err);
    cpu->shared = cpu->plugin ? cpurun_shared_new(&cpu->shared_file, err) : NULL;
    return cpu->shared;
}

void cmd_cpu_make_words(struct run_cpu *cpu, char *path, char **words, const char *preload,
                        const char *libraries)
{
    size_t count = 0, own = 0;
    while (words[count])
        count++;
    cpu->words = mem_alloc(count + 16, sizeof *cpu->words);
    for (const char *at = cpu->plugin; *at; at++) /* in QEMU's options, commas are written twice */
        text_add(&cpu->plugin_word, *at == ',' ? ",," : "%c", *at);
    text_add(&cpu->plugin_word, ",memory=%d", cpu->shared_file);
    cpu->words[own++] = cpu->emulator;
    cpu->words[own++] = (char *)"-plugin";
    cpu->words[own++] = cpu->plugin_word.at;
    cpu->words[own++] = (char *)"-seed"; /* what the program finds as random is the same in each run */
    cpu->words[own++] = (char *)"1";
    if (strstr(cpu->emulator, "qemu-x86_64")) {
        /* All that QEMU has; but nothing random, and no copies byte by byte, which QEMU takes apart. */
        cpu->words[own++] = (char *)"-cpu";
        cpu->words[own++] = (char *)"max,-rdrand,-rdseed,-erms,-fsrm";
    }
    const char *variables[2] = {preload, libraries}; /* for the program, not for QEMU */
    for (uint32_t i = 0; i < COUNT_OF(variables); i++) {
        if (!variables[i])
            continue;
        text_add(&cpu->environment[i], "%s=%s", i ? "LD_LIBRARY_PATH" : "LD_PRELOAD", variables[i]);
        cpu->words[own++] = (char *)"-E";
        cpu->words[own++] = cpu->environment[i].at;
    }
    cpu->words[own++] = (char *)"-0"; /* what the program finds as its name */
    cpu->words[own++] = words[0];
    cpu->words[own++] = path;
    memcpy(cpu->words + own, words + 1, (count - 1) * sizeof *words);
}

void cmd_cpu_child(const struct run_cpu *cpu)
{
    fcntl(cpu->shared_file, F_SETFD, 0);
    if (cpu->machine)
        signal(SIGPIPE, cpu->own_sigpipe);
    setenv(CPURUN_VARIABLE, "1", 1);
    personality(ADDR_NO_RANDOMIZE | (unsigned)personality(UINT32_MAX));
}

/* A thread that sleeps in the simulation hears no signal: the program is ended. */
static bool was_interrupted(void)
{
    return process_asked_to_end();
}

static void *simulate(void *user)
{
    cpurun_go(user);
    if (process_asked_to_end())
        process_kill();
    return NULL;
}

/* ---- a timeline: of the cores, and of the machine if there is one ---- */

bool cmd_cpu_begin_picture(struct run_cpu *cpu, struct err *err)
{
    if (cpu->plan)
        cpu->picture = cpu->machine ? serve_picture(cpu->machine) : track_picture_new(cpu->plan, 1, err);
    return !cpu->plan || cpu->picture;
}

static void draw_span(void *user, uint32_t core, uint32_t thread, uint64_t begin_ps, uint64_t end_ps)
{
    track_picture_core(user, core, thread, begin_ps, end_ps);
}

static void end_picture(struct run_cpu *cpu)
{
    struct err err;
    if (cpu->picture && !cpu->machine && !track_picture_end(cpu->picture, cpurun_time(cpu->cores), &err))
        complain(EXIT_FAILED, &err);
    cpu->picture = NULL; /* the machine ends its own */
}

void cmd_cpu_begin(struct run_cpu *cpu)
{
    cpu->cores =
        cpurun_new(&cpu->spec, cpu->shared, cpu->is_coherent ? &cpu->coherent.base : NULL, was_interrupted);
    cmd_cpu_join_machine(cpu);
    if (cpu->picture)
        cpurun_set_watcher(cpu->cores, &(struct cpurun_watcher){draw_span, cpu->picture});
    if (pthread_create(&cpu->thread, NULL, simulate, cpu->cores))
        BUG("no thread can be made");
}

void cmd_cpu_end(struct run_cpu *cpu)
{
    cpurun_over(cpu->shared);
    pthread_join(cpu->thread, NULL);
    end_picture(cpu);
    cmd_cpu_end_machine(cpu);
}

void cmd_cpu_fini(struct run_cpu *cpu)
{
    cmd_cpu_end_machine(cpu);
    if (cpu->cores)
        cpurun_free(cpu->cores);
    if (cpu->is_coherent)
        cpugpu_fini(&cpu->coherent);
    if (cpu->shared)
        cpurun_shared_free(cpu->shared, cpu->shared_file);
    config_fini(&cpu->config);
    text_fini(&cpu->plugin_word);
    text_fini(&cpu->environment[0]);
    text_fini(&cpu->environment[1]);
    mem_free(cpu->words);
    mem_free(cpu->emulator);
    mem_free(cpu->plugin);
}

bool cmd_cpu_check(const struct run_cpu *cpu, const char *program, int status, struct err *err)
{
    const struct cpurun_shared *shared = cpu->shared;
    if (*cpu->failure.text)
        return err_set(err, "run: --cpu: %.250s", cpu->failure.text);
    if (cpu->is_coherent && *follow_failure(cpu->coherent.follow))
        return err_set(err, "run: --cpu: %.250s", follow_failure(cpu->coherent.follow));
    if (!shared->began)
        return err_set(err, "run: --cpu: %.200s did not come to run in QEMU (status %d)", program, status);
    if (shared->too_many_threads)
        return err_set(err, "run: --cpu: %.200s had more than %d threads at a time", program, CPURUN_LANES);
    if (shared->too_much_code)
        return err_set(err, "run: --cpu: %.200s has more code than %d MiB", program, CPURUN_CODE >> 20);
    if (shared->became_another)
        return err_set(err,
                       "run: --cpu: %.200s became another program by exec, which is not simulated; name that "
                       "program",
                       program);
    return true;
}

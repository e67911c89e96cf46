#include "boot/boot.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "boot/vm.h"
#include "boot/bundle.h"
#include "boot/kit.h"
#include "boot/relay.h"
#include "boot/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct serve_live) == BOOT_GPU_WORDS * sizeof(uint64_t), "marks note all counts");
_Static_assert(sizeof((struct boot_work *)0)->gpu == sizeof(struct serve_live), "and so does a result");

enum { STATUS_TIMEOUT = 124, HEAD_MOST = 4096 };
static const char head_line[] = "Heddle's guest, layout 1\n";

struct boot {
    const struct boot_options *options;
    struct relay relay;
    struct kit kit;
    struct vm vm;
    struct serve_window window;
    struct text job, head; /* the job's folder; what a checkpoint begins with */
    struct boot_shared *shared;
    int shared_file, plugin_bell, messages[2];
    double began;
};

/* ---- before ---- */

struct boot *boot_new(const struct boot_options *options, struct err *err)
{
    struct boot *boot = mem_alloc(1, sizeof *boot);
    boot->options = options;
    boot->vm.control = boot->messages[0] = boot->messages[1] = -1;
    boot->shared_file = memfd_create("heddle-boot", MFD_CLOEXEC);
    boot->plugin_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    void *at =
        boot->shared_file >= 0 && !ftruncate(boot->shared_file, sizeof *boot->shared)
            ? mmap(NULL, sizeof *boot->shared, PROT_READ | PROT_WRITE, MAP_SHARED, boot->shared_file, 0)
            : MAP_FAILED;
    boot->shared = at == MAP_FAILED ? NULL : at;
    bool good = (boot->shared && boot->plugin_bell >= 0 && !pipe2(boot->messages, O_CLOEXEC) &&
                 !fcntl(boot->messages[0], F_SETFL, O_NONBLOCK)) ||
                err_set(err, "boot: cannot make shared memory: %s", strerror(errno));
    good = good && relay_init(&boot->relay, options->folder, options->window, err);
    boot->relay.machine = options->machine;
    if (!good) {
        boot_free(boot);
        return NULL;
    }
    return boot;
}

void boot_fill_machine(struct boot *boot, struct serve_options *machine)
{
    boot->window = (struct serve_window){.file = boot->relay.file,
                                         .first = WINDOW_HEAD_BYTES,
                                         .bytes = boot->options->window - WINDOW_HEAD_BYTES,
                                         .seats = WINDOW_SEATS,
                                         .bell_offset = WINDOW_BELL_OFFSET,
                                         .bell_value = WINDOW_BELL_VALUE};
    machine->window = &boot->window;
    machine->live = (struct serve_live *)boot->shared->gpu;
    machine->untimed = !boot->options->timing;
}

void boot_free(struct boot *boot)
{
    double unused;
    if (!boot)
        return;
    vm_end(&boot->vm, &unused);
    relay_fini(&boot->relay);
    kit_fini(&boot->kit);
    if (boot->shared)
        munmap(boot->shared, sizeof *boot->shared);
    int files[] = {boot->shared_file, boot->plugin_bell, boot->messages[0], boot->messages[1]};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] >= 0)
            close(files[i]);
    }
    text_fini(&boot->job);
    text_fini(&boot->head);
    mem_free(boot);
}

static bool make_job(struct boot *boot, int *status, struct err *err)
{
    const struct boot_options *options = boot->options;
    struct text description = {0};
    text_add(&description, "%s.ini", options->machine);
    text_add(&boot->job, "%s/job", options->folder);
    struct bundle_plan plan = {.folder = boot->job.at,
                               .libraries = options->libraries,
                               .programs = options->programs,
                               .command = options->command,
                               .description = description.at,
                               .shares = options->share,
                               .first_line = options->first_line,
                               .end_line = options->end_line};
    bool good = bundle_make(&plan, status, err);
    text_fini(&description);
    return good;
}

/* ---- checkpoints ---- */

static void write_head(struct boot *boot)
{
    const struct boot_options *options = boot->options;
    text_add(&boot->head, "%semulator = %s\nmemory = %llu\nprocessors = %u\nclock = %s\nwindow = %llu\n%s\n",
             head_line, boot->kit.emulator, (unsigned long long)options->memory, options->cpus,
             options->counts_time ? "instructions" : "the host's", (unsigned long long)options->window,
             boot->kit.identity.at);
}

/* A checkpoint is of the same guest, or is refused: the first line that differs is told. */
static bool check_head(const struct boot *boot, struct err *err)
{
    char head[HEAD_MOST + 1] = "";
    const char *path = boot->options->resume;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : pread(file, head, HEAD_MOST, 0);
    if (file >= 0)
        close(file);
    if (got < 0)
        return err_set(err, "boot: --resume: cannot read %.200s: %s", path, strerror(errno));
    if (strncmp(head, head_line, strlen(head_line)))
        return err_set(err, "boot: --resume: %.200s is no checkpoint of `heddle boot`", path);
    const char *now = boot->head.at, *then = head;
    while (*now && !strncmp(now, then, strcspn(now, "\n") + 1)) {
        size_t line = strcspn(now, "\n") + 1;
        now += line, then += line;
    }
    return !*now || err_set(err, "boot: --resume: %.200s was made with '%.*s', and this is '%.*s'", path,
                            (int)strcspn(then, "\n"), then, (int)strcspn(now, "\n"), now);
}

static bool save(struct boot *boot, struct boot_result *result, struct err *err)
{
    struct stat about;
    double began = host_seconds();
    if (!vm_save(&boot->vm, boot->options->checkpoint, boot->head.at, err))
        return false;
    result->checkpoint_s = host_seconds() - began;
    if (!stat(boot->options->checkpoint, &about))
        result->checkpoint_bytes = (uint64_t)about.st_size;
    return true;
}

/* ---- the guest has booted ---- */

/* The GPU and the folders come as PCI devices do that are put in while the computer runs, so no checkpoint
 * has anything of them. */
static bool plug(struct boot *boot, struct err *err)
{
    struct text command = {0};
    struct vm *vm = &boot->vm;
    text_add(
        &command,
        "{\"execute\": \"chardev-add\", \"arguments\": {\"id\": \"gpu\", \"backend\": {\"type\": \"socket\", "
        "\"data\": {\"server\": false, \"addr\": {\"type\": \"unix\", \"data\": {\"path\": \"%s\"}}}}}}",
        boot->relay.path.at);
    bool good = vm_do(vm, command.at, err) && relay_accept(&boot->relay, err) &&
                vm_do(vm,
                      "{\"execute\": \"device_add\", \"arguments\": {\"driver\": \"ivshmem-doorbell\", "
                      "\"chardev\": \"gpu\", \"vectors\": 1}}",
                      err);
    if (good && boot->options->share)
        good = vm_do(vm,
                     "{\"execute\": \"device_add\", \"arguments\": {\"driver\": \"virtio-9p-pci\", "
                     "\"fsdev\": \"share\", \"mount_tag\": \"share\"}}",
                     err);
    good = good && vm_do(vm,
                         "{\"execute\": \"device_add\", \"arguments\": {\"driver\": \"virtio-9p-pci\", "
                         "\"fsdev\": \"job\", \"mount_tag\": \"job\"}}",
                         err);
    text_fini(&command);
    return good;
}

static bool has_booted(struct boot *boot, struct boot_result *result, struct err *err)
{
    result->boot_s = host_seconds() - boot->began;
    result->boot_cpu_s = vm_cpu(&boot->vm);
    result->boot_instructions = boot->shared->booted;
    if (boot->options->checkpoint && !save(boot, result, err))
        return false;
    result->stopped = boot->options->checkpoint_stop;
    return result->stopped || plug(boot, err);
}

/* ---- while it runs ---- */

enum { POLL_PROCESS, POLL_BOOTED, POLL_MESSAGES, POLL_RELAY, POLL_COUNT = POLL_RELAY + RELAY_POLLS };

/* What the guest wrote to its second serial line. */
static void pass_messages(const struct boot *boot)
{
    char bytes[4096];
    for (ssize_t got; (got = read(boot->messages[0], bytes, sizeof bytes)) > 0;) {
        if (write(STDERR_FILENO, bytes, (size_t)got) != got)
            return; /* nobody reads it */
    }
}

static int poll_ms(const struct boot *boot)
{
    double left = boot->began + boot->options->timeout_s - host_seconds();
    return boot->options->timeout_s <= 0 ? -1 : left < 0 ? 0 : (int)(1000 * left) + 1;
}

static bool is_late(const struct boot *boot, struct boot_result *result, struct err *err)
{
    if (boot->options->timeout_s <= 0 || host_seconds() - boot->began < boot->options->timeout_s)
        return false;
    result->status = STATUS_TIMEOUT;
    err_set(err, "boot: the guest did not end within %g s (--timeout)", boot->options->timeout_s);
    return true;
}

/* Until QEMU ends, or is to be ended; false: err says why. */
static bool watch(struct boot *boot, struct boot_result *result, struct err *err)
{
    bool good = true;
    int process = (int)syscall(SYS_pidfd_open, boot->vm.process, 0);
    while (good && !result->stopped) {
        struct pollfd all[POLL_COUNT] = {
            [POLL_PROCESS] = {.fd = process, .events = POLLIN},
            [POLL_BOOTED] = {.fd = boot->plugin_bell, .events = POLLIN},
            [POLL_MESSAGES] = {.fd = boot->messages[0], .events = POLLIN},
        };
        eventfd_t rung;
        relay_poll(&boot->relay, all + POLL_RELAY);
        int some = poll(all, POLL_COUNT, poll_ms(boot));
        result->interrupted = boot->options->interrupt && *boot->options->interrupt;
        if (result->interrupted || is_late(boot, result, err)) {
            good = result->interrupted;
            break;
        }
        if (some <= 0)
            continue;
        if (all[POLL_MESSAGES].revents)
            pass_messages(boot);
        if (all[POLL_BOOTED].revents && !eventfd_read(boot->plugin_bell, &rung))
            good = has_booted(boot, result, err);
        relay_look(&boot->relay, all + POLL_RELAY);
        if (all[POLL_PROCESS].revents && !(all[POLL_MESSAGES].revents & POLLIN))
            break;
    }
    if (process >= 0)
        close(process);
    return good;
}

/* ---- all of it ---- */

static void note_work(const struct boot *boot, struct boot_result *result)
{
    struct boot_shared *shared = boot->shared;
    for (int i = 0; i < BOOT_CPUS_MOST; i++)
        result->all.instructions += shared->cpus[i].instructions;
    result->region.instructions = shared->region.instructions;
    result->regions = shared->region.left;
    for (int i = 0; i < BOOT_GPU_WORDS; i++) {
        result->all.gpu[i] = shared->gpu[i];
        result->region.gpu[i] = shared->region.gpu[i];
    }
}

static bool start(struct boot *boot, struct err *err)
{
    const struct boot_options *options = boot->options;
    struct vm_plan plan = {.program = boot->kit.emulator,
                           .kernel = boot->kit.kernel,
                           .initial = boot->kit.initial.at,
                           .plugin = options->plugin,
                           .folder = options->folder,
                           .job = boot->job.at,
                           .share = options->share,
                           .memory = options->memory,
                           .window = options->window,
                           .cpus = options->cpus,
                           .counts_time = options->counts_time,
                           .interactive = !options->command,
                           .resumes = options->resume,
                           .shared = boot->shared_file,
                           .plugin_bell = boot->plugin_bell,
                           .messages = boot->messages[1]};
    boot->began = host_seconds();
    bool good = vm_start(&boot->vm, &plan, err);
    close(boot->messages[1]); /* QEMU has it */
    boot->messages[1] = -1;
    return good;
}

/* A guest that was resumed has booted already, and does not say so again. */
static bool resume(struct boot *boot, struct boot_result *result, struct err *err)
{
    return vm_load(&boot->vm, boot->options->resume, boot->head.length, err) && has_booted(boot, result, err);
}

static bool ended_well(const struct boot *boot, struct boot_result *result, struct err *err)
{
    if (result->stopped || result->interrupted ||
        bundle_ended(boot->job.at, &result->status, &result->signal))
        return true;
    result->status = 1;
    return err_set(err, "boot: the guest ended without a result: %s; what its kernel says is above",
                   result->boot_s > 0 ? "its kernel panicked, or it was reset or switched off"
                                      : "it did not boot");
}

bool boot_run(struct boot *boot, struct boot_result *result, struct err *err)
{
    const struct boot_options *options = boot->options;
    *result = (struct boot_result){.status = 1};
    if (!kit_find(&boot->kit, options->kernel, err) ||
        !kit_make(&boot->kit, options->folder, options->guest, err))
        return false;
    write_head(boot);
    if ((options->resume && !check_head(boot, err)) || !make_job(boot, &result->status, err))
        return false;
    bool good =
        start(boot, err) && (!options->resume || resume(boot, result, err)) && watch(boot, result, err);
    vm_end(&boot->vm, &result->cpu_s);
    boot->vm = (struct vm){.control = -1};
    result->wall_s = host_seconds() - boot->began;
    pass_messages(boot);
    note_work(boot, result);
    return good && ended_well(boot, result, err);
}

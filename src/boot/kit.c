#include "boot/kit.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "boot/cpio.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#define INSTALL "apt-get install -y --no-install-recommends"
#define KERNELS "/boot"

static const char *const wanted_modules[] = {"virtio_pci", "9pnet_virtio", "9p"};
enum { WANTED_MODULES = sizeof wanted_modules / sizeof *wanted_modules };

static const size_t list_most = (size_t)1 << 24;

/* ---- finding ---- */

static char *look_in_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        struct text tried = {0};
        text_add(&tried, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (!access(tried.at, X_OK))
            return tried.at;
        text_fini(&tried);
    }
    return NULL;
}

/* The one with the highest version. */
static char *newest_kernel(void)
{
    char *newest = NULL;
    DIR *folder = opendir(KERNELS);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "vmlinuz-", 8))
            continue;
        struct text path = {0};
        text_add(&path, KERNELS "/%s", entry->d_name);
        if (!newest || strverscmp(newest, path.at) < 0) {
            mem_free(newest);
            newest = path.at;
        } else {
            text_fini(&path);
        }
    }
    if (folder)
        closedir(folder);
    return newest;
}

/* In the guest there are no libraries before the job has come. */
static bool is_static(const char *path)
{
    Elf64_Ehdr header = {0};
    Elf64_Phdr segment;
    bool found = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header &&
                !memcmp(header.e_ident, ELFMAG, SELFMAG);
    for (unsigned i = 0; good && i < header.e_phnum; i++) {
        off_t at = (off_t)(header.e_phoff + i * sizeof segment);
        found |= pread(file, &segment, sizeof segment, at) == sizeof segment && segment.p_type == PT_INTERP;
    }
    if (file >= 0)
        close(file);
    return good && !found;
}

bool kit_find(struct kit *kit, const char *kernel, struct err *err)
{
    struct text missing = {0};
    *kit = (struct kit){.emulator = look_in_path("qemu-system-x86_64"), .busybox = look_in_path("busybox")};
    kit->kernel = kernel ? mem_text(kernel) : newest_kernel();
    if (kit->busybox && !is_static(kit->busybox)) {
        mem_free(kit->busybox);
        kit->busybox = NULL;
    }
    if (!kit->emulator)
        text_add(&missing, " qemu-system-x86");
    if (!kit->kernel)
        text_add(&missing, " linux-image-amd64");
    if (!kit->busybox)
        text_add(&missing, " busybox-static");
    bool good = !missing.length;
    if (!good)
        err_set(err, "boot: what a guest is made of is missing; install it: " INSTALL "%s", missing.at);
    text_fini(&missing);
    if (good && access(kit->kernel, R_OK))
        good = err_set(err, "boot: cannot read the kernel %.200s", kit->kernel);
    const char *version = good ? strstr(kit->kernel, "vmlinuz-") : NULL;
    if (good && !version)
        good = err_set(err, "boot: --kernel: expected a file such as /boot/vmlinuz-6.1.0-amd64, not %.200s",
                       kit->kernel);
    if (good)
        text_add(&kit->modules, "/lib/modules/%s", version + strlen("vmlinuz-"));
    return good;
}

/* ---- modules ---- */

/* Whether the line is of this module: "kernel/fs/9p/9p.ko: ..."; .ko.xz in newer Debians. */
static bool is_of(const char *line, const char *name)
{
    size_t path = strcspn(line, ":\n"), length = strlen(name);
    const char *slash = memrchr(line, '/', path);
    return slash && !strncmp(slash + 1, name, length) && !strncmp(slash + 1 + length, ".ko", 3);
}

static bool add_module(const struct kit *kit, struct cpio *cpio, struct text *order, const char *path,
                       size_t length, struct err *err)
{
    struct text from = {0}, name = {0};
    const char *slash = memrchr(path, '/', length);
    text_add(&name, "modules/%.*s", (int)(path + length - slash - 1), slash + 1);
    text_add(&from, "%s/%.*s", kit->modules.at, (int)length, path);
    bool known = order->at && strstr(order->at, name.at);
    bool good = known || cpio_add_file(cpio, name.at, from.at, err);
    if (!known)
        text_add(order, "/%s\n", name.at);
    text_fini(&from);
    text_fini(&name);
    return good;
}

/* With what it needs: the last one named in its line is needed by all before it. */
static bool add_modules_of(const struct kit *kit, struct cpio *cpio, struct text *order, const char *line,
                           struct err *err)
{
    bool good = true;
    const char *end = line + strcspn(line, "\n"), *first = line + strcspn(line, ":");
    while (good && end > first + 1) {
        const char *space = memrchr(first, ' ', (size_t)(end - first));
        const char *path = space ? space + 1 : first + 1;
        if (path < end)
            good = add_module(kit, cpio, order, path, (size_t)(end - path), err);
        end = space ? space : first;
    }
    return good && add_module(kit, cpio, order, line, (size_t)(first - line), err);
}

static const char *find_line(const struct text *list, const char *name)
{
    const char *line = list->at;
    while (line && *line && !is_of(line, name)) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return line && *line ? line : NULL;
}

static bool add_modules(const struct kit *kit, struct cpio *cpio, struct err *err)
{
    struct text list = {0}, built_in = {0}, path = {0}, order = {0};
    text_add(&path, "%s/modules.dep", kit->modules.at);
    bool good = file_read(path.at, list_most, &list, err);
    path.length = 0;
    text_add(&path, "%s/modules.builtin", kit->modules.at);
    good = good && file_read(path.at, list_most, &built_in, err);
    for (int i = 0; good && i < WANTED_MODULES; i++) {
        const char *line = find_line(&list, wanted_modules[i]);
        if (line)
            good = add_modules_of(kit, cpio, &order, line, err);
        else if (!find_line(&built_in, wanted_modules[i]))
            good = err_set(err, "boot: the kernel %s has no module %s", kit->kernel, wanted_modules[i]);
    }
    cpio_add_text(cpio, "modules/order", order.length ? order.at : "");
    text_fini(&list);
    text_fini(&built_in);
    text_fini(&path);
    text_fini(&order);
    return good;
}

/* ---- the initial file system ---- */

static bool fill(const struct kit *kit, struct cpio *cpio, const char *guest, struct err *err)
{
    static const char *const folders[] = {"bin", "modules", "root"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        cpio_add_folder(cpio, folders[i]);
    cpio_add_link(cpio, "bin/heddle-roi", "/init");
    cpio_add_link(cpio, "bin/sh", "busybox");
    bool good = cpio_add_file(cpio, "bin/busybox", kit->busybox, err) &&
                cpio_add_file(cpio, "init", guest, err) && add_modules(kit, cpio, err);
    cpio_end(cpio);
    return good;
}

bool kit_make(struct kit *kit, const char *folder, const char *guest, struct err *err)
{
    struct file_writer writer;
    struct text content = {0};
    text_add(&kit->initial, "%s/initial", folder);
    if (!file_open(&writer, kit->initial.at, err))
        return false;
    bool good = fill(kit, &(struct cpio){.to = writer.stream}, guest, err);
    if (!good)
        file_abandon(&writer);
    good = good && file_close(&writer, err) && file_read(kit->initial.at, (size_t)1 << 30, &content, err);
    if (good)
        text_add(&kit->identity, "kernel = %s\ninitial file system = %016llx\n", kit->kernel,
                 (unsigned long long)digest_bytes(0, content.at, content.length));
    text_fini(&content);
    return good;
}

void kit_fini(struct kit *kit)
{
    mem_free(kit->emulator);
    mem_free(kit->kernel);
    mem_free(kit->busybox);
    text_fini(&kit->modules);
    text_fini(&kit->initial);
    text_fini(&kit->identity);
}

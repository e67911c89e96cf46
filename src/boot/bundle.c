#include "boot/bundle.h"
#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOADER "/lib64/ld-linux-x86-64.so.2"
enum { CANNOT_RUN = 126, NOT_FOUND = 127 }; /* as shells have it */

/* ---- files ---- */

/* All folders of the path, but not what is behind its last slash. */
static void make_folders(char *path)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
}

static bool copy_bytes(const char *from, const char *to, struct err *err)
{
    struct stat about;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    bool good = in >= 0 && out >= 0 && !fstat(in, &about);
    for (off_t left = good ? about.st_size : 0; good && left;) {
        ssize_t sent = sendfile(out, in, NULL, (size_t)left);
        good = sent > 0;
        left -= sent;
    }
    if (!good)
        err_set(err, "boot: cannot copy %.200s for the guest: %s", from, strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return good;
}

/* A file may be there already: several programs load it. */
static bool put(const struct bundle_plan *plan, const char *from, const char *name, struct err *err)
{
    struct text to = {0};
    text_add(&to, "%s/%s", plan->folder, name);
    make_folders(to.at);
    bool good = !access(to.at, F_OK) || copy_bytes(from, to.at, err);
    text_fini(&to);
    return good;
}

/* ---- what programs load ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_ours(const struct bundle_plan *plan, const char *path)
{
    for (const char *const *own = plan->libraries; *own; own++) {
        if (!strncmp(path, *own, strlen(*own)))
            return true;
    }
    return false;
}

/* A line of the loader's list: "name => /path (0x...)", "/path (0x...)", or "name => not found". */
static bool put_listed(const struct bundle_plan *plan, const char *program, char *line, int *status,
                       struct err *err)
{
    char *arrow = strstr(line, " => "), *path = text_trim(arrow ? arrow + 4 : line);
    if (!strncmp(path, "not found", 9)) {
        *arrow = 0;
        *status = NOT_FOUND;
        return err_set(err,
                       "boot: %.200s needs %.200s, which is not found; LD_LIBRARY_PATH can name its folder",
                       program, text_trim(line));
    }
    path[strcspn(path, " ")] = 0;
    if (path[0] != '/' || is_ours(plan, path))
        return true;
    struct text name = {0};
    text_add(&name, "root%s", path);
    bool good = put(plan, path, name.at, err);
    text_fini(&name);
    return good;
}

static _Noreturn void list(const struct bundle_plan *plan, const char *path, int to)
{
    struct text folders = {0};
    const char *old = getenv("LD_LIBRARY_PATH");
    for (const char *const *own = plan->libraries; *own; own++)
        text_add(&folders, "%s:", *own);
    text_add(&folders, "%s", old ? old : "");
    setenv("LD_LIBRARY_PATH", folders.at, 1);
    unsetenv("LD_PRELOAD");
    dup2(to, STDOUT_FILENO);
    execl(LOADER, LOADER, "--list", path, (char *)NULL);
    _exit(NOT_FOUND);
}

/* All libraries that this program or library loads when it starts, by the loader's own word. */
static bool put_libraries(const struct bundle_plan *plan, const char *path, int *status, struct err *err)
{
    int ends[2], ended = 0;
    char line[4096];
    bool good = true;
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, "boot: cannot start a process: %s", strerror(errno));
    pid_t child = fork();
    if (!child)
        list(plan, path, ends[1]);
    close(ends[1]);
    FILE *listed = fdopen(ends[0], "r");
    while (listed && fgets(line, sizeof line, listed))
        good = good && put_listed(plan, path, line, status, err);
    if (listed)
        fclose(listed);
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    return good && put(plan, LOADER, "root" LOADER, err);
}

static bool put_program(const struct bundle_plan *plan, const char *path, int *status, struct err *err)
{
    struct text name = {0};
    char head[4] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *status = CANNOT_RUN;
    if (file < 0 || access(path, X_OK)) {
        *status = errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
        err_set(err, "boot: cannot run %.200s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    bool is_elf = read(file, head, sizeof head) == sizeof head && !memcmp(head, "\177ELF", sizeof head);
    close(file);
    text_add(&name, "bin/%s", last_part(path));
    bool good = put(plan, path, name.at, err) && (!is_elf || put_libraries(plan, path, status, err));
    text_fini(&name);
    return good;
}

/* One of our folders, whole: "cuda" becomes heddle/cuda. A library that goes by several names stays one file:
 * in an installation all of them are links to another folder. */
static bool put_folder(const struct bundle_plan *plan, const char *folder, int *status, struct err *err)
{
    bool good = true;
    DIR *open_folder = opendir(folder);
    for (const struct dirent *entry; good && open_folder && (entry = readdir(open_folder));) {
        struct text from = {0}, name = {0}, to = {0};
        char target[256];
        if (entry->d_name[0] == '.')
            continue;
        text_add(&from, "%s/%s", folder, entry->d_name);
        text_add(&name, "heddle/%s/%s", last_part(folder), entry->d_name);
        text_add(&to, "%s/%s", plan->folder, name.at);
        ssize_t length = readlink(from.at, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        bool is_alias = length > 0 && strcmp(last_part(target), entry->d_name) != 0;
        if (is_alias) {
            make_folders(to.at);
            good = !symlink(last_part(target), to.at) ||
                   err_set(err, "boot: cannot write to %.200s: %s", plan->folder, strerror(errno));
        } else {
            good = put(plan, from.at, name.at, err) && put_libraries(plan, from.at, status, err);
        }
        text_fini(&from);
        text_fini(&name);
        text_fini(&to);
    }
    if (open_folder)
        closedir(open_folder);
    return good;
}

/* ---- the script ---- */

static void add_word(struct text *text, const char *word)
{
    text_add(text, " '");
    for (; *word; word++)
        text_add(text, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(text, "'");
}

static void add_script(const struct bundle_plan *plan, struct text *text)
{
    text_add(text, "export PATH=/job/bin:/bin HOME=/root TERM=linux\n"
                   "for i in /job/root/*; do [ -e /${i##*/} ] || ln -s $i /; done\n"
                   "cp -r /job/ledger /run/ledger\n"
                   "export HEDDLE_ATTACH=/run/heddle-gpu HEDDLE_RUN_DIR=/run/ledger HEDDLE_PROGRESS=no\n"
                   "export LD_PRELOAD=/job/heddle/cuda/libheddle_preload.so LD_LIBRARY_PATH=");
    for (const char *const *own = plan->libraries; *own; own++)
        text_add(text, "%s/job/heddle/%s", own == plan->libraries ? "" : ":", last_part(*own));
    text_add(text, "\n");
    if (plan->end_line > plan->first_line)
        text_add(text, "export HEDDLE_STATS_LAUNCHES=%llu-%llu\n", (unsigned long long)plan->first_line,
                 (unsigned long long)plan->end_line - 1);
    text_add(text, "cd /share\n");
    if (plan->command) {
        const char *first = plan->command[0];
        add_word(text, strchr(first, '/') ? last_part(first) : first); /* which is in the PATH */
        for (char *const *word = plan->command + 1; *word; word++)
            add_word(text, *word);
    } else {
        text_add(text, "stty opost; PS1='guest:\\w# ' sh -i");
    }
    text_add(text, "\nstatus=$?\ncp /run/ledger/* /job/ledger/\nexit $status\n");
}

static bool write_text(const struct bundle_plan *plan, const char *name, const char *content, struct err *err)
{
    struct file_writer writer;
    struct text path = {0};
    text_add(&path, "%s/%s", plan->folder, name);
    bool good = file_open(&writer, path.at, err);
    if (good) {
        fputs(content, writer.stream);
        good = file_close(&writer, err);
    }
    text_fini(&path);
    return good;
}

bool bundle_make(const struct bundle_plan *plan, int *status, struct err *err)
{
    struct text script = {0};
    bool good = true;
    *status = 1;
    for (const char *const *own = plan->libraries; good && *own; own++)
        good = put_folder(plan, *own, status, err);
    for (const char *const *program = plan->programs; good && program && *program; program++)
        good = put_program(plan, *program, status, err);
    if (good && plan->command && strchr(plan->command[0], '/'))
        good = put_program(plan, plan->command[0], status, err);
    add_script(plan, &script);
    good = good && put(plan, plan->description, "gpu.ini", err) && write_text(plan, "run", script.at, err) &&
           (!plan->shares || write_text(plan, "shares", "", err));
    text_fini(&script);
    return good;
}

bool bundle_ended(const char *folder, int *status, int *signal)
{
    struct text path = {0}, content = {0};
    struct err unused;
    text_add(&path, "%s/status", folder);
    bool good = file_read(path.at, 100, &content, &unused);
    char *end = content.at;
    if (good) {
        *status = (int)strtol(content.at, &end, 10);
        *signal = (int)strtol(end, &end, 10);
    }
    good = good && end != content.at && *end == '\n';
    text_fini(&path);
    text_fini(&content);
    return good;
}

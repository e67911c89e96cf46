#include "cli/doctor.h"
#include "base/install.h"
#include "base/mem.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const struct tool_row doctor_tools[] = {
#define TOOL(kind, name, where, says, feature, package) {TOOL_##kind, name, where, says, feature, package},
#include "cli/doctor_tools.def"
#undef TOOL
    {0}};

enum { PATIENCE_S = 10, POLL_MS = 20, MOST_SAID = 1 << 20 };

/* ---- a process of its own ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What comes from there until the end of the file, or of the child; a process that it has left behind may
 * keep the file open for ever. Gives up after PATIENCE_S, too: an alarm that the child ignores ends nothing.
 */
static void hear(int from, pid_t child, struct text *said)
{
    char bytes[4096];
    bool has_ended = false;
    double until = seconds() + PATIENCE_S;
    while (seconds() < until) {
        struct pollfd waits = {.fd = from, .events = POLLIN};
        has_ended = has_ended || waitpid(child, NULL, WNOHANG) == child;
        if (poll(&waits, 1, has_ended ? 0 : POLL_MS) <= 0) {
            if (has_ended)
                return; /* and all that it wrote is here */
            continue;
        }
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got <= 0 || said->length > MOST_SAID)
            break;
        text_add_bytes(said, bytes, (size_t)got);
    }
    while (!has_ended && seconds() < until && said->length <= MOST_SAID) { /* it says no more, and goes on */
        poll(NULL, 0, POLL_MS);
        has_ended = waitpid(child, NULL, WNOHANG) == child;
    }
    if (!has_ended) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

/* What `act` writes to its standard output there. */
static void ask_child(void (*act)(const char *path), const char *path, struct text *said)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        alarm(PATIENCE_S); /* lasts through exec */
        act(path);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0)
        hear(ends[0], child, said);
    close(ends[0]);
}

static void act_version(const char *path)
{
    execl(path, path, "--version", (char *)NULL);
}

/* busybox has no --version, but tells it with its help. */
static void act_help(const char *path)
{
    execl(path, path, "--help", (char *)NULL);
}

/* The path of a library that loads, or ! and why it does not. */
static void act_load(const char *path)
{
    struct link_map *map = NULL;
    void *library = dlopen(path, RTLD_LAZY);
    if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map) && map)
        printf("%s", map->l_name);
    else
        printf("!%s", dlerror());
    fflush(stdout);
}

/* ---- versions ---- */

/* The first numbers with a point between them, such as 12.2.0. */
static void take_version(const char *said, struct text *version)
{
    for (const char *at = said; *at; at++) {
        size_t length = strspn(at, "0123456789.");
        if (!isdigit((unsigned char)*at))
            continue;
        while (length && at[length - 1] == '.')
            length--;
        if (memchr(at, '.', length)) {
            text_add(version, "%.*s", (int)length, at);
            return;
        }
        at += strspn(at, "0123456789.") - 1;
    }
}

/* libOpenCL.so.1.0.0: 1.0.0, by the file that the name leads to. */
static void take_library_version(const char *path, struct text *version)
{
    char *whole = realpath(path, NULL);
    const char *dots = whole ? strstr(whole, ".so.") : NULL;
    if (dots)
        text_add(version, "%s", dots + strlen(".so."));
    free(whole);
}

/* vmlinuz-6.1.0-44-amd64: what * stands for. */
static void take_pattern_version(const char *pattern, const char *path, struct text *version)
{
    const char *star = strchr(pattern, '*');
    if (star)
        text_add(version, "%s", path + (star - pattern));
}

/* ---- looking ---- */

static bool can_run(const char *path)
{
    struct stat info;
    return !access(path, X_OK) && !stat(path, &info) && S_ISREG(info.st_mode);
}

static bool look_in_path(const char *name, struct text *path)
{
    const char *folders = strchr(name, '/') ? "" : getenv("PATH");
    if (strchr(name, '/') && can_run(name))
        text_add(path, "%s", name);
    for (const char *at = folders ? folders : ""; *at && !path->length; at += *at == ':') {
        struct text tried = {0};
        text_add(&tried, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (can_run(tried.at))
            text_add(path, "%s", tried.at);
        text_fini(&tried);
        at += strcspn(at, ":");
    }
    return path->length > 0;
}

static bool look_program(const struct tool_row *row, const char *name, struct tool_found *found)
{
    struct text said = {0};
    if (!look_in_path(name, &found->path))
        return false;
    ask_child(act_version, found->path.at, &said);
    if (!said.length)
        ask_child(act_help, found->path.at, &said);
    bool is_it = !*row->says || (said.length && strstr(said.at, row->says));
    if (is_it && said.length)
        take_version(said.at, &found->version);
    if (!is_it) /* another program of the same name */
        text_fini(&found->path);
    text_fini(&said);
    return is_it;
}

static bool look_library(const char *name, struct tool_found *found)
{
    struct text said = {0};
    ask_child(act_load, name, &said);
    bool loads = said.length && *said.at != '!';
    if (loads) {
        text_add(&found->path, "%s", said.at);
        take_library_version(said.at, &found->version);
    }
    text_fini(&said);
    return loads;
}

static bool look_pattern(const char *pattern, struct tool_found *found)
{
    glob_t matches;
    bool any = !glob(pattern, 0, NULL, &matches);
    if (any) {
        text_add(&found->path, "%s", matches.gl_pathv[matches.gl_pathc - 1]);
        take_pattern_version(pattern, found->path.at, &found->version);
    }
    globfree(&matches);
    return any;
}

static bool look_data(const char *name, struct tool_found *found)
{
    install_add_data(&found->path, name);
    bool there = found->path.length && !access(found->path.at, R_OK);
    if (!there)
        text_add(&found->broken, "%s is not there", name);
    return there;
}

/* dlerror of a library that needs another one, which is not there: the other one's name. */
static bool lacks_library(const char *said, struct text *name)
{
    const char *colon = strstr(said, ": cannot open shared object file");
    if (colon)
        text_add(name, "%.*s", (int)(colon - said), said);
    return colon;
}

static void try_library(const struct tool_row *row, struct tool_found *found)
{
    struct text said = {0};
    ask_child(act_load, found->path.at, &said);
    const char *why = !said.length ? "its start-up crashes" : *said.at == '!' ? said.at + 1 : NULL;
    bool is_lack = why && row->kind == TOOL_OPTIONAL && lacks_library(why, &found->lacks);
    if (why && !is_lack)
        text_add(&found->broken, "%s", why);
    text_fini(&said);
}

/* A part that is there, but does not work, is broken; and so is one that every build has, where it is not. */
static bool look_part(const struct tool_row *row, struct tool_found *found)
{
    bool there = install_add_part(&found->path, row->where) && !access(found->path.at, F_OK);
    bool is_library = strstr(row->where, ".so") != NULL;
    if (there && is_library)
        try_library(row, found);
    if (there && !is_library && !can_run(found->path.at))
        text_add(&found->broken, "it cannot be executed");
    if (!there && row->kind == TOOL_PART)
        text_add(&found->broken, "%s is not there", found->path.length ? found->path.at : row->where);
    return there && !found->lacks.length;
}

static bool look_at(const struct tool_row *row, const char *where, struct tool_found *found)
{
    switch (row->kind) {
    case TOOL_PROGRAM:
        return look_program(row, where, found);
    case TOOL_LIBRARY:
        return look_library(where, found);
    case TOOL_PATTERN:
        return look_pattern(where, found);
    case TOOL_DATA:
        return look_data(where, found);
    default:
        return look_part(row, found);
    }
}

void doctor_look(const struct tool_row *row, struct tool_found *found)
{
    *found = (struct tool_found){0};
    char *words = mem_text(row->where);
    for (char *at = words, *where; !found->is_there && (where = strsep(&at, "|"));)
        found->is_there = look_at(row, where, found);
    if (!found->is_there)
        text_fini(&found->path);
    mem_free(words);
}

void doctor_found_fini(struct tool_found *found)
{
    text_fini(&found->path);
    text_fini(&found->version);
    text_fini(&found->lacks);
    text_fini(&found->broken);
}

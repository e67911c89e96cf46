#include "trace/input.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

enum { ENOUGH_PACKED = 16 };

struct input_zstd {
    ZSTD_DStream *stream;
    size_t wants; /* 0 between frames */
    char packed[INPUT_WINDOW];
    size_t at, end;
};

/* Bytes of the file; -1: err says why. */
static ssize_t read_some(struct input *input, char *into, size_t most, struct err *err)
{
    ssize_t got;
    do {
        got = read(input->descriptor, into, most);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        err_set(err, "cannot read %s: %s", input->name, strerror(errno));
    return got;
}

/* ---- zstd ---- */

static void zstd_start(struct input *input)
{
    struct input_zstd *zstd = mem_alloc(1, sizeof *zstd);
    zstd->stream = ZSTD_createDStream();
    zstd->end = (size_t)(input->end - input->at); /* what was read as plain bytes */
    memcpy(zstd->packed, input->at, zstd->end);
    input->at = input->end = input->window;
    input->ended = false;
    input->zstd = zstd;
}

static ssize_t zstd_some(struct input *input, char *into, size_t most, struct err *err)
{
    struct input_zstd *zstd = input->zstd;
    ZSTD_outBuffer out = {into, most, 0};
    if (!zstd->stream)
        return err_set(err, "%s: no memory for zstd", input->name) - 1;
    while (!out.pos) {
        if (zstd->at == zstd->end) {
            ssize_t got = read_some(input, zstd->packed, sizeof zstd->packed, err);
            if (got < 0)
                return -1;
            if (!got && zstd->wants)
                return err_set(err, "%s: it is cut: what zstd packed has no end", input->name) - 1;
            if (!got)
                return 0;
            zstd->at = 0;
            zstd->end = (size_t)got;
        }
        ZSTD_inBuffer in = {zstd->packed, zstd->end, zstd->at};
        zstd->wants = ZSTD_decompressStream(zstd->stream, &out, &in);
        zstd->at = in.pos;
        if (ZSTD_isError(zstd->wants))
            return err_set(err, "%s: zstd cannot unpack it: %s", input->name,
                           ZSTD_getErrorName(zstd->wants)) -
                   1;
    }
    return (ssize_t)out.pos;
}

/* ---- programs that unpack ---- */

static bool child_start(struct input *input, const char *program, struct err *err)
{
    extern char **environ;
    int ends[2];
    char *words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "-dc", NULL};
    if (lseek(input->descriptor, 0, SEEK_SET))
        return err_set(err, "%s is packed by %s: unpack it before, such as by %s -dc", input->name, program,
                       program);
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, "cannot read %s: %s", input->name, strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input->descriptor, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0); /* we tell */
    int failed = posix_spawnp(&input->child, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    close(input->descriptor);
    input->descriptor = ends[0];
    input->child_name = program;
    if (failed) {
        input->child = 0;
        return err_set(err, "%s is packed by %s, which cannot be started (%s): unpack it before", input->name,
                       program, strerror(failed));
    }
    input->at = input->end = input->window;
    input->ended = false;
    return true;
}

/* Its status, once it has nothing more to say. */
static bool child_end(struct input *input, struct err *err)
{
    int status = 0;
    while (waitpid(input->child, &status, 0) < 0 && errno == EINTR)
        ;
    input->child = 0;
    return !status || err_set(err, "%s: %s could not unpack all of it", input->name, input->child_name);
}

/* ---- the window ---- */

bool input_more(struct input *input, struct err *err)
{
    size_t left = (size_t)(input->end - input->at);
    REQUIRE(left <= INPUT_WINDOW / 2);
    memmove(input->window, input->at, left);
    input->at = input->window;
    input->end = input->window + left;
    if (input->ended)
        return true;
    size_t room = INPUT_WINDOW - left;
    ssize_t got =
        input->zstd ? zstd_some(input, input->end, room, err) : read_some(input, input->end, room, err);
    if (got < 0)
        return false;
    input->end += got;
    input->bytes += (uint64_t)got;
    input->ended = !got;
    return !input->ended || !input->child || child_end(input, err);
}

/* Enough of the beginning to tell what it is. */
static bool begin(struct input *input, size_t enough, struct err *err)
{
    while (!input->ended && (size_t)(input->end - input->at) < enough) {
        if (!input_more(input, err))
            return false;
    }
    return true;
}

static bool unpack(struct input *input, struct err *err)
{
    static const struct {
        const char *magic;
        size_t bytes;
        const char *program; /* NULL: zstd, which we have */
    } packers[] = {{"\x28\xb5\x2f\xfd", 4, NULL},
                   {"\x1f\x8b", 2, "gzip"},
                   {"\xfd"
                    "7zXZ",
                    6, "xz"}};
    for (size_t i = 0; i < COUNT_OF(packers); i++) {
        if ((size_t)(input->end - input->at) < packers[i].bytes ||
            memcmp(input->at, packers[i].magic, packers[i].bytes))
            continue;
        if (packers[i].program)
            return child_start(input, packers[i].program, err);
        zstd_start(input);
    }
    return true;
}

bool input_open(struct input *input, const char *path, struct err *err)
{
    bool standard = !strcmp(path, "-");
    *input = (struct input){.name = mem_text(standard ? "standard input" : path),
                            .window = mem_alloc(INPUT_WINDOW, 1)};
    input->at = input->end = input->window;
    input->descriptor = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    return (input->descriptor >= 0 || err_set(err, "cannot read %s: %s", input->name, strerror(errno))) &&
           begin(input, ENOUGH_PACKED, err) && unpack(input, err) && begin(input, INPUT_ENOUGH, err);
}

void input_close(struct input *input)
{
    struct err ignored;
    if (input->descriptor >= 0)
        close(input->descriptor);
    if (input->child) { /* what reads no more does not want to know how it ended */
        kill(input->child, SIGTERM);
        child_end(input, &ignored);
    }
    if (input->zstd)
        ZSTD_freeDStream(input->zstd->stream);
    mem_free(input->zstd);
    mem_free(input->window);
    mem_free(input->name);
}

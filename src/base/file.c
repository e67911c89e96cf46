#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read(const char *path, size_t limit, struct text *content, struct err *err)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return err_set(err, "cannot read %s: %s", path, strerror(errno));
    char block[1 << 14];
    size_t got, all = 0;
    text_add_bytes(content, "", 0);
    while ((got = fread(block, 1, sizeof block, stream)) > 0 && (all += got) <= limit)
        text_add_bytes(content, block, got);
    int broken = ferror(stream) ? errno : 0;
    fclose(stream);
    if (broken)
        return err_set(err, "cannot read %s: %s", path, strerror(broken));
    if (all > limit)
        return err_set(err, "%s is too large: at most %zu bytes are expected", path, limit);
    return true;
}

bool file_is_endless(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISCHR(info.st_mode);
}

/* Two names of a file that does not exist yet: in the same folder, and called the same. */
static bool same_place(const char *a, const char *b)
{
    char *copies[2] = {mem_text(a), mem_text(b)}, *folders[2];
    const char *bases[2];
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(copies[i], '/');
        bases[i] = slash ? slash + 1 : copies[i];
        if (slash)
            *slash = 0;
        folders[i] = realpath(!slash ? "." : slash == copies[i] ? "/" : copies[i], NULL);
    }
    bool same = folders[0] && folders[1] && !strcmp(folders[0], folders[1]) && !strcmp(bases[0], bases[1]);
    for (int i = 0; i < 2; i++) {
        free(folders[i]);
        mem_free(copies[i]);
    }
    return same;
}

bool file_same(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return same_place(a, b);
}

/* Not a plain file that could be replaced by another: a device, a pipe, or a descriptor this process has
 * open. */
static bool is_straight(const char *path)
{
    struct stat info;
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/std", 8) == 0 ||
           strncmp(path, "/proc/", 6) == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

/* Standard output under another descriptor, which shares its place in the file: nothing is overwritten. */
static FILE *open_stdout(void)
{
    fflush(stdout);
    int copy = dup(STDOUT_FILENO);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!stream && copy >= 0)
        close(copy);
    return stream;
}

bool file_open(struct file_writer *writer, const char *path, struct err *err)
{
    *writer = (struct file_writer){0};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        writer->stream = open_stdout();
    } else if (is_straight(path)) {
        writer->stream = fopen(path, "ab");
    } else {
        struct text part = {0};
        char *target = realpath(path, NULL); /* what a link stands for is replaced, not the link */
        text_add(&part, "%s.%d.part", target ? target : path,
                 (int)getpid()); /* two runs may write one file */
        writer->stream = fopen(part.at, "wb");
        writer->part = part.at;
        writer->path = target ? mem_text(target) : NULL;
        free(target);
    }
    if (!writer->path)
        writer->path = mem_text(path);
    if (writer->stream)
        return true;
    err_set(err, "cannot write %s: %s", path, strerror(errno));
    mem_free(writer->path);
    mem_free(writer->part);
    return false;
}

bool file_check(const char *path, struct err *err)
{
    struct file_writer writer;
    if (!file_open(&writer, path, err))
        return false;
    file_abandon(&writer);
    return true;
}

void file_abandon(struct file_writer *writer)
{
    fclose(writer->stream);
    if (writer->part)
        unlink(writer->part);
    mem_free(writer->path);
    mem_free(writer->part);
}

bool file_close(struct file_writer *writer, struct err *err)
{
    bool broken = ferror(writer->stream);
    if (broken) { /* some write failed, long ago: another one tells why */
        clearerr(writer->stream);
        fputc(0, writer->stream);
    }
    errno = 0;
    broken = fflush(writer->stream) || broken;
    int why = errno;
    if (fclose(writer->stream) && !broken) {
        broken = true;
        why = errno;
    }
    if (!broken && writer->part && rename(writer->part, writer->path)) {
        broken = true;
        why = errno;
    }
    if (broken) {
        err_set(err, "cannot write %s: %s", writer->path, why ? strerror(why) : "the disk may be full");
        if (writer->part)
            unlink(writer->part);
    }
    mem_free(writer->path);
    mem_free(writer->part);
    return !broken;
}

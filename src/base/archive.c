#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 20, /* bytes that are written at once: a multiple of 8, as the digest goes by 8 */
    CHUNK = 64,      /* bytes that archive_sparse looks at together */
};
static const size_t largest_file = (size_t)1 << 40;

struct archive archive_writer(void)
{
    return (struct archive){.good = true};
}

struct archive archive_reader(const void *bytes, size_t count)
{
    return (struct archive){
        .reading = true, .good = true, .at = bytes, .end = count ? (const char *)bytes + count : bytes};
}

/* ---- bytes ---- */

static void flush(struct archive *archive, size_t bytes)
{
    struct text *text = &archive->text;
    archive->digest = digest_bytes(archive->digest, text->at, bytes);
    fwrite(text->at, 1, bytes, archive->writer.stream);
    memmove(text->at, text->at + bytes, text->length - bytes);
    text->length -= bytes;
}

static void put(struct archive *archive, const char *bytes, size_t count)
{
    if (!archive->writer.stream) {
        text_add_bytes(&archive->text, bytes, count);
        return;
    }
    for (size_t part; count; bytes += part, count -= part) {
        part = min_u64(count, BLOCK - archive->text.length);
        text_add_bytes(&archive->text, bytes, part);
        if (archive->text.length == BLOCK)
            flush(archive, BLOCK);
    }
}

static void get(struct archive *archive, void *bytes, size_t count)
{
    if (!archive_check(archive, (size_t)(archive->end - archive->at) >= count)) {
        memset(bytes, 0, count);
        return;
    }
    memcpy(bytes, archive->at, count);
    archive->at += count;
}

void archive_bytes(struct archive *archive, void *bytes, size_t count)
{
    if (!count)
        return;
    if (archive->reading)
        get(archive, bytes, count);
    else
        put(archive, bytes, count);
}

bool archive_check(struct archive *archive, bool holds)
{
    archive->good = archive->good && holds;
    return archive->good;
}

bool archive_require(struct archive *archive, bool holds, const char *why)
{
    if (archive->good && !holds)
        archive->why = why;
    return archive_check(archive, holds);
}

void archive_expect(struct archive *archive, uint64_t number)
{
    uint64_t found = number;
    ARCHIVE_VALUE(archive, found);
    archive_check(archive, found == number);
}

uint64_t archive_number(struct archive *archive, uint64_t number, uint64_t most)
{
    ARCHIVE_VALUE(archive, number);
    return archive_check(archive, number <= most) ? number : 0;
}

uint64_t archive_count(struct archive *archive, uint64_t count, size_t bytes_each)
{
    ARCHIVE_VALUE(archive, count);
    bool fits = !archive->reading || count <= (size_t)(archive->end - archive->at) / bytes_each;
    return archive_check(archive, fits) ? count : 0;
}

void archive_text(struct archive *archive, struct text *text)
{
    uint64_t length = archive_number(archive, text->length, UINT64_MAX);
    if (!archive->reading) {
        archive_bytes(archive, text->at, length);
        return;
    }
    if (!archive_check(archive, length <= (size_t)(archive->end - archive->at)))
        length = 0;
    text->length = 0;
    text_add_bytes(text, length ? archive->at : "", length);
    archive->at += length;
}

/* ---- much that is mostly zero: the bytes that are passed over and those that follow, by turns ---- */

static bool is_zero(const unsigned char *bytes, size_t count)
{
    if (count != CHUNK) {
        for (size_t i = 0; i < count; i++)
            if (bytes[i])
                return false;
        return true;
    }
    uint64_t words[CHUNK / 8], all = 0;
    memcpy(words, bytes, CHUNK);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        all |= words[i];
    return !all;
}

/* How many bytes from here on are zero, or are not, by chunks. */
static size_t run_of(const unsigned char *bytes, size_t count, bool zero)
{
    size_t run = 0;
    while (run < count && is_zero(bytes + run, min_u64(CHUNK, count - run)) == zero)
        run += min_u64(CHUNK, count - run);
    return run;
}

static void clear(unsigned char *bytes, size_t count)
{
    for (size_t part; count; bytes += part, count -= part) { /* what is zero is not touched */
        part = min_u64(CHUNK, count);
        if (!is_zero(bytes, part))
            memset(bytes, 0, part);
    }
}

void archive_sparse(struct archive *archive, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    while (count) {
        uint64_t zeroes = archive->reading ? 0 : run_of(at, count, true);
        zeroes = archive_number(archive, zeroes, count);
        if (archive->reading)
            clear(at, zeroes);
        at += zeroes, count -= zeroes;
        uint64_t others = archive->reading ? 0 : run_of(at, count, false);
        others = archive_number(archive, others, count);
        archive_bytes(archive, at, others);
        at += others, count -= others;
        if (!archive_check(archive, zeroes || others)) {
            clear(at, count);
            return;
        }
    }
}

/* ---- files ---- */

bool archive_create(struct archive *archive, const char *path, const struct archive_kind *kind,
                    const char *note, struct err *err)
{
    *archive = archive_writer();
    if (!file_open(&archive->writer, path, err))
        return false;
    put(archive, kind->magic, sizeof kind->magic);
    put(archive, (const char *)kind->version, sizeof kind->version);
    archive_number(archive, strlen(note), UINT64_MAX);
    put(archive, note, strlen(note));
    return true;
}

bool archive_commit(struct archive *archive, struct err *err)
{
    flush(archive, archive->text.length);
    fwrite(&archive->digest, 1, sizeof archive->digest, archive->writer.stream);
    text_fini(&archive->text);
    return file_close(&archive->writer, err);
}

/* A plain file is looked at where it is; anything else is read. */
static bool read_all(struct archive *archive, const char *path, struct err *err)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && !fstat(file, &info) && S_ISREG(info.st_mode) && info.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped != MAP_FAILED) {
            archive->mapped = mapped;
            archive->mapped_bytes = (size_t)info.st_size;
        }
    }
    if (file >= 0)
        close(file);
    if (archive->mapped) {
        archive->at = archive->mapped;
        archive->end = archive->at + archive->mapped_bytes;
        return true;
    }
    if (!file_read(path, largest_file, &archive->text, err))
        return false;
    archive->at = archive->text.at;
    archive->end = archive->at + archive->text.length;
    return true;
}

static bool read_head(struct archive *archive, const char *path, const struct archive_kind *kind,
                      struct text *note, struct err *err)
{
    struct archive_kind found = *kind;
    uint64_t digest;
    if (file_is_endless(path))
        return err_set(err, "%s is no %s", path, kind->name);
    if (!read_all(archive, path, err))
        return false;
    const char *start = archive->at;
    get(archive, found.magic, sizeof found.magic);
    if (!archive->good || memcmp(found.magic, kind->magic, sizeof kind->magic) != 0)
        return err_set(err, "%s is no %s", path, kind->name);
    get(archive, found.version, sizeof found.version);
    if (memcmp(found.version, kind->version, sizeof kind->version) != 0)
        return err_set(
            err, "%s was written by another version of Heddle (format %llu.%llu, this one reads %llu.%llu)",
            path, (unsigned long long)found.version[0], (unsigned long long)found.version[1],
            (unsigned long long)kind->version[0], (unsigned long long)kind->version[1]);
    if ((size_t)(archive->end - archive->at) < sizeof digest)
        return err_set(err, "%s is cut short", path);
    archive->end -= sizeof digest;
    memcpy(&digest, archive->end, sizeof digest);
    if (digest != digest_bytes(0, start, (size_t)(archive->end - start)))
        return err_set(err, "%s is damaged or cut short: its digest does not fit", path);
    uint64_t length = archive_number(archive, 0, UINT64_MAX);
    if (!archive_check(archive, length <= (size_t)(archive->end - archive->at)))
        return err_set(err, "%s is damaged: its note does not fit", path);
    if (note)
        text_add_bytes(note, archive->at, length);
    archive->at += length;
    return true;
}

bool archive_open(struct archive *archive, const char *path, const struct archive_kind *kind,
                  struct text *note, struct err *err)
{
    *archive = archive_reader(NULL, 0);
    if (read_head(archive, path, kind, note, err))
        return true;
    archive_close(archive);
    return false;
}

bool archive_at_end(const struct archive *archive)
{
    return archive->good && archive->at == archive->end;
}

void archive_close(struct archive *archive)
{
    if (archive->mapped)
        munmap(archive->mapped, archive->mapped_bytes);
    text_fini(&archive->text);
    *archive = (struct archive){0};
}

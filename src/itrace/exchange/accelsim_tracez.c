#include "exchange/accelsim_tracez.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/import.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { HEADER_MOST = 1 << 16, INDEX_MOST = 1 << 30, PIECE_MOST = 1 << 28, BLOCK_WORDS = 11, WARPS_MOST = 32 };

struct tracez {
    char *name;
    int file;
    uint64_t bytes;
    ZSTD_DCtx *context;
    ZSTD_DDict *dictionary; /* or NULL */
    char *packed;
    size_t packed_capacity;
    unsigned char *index; /* what is left of it: from index_at to index_end */
    size_t index_at, index_end;
    uint32_t blocks, warps, warp, pieces; /* left, of the file, the block, the warp; which warp is next */
    uint64_t piece_at;
    bool in_block;
    struct text text; /* read, from text_at on */
    size_t text_at;
    uint64_t line;
};

bool tracez_is(const char *path)
{
    size_t length = strlen(path);
    return length > 7 && !strcmp(path + length - 7, ".tracez");
}

static bool is_damaged(const struct tracez *z, const char *what, struct err *err)
{
    return err_set(err, "%s: it is damaged or cut: %s", z->name, what);
}

/* ---- bytes ---- */

static bool read_at(const struct tracez *z, uint64_t at, void *into, uint64_t count, struct err *err)
{
    if (at > z->bytes || count > z->bytes - at)
        return is_damaged(z, "a part is behind its end", err);
    for (uint64_t done = 0; done < count;) {
        ssize_t got = pread(z->file, (char *)into + done, count - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return err_set(err, "cannot read %s: %s", z->name, got ? strerror(errno) : "it became shorter");
        done += (uint64_t)got;
    }
    return true;
}

static bool next_words(struct tracez *z, uint32_t *words, size_t count, struct err *err)
{
    if (count * sizeof *words > z->index_end - z->index_at)
        return is_damaged(z, "its index is too short", err);
    memcpy(words, z->index + z->index_at, count * sizeof *words);
    z->index_at += count * sizeof *words;
    return true;
}

/* ---- opening ---- */

/* The text before everything else; `behind`: where that is. */
static bool read_header(struct tracez *z, uint64_t *behind, struct err *err)
{
    uint64_t count = min_u64(z->bytes, HEADER_MOST);
    char *begin = mem_alloc(count + 1, 1);
    bool good = read_at(z, 0, begin, count, err);
    const char *end = good ? memchr(begin, 0, count) : NULL;
    if (good && !end)
        good = is_damaged(z, "its header has no end", err);
    if (good) {
        text_add_bytes(&z->text, begin, (size_t)(end - begin));
        text_add(&z->text, "\n");
        *behind = (uint64_t)(end - begin) + 1;
    }
    mem_free(begin);
    return good;
}

static bool read_dictionary(struct tracez *z, uint64_t at, struct err *err)
{
    uint32_t words[2];
    if (!read_at(z, at, words, sizeof words, err))
        return false;
    if (words[0] > INDEX_MOST || words[0] > z->bytes)
        return is_damaged(z, "its dictionary is longer than the file", err);
    if (!words[0])
        return true;
    char *bytes = mem_alloc(words[0], 1);
    bool good = read_at(z, at + sizeof words, bytes, words[0], err);
    z->dictionary = good ? ZSTD_createDDict(bytes, words[0]) : NULL;
    mem_free(bytes);
    return good && (z->dictionary || is_damaged(z, "its dictionary is none", err));
}

static bool read_index(struct tracez *z, struct err *err)
{
    uint64_t at;
    if (z->bytes < sizeof at || !read_at(z, z->bytes - sizeof at, &at, sizeof at, err))
        return is_damaged(z, "it has no index", err);
    if (at > z->bytes - sizeof at || z->bytes - sizeof at - at > INDEX_MOST)
        return is_damaged(z, "its index is not in the file", err);
    z->index_end = z->bytes - sizeof at - at;
    z->index = mem_alloc(z->index_end + 1, 1);
    return read_at(z, at, z->index, z->index_end, err) && next_words(z, &z->blocks, 1, err);
}

struct tracez *tracez_open(const char *path, struct err *err)
{
    struct tracez *z = mem_alloc(1, sizeof *z);
    struct stat info;
    uint64_t behind = 0;
    z->name = mem_text(path);
    z->file = open(path, O_RDONLY | O_CLOEXEC);
    bool good =
        (z->file >= 0 && !fstat(z->file, &info)) || err_set(err, "cannot read %s: %s", path, strerror(errno));
    if (good && !S_ISREG(info.st_mode))
        good = err_set(err, "%s is no file", path);
    z->bytes = good ? (uint64_t)info.st_size : 0;
    z->context = ZSTD_createDCtx();
    good = good && (z->context || err_set(err, "%s: no memory for zstd", path));
    good = good && read_header(z, &behind, err) && read_dictionary(z, behind, err) && read_index(z, err);
    if (good)
        return z;
    tracez_close(z);
    return NULL;
}

void tracez_close(struct tracez *z)
{
    if (!z)
        return;
    if (z->file >= 0)
        close(z->file);
    ZSTD_freeDCtx(z->context);
    ZSTD_freeDDict(z->dictionary);
    mem_free(z->packed);
    mem_free(z->index);
    text_fini(&z->text);
    mem_free(z->name);
    mem_free(z);
}

/* ---- lines ---- */

static bool unpack(struct tracez *z, size_t bytes, struct err *err)
{
    unsigned long long count = ZSTD_getFrameContentSize(z->packed, bytes);
    if (count == ZSTD_CONTENTSIZE_ERROR || count == ZSTD_CONTENTSIZE_UNKNOWN || count > PIECE_MOST)
        return is_damaged(z, "a piece of a warp is none of zstd", err);
    char *into = mem_alloc(count + 1, 1);
    size_t got = z->dictionary
                     ? ZSTD_decompress_usingDDict(z->context, into, count, z->packed, bytes, z->dictionary)
                     : ZSTD_decompressDCtx(z->context, into, count, z->packed, bytes);
    bool good = !ZSTD_isError(got) || is_damaged(z, ZSTD_getErrorName(got), err);
    if (good) {
        text_add_bytes(&z->text, into, got);
        text_add(&z->text, "\n");
    }
    mem_free(into);
    return good;
}

static bool read_piece(struct tracez *z, struct err *err)
{
    uint32_t bytes;
    if (!read_at(z, z->piece_at, &bytes, sizeof bytes, err))
        return false;
    if (bytes > PIECE_MOST)
        return is_damaged(z, "a piece of a warp is too long", err);
    while (z->packed_capacity < bytes)
        mem_grow(z->packed, z->packed_capacity, z->packed_capacity);
    if (!read_at(z, z->piece_at + sizeof bytes, z->packed, bytes, err))
        return false;
    z->piece_at += sizeof bytes + bytes;
    z->pieces--;
    return unpack(z, bytes, err);
}

static bool begin_warp(struct tracez *z, struct err *err)
{
    uint32_t words[4], there[2]; /* instructions, pieces, where */
    if (!next_words(z, words, COUNT_OF(words), err))
        return false;
    uint64_t at = words[2] | (uint64_t)words[3] << 32;
    if ((uint64_t)words[1] * sizeof *words > z->index_end - z->index_at)
        return is_damaged(z, "its index is too short", err);
    z->index_at += words[1] * sizeof *words; /* how many instructions each has */
    if (!read_at(z, at, there, sizeof there, err))
        return false;
    if (there[0] != words[0] || there[1] != words[1])
        return is_damaged(z, "a warp is not where the index says", err);
    text_add(&z->text, "warp = %u\ninsts = %u\n", z->warp++, words[0]);
    z->pieces = words[1];
    z->piece_at = at + sizeof there;
    z->warps--;
    return true;
}

static bool begin_block(struct tracez *z, struct err *err)
{
    uint32_t words[BLOCK_WORDS]; /* its place in the grid; of and in its cluster; warps */
    if (!next_words(z, words, BLOCK_WORDS, err))
        return false;
    z->warps = words[BLOCK_WORDS - 1];
    if (z->warps > WARPS_MOST)
        return is_damaged(z, "a block has more than 32 warps", err);
    text_add(&z->text, "#BEGIN_TB\nthread block = %u,%u,%u\n", words[0], words[1], words[2]);
    z->warp = 0;
    z->in_block = true;
    z->blocks--;
    return true;
}

static void end_block(struct tracez *z)
{
    text_add(&z->text, "#END_TB\n");
    z->in_block = false;
}

/* More text; 0, IMPORT_BAD or IMPORT_END. */
static int more(struct tracez *z, struct err *err)
{
    bool good = true;
    z->text.length = z->text_at = 0;
    if (z->pieces)
        good = read_piece(z, err);
    else if (z->warps)
        good = begin_warp(z, err);
    else if (z->in_block)
        end_block(z);
    else if (z->blocks)
        good = begin_block(z, err);
    else
        return IMPORT_END;
    return good ? 0 : IMPORT_BAD;
}

int tracez_line(struct tracez *z, const char **at, const char **end, uint64_t *line, struct err *err)
{
    while (z->text_at == z->text.length) {
        int got = more(z, err);
        if (got)
            return got;
    }
    *at = z->text.at + z->text_at;
    *end = memchr(*at, '\n', z->text.length - z->text_at); /* there is one behind all */
    z->text_at += (size_t)(*end - *at) + 1;
    *line = ++z->line;
    return 0;
}

#include "cachesim/runs/kept.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char title[] = "heddle caches: results of a sweep, layout 1\n";
static const uint64_t mark = UINT64_C(0x64636572776f7274);

struct record { /* in front of what configuration_pack makes */
    uint64_t mark, bytes, digest;
};

struct kept {
    const char *path;
    int file;
    uint64_t end; /* of the last good record */
};

static bool failed(const struct kept *kept, const char *what, struct err *err)
{
    return err_set(err, "--results: cannot %s %.300s: %s", what, kept->path, strerror(errno));
}

/* ---- reading ---- */

/* All or nothing. */
static bool read_at(const struct kept *kept, uint64_t at, void *into, size_t count)
{
    for (size_t got = 0; got < count;) {
        ssize_t some = pread(kept->file, (char *)into + got, count - got, (off_t)(at + got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        got += (size_t)some;
    }
    return true;
}

static void first_line(const char *text, char *line, size_t most)
{
    snprintf(line, most, "%.*s", (int)strcspn(text, "\n"), text);
}

/* What its lines say instead of ours. */
static bool say_difference(const struct kept *kept, const char *theirs, const char *ours, struct err *err)
{
    enum { LINE = 300 };
    char their_line[LINE], our_line[LINE];
    if (strncmp(theirs, title, strcspn(title, "\n")) != 0)
        return err_set(err, "--resume: %.300s has no results of heddle caches", kept->path);
    for (;;) {
        first_line(theirs, their_line, LINE);
        first_line(ours, our_line, LINE);
        if (strcmp(their_line, our_line) != 0 || !*our_line)
            break;
        theirs += strcspn(theirs, "\n") + 1;
        ours += strcspn(ours, "\n") + 1;
    }
    return err_set(err,
                   "--resume: %.300s has results of something else: its '%s' is '%s' here; without --resume "
                   "it is written anew",
                   kept->path, *their_line ? their_line : "(no more)", *our_line ? our_line : "(no more)");
}

/* True: the header is ours, or the file was left before all of it was written: it is `is_new` then. */
static bool check_header(struct kept *kept, uint64_t size, const struct text *header, bool *is_new,
                         struct err *err)
{
    size_t count = size < header->length ? (size_t)size : header->length;
    char *there = mem_alloc(header->length + 1, 1);
    bool good = read_at(kept, 0, there, count) || failed(kept, "read", err);
    if (good && memcmp(there, header->at, count) != 0)
        good = say_difference(kept, there, header->at, err);
    *is_new = count < header->length;
    mem_free(there);
    return good;
}

/* Of a configuration that this sweep may or may not have. */
static bool take_record(const char *bytes, size_t count, const struct names *names,
                        struct configurations *all)
{
    const char *name = configuration_packed_name(bytes, count);
    size_t number = name ? names_find(names, name) : NO_NAME;
    if (number != NO_NAME && configuration_unpack(&all->at[number], bytes, count)) {
        all->known += !all->at[number].is_known;
        all->at[number].is_known = true;
    }
    return name;
}

static void read_records(struct kept *kept, uint64_t size, struct configurations *all)
{
    struct names names = {0};
    struct record record;
    for (size_t i = 0; i < all->count; i++) {
        struct text name = {0};
        configuration_name(&all->at[i], &name);
        names_add(&names, name.at);
        text_fini(&name);
    }
    for (bool good = true; good && read_at(kept, kept->end, &record, sizeof record);) {
        if (record.mark != mark || record.bytes > size - kept->end - sizeof record)
            break;
        char *bytes = mem_alloc(record.bytes + 1, 1);
        good = read_at(kept, kept->end + sizeof record, bytes, record.bytes) &&
               digest_bytes(mark, bytes, record.bytes) == record.digest &&
               take_record(bytes, record.bytes, &names, all);
        if (good)
            kept->end += sizeof record + record.bytes;
        mem_free(bytes);
    }
    names_fini(&names);
}

/* ---- writing ---- */

static bool write_at_end(struct kept *kept, const struct text *text, struct err *err)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t some = pwrite(kept->file, text->at + done, text->length - done, (off_t)(kept->end + done));
        if (some < 0 && errno != EINTR)
            return failed(kept, "write", err);
        done += some > 0 ? (size_t)some : 0;
    }
    kept->end += text->length;
    return true;
}

bool kept_add(struct kept *kept, const struct configuration *one, struct err *err)
{
    struct text text = {0};
    struct record record = {.mark = mark};
    text_add_bytes(&text, (const char *)&record, sizeof record);
    configuration_pack(one, &text);
    record.bytes = text.length - sizeof record;
    record.digest = digest_bytes(mark, text.at + sizeof record, record.bytes);
    memcpy(text.at, &record, sizeof record);
    bool good = write_at_end(kept, &text, err);
    text_fini(&text);
    return good;
}

/* ---- opening ---- */

static bool open_file(struct kept *kept, uint64_t *size, struct err *err)
{
    struct stat info;
    kept->file = open(kept->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (kept->file < 0 || fstat(kept->file, &info))
        return failed(kept, "write", err);
    if (!S_ISREG(info.st_mode))
        return err_set(err, "--results: %.300s is no plain file", kept->path);
    if (flock(kept->file, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? err_set(err, "--results: another run writes %.300s", kept->path)
                                    : failed(kept, "lock", err);
    *size = (uint64_t)info.st_size;
    return true;
}

static bool prepare(struct kept *kept, const struct caches_request *r, const struct text *header,
                    struct configurations *all, struct err *err)
{
    uint64_t size = 0;
    bool is_new = true;
    if (!open_file(kept, &size, err) || (r->resume && !check_header(kept, size, header, &is_new, err)))
        return false;
    if (!is_new) {
        kept->end = header->length;
        read_records(kept, size, all);
    }
    if (ftruncate(kept->file, (off_t)kept->end))
        return failed(kept, "write", err);
    return !is_new || write_at_end(kept, header, err);
}

struct kept *kept_open(const struct caches_request *r, const struct text *identity,
                       struct configurations *all, struct err *err)
{
    struct kept *kept = mem_alloc(1, sizeof *kept);
    struct text header = {0};
    *kept = (struct kept){.path = r->results, .file = -1};
    text_add(&header, "%s%s\n", title, identity->at);
    bool good = prepare(kept, r, &header, all, err);
    text_fini(&header);
    if (good)
        return kept;
    kept_close(kept);
    return NULL;
}

void kept_close(struct kept *kept)
{
    if (kept && kept->file >= 0)
        close(kept->file);
    mem_free(kept);
}

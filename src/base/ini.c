#include "base/ini.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST_INCLUDE = 16, LONGEST_FILE = 16 << 20, LONGEST_LINE = 4096, LONGEST_SECTION = 255 };

struct reading {
    const struct reading *by; /* the file that includes this one */
    const char *name;
    const char *folder; /* where included files are looked for, too; or NULL */
    int line;
    ini_setting *setting;
    void *user;
    char section[LONGEST_SECTION + 1];
    char where[PATH_MAX + 32];
    struct names seen; /* "section\nkey" of this file, to refuse what comes twice */
};

/* `token` is what was found there, or NULL. */
static bool here(struct reading *r, struct err *err, const char *what, const char *token)
{
    return token ? err_set(err, "%s:%d: %s '%.120s'", r->name, r->line, what, token)
                 : err_set(err, "%s:%d: %s", r->name, r->line, what);
}

static bool include(struct reading *r, const char *value, struct err *err);

static bool first_time(struct reading *r, const char *key, struct err *err)
{
    char mark[LONGEST_LINE];
    snprintf(mark, sizeof mark, "%s\n%s", r->section, key);
    size_t known = r->seen.count;
    if (names_add(&r->seen, mark) == known)
        return true;
    return here(r, err, *key ? "this file sets the key twice:" : "this file has the section twice:",
                *key ? key : r->section);
}

static bool name_is_good(const char *name)
{
    if (!*name)
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("_-.[]", *name))
            return false;
    }
    return true;
}

bool ini_section_name(const char *name)
{
    return name_is_good(name) && strlen(name) <= LONGEST_SECTION;
}

static void cut_comment(char *line)
{
    for (char *at = line; *at; at++) {
        if ((*at == '#' || *at == ';') && (at == line || isspace((unsigned char)at[-1]))) {
            *at = 0;
            return;
        }
    }
}

static bool give(struct reading *r, const char *key, const char *value, struct err *err)
{
    snprintf(r->where, sizeof r->where, "%s:%d", r->name, r->line);
    return r->setting(r->user, r->section, key, value, r->where, err);
}

static bool read_line(struct reading *r, char *raw, struct err *err)
{
    cut_comment(raw);
    char *line = text_trim(raw);
    if (!*line)
        return true;
    if (*line == '[') {
        char *end = line + strlen(line) - 1;
        if (*end != ']')
            return here(r, err, "expected ']' at the end of", line);
        *end = 0;
        char *name = text_trim(line + 1);
        if (!ini_section_name(name))
            return here(r, err, "expected a section name of letters, digits and . _ - [ ], not", name);
        snprintf(r->section, sizeof r->section, "%s", name);
        return first_time(r, "", err) && give(r, "", "", err);
    }
    char *equals = strchr(line, '=');
    if (!equals)
        return here(r, err, "expected [section] or key = value, not", line);
    *equals = 0;
    char *key = text_trim(line), *value = text_trim(equals + 1);
    if (!name_is_good(key))
        return here(r, err, "expected a key of letters, digits and . _ - before '=', not", key);
    if (!*value)
        return here(r, err, "expected a value after '=' for", key);
    if (!*r->section && strcmp(key, "include") == 0)
        return include(r, value, err);
    return first_time(r, key, err) && give(r, key, value, err);
}

static bool read_text(struct reading *r, const char *text, size_t bytes, struct err *err)
{
    bool good = true;
    const char *end = text + bytes;
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* some editors mark UTF-8 so */
    for (const char *at = text; good && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        char line[LONGEST_LINE];
        r->line++;
        if (length >= sizeof line || memchr(at, 0, length)) {
            good = here(r, err,
                        length >= sizeof line ? "this line is too long" : "expected text, found a zero byte",
                        NULL);
            break;
        }
        memcpy(line, at, length);
        line[length] = 0;
        good = read_line(r, line, err);
        at += length + 1;
    }
    names_fini(&r->seen);
    return good;
}

static bool read_file(struct reading *r, struct err *err)
{
    struct text content = {0};
    bool good =
        file_read(r->name, LONGEST_FILE, &content, err) && read_text(r, content.at, content.length, err);
    text_fini(&content);
    return good;
}

static bool same_file(const char *a, const char *b)
{
    char real_a[PATH_MAX], real_b[PATH_MAX];
    return realpath(a, real_a) && realpath(b, real_b) && strcmp(real_a, real_b) == 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Beside the file that includes it, or else in the folder for all: there it may go without its ".ini". False:
 * the path is too long. */
static bool find_included(const struct reading *r, const char *value, char path[PATH_MAX])
{
    const char *slash = strrchr(r->name, '/');
    int beside = slash && *value != '/' ? (int)(slash - r->name) + 1 : 0;
    bool fits = snprintf(path, PATH_MAX, "%.*s%s", beside, r->name, value) < PATH_MAX;
    if (!fits || !r->folder || strchr(value, '/') || is_there(path))
        return fits;
    char other[PATH_MAX];
    if (snprintf(other, PATH_MAX, "%s/%s", r->folder, value) < PATH_MAX && is_there(other))
        strcpy(path, other);
    else if (snprintf(other, PATH_MAX, "%s/%s.ini", r->folder, value) < PATH_MAX && is_there(other))
        strcpy(path, other);
    return true;
}

static bool include(struct reading *r, const char *value, struct err *err)
{
    char path[PATH_MAX];
    if (!find_included(r, value, path))
        return here(r, err, "this path is too long:", value);
    int depth = 0;
    for (const struct reading *up = r; up; up = up->by) {
        if (same_file(up->name, path))
            return here(r, err, "this include goes round in a circle:", value);
        if (++depth > DEEPEST_INCLUDE)
            return here(r, err, "files that include files go too deep at", value);
    }
    struct reading *inner = mem_alloc(1, sizeof *inner);
    *inner =
        (struct reading){.by = r, .name = path, .folder = r->folder, .setting = r->setting, .user = r->user};
    struct err why;
    bool good = read_file(inner, &why);
    /* a file that cannot be opened is told with the line that wants it */
    if (!good)
        inner->line ? err_set(err, "%s", why.text) : here(r, err, why.text, NULL);
    mem_free(inner);
    return good;
}

bool ini_read_file(const char *path, const char *folder, ini_setting *setting, void *user, struct err *err)
{
    struct reading *r = mem_alloc(1, sizeof *r);
    *r = (struct reading){.name = path, .folder = folder, .setting = setting, .user = user};
    bool good = read_file(r, err);
    mem_free(r);
    return good;
}

bool ini_read_text(const char *name, const char *text, size_t bytes, ini_setting *setting, void *user,
                   struct err *err)
{
    struct reading *r = mem_alloc(1, sizeof *r);
    *r = (struct reading){.name = name, .setting = setting, .user = user};
    bool good = read_text(r, text, bytes, err);
    mem_free(r);
    return good;
}

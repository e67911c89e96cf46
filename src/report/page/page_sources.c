/* The sources that profiles name, as far as they can be read now: only the lines around what was executed. */
#include "report/page/page.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"

#include <string.h>

enum {
    LARGEST_FILE = 4 << 20,
    MOST_BYTES = 3 << 19, /* of all sources of a run: a report is to stay small */
    LINES_BEFORE = 12,
    LINES_BEHIND = 6,
};

/* A run's file may come from anybody, and a report may go to anybody: what is no source is not taken in,
 * whatever a profile names. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {".cu",  ".cuh", ".h",  ".hh", ".hpp", ".hxx", ".inl", ".inc",
                                          ".cpp", ".cxx", ".cc", ".c",  ".cl",  ".ptx", ".hip", ".s"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < COUNT_OF(endings) && dot; i++)
        if (!strcmp(dot, endings[i]))
            return !file_is_endless(path);
    return false;
}

/* Which lines of a file, or of a module, were executed, and by which kernels. */
struct used {
    uint32_t first, last;
    struct names kernels;
};

static void use(struct used *used, double at)
{
    if (at < 1 || at >= UINT32_MAX)
        return;
    used->first = used->first ? (uint32_t)min_u64(used->first, (uint64_t)at) : (uint32_t)at;
    used->last = (uint32_t)max_u64(used->last, (uint64_t)at);
}

struct all_used {
    struct names names;
    struct used *at;
    size_t capacity;
};

static void note(struct all_used *all, const char *name, double line, const char *kernel)
{
    if (!name)
        return;
    size_t known = all->names.count, number = names_add(&all->names, name);
    if (number == known) {
        mem_grow(all->at, number, all->capacity);
        all->at[number] = (struct used){0};
    }
    use(&all->at[number], line);
    names_add(&all->at[number].kernels, kernel);
}

static void look(const struct json_value *kernels, struct all_used *files, struct all_used *modules)
{
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *places = json_member(json_element(kernels, i), "profile");
        const char *kernel = json_text_at(json_element(kernels, i), "kernel", "");
        for (size_t k = 0; k < json_length(places); k++) {
            const struct json_value *place = json_element(places, k);
            note(files, json_text(json_member(place, "file")), json_number_at(place, "line", 0), kernel);
            note(modules, json_text(json_member(place, "module")),
                 json_number_at(place, "ptx_line", json_number_at(place, "code_at", 0)), kernel);
        }
    }
}

static void forget(struct all_used *all)
{
    for (size_t i = 0; i < all->names.count; i++)
        names_fini(&all->at[i].kernels);
    names_fini(&all->names);
    mem_free(all->at);
}

/* ---- lines ---- */

void html_lines_add(struct html_lines *lines, uint32_t at, const char *text, size_t bytes)
{
    if (at > lines->to || at < lines->from)
        return;
    mem_grow(lines->list, lines->count, lines->capacity);
    struct html_line *line = &lines->list[lines->count++];
    *line = (struct html_line){.at = at};
    text_add_bytes(&line->text, text, bytes);
}

void html_lines_add_text(struct html_lines *lines, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    for (uint32_t line = 1; text < end && line <= lines->to; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        html_lines_add(lines, line, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

static size_t count_bytes(const struct html_lines *lines)
{
    size_t bytes = 0;
    for (size_t i = 0; i < lines->count; i++)
        bytes += lines->list[i].text.length + sizeof "\"\",1234";
    return bytes;
}

static void write_lines(const char *name, const char *kind, struct html_lines *lines, size_t *room)
{
    struct json_writer *json = lines->json;
    size_t bytes = count_bytes(lines);
    json_open_object(json, NULL);
    json_put_text(json, "name", name);
    json_put_text(json, "kind", kind);
    if (!lines->count) {
        json_put_text(json, "missing", "it could not be read when the report was made");
    } else if (bytes > *room) {
        json_put_text(json, "missing", "it was left out, as the report would become too large");
    } else {
        *room -= bytes;
        json_open_list(json, "at");
        for (size_t i = 0; i < lines->count; i++)
            json_put_count(json, NULL, lines->list[i].at);
        json_close(json);
        json_open_list(json, "text");
        for (size_t i = 0; i < lines->count; i++)
            json_put_text_bytes(json, NULL, lines->list[i].text.at, lines->list[i].text.length);
        json_close(json);
    }
    json_close(json);
    for (size_t i = 0; i < lines->count; i++)
        text_fini(&lines->list[i].text);
    mem_free(lines->list);
}

static struct html_lines lines_of(const struct used *used, struct json_writer *json)
{
    return (struct html_lines){.json = json,
                               .kernels = &used->kernels,
                               .from = used->first > LINES_BEFORE ? used->first - LINES_BEFORE : 1,
                               .to = used->last < UINT32_MAX - LINES_BEHIND ? used->last + LINES_BEHIND
                                                                            : used->last};
}

void html_sources_write(const struct html_request *request, const struct runfile *run,
                        struct json_writer *json)
{
    struct all_used files = {0}, modules = {0};
    size_t room = MOST_BYTES;
    look(json_member(run->json, "kernels"), &files, &modules);
    json_open_list(json, "sources");
    for (size_t i = 0; i < files.names.count && !request->no_sources; i++) {
        struct html_lines lines = lines_of(&files.at[i], json);
        struct text content = {0};
        struct err unused;
        if (is_source(files.names.at[i]) && file_read(files.names.at[i], LARGEST_FILE, &content, &unused))
            html_lines_add_text(&lines, content.at, content.length);
        text_fini(&content);
        write_lines(files.names.at[i], "file", &lines, &room);
    }
    for (size_t i = 0; i < modules.names.count && !request->no_sources; i++) {
        struct html_lines lines = lines_of(&modules.at[i], json);
        if (request->code)
            request->code(request->user, modules.names.at[i], &lines);
        write_lines(modules.names.at[i], "module", &lines, &room);
    }
    json_close(json);
    forget(&files);
    forget(&modules);
}

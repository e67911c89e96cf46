/* Any bytes as the JSON of a run: refused with one line, or a report is made of it, and a comparison with
 * itself, that shows no change. No name ends the element that holds the data. */
#include "report/compare/compare.h"
#include "report/page/page.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static size_t count_of(const char *text, size_t length, const char *word)
{
    size_t count = 0, own = strlen(word);
    const char *end = text + length;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, own)); at += own)
        count++;
    return count;
}

static void look_at_page(const struct runfile *run)
{
    char *page;
    size_t length;
    FILE *file = open_memstream(&page, &length);
    html_write(&(struct html_request){.runs = run, .run_count = 1, .no_sources = true}, file);
    fclose(file);
    if (count_of(page, length, "<script") != 2 || count_of(page, length, "</script") != 2)
        abort();
    (free)(page);
}

static void look_at_comparison(const struct runfile *run)
{
    struct comparison comparison;
    struct text text = {0};
    comparison_make(&comparison, run, run);
    for (size_t i = 0; i < comparison.kernel_count; i++)
        if (!comparison.kernels[i].why.length)
            abort();
    comparison_tell(&comparison, &text);
    text_fini(&text);
    comparison_fini(&comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct err err = {0};
    struct runfile run = {.path = "fuzz.json",
                          .json = json_read_bytes("fuzz.json", (const char *)data, bytes, &err)};
    if (!run.json || !runfile_check(run.json, run.path, &err)) {
        if (!*err.text || strchr(err.text, '\n'))
            abort();
    } else {
        look_at_page(&run);
        look_at_comparison(&run);
    }
    runfile_fini(&run);
    return 0;
}

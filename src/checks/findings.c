#include "checks/findings.h"
#include "base/err.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const checks_names[CHECK_COUNT] = {
#define C(name, help) #name,
    CHECKS(C)
#undef C
};

static bool add_check(const char *name, size_t length, uint32_t *checks)
{
    for (int i = 0; i < CHECK_COUNT; i++)
        if (strlen(checks_names[i]) == length && !strncmp(checks_names[i], name, length)) {
            *checks |= 1u << i;
            return true;
        }
    if (length != 3 || strncmp(name, "all", 3) != 0)
        return false;
    *checks = (1u << CHECK_COUNT) - 1;
    return true;
}

bool checks_parse(const char *text, uint32_t *checks, struct err *err)
{
    *checks = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!add_check(at, length, checks))
            return err_set(err, "expected memory, race, init, sync or all, not '%.*s'",
                           (int)(length < 80 ? length : 80), at);
        at += length;
        if (!*at)
            return true;
    }
}

/* ---- the list ---- */

static char *copy_of(const char *text)
{
    return text ? mem_text(text) : NULL;
}

void findings_fini(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *own = &findings->list[i];
        const char *const texts[] = {own->what, own->kernel, own->first, own->second, own->detail};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            mem_free((char *)(uintptr_t)texts[k]);
    }
    mem_free(findings->list);
    *findings = (struct findings){0};
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_like(const struct finding *a, const struct finding *b)
{
    return a->check == b->check && !strcmp(a->what, b->what) && same_text(a->kernel, b->kernel) &&
           same_text(a->first, b->first) && same_text(a->second, b->second);
}

static void show(struct findings *findings, const struct finding *finding)
{
    struct text text = {0};
    if (findings->shown++ >= findings->most)
        return;
    text_add(&text, "%s: %s", checks_names[finding->check], finding->what);
    if (finding->first)
        text_add(&text, "\n  %s%s", finding->second ? "first: " : "at: ", finding->first);
    if (finding->second)
        text_add(&text, "\n  then:  %s", finding->second);
    if (finding->detail)
        text_add(&text, "\n  %s", finding->detail);
    if (finding->kernel)
        text_add(&text, "\n  kernel %s, launch %" PRIu64, finding->kernel, finding->launch);
    if (finding->count > 1)
        text_add(&text, "; %" PRIu64 " like it", finding->count);
    findings->show(findings->user, text.at);
    text_fini(&text);
}

/* The list's own; NULL: it knows the finding already. */
static struct finding *keep(struct findings *findings, const struct finding *finding)
{
    for (size_t i = 0; i < findings->count; i++)
        if (is_like(&findings->list[i], finding)) {
            findings->list[i].count += finding->count;
            return NULL;
        }
    mem_grow(findings->list, findings->count, findings->capacity);
    struct finding *own = &findings->list[findings->count++];
    *own = *finding;
    own->what = copy_of(finding->what);
    own->kernel = copy_of(finding->kernel);
    own->first = copy_of(finding->first);
    own->second = copy_of(finding->second);
    own->detail = copy_of(finding->detail);
    return own;
}

void findings_add(struct findings *findings, const struct finding *finding)
{
    const struct finding *own = keep(findings, finding);
    if (own)
        show(findings, own);
}

void findings_note(struct findings *findings, const struct finding *finding)
{
    keep(findings, finding);
}

/* ---- summaries ---- */

static bool is_first_of_kernel(const struct findings *findings, size_t number)
{
    const struct finding *own = &findings->list[number];
    for (size_t i = 0; i < number; i++)
        if (findings->list[i].check == own->check && same_text(findings->list[i].kernel, own->kernel))
            return false;
    return own->kernel;
}

void findings_summarize(const struct findings *findings, uint32_t checks, struct text *text)
{
    for (int check = 0; check < CHECK_COUNT; check++) {
        uint64_t found = 0, kernels = 0, times = 0;
        if (!(checks >> check & 1))
            continue;
        for (size_t i = 0; i < findings->count; i++)
            if ((int)findings->list[i].check == check) {
                found++;
                times += findings->list[i].count;
                kernels += is_first_of_kernel(findings, i);
            }
        text_add(text, "%s--check %s: ", text->length ? "\n" : "", checks_names[check]);
        if (!found) {
            text_add(text, "nothing found");
            continue;
        }
        text_add(text, "%" PRIu64 " finding%s", found, found == 1 ? "" : "s");
        if (kernels)
            text_add(text, " in %" PRIu64 " kernel%s", kernels, kernels == 1 ? "" : "s");
        if (times > found)
            text_add(text, ", %" PRIu64 " times", times);
    }
    if (findings->shown > findings->most)
        text_add(text, "%s--check: %" PRIu64 " more finding%s not shown (--check-show)",
                 text->length ? "\n" : "", findings->shown - findings->most,
                 findings->shown - findings->most == 1 ? " is" : "s are");
}

/* ---- lines ---- */

static void add_field(struct text *text, const char *field)
{
    text_add(text, "\t");
    for (; field && *field; field++)
        text_add_bytes(text, *field == '\t' || *field == '\n' ? " " : field, 1);
}

void findings_write(const struct findings *findings, struct text *text)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *own = &findings->list[i];
        text_add(text, "%d\t%" PRIu64 "\t%" PRIu64, (int)own->check, own->count, own->launch);
        add_field(text, own->what);
        add_field(text, own->kernel);
        add_field(text, own->first);
        add_field(text, own->second);
        add_field(text, own->detail);
        text_add(text, "\n");
    }
}

bool finding_read(char *line, struct finding *finding)
{
    enum { FIELDS = 8 };
    char *fields[FIELDS], *at = line;
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = strsep(&at, "\t");
        if (!fields[i])
            return false;
    }
    unsigned long check = strtoul(fields[0], NULL, 10);
    *finding = (struct finding){.check = (enum check)check,
                                .count = strtoull(fields[1], NULL, 10),
                                .launch = strtoull(fields[2], NULL, 10),
                                .what = fields[3],
                                .kernel = *fields[4] ? fields[4] : NULL,
                                .first = *fields[5] ? fields[5] : NULL,
                                .second = *fields[6] ? fields[6] : NULL,
                                .detail = *fields[7] ? fields[7] : NULL};
    return check < CHECK_COUNT && !at;
}

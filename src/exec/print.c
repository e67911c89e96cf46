#include "exec/print.h"
#include "exec/block.h"
#include "exec/exec.h"

#include <stdio.h>
#include <string.h>

static void add_string(struct text *out, const char *spec, struct print_source *source)
{
    struct text text = {0};
    bool given = source->string(source, &text);
    text_add(out, spec, given ? (text.at ? text.at : "") : "(null)");
    text_fini(&text);
}

/* One conversion: `flags` is its text from the % on, without the length modifiers and its letter. */
static void add_conversion(struct text *out, const char *flags, char kind, int length,
                           struct print_source *source)
{
    char spec[64];
    bool wide = length > 0;
    switch (kind) {
    case 'd':
    case 'i':
        snprintf(spec, sizeof spec, "%sll%c", flags, kind);
        uint64_t bits = source->number(source, wide ? 8 : 4);
        text_add(out, spec,
                 wide          ? (long long)bits
                 : length < -1 ? (long long)(int8_t)bits
                 : length      ? (long long)(int16_t)bits
                               : (long long)(int32_t)bits);
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        snprintf(spec, sizeof spec, "%sll%c", flags, kind);
        uint64_t number = source->number(source, wide ? 8 : 4);
        text_add(out, spec,
                 (unsigned long long)(length < -1  ? (uint8_t)number
                                      : length < 0 ? (uint16_t)number
                                                   : number));
        break;
    case 'c':
        snprintf(spec, sizeof spec, "%sc", flags);
        text_add(out, spec, (int)source->number(source, 4));
        break;
    case 'p':
        snprintf(spec, sizeof spec, "%sp", flags);
        text_add(out, spec, (void *)(uintptr_t)source->number(source, 8));
        break;
    case 's':
        snprintf(spec, sizeof spec, "%ss", flags);
        add_string(out, spec, source);
        break;
    default: {
        double value;
        uint64_t double_bits = source->number(source, 8);
        memcpy(&value, &double_bits, 8);
        snprintf(spec, sizeof spec, "%s%c", flags, kind);
        text_add(out, spec, value);
    }
    }
}

/* The flags, width and precision of one conversion, at most so many characters; * is replaced by its value.
 */
static const char *copy_flags(const char *at, char *flags, size_t room, struct print_source *source)
{
    size_t used = 0;
    flags[used++] = '%';
    uint32_t digits = 0; /* wider than four digits would only fill memory */
    while (*at && strchr("-+ #0123456789.*", *at) && used + 16 < room) {
        digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
        if (digits > 4)
            ;
        else if (*at == '*')
            used += (size_t)snprintf(flags + used, room - used, "%d", (int)source->number(source, 4) % 10000);
        else
            flags[used++] = *at;
        at++;
    }
    flags[used] = 0;
    return at;
}

void print_formatted(struct text *out, const char *at, struct print_source *source)
{
    while (*at && source->good) {
        size_t plain = strcspn(at, "%");
        text_add_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        if (at[1] == '%') {
            text_add_bytes(out, "%", 1);
            at += 2;
            continue;
        }
        char flags[48];
        const char *kind = copy_flags(at + 1, flags, sizeof flags, source);
        int length = 0; /* -2: hh, -1: h, else long */
        for (; *kind && strchr("hlLqjzt", *kind); kind++)
            length += *kind == 'h' ? -1 : 1;
        if (!*kind || !strchr("diouxXcpsfFeEgGaA", *kind)) { /* as written */
            text_add_bytes(out, at, 1);
            at++;
            continue;
        }
        add_conversion(out, flags, *kind, length, source);
        at = kind + 1;
    }
}

void print_line(struct worker *worker)
{
    const struct launch *launch = worker->grid->launch;
    struct text *line = &worker->line;
    if (worker->printed) {
        text_add(worker->printed, "%s", line->length ? line->at : "");
    } else if (launch->print && line->length) {
        pthread_mutex_lock(&worker->grid->lock);
        fwrite(line->at, 1, line->length, launch->print);
        pthread_mutex_unlock(&worker->grid->lock);
    }
    line->length = 0;
}

/* The mangling is that of the Itanium C++ ABI: what kernels' names have of it. */
#include "base/demangle.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SEEN = 512,
    LONGEST = 200,
    LONGEST_WHOLE = 4000,
    LONGEST_LIST = 60,
    DEEPEST = 40,
    DEEPEST_SHOWN = 2
};

struct reader {
    const char *at;
    bool lost;             /* something was not understood */
    bool whole;            /* all arguments are shown, however many */
    int depth;             /* of what is read */
    int level;             /* of template arguments */
    char *seen[MOST_SEEN]; /* what S_, S0_, ... stand for */
    int seen_count;
};

static void read_type(struct reader *r, struct text *text);
static void read_name(struct reader *r, struct text *text, bool is_type, bool with_scopes);
static void read_parameter(struct reader *r, struct text *text);

static void lose(struct reader *r)
{
    r->lost = true;
    r->at = "";
}

static bool take(struct reader *r, const char *wanted)
{
    size_t length = strlen(wanted);
    bool there = strncmp(r->at, wanted, length) == 0;
    r->at += there ? length : 0;
    return there;
}

static void remember(struct reader *r, const struct text *text)
{
    if (r->seen_count == MOST_SEEN || !text->length || text->length > (r->whole ? LONGEST_WHOLE : LONGEST))
        lose(r);
    else
        r->seen[r->seen_count++] = mem_text(text->at);
}

static void copy(struct text *to, const struct text *from)
{
    if (from->length)
        text_add_bytes(to, from->at, from->length);
}

/* ---- S_, St and the like ---- */

static const char *const known[][2] = {{"St", "std"},     {"Sa", "allocator"}, {"Sb", "basic_string"},
                                       {"Ss", "string"},  {"Si", "istream"},   {"So", "ostream"},
                                       {"Sd", "iostream"}};

/* "_", "0_", "A_": the first, the second, the twelfth. */
static int read_number_36(struct reader *r)
{
    int number = 0;
    if (take(r, "_"))
        return 0;
    for (; isdigit((unsigned char)*r->at) || isupper((unsigned char)*r->at); r->at++)
        number = number < MOST_SEEN
                     ? number * 36 + (isdigit((unsigned char)*r->at) ? *r->at - '0' : *r->at - 'A' + 10)
                     : number;
    return take(r, "_") ? number + 1 : MOST_SEEN;
}

static void read_seen(struct reader *r, struct text *text)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (take(r, known[i][0])) {
            text_add(text, "%s", known[i][1]);
            return;
        }
    }
    r->at++;
    int number = read_number_36(r);
    if (number < r->seen_count)
        text_add(text, "%s", r->seen[number]);
    else
        lose(r);
}

/* ---- names ---- */

/* Inline namespaces that are there for linkers. */
static bool is_version(const char *name, size_t length)
{
    return (length > 4 && !strncmp(name, "CUB_", 4)) || (length > 7 && !strncmp(name, "THRUST_", 7)) ||
           (length > 2 && !strncmp(name, "__", 2) && isdigit((unsigned char)name[2])) ||
           (length >= 11 && !strncmp(name, "_GLOBAL__N_", 11));
}

/* "5saxpy", "Ul..E_", a constructor. Adds nothing for what is but a version. */
static void read_part(struct reader *r, struct text *text)
{
    take(r, "L"); /* static */
    if (isdigit((unsigned char)*r->at)) {
        char *name;
        unsigned long length = strtoul(r->at, &name, 10);
        if (length > strlen(name)) {
            lose(r);
            return;
        }
        if (!is_version(name, length))
            text_add_bytes(text, name, length);
        r->at = name + length;
    } else if (take(r, "Ul")) {
        struct text unused = {0};
        while (*r->at && *r->at != 'E')
            read_type(r, &unused);
        text_fini(&unused);
        bool ends = take(r, "E");
        int number = ends ? read_number_36(r) : MOST_SEEN;
        if (number == MOST_SEEN)
            lose(r);
        else
            text_add(text, "lambda#%d", number + 1);
    } else if (take(r, "Ut")) {
        text_add(text, "unnamed");
        read_number_36(r);
    } else {
        lose(r);
    }
    while (take(r, "B")) { /* a tag of the ABI */
        struct text unused = {0};
        read_part(r, &unused);
        text_fini(&unused);
    }
}

static void read_literal(struct reader *r, struct text *text)
{
    struct text type = {0};
    if (take(r, "_Z")) {
        read_name(r, text, false, false);
        while (*r->at && *r->at != 'E')
            read_type(r, &type);
    } else {
        bool is_bool = *r->at == 'b';
        read_type(r, &type);
        int length = (int)strcspn(r->at, "E");
        if (is_bool)
            text_add(text, "%s", *r->at == '1' ? "true" : "false");
        else if (*r->at == 'n')
            text_add(text, "-%.*s", length - 1, r->at + 1);
        else
            text_add(text, "%.*s", length, r->at);
        r->at += length;
    }
    if (!take(r, "E"))
        lose(r);
    text_fini(&type);
}

/* "adL_Z1fvEE" behind X: the address of a function. Other expressions are not understood. */
static void read_expression(struct reader *r, struct text *text)
{
    if (!take(r, "adL")) {
        lose(r);
        return;
    }
    text_add(text, "&");
    read_literal(r, text);
    if (!take(r, "E"))
        lose(r);
}

/* Behind I or J, up to their E. */
static void read_list(struct reader *r, struct text *text)
{
    while (!take(r, "E")) {
        if (!*r->at || ++r->depth > DEEPEST) {
            lose(r);
            text_add(text, "%s..", text->length ? ", " : "");
            return;
        }
        struct text one = {0};
        if (take(r, "L"))
            read_literal(r, &one);
        else if (take(r, "J"))
            read_list(r, &one);
        else if (take(r, "X"))
            read_expression(r, &one);
        else
            read_type(r, &one);
        r->depth--;
        if (one.length && !r->lost)
            text_add(text, "%s%s", text->length ? ", " : "", one.at);
        text_fini(&one);
    }
}

/* How much of a list are whole arguments, within this length. */
static size_t whole_arguments(const char *list, size_t most)
{
    size_t whole = 0;
    int inside = 0;
    for (size_t i = 0; i <= most; i++) {
        inside += (list[i] == '<') - (list[i] == '>');
        whole = list[i] == ',' && !inside ? i : whole;
    }
    return whole;
}

/* "IiLi8EE" behind a name; deep inside of others it is read and not shown. */
static void read_arguments(struct reader *r, struct text *text)
{
    struct text list = {0};
    r->level++;
    r->at++;
    read_list(r, &list);
    r->level--;
    size_t shown =
        list.length > LONGEST_LIST && !r->whole ? whole_arguments(list.at, LONGEST_LIST) : list.length;
    if (r->level >= DEEPEST_SHOWN && !r->whole)
        text_add(text, "<..>");
    else
        text_add(text, "<%.*s%s>", (int)shown, list.length ? list.at : "",
                 shown == list.length ? ""
                 : shown              ? ", .."
                                      : "..");
    text_fini(&list);
}

/* "N2ns6kernelILi8EEE" behind the N. `scopes` gets all of it, `last` the last part. */
static void read_nested(struct reader *r, struct text *last, struct text *scopes, bool is_type)
{
    while (*r->at && strchr("rVKRO", *r->at))
        r->at++;
    while (!r->lost && !take(r, "E")) {
        if (*r->at == 'I') {
            size_t before = last->length;
            read_arguments(r, last);
            text_add(scopes, "%s", last->at + before);
        } else {
            bool seen = *r->at == 'S';
            last->length = 0;
            if (seen)
                read_seen(r, last);
            else if (*r->at == 'T')
                read_parameter(r, last);
            else
                read_part(r, last);
            if (last->length)
                text_add(scopes, "%s%s", scopes->length ? "::" : "", last->at);
            else
                text_add(last, "_"); /* a version: it counts all the same */
            if (seen || !strcmp(last->at, "T"))
                continue; /* known already */
        }
        if (*r->at != 'E' || is_type)
            remember(r, last);
    }
}

static void read_name(struct reader *r, struct text *text, bool is_type, bool with_scopes)
{
    struct text last = {0}, scopes = {0};
    if (take(r, "N")) {
        read_nested(r, &last, &scopes, is_type);
        copy(text, with_scopes ? &scopes : &last);
    } else {
        take(r, "St");
        read_part(r, &last);
        if (is_type || *r->at == 'I')
            remember(r, &last);
        if (*r->at == 'I') {
            read_arguments(r, &last);
            if (is_type)
                remember(r, &last);
        }
        copy(text, &last);
    }
    text_fini(&last);
    text_fini(&scopes);
}

/* "4mainEUliE_" behind Z: what a function has inside, most often a lambda. */
static void read_local(struct reader *r, struct text *text)
{
    struct text scopes = {0}, unused = {0};
    read_name(r, &scopes, false, true);
    while (*r->at && *r->at != 'E')
        read_type(r, &unused);
    if (!take(r, "E"))
        lose(r);
    if (scopes.length)
        text_add(&scopes, "::");
    if (*r->at == 'N' || isdigit((unsigned char)*r->at) || *r->at == 'U')
        read_part(r, &scopes);
    else
        lose(r);
    if (take(r, "__")) { /* one of several of this name: __12_ */
        while (isdigit((unsigned char)*r->at))
            r->at++;
        if (!take(r, "_"))
            lose(r);
    } else if (*r->at == '_' && isdigit((unsigned char)r->at[1]))
        r->at += 2;
    if (!r->lost)
        remember(r, &scopes);
    copy(text, &scopes);
    text_fini(&scopes);
    text_fini(&unused);
}

/* ---- types ---- */

static const char *builtin(const char *at)
{
    static const char *const names[][2] = {{"v", "void"},
                                           {"b", "bool"},
                                           {"c", "char"},
                                           {"a", "signed char"},
                                           {"h", "unsigned char"},
                                           {"s", "short"},
                                           {"t", "unsigned short"},
                                           {"i", "int"},
                                           {"j", "unsigned"},
                                           {"l", "long"},
                                           {"m", "unsigned long"},
                                           {"x", "long long"},
                                           {"y", "unsigned long long"},
                                           {"n", "__int128"},
                                           {"o", "unsigned __int128"},
                                           {"f", "float"},
                                           {"d", "double"},
                                           {"e", "long double"},
                                           {"w", "wchar_t"},
                                           {"z", "..."},
                                           {"Dn", "nullptr_t"},
                                           {"Dh", "half"},
                                           {"Di", "char32_t"},
                                           {"Ds", "char16_t"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strncmp(at, names[i][0], strlen(names[i][0])))
            return names[i][1];
    }
    return NULL;
}

/* What stands before or behind another type: P, R, K ... */
static void read_compound(struct reader *r, const char *before, const char *behind, struct text *text)
{
    struct text inner = {0}, whole = {0};
    r->at++;
    read_type(r, &inner);
    bool is_pointer = inner.length && inner.at[inner.length - 1] == '*'; /* int* const is no const int* */
    if (is_pointer && *before)
        text_add(&whole, "%s %.*s", inner.at, (int)strlen(before) - 1, before);
    else
        text_add(&whole, "%s%s%s", before, inner.length ? inner.at : "", behind);
    remember(r, &whole);
    copy(text, &whole);
    text_fini(&inner);
    text_fini(&whole);
}

static void read_function_type(struct reader *r, struct text *text)
{
    struct text unused = {0}, whole = {0};
    r->at++;
    while (*r->at && *r->at != 'E')
        read_type(r, &unused);
    if (!take(r, "E"))
        lose(r);
    text_add(&whole, "function");
    remember(r, &whole);
    copy(text, &whole);
    text_fini(&unused);
    text_fini(&whole);
}

static void read_array(struct reader *r, struct text *text)
{
    struct text inner = {0}, whole = {0};
    int length = (int)strcspn(++r->at, "_");
    const char *count = r->at;
    r->at += length;
    if (!take(r, "_"))
        lose(r);
    read_type(r, &inner);
    text_add(&whole, "%s[%.*s]", inner.length ? inner.at : "", length, count);
    remember(r, &whole);
    copy(text, &whole);
    text_fini(&inner);
    text_fini(&whole);
}

/* S..., and template arguments behind it. */
static void read_seen_type(struct reader *r, struct text *text)
{
    struct text name = {0};
    bool std_member = r->at[1] == 't' && r->at[2] != 'I';
    if (std_member) {
        read_name(r, &name, true, false);
    } else {
        read_seen(r, &name);
        if (*r->at == 'I') {
            read_arguments(r, &name);
            remember(r, &name);
        }
    }
    copy(text, &name);
    text_fini(&name);
}

static void read_parameter(struct reader *r, struct text *text)
{
    struct text name = {0};
    r->at++;
    read_number_36(r);
    text_add(&name, "T");
    remember(r, &name);
    copy(text, &name);
    text_fini(&name);
}

static void read_type(struct reader *r, struct text *text)
{
    const char *name = builtin(r->at);
    if (++r->depth > DEEPEST)
        lose(r);
    else if (name) {
        r->at += *r->at == 'D' ? 2 : 1;
        text_add(text, "%s", name);
    } else if (*r->at == 'P')
        read_compound(r, "", "*", text);
    else if (*r->at == 'R')
        read_compound(r, "", "&", text);
    else if (*r->at == 'O')
        read_compound(r, "", "&&", text);
    else if (*r->at == 'K')
        read_compound(r, "const ", "", text);
    else if (*r->at == 'V')
        read_compound(r, "volatile ", "", text);
    else if (*r->at == 'r')
        read_compound(r, "", "", text);
    else if (*r->at == 'F')
        read_function_type(r, text);
    else if (*r->at == 'A')
        read_array(r, text);
    else if (*r->at == 'S')
        read_seen_type(r, text);
    else if (*r->at == 'T')
        read_parameter(r, text);
    else if (take(r, "Dp"))
        read_type(r, text);
    else if (take(r, "Z"))
        read_local(r, text);
    else if (*r->at == 'N' || isdigit((unsigned char)*r->at))
        read_name(r, text, true, false);
    else
        lose(r);
    r->depth--;
}

/* ---- for people ---- */

static void demangle_to(const char *name, bool whole, struct text *text)
{
    struct text parts = {0};
    struct reader *r = mem_alloc(1, sizeof *r);
    r->at = name;
    r->whole = whole;
    if (take(r, "_Z"))
        read_name(r, &parts, false, true);
    text_add(text, "%s", parts.length ? parts.at : name);
    for (int i = 0; i < r->seen_count; i++)
        mem_free(r->seen[i]);
    mem_free(r);
    text_fini(&parts);
}

void demangle(const char *name, struct text *text)
{
    demangle_to(name, false, text);
}

void demangle_whole(const char *name, struct text *text)
{
    demangle_to(name, true, text);
}

const char *demangled(const char *name)
{
    static _Thread_local char kept[LONGEST + 1];
    struct text text = {0};
    demangle(name, &text);
    snprintf(kept, sizeof kept, "%s", text.at);
    text_fini(&text);
    return kept;
}

/* Behind the first namespace, or NULL. */
static const char *without_scope(const char *name)
{
    size_t plain = strcspn(name, "<:");
    return name[plain] == ':' && name[plain + 1] == ':' ? name + plain + 2 : NULL;
}

void name_shorten(const char *name, size_t room, struct text *text)
{
    for (const char *next; strlen(name) > room && (next = without_scope(name));)
        name = next;
    size_t length = strlen(name), own = strcspn(name, "<");
    if (length <= room || room < 4) {
        text_add(text, "%.*s", (int)room, name);
        return;
    }
    size_t behind = (room - 2) / 2, before = room - 2 - behind;
    if (own + 2 > room)
        length = own; /* without arguments, of which nothing would be left */
    else if (own < length)
        before = own, behind = room - 2 - own;
    text_add(text, "%.*s..%.*s", (int)before, name, (int)behind, name + length - behind);
}

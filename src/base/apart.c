#include "base/apart.h"
#include "base/demangle.h"
#include "base/mem.h"

#include <string.h>

/* A name and its arguments, which are names. */
struct node {
    struct text whole;
    struct text own; /* without arguments: "run<>::lambda#1" */
    struct node *arguments;
    size_t count, capacity;
};

/* ---- reading ---- */

static const char *read_node(const char *at, struct node *node);

static const char *read_arguments(const char *at, struct node *node)
{
    do {
        mem_grow(node->arguments, node->count, node->capacity);
        at += strspn(at, ", ");
        at = read_node(at, &node->arguments[node->count++]);
    } while (*at == ',');
    return *at == '>' ? at + 1 : at;
}

/* Up to the comma or bracket that ends it. */
static const char *read_node(const char *at, struct node *node)
{
    const char *start = at;
    *node = (struct node){0};
    while (*at && *at != ',' && *at != '>') {
        size_t plain = strcspn(at, "<>,");
        text_add_bytes(&node->own, at, plain);
        at += plain;
        if (*at == '<') {
            text_add(&node->own, "<>");
            at = read_arguments(at + 1, node);
        }
    }
    text_add(&node->own, "%s", ""); /* ends in a zero byte, even when it is empty */
    text_add(&node->whole, "%.*s", (int)(at - start), start);
    return at;
}

static void node_fini(struct node *node)
{
    for (size_t i = 0; i < node->count; i++)
        node_fini(&node->arguments[i]);
    mem_free(node->arguments);
    text_fini(&node->whole);
    text_fini(&node->own);
}

/* ---- what differs ---- */

static bool is_like(const struct node *a, const struct node *b)
{
    return a->count == b->count && !strcmp(a->own.at, b->own.at);
}

static bool same_argument(const struct node *a, const struct node *b, size_t argument)
{
    return !strcmp(a->arguments[argument].whole.at, b->arguments[argument].whole.at);
}

/* Whether these arguments alone tell a node from all others that differ from it at all. */
static bool are_enough(const struct node *node, const struct node **others, size_t count, const bool *kept)
{
    for (size_t i = 0; i < count; i++) {
        bool differs = !strcmp(node->whole.at, others[i]->whole.at);
        for (size_t k = 0; k < node->count && !differs; k++)
            differs = kept[k] && !same_argument(node, others[i], k);
        if (!differs)
            return false;
    }
    return true;
}

/* "run<>::lambda#1" with what is to stand between the first brackets; what says nothing is left out. */
static void add_own(struct text *text, const char *own, const char *arguments)
{
    for (const char *brackets; (brackets = strstr(own, "<>")); own = brackets + 2) {
        text_add(text, "%.*s", (int)(brackets - own), own);
        if (arguments && *arguments)
            text_add(text, "<%s>", arguments);
        arguments = NULL;
    }
    text_add(text, "%s", own);
}

/* Adds what tells a node from the others. An argument of the kernel itself that is the only one of its kind
 * is told with its own first one: ParallelReduce<Dot> says more than ParallelReduce. */
static void add_difference(struct text *text, const struct node *node, const struct node **nodes,
                           size_t count, int depth)
{
    const struct node **alike = mem_alloc(count, sizeof *alike);
    const struct node **inner = mem_alloc(count, sizeof *inner);
    bool *kept = mem_alloc(node->count, sizeof *kept);
    struct text arguments = {0};
    size_t alike_count = 0;
    bool plain = false; /* an argument that differs says little alone: float, 8 */
    for (size_t i = 0; i < count; i++) {
        if (is_like(node, nodes[i]))
            alike[alike_count++] = nodes[i];
    }
    for (size_t k = 0; k < node->count; k++) {
        for (size_t i = 0; i < alike_count; i++)
            kept[k] |= !same_argument(node, alike[i], k);
    }
    size_t first = 0;
    while (first < node->count && !kept[first])
        first++;
    for (size_t k = node->count; k-- > first + 1;) { /* the last ones say least, and the first one most */
        bool was = kept[k];
        kept[k] = false;
        kept[k] = was && !are_enough(node, alike, alike_count, kept);
    }
    for (size_t k = 0; k < node->count; k++) {
        if (!kept[k])
            continue;
        for (size_t i = 0; i < alike_count; i++)
            inner[i] = &alike[i]->arguments[k];
        plain |= !node->arguments[k].count;
        if (arguments.length)
            text_add(&arguments, ", ");
        add_difference(&arguments, &node->arguments[k], inner, alike_count, depth + 1);
    }
    if (depth == 1 && alike_count == 1 && node->count)
        add_own(&arguments, node->arguments[0].own.at, NULL);
    if (alike_count < count || (depth && plain))
        add_own(text, node->own.at, arguments.at);
    else if (arguments.length)
        text_add_bytes(text, arguments.at, arguments.length);
    text_fini(&arguments);
    mem_free(alike);
    mem_free(inner);
    mem_free(kept);
}

/* ---- for people ---- */

static void shorten(const char *name, size_t room, struct text *text)
{
    struct text readable = {0};
    demangle(name, &readable);
    name_shorten(readable.at, room, text);
    text_fini(&readable);
}

/* The bracket that ends the name, if it is of the first one that opens: "a<b>", not "a<b>, c<d>". */
static char *closing(char *name)
{
    int depth = 0;
    for (char *at = name; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (*at == '>' && !depth)
            return at[1] ? NULL : at;
    }
    return NULL;
}

/* What both parts are too long for: "cuda_pa..l_memory<8>". False: that would not say more than the
 * difference. */
static bool add_both(struct text *text, const char *own, const char *difference, size_t room)
{
    struct text name = {0};
    size_t length = strlen(difference);
    if (strpbrk(difference, "<:") || length + 10 > room)
        return false;
    add_own(&name, own, NULL);
    name_shorten(name.at, room - length - 2, text);
    text_add(text, "<%s>", difference);
    text_fini(&name);
    return true;
}

/* In less room, what stands between the outermost brackets says more than what stands before them. */
static void add_within(struct text *text, const char *own, struct text *difference, size_t room)
{
    struct text both = {0};
    add_own(&both, own, difference->at);
    const char *from = both.at;
    for (const char *next; strlen(from) > room && (next = strstr(from, "::"));) {
        if (next > from + strcspn(from, "<"))
            break;
        from = next + 2; /* without namespaces */
    }
    if (strlen(from) <= room) {
        text_add(text, "%s", from);
    } else if (!add_both(text, own, difference->at, room)) {
        char *at = difference->at;
        for (char *end; strlen(at) > room && (end = closing(at));) {
            *end = 0;
            at = strchr(at, '<') + 1;
        }
        name_shorten(at, room, text);
    }
    text_fini(&both);
}

static bool is_taken(const struct text *texts, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++) {
        if (k != i && !strcmp(texts[k].at, texts[i].at))
            return true;
    }
    return false;
}

void names_apart(const char *const *names, size_t count, size_t room, struct text *texts)
{
    struct node *nodes = mem_alloc(count, sizeof *nodes);
    const struct node **alike = mem_alloc(count, sizeof *alike);
    struct text *plain = mem_alloc(count, sizeof *plain);
    bool *taken = mem_alloc(count, sizeof *taken);
    for (size_t i = 0; i < count; i++) {
        struct text whole = {0};
        demangle_whole(names[i], &whole);
        read_node(whole.at, &nodes[i]);
        shorten(names[i], room, &plain[i]);
        text_fini(&whole);
    }
    for (size_t i = 0; i < count; i++)
        taken[i] = is_taken(plain, count, i);
    for (size_t i = 0; i < count; i++) {
        size_t alike_count = 0;
        bool any = false;
        for (size_t k = 0; k < count; k++) {
            if (is_like(&nodes[i], &nodes[k])) {
                alike[alike_count++] = &nodes[k];
                any |= taken[k];
            }
        }
        struct text difference = {0};
        if (any)
            add_difference(&difference, &nodes[i], alike, alike_count, 0);
        if (difference.length)
            add_within(&texts[i], nodes[i].own.at, &difference, room);
        else
            text_add(&texts[i], "%s", plain[i].at);
        text_fini(&difference);
    }
    for (size_t i = 0; i < count; i++) {
        node_fini(&nodes[i]);
        text_fini(&plain[i]);
    }
    mem_free(nodes);
    mem_free(alike);
    mem_free(plain);
    mem_free(taken);
}

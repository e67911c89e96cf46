/* Policies and listeners of your own: a shared object that `--plugin FILE.so` loads.
 *
 *   #include <heddle_plugin.h>
 *   static const struct heddle_replacement policies[] = {
 *       {"mine", "the line in the first way leaves", used, came, choose}, {0}};
 *   HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "my policies", .replacements = policies};
 *
 *   cc -shared -fPIC -o mine.so mine.c $(pkg-config --cflags heddle)
 *   heddle bench vecadd --mode timing --plugin ./mine.so --set sm.l1_policy=mine
 *
 * Each list ends with a row without a name. docs/plugins.md says more; docs/examples/plugins has whole ones.
 *
 * A policy must be a function of its arguments alone: no static variables, no clock, no random numbers but from
 * `seed`. It is called from several threads at once. Results are then the same for any number of threads. */
#ifndef HEDDLE_PLUGIN_H
#define HEDDLE_PLUGIN_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A plugin of another version is refused. */
#define HEDDLE_PLUGIN_VERSION 1

/* ---- which line of a set leaves a cache ----
 *
 * A name becomes a value of the keys sm.l1_policy, l2.policy and those of CPU caches, and of `heddle caches
 * --policy`. `state` is of one set: at least a byte for each way, up to a multiple of 8; zeros in an empty set. */
struct heddle_replacement {
    const char *name, *help;
    void (*used)(uint8_t *state, uint32_t ways, uint32_t way); /* the way's line was used again */
    void (*came)(uint8_t *state, uint32_t ways, uint32_t way); /* a line came to the way */
    /* The way whose line leaves: one of the bits of `among`, which is never 0. `seed` is the set's own. */
    uint32_t (*choose)(uint8_t *state, uint32_t ways, uint64_t among, uint64_t seed);
};

/* ---- what becomes of a page that a GPU wants ----
 *
 * A name becomes a value of the key paging.policy. */
enum heddle_page_right { HEDDLE_PAGE_NONE, HEDDLE_PAGE_READ, HEDDLE_PAGE_WRITE };
enum { HEDDLE_PAGE_HOST = 63, HEDDLE_PAGE_NOBODY = 64 }; /* beside the numbers of GPUs */

struct heddle_page {
    uint64_t address;  /* physical: it stays the same wherever the page is */
    uint64_t bytes;    /* a power of two */
    uint64_t holders;  /* a bit for each GPU that has a copy, and for the host; never 0 */
    uint32_t writable; /* not 0: its only holder may write */
};

struct heddle_page_want {
    uint64_t address;
    uint32_t gpu;
    uint32_t right; /* enum heddle_page_right: more than it has */
};

struct heddle_page_plan {
    uint32_t splits; /* not 0: the page is halved first, and the rest is about the half that is wanted */
    uint32_t source; /* the holder that sends the bytes; HEDDLE_PAGE_NOBODY: the GPU has them */
    uint64_t drops;  /* holders that hold it no more, maybe the source among them */
    uint32_t right;  /* that the GPU gets: what it wants, or more */
};

struct heddle_page_policy {
    const char *name, *help;
    uint32_t merges; /* not 0: neighbours that one GPU holds alone become one page again */
    /* A page of `least` bytes cannot be split. Who gets the right to write must be the only holder. */
    struct heddle_page_plan (*plan)(const struct heddle_page *page, const struct heddle_page_want *want,
                                    uint64_t least);
};

/* ---- what happens in the machine ----
 *
 * As by heddle_listen, and with its rules: one thread runs the machine, in the order of simulated time. */
struct heddle_listener {
    const char *name, *help;
    unsigned kinds; /* 1 << HEDDLE_KERNEL | ... */
    /* A machine begins; `text` is what --plugin had behind the comma, or "". Gives `user`. May be NULL. */
    void *(*begin)(const char *text);
    void (*event)(void *user, struct heddle_event *event);
    void (*end)(void *user); /* the machine ends; or NULL */
};

/* ---- the plugin: the one symbol that is looked for ---- */
struct heddle_plugin {
    uint32_t version; /* HEDDLE_PLUGIN_VERSION */
    const char *name;
    const struct heddle_replacement *replacements;  /* or NULL; and the same below */
    const struct heddle_page_policy *page_policies;
    const struct heddle_listener *listeners;
};

HEDDLE_API extern const struct heddle_plugin heddle_plugin;
#define HEDDLE_PLUGIN const struct heddle_plugin heddle_plugin

#ifdef __cplusplus
}
#endif

#endif

#include "plugin/plugin.h"
#include "plugin/loaded.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "cache/replace.h"
#include "paging/policy.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plugin_loaded loaded[PLUGINS_MOST];
static size_t loaded_count;

size_t plugin_count(void)
{
    return loaded_count;
}

const struct plugin_loaded *plugin_at(size_t number)
{
    return &loaded[number];
}

/* ---- page policies: ours are asked with shifts ---- */

_Static_assert((int)HEDDLE_PAGE_READ == (int)PAGE_READ && (int)HEDDLE_PAGE_WRITE == (int)PAGE_WRITE &&
                   (int)HEDDLE_PAGE_HOST == (int)PAGE_HOST && (int)HEDDLE_PAGE_NOBODY == (int)PAGE_NOBODY,
               "numbers are the same");

static struct page_plan plan_page(const void *user, const struct page *page, const struct page_want *want,
                                  uint32_t least_shift)
{
    const struct heddle_page_policy *policy = user;
    struct heddle_page its = {.address = page->at,
                              .bytes = UINT64_C(1) << page->shift,
                              .holders = page->holders,
                              .writable = page->is_exclusive};
    struct heddle_page_want wants = {want->at, want->gpu, want->right};
    struct heddle_page_plan plan = policy->plan(&its, &wants, UINT64_C(1) << least_shift);
    return (struct page_plan){.splits = plan.splits != 0,
                              .source = plan.source,
                              .drops = plan.drops,
                              .right = (enum page_right)plan.right};
}

/* ---- adding rows ---- */

static bool add_replacements(const struct heddle_plugin *plugin, struct err *err)
{
    for (const struct heddle_replacement *row = plugin->replacements; row && row->name; row++) {
        struct replace_own own = {row->name, row->help, row->used, row->came, row->choose};
        if (!replace_own_add(&own, err))
            return false;
    }
    return true;
}

static bool add_page_policies(const struct heddle_plugin *plugin, struct err *err)
{
    for (const struct heddle_page_policy *row = plugin->page_policies; row && row->name; row++) {
        struct page_policy_row own = {
            .own = plan_page, .user = row, .name = row->name, .merges = row->merges != 0};
        if (!row->plan)
            return err_set(err, "the page policy %.80s lacks a function", row->name);
        if (!page_policy_add(&own, err))
            return false;
    }
    return true;
}

static bool check_listeners(const struct heddle_plugin *plugin, struct err *err)
{
    for (const struct heddle_listener *row = plugin->listeners; row && row->name; row++) {
        if (!row->event || !row->kinds)
            return err_set(err, "the listener %.80s lacks %s", row->name,
                           row->event ? "kinds" : "a function");
        if (row->kinds >> PROBE_KIND_COUNT)
            return err_set(err, "the listener %.80s: kinds 0x%x: there are %d, a bit each", row->name,
                           row->kinds, PROBE_KIND_COUNT);
    }
    return true;
}

static bool add_rows(const struct heddle_plugin *plugin, struct err *err)
{
    bool is_empty = !plugin->replacements && !plugin->page_policies && !plugin->listeners;
    if (plugin->version != HEDDLE_PLUGIN_VERSION)
        return err_set(
            err, "it is a plugin of version %u, and this Heddle loads those of version %d: build it again",
            plugin->version, HEDDLE_PLUGIN_VERSION);
    if (!plugin->name)
        return err_set(err, "it has no name");
    if (is_empty)
        return err_set(err, "it has neither policies nor listeners");
    return add_replacements(plugin, err) && add_page_policies(plugin, err) && check_listeners(plugin, err);
}

/* ---- loading ---- */

static bool is_loaded(const char *path, const char *text)
{
    for (size_t i = 0; i < loaded_count; i++)
        if (!strcmp(loaded[i].path, path) && !strcmp(loaded[i].text, text))
            return true;
    return false;
}

/* The loader's message without the path, which is told before it. */
static const char *why_not(const char *path)
{
    const char *why = dlerror();
    size_t length = strlen(path);
    return !why                                                ? "it cannot be loaded"
           : !strncmp(why, path, length) && why[length] == ':' ? why + length + 2
                                                               : why;
}

static bool load(const char *path, const char *text, struct err *err)
{
    if (loaded_count == PLUGINS_MOST)
        return err_set(err, "there can be %d plugins", PLUGINS_MOST);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return err_set(err, "%.500s", why_not(path));
    const struct heddle_plugin *plugin = dlsym(object, "heddle_plugin");
    bool good = plugin || err_set(err, "it is no plugin of Heddle: there is no heddle_plugin in it");
    good = good && add_rows(plugin, err);
    if (good)
        loaded[loaded_count++] = (struct plugin_loaded){mem_text(path), mem_text(text), plugin};
    return good;
}

bool plugin_load(const char *what, struct err *err)
{
    struct err why;
    const char *comma = strchr(what, ',');
    struct text name = {0};
    text_add(&name, "%.*s", (int)(comma ? comma - what : (long)strlen(what)), what);
    char path[PATH_MAX];
    bool is_there = realpath(name.at, path);
    bool good = is_there || err_set(err, "plugin %.300s: there is no such file", name.at);
    if (is_there) {
        pthread_mutex_lock(&lock);
        const char *text = comma ? comma + 1 : "";
        good = is_loaded(path, text) || load(path, text, &why) ||
               err_set(err, "plugin %.300s: %.700s", name.at, why.text);
        pthread_mutex_unlock(&lock);
    }
    text_fini(&name);
    return good;
}

bool plugin_load_from_environment(struct err *err)
{
    const char *lines = getenv(PLUGIN_VARIABLE);
    char *words = mem_text(lines ? lines : "");
    bool good = true;
    for (char *at = words, *line; good && (line = strsep(&at, "\n"));)
        good = !*line || plugin_load(line, err);
    mem_free(words);
    return good;
}

void plugin_add_list(struct text *text)
{
    for (size_t i = 0; i < loaded_count; i++)
        text_add(text, "%s%s%s\n", loaded[i].path, *loaded[i].text ? "," : "", loaded[i].text);
}

void plugin_identify(struct text *text)
{
    enum { MOST = 1 << 28 };
    for (size_t i = 0; i < loaded_count; i++) {
        struct text content = {0};
        struct err unused;
        file_read(loaded[i].path, MOST, &content, &unused);
        text_add(text, "plugin = %s, text %s, digest %016llx\n", loaded[i].plugin->name, loaded[i].text,
                 (unsigned long long)digest_bytes(0, content.at, content.length));
        text_fini(&content);
    }
}

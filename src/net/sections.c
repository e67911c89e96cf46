#include "net/sections.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

PARAM_GROUP(net_switch_params, "fabric.switch.*", "a switch of the fabric", net_switch_spec,
            NET_SWITCH_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(net_link_params, "fabric.link.*", "a link of the fabric", net_link_spec, NET_LINK_PARAMS,
            SHOWS_IN_TIME);

/* What is read, and where it goes. */
struct sections {
    const struct config *config;
    const char *expected;
    struct net_graph *graph;
    struct err *err;
};

/* Behind "fabric.link." and "fabric.switch.". */
static const char *name_of(const char *path)
{
    return strchr(strchr(path, '.') + 1, '.') + 1;
}

static void add_switches(const struct sections *sections)
{
    const struct config *config = sections->config;
    for (const char *path = NULL; (path = config_next(config, &net_switch_params, path));) {
        struct net_switch_spec spec;
        config_fill(config, &net_switch_params, path, &spec);
        net_add_node(sections->graph, &(struct net_node){.name = name_of(path),
                                                         .forwards = true,
                                                         .latency_ps = spec.latency,
                                                         .ports = (uint32_t)spec.ports,
                                                         .where = config_where(config, path)});
    }
}

/* A half-duplex link is two links with a bus between them, which does one thing at a time. */
static void add_half_duplex(struct net_graph *graph, struct net_link *link)
{
    struct net_link near = *link, far = *link;
    struct text node = {0}, name = {0};
    text_add(&node, "the bus of %s", link->name); /* which the ends of no link can name */
    text_add(&name, "%s.bus", link->name);
    uint32_t bus = net_add_node(
        graph, &(struct net_node){.name = node.at, .forwards = true, .is_bus = true, .where = link->where});
    near.ends[1] = far.ends[0] = bus;
    near.latency_ps = (link->latency_ps + 1) / 2;
    far.latency_ps = link->latency_ps - near.latency_ps ? link->latency_ps - near.latency_ps : 1;
    far.name = name.at;
    net_add_link(graph, &near);
    net_add_link(graph, &far);
    text_fini(&node);
    text_fini(&name);
}

static bool is_each(const char *word)
{
    size_t length = strlen(word);
    return length > 1 && word[length - 1] == '*';
}

/* The node that a word means: the `each`-th one of NAME*. */
static int find_end(const struct net_graph *graph, const char *word, int each, char name[96])
{
    if (is_each(word))
        snprintf(name, 96, "%.*s%d", (int)strlen(word) - 1, word, each);
    else
        snprintf(name, 96, "%s", word);
    return net_find(graph, name);
}

static bool is_endpoint(const struct net_graph *graph, int node)
{
    return node != NET_NONE && graph->nodes[node].is_endpoint;
}

/* One link; `each` is its number among those of NAME*, or NET_NONE. */
static bool add_link(const struct sections *sections, const struct net_link_spec *spec, const char *path,
                     char words[2][64], int each)
{
    const char *where = config_where(sections->config, path);
    struct net_link link = {.latency_ps = spec->latency,
                            .bytes_per_s = spec->bandwidth * spec->count,
                            .overhead_bytes = (uint32_t)spec->overhead_bytes,
                            .flit_bytes = (uint32_t)spec->flit,
                            .credits = (uint32_t)(spec->credits * spec->count),
                            .where = where};
    struct text name = {0};
    text_add(&name, "%s", name_of(path));
    if (each != NET_NONE)
        text_add(&name, "%d", each);
    link.name = name.at;
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        char end[96];
        int node = find_end(sections->graph, words[i], each, end);
        good = node != NET_NONE || err_set(sections->err, "%s: [%s] ends: there is no '%.80s'; expected %s",
                                           where, path, end, sections->expected);
        link.ends[i] = good ? (uint32_t)node : 0;
    }
    if (good && spec->duplex)
        add_half_duplex(sections->graph, &link);
    else if (good)
        net_add_link(sections->graph, &link);
    text_fini(&name);
    return good;
}

/* Two words. */
static bool split(const char *ends, char words[2][64])
{
    char more;
    return sscanf(ends, "%63s %63s %c", words[0], words[1], &more) == 2;
}

/* One link, or one of each NAME*. */
static bool add_links_of(const struct sections *sections, const struct net_link_spec *spec, const char *path,
                         char words[2][64])
{
    const char *each = is_each(words[0]) ? words[0] : is_each(words[1]) ? words[1] : NULL;
    char name[96];
    if (!each)
        return add_link(sections, spec, path, words, NET_NONE);
    int number = 0;
    do /* the first one, even if there is none: which is an error */
        if (!add_link(sections, spec, path, words, number++))
            return false;
    while (is_endpoint(sections->graph, find_end(sections->graph, each, number, name)));
    return true;
}

static bool add_links(const struct sections *sections)
{
    const struct config *config = sections->config;
    for (const char *path = NULL; (path = config_next(config, &net_link_params, path));) {
        struct net_link_spec spec;
        char words[2][64];
        config_fill(config, &net_link_params, path, &spec);
        if (!split(spec.ends, words))
            return err_set(sections->err,
                           "%s: [%s] ends: expected two names, such as 'gpu0 gpu1', not '%.80s'",
                           config_where(config, path), path, spec.ends);
        if (!add_links_of(sections, &spec, path, words))
            return false;
    }
    return true;
}

bool net_from_sections(const struct config *config, const char *expected, struct net_graph *graph,
                       struct err *err)
{
    struct sections sections = {config, expected, graph, err};
    add_switches(&sections);
    return add_links(&sections);
}

bool net_sections_name(const struct config *config, const char *name)
{
    for (const char *path = NULL; (path = config_next(config, &net_link_params, path));) {
        struct net_link_spec spec;
        char words[2][64];
        config_fill(config, &net_link_params, path, &spec);
        if (split(spec.ends, words) && (!strcmp(words[0], name) || !strcmp(words[1], name)))
            return true;
    }
    return false;
}

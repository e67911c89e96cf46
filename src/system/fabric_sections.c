#include "system/fabric_sections.h"
#include "base/text.h"
#include "system/fabric.h"

#include <string.h>

PARAM_GROUP(fabric_switch_params, "fabric.switch.*", "a switch of the fabric", fabric_switch_spec,
            FABRIC_SWITCH_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(fabric_link_params, "fabric.link.*", "a link of the fabric", fabric_link_spec, FABRIC_LINK_PARAMS,
            SHOWS_IN_TIME);

/* Behind "fabric.link." and "fabric.switch.". */
static const char *name_of(const char *path)
{
    return strchr(strchr(path, '.') + 1, '.') + 1;
}

static void add_switches(const struct config *config, struct net_graph *graph)
{
    for (const char *path = NULL; (path = config_next(config, &fabric_switch_params, path));) {
        struct fabric_switch_spec spec;
        config_fill(config, &fabric_switch_params, path, &spec);
        net_add_node(graph, &(struct net_node){.name = name_of(path),
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

/* One link; `gpu` stands for "gpu*" where that is an end, and in the name. */
static bool add_link(const struct fabric_link_spec *spec, const char *path, const char *where,
                     const char *const words[2], int gpu, struct net_graph *graph, struct err *err)
{
    struct net_link link = {.latency_ps = spec->latency,
                            .bytes_per_s = spec->bandwidth * spec->count,
                            .overhead_bytes = (uint32_t)spec->overhead_bytes,
                            .flit_bytes = (uint32_t)spec->flit,
                            .credits = (uint32_t)(spec->credits * spec->count),
                            .where = where};
    struct text name = {0};
    text_add(&name, "%s", name_of(path));
    if (gpu >= 0)
        text_add(&name, "%d", gpu);
    link.name = name.at;
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        char each[32];
        snprintf(each, sizeof each, "gpu%d", gpu);
        const char *word = strcmp(words[i], "gpu*") ? words[i] : each;
        int node = net_find(graph, word);
        good = node != NET_NONE ||
               err_set(err,
                       "%s: [%s] ends: there is no '%.80s'; expected gpu0 or another GPU, host, or a switch",
                       where, path, word);
        link.ends[i] = good ? (uint32_t)node : 0;
    }
    if (good && spec->duplex)
        add_half_duplex(graph, &link);
    else if (good)
        net_add_link(graph, &link);
    text_fini(&name);
    return good;
}

/* Two words. */
static bool split(const char *ends, char words[2][64])
{
    char more;
    return sscanf(ends, "%63s %63s %c", words[0], words[1], &more) == 2;
}

static bool add_links(const struct config *config, uint32_t gpus, struct net_graph *graph, struct err *err)
{
    for (const char *path = NULL; (path = config_next(config, &fabric_link_params, path));) {
        struct fabric_link_spec spec;
        char words[2][64];
        const char *where = config_where(config, path);
        config_fill(config, &fabric_link_params, path, &spec);
        if (!split(spec.ends, words))
            return err_set(err, "%s: [%s] ends: expected two names, such as 'gpu0 gpu1', not '%.80s'", where,
                           path, spec.ends);
        bool of_each = !strcmp(words[0], "gpu*") || !strcmp(words[1], "gpu*");
        for (uint32_t i = 0; i < (of_each ? gpus : 1); i++)
            if (!add_link(&spec, path, where, (const char *const[]){words[0], words[1]},
                          of_each ? (int)i : -1, graph, err))
                return false;
    }
    return true;
}

/* The host is in the network if some link leads to it. Else each GPU has a link of its own to it ([noc]). */
static bool names_host(const struct config *config)
{
    for (const char *path = NULL; (path = config_next(config, &fabric_link_params, path));) {
        struct fabric_link_spec spec;
        char words[2][64];
        config_fill(config, &fabric_link_params, path, &spec);
        if (split(spec.ends, words) && (!strcmp(words[0], FABRIC_HOST) || !strcmp(words[1], FABRIC_HOST)))
            return true;
    }
    return false;
}

bool fabric_from_sections(const struct config *config, uint32_t gpus, struct net_graph *graph,
                          struct err *err)
{
    if (names_host(config))
        net_add_node(graph, &(struct net_node){.name = FABRIC_HOST, .is_endpoint = true});
    add_switches(config, graph);
    return add_links(config, gpus, graph, err);
}

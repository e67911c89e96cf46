#include "system/traffic.h"
#include "base/mem.h"
#include "ranks/ranks.h"

struct net_traffic *traffic_now(const struct local_machine *machine)
{
    size_t ways = 2 * (size_t)network_graph(machine->fabric)->link_count;
    struct net_traffic *all = mem_alloc(ways + 1, sizeof *all);
    for (uint32_t i = 0; i < ways; i++)
        all[i] = network_traffic(machine->fabric, i / 2, i % 2);
    ranks_add(machine->options.ranks, (uint64_t *)all, ways * sizeof *all / sizeof(uint64_t));
    return all;
}

void traffic_note(struct local_machine *machine)
{
    struct passed_traffic *passed = &machine->passed;
    uint32_t links = machine->fabric ? network_graph(machine->fabric)->link_count : 0;
    struct net_traffic *now = links ? traffic_now(machine) : NULL;
    for (uint32_t i = 0; i < 2 * links; i++) {
        struct net_traffic more = now[i];
        if (i == passed->count) {
            mem_grow(passed->list, passed->count, passed->capacity);
            passed->list[passed->count++] = (struct net_traffic){0};
        }
        passed->list[i].messages += more.messages;
        passed->list[i].bytes += more.bytes;
        passed->list[i].busy_ps += more.busy_ps;
    }
    mem_free(now);
}

size_t traffic_links(const struct machine *base, struct machine_link *links, size_t most)
{
    const struct network *fabric = machine_local(base)->fabric;
    const struct passed_traffic *passed = &machine_local(base)->passed;
    if (!fabric)
        return 0;
    const struct net_graph *graph = network_graph(fabric);
    struct net_traffic *now = traffic_now(machine_local(base));
    for (uint32_t i = 0; i < graph->link_count && i < most; i++) {
        links[i] =
            (struct machine_link){.name = graph->links[i].name, .bytes_per_s = graph->links[i].bytes_per_s};
        for (int back = 0; back < 2; back++) {
            struct net_traffic traffic = now[2 * i + (uint32_t)back], before = {0};
            if (passed->count)
                before = passed->list[2 * i + (size_t)back];
            links[i].messages[back] = before.messages + traffic.messages;
            links[i].bytes[back] = before.bytes + traffic.bytes;
            links[i].busy_ps[back] = before.busy_ps + traffic.busy_ps;
        }
    }
    mem_free(now);
    return graph->link_count;
}

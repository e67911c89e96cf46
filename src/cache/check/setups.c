#include "cache/check/check.h"

#include <stdio.h>

size_t check_setups(const struct protocol *protocol, bool deep, struct check_setup *setups, size_t most)
{
    static const struct {
        struct check_setup setup;
        bool is_deep;
    } all[] = {
        {{.cpus = 2, .lines = 1, .dma = true}, false},
        {{.cpus = 3, .lines = 1, .dma = true}, false},
        {{.cpus = 2, .lines = 2}, false},
        {{.cpus = 4, .lines = 1}, true},
    };
    static const struct {
        struct check_setup setup;
        bool is_deep;
    } gpu[] = {
        {{.cpus = 1, .l1s = 1, .lines = 1, .dma = true}, false},
        {{.cpus = 1, .l1s = 2, .lines = 1}, false},
        {{.cpus = 2, .l1s = 1, .lines = 1}, false},
        {{.cpus = 2, .l1s = 1, .lines = 1, .dma = true}, true},
    };
    size_t count = 0;
    bool has_gpu = protocol_table(protocol, COH_L1) != NULL;
    size_t rows = has_gpu ? sizeof gpu / sizeof *gpu : sizeof all / sizeof *all;
    for (size_t i = 0; i < rows && count < most; i++)
        if (deep || !(has_gpu ? gpu[i].is_deep : all[i].is_deep))
            setups[count++] = has_gpu ? gpu[i].setup : all[i].setup;
    return count;
}

void check_setup_name(const struct check_setup *setup, char room[64])
{
    int at = snprintf(room, 64, "%u cache%s", setup->cpus, setup->cpus == 1 ? "" : "s");
    if (setup->l1s)
        at += snprintf(room + at, 64 - (size_t)at, ", GPU with %u L1%s", setup->l1s,
                       setup->l1s == 1 ? "" : "s");
    at += snprintf(room + at, 64 - (size_t)at, ", %u line%s", setup->lines, setup->lines == 1 ? "" : "s");
    if (setup->dma)
        snprintf(room + at, 64 - (size_t)at, ", copies");
}

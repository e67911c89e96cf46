/* A record of ChampSim's binary traces: an instruction. An address of 0 stands for none. */
#ifndef TRACE_CHAMPSIM_H
#define TRACE_CHAMPSIM_H

#include <stdint.h>

enum { CHAMPSIM_WRITES = 2, CHAMPSIM_READS = 4 };

struct champsim_record {
    uint64_t ip;
    uint8_t is_branch, branch_taken;
    uint8_t destination_registers[2], source_registers[4];
    uint64_t writes[CHAMPSIM_WRITES], reads[CHAMPSIM_READS];
};
_Static_assert(sizeof(struct champsim_record) == 64, "as ChampSim writes it");

#endif

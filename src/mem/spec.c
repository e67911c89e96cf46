#include "mem/spec.h"

PARAM_GROUP(l2_params, "l2", "the L2 cache", l2_spec, L2_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(l3_params, "l3", "a cache between the L2 and the GPU's memory", l3_spec, L3_PARAMS,
            SHOWS_IN_TIME);
PARAM_GROUP(dram_params, "dram", "the GPU's memory", dram_spec, DRAM_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(noc_params, "noc", "the crossbar between SMs and the L2", noc_spec, NOC_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(tlb_params, "tlb", "translation of addresses", tlb_spec, TLB_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(paging_params, "paging", "pages that move between GPUs", paging_spec, PAGING_PARAMS,
            SHOWS_IN_TIME);
PARAM_GROUP(uvm_params, "uvm", "the driver of managed memory, which moves on demand", uvm_spec, UVM_PARAMS,
            SHOWS_IN_TIME);

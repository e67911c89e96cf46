/* One row for each unit of an SM that gives results: instructions that become one machine instruction of it
 * each. Branches, calls, barriers and memory have tests of their own. */
#ifndef TESTS_TIMING_UNITS_H
#define TESTS_TIMING_UNITS_H

#include "timing.h"

struct unit {
    const char *name;     /* in sm.NAME_latency */
    const char *pipe;     /* the unit whose place it takes */
    bool queued;          /* sm.queue instructions may wait before it */
    const char *module;   /* declarations, or NULL */
    const char *before;   /* makes what it reads */
    unsigned before_inst; /* machine instructions of that */
    const char *chain;    /* from result 9 to itself; or NULL, when it reads none */
    const char *one;      /* result number #, which waits for nothing */
    const char *use;      /* stores result # */
};

#define TABLE ".const .align 4 .b32 table[16];"

static const struct unit units[] = {
    {"alu", "alu", false, NULL, "mov.u32 %r9, %self;", 1, "shr.u32 %r9, %r9, 1;", "shr.u32 %r#, %self, 1;",
     "st.global.u32 [%out+20], %r#;"},
    {"imad", "imad", false, NULL, "mov.u32 %r9, %self;", 1, "mad.lo.u32 %r9, %r9, %r9, %r9;",
     "mad.lo.u32 %r#, %self, %self, %self;", "st.global.u32 [%out+20], %r#;"},
    {"wide", "imad", false, NULL, "mov.u32 %r9, %self;", 1, "mul.hi.u32 %r9, %r9, %r9;",
     "mul.hi.u32 %r#, %self, %self;", "st.global.u32 [%out+20], %r#;"},
    {"fma", "fma", false, NULL, "mov.b32 %f9, %self;", 1, "fma.rn.f32 %f9, %f9, %f9, %f9;",
     "fma.rn.f32 %f#, %f90, %f90, %f90;", "st.global.f32 [%out+20], %f#;"},
    {"half", "half", false, NULL, "mov.u32 %r9, %self;", 1, "fma.rn.f16x2 %r9, %r9, %r9, %r9;",
     "fma.rn.f16x2 %r#, %self, %self, %self;", "st.global.u32 [%out+20], %r#;"},
    {"fp64", "fp64", false, NULL, "mov.f64 %d9, 0d3ff0000000000000;", 1, "fma.rn.f64 %d9, %d9, %d9, %d9;",
     "fma.rn.f64 %d#, %d90, %d90, %d90;", "st.global.f64 [%out+24], %d#;"},
    {"sfu", "sfu", true, NULL, "mov.b32 %f9, %self;", 1, "ex2.approx.ftz.f32 %f9, %f9;",
     "ex2.approx.ftz.f32 %f#, %f90;", "st.global.f32 [%out+20], %f#;"},
    {"cvt", "sfu", true, NULL, "mov.u32 %r9, %self;", 1, "popc.b32 %r9, %r9;", "popc.b32 %r#, %self;",
     "st.global.u32 [%out+20], %r#;"},
    {"cvt64", "sfu", true, NULL, "mov.f64 %d9, 0d3ff0000000000000;", 1, "cvt.rni.f64.f64 %d9, %d9;",
     "cvt.rni.f64.f64 %d#, %d90;", "st.global.f64 [%out+24], %d#;"},
    {"mma", "tensor", false, NULL, "mov.u32 %r9, %self;", 1,
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r9, %r19}, {%self, %self, %self, %self}, "
     "{%self, %self}, {%r9, %r19};",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r#, %r1#}, {%self, %self, %self, %self}, "
     "{%self, %self}, {%self, %self};",
     "st.global.v2.u32 [%out+24], {%r#, %r1#};"},
    {"mma_half", "tensor", false, NULL, "mov.u32 %r9, %self;", 1,
     "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r9, %r19}, {%self, %self}, {%self}, {%r9, %r19};",
     "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r#, %r1#}, {%self, %self}, {%self}, {%self, %self};",
     "st.global.v2.u32 [%out+24], {%r#, %r1#};"},
    {"mma_sparse", "tensor", false, NULL, "mov.u32 %r9, %self;", 1,
     "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r9, %r19}, "
     "{%self, %self, %self, %self}, {%self, %self, %self, %self}, {%r9, %r19}, %self, 0;",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r#, %r1#}, "
     "{%self, %self, %self, %self}, {%self, %self, %self, %self}, {%self, %self}, %self, 0;",
     "st.global.v2.u32 [%out+24], {%r#, %r1#};"},
    {"dmma", "tensor", false, NULL, "mov.f64 %d9, 0d3ff0000000000000;", 1,
     "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d9, %d19}, {%d90}, {%d90}, {%d9, %d19};",
     "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d#, %d1#}, {%d90}, {%d90}, {%d90, %d90};",
     "st.global.v2.f64 [%out+16], {%d#, %d1#};"},
    {"shuffle", "shuffle", true, NULL, "mov.u32 %r9, %self;", 1, "shfl.sync.idx.b32 %r9, %r9, 0, 31, -1;",
     "shfl.sync.idx.b32 %r#, %self, 0, 31, -1;", "st.global.u32 [%out+20], %r#;"},
    {"match", "match", true, NULL, "mov.u32 %r9, %self;", 1, "match.any.sync.b32 %r9, %r9, -1;",
     "match.any.sync.b32 %r#, %self, -1;", "st.global.u32 [%out+20], %r#;"},
    {"vote", "alu", false, NULL, "", 0, NULL, "activemask.b32 %r#;", "st.global.u32 [%out+20], %r#;"},
    {"uniform", "uniform", false, NULL, "", 0, NULL, "mov.u32 %r#, %ntid.y;",
     "st.global.u32 [%out+20], %r#;"},
    {"special", "special", true, NULL, "", 0, NULL, "mov.u32 %r#, %laneid;", "st.global.u32 [%out+20], %r#;"},
    {"const", "const", true, TABLE, "", 0, NULL, "ld.const.u32 %r#, [table+16];",
     "st.global.u32 [%out+20], %r#;"},
};

enum { UNITS = sizeof units / sizeof *units };

#endif

/* clang-format off */
/* The units of an SM: a row says all about one.
 *
 *   U(P, S, id, name, place, result, busy, does, pipe, letter, reckoned, latency, interval, shared, what)
 *
 * id        its name in code: UNIT_ALU
 * name      its name in descriptions: sm.alu_latency
 * place     the unit that an instruction occupies: its own, or one that does other things as well
 * result    how others get its result: RESULT_... of isa/isa.h
 * busy      what waiting for it is called: STALL_... of core/counters.h
 * does      what it does beside computing: UNIT_DOES_... of isa/isa.h
 * pipe      the profiler's pipe that it counts as, in gpu/metrics.def
 * letter    its letter in the rows of isa/ptxas/opcodes.c
 * reckoned  cycles that the assembler assumes until its result can be used
 * latency   cycles until a dependent instruction can issue
 * interval  cycles that a sub-core's unit is busy with one instruction
 * shared    cycles that the SM's unit is busy with it, where sub-cores share one; 0: they do not
 * what      help, in words
 *
 * The last three numbers are defaults of the description: the H200's. P and S are passed on, for rows of parameters.
 * Another family of GPUs adds rows of its own. */
#ifndef ISA_UNITS_H
#define ISA_UNITS_H

#define ISA_UNITS(U, P, S)                                                                                                                                                    \
    U(P, S, ALU,     alu,     ALU,     ALU,   math_pipe_throttle, NOTHING,      "alu",    'A', 5,   "4",   "2",  "0",  "integers and logic")                                  \
    U(P, S, IMAD,    imad,    IMAD,    FMA,   math_pipe_throttle, NOTHING,      "fma",    'I', 5,   "4",   "2",  "0",  "integer products")                                    \
    U(P, S, WIDE,    wide,    IMAD,    FMA,   math_pipe_throttle, HOLDS_ISSUE,  "fma",    'Q', 9,   "9",   "4",  "0",  "integer products of 64 bits, by the same unit")       \
    U(P, S, FMA,     fma,     FMA,     FMA,   math_pipe_throttle, NOTHING,      "fma",    'F', 4,   "4",   "1",  "0",  "single precision")                                    \
    U(P, S, HALF,    half,    HALF,    FIXED, math_pipe_throttle, NOTHING,      "fp16",   'H', 5,   "8",   "1",  "0",  "half precision")                                      \
    U(P, S, FP64,    fp64,    FP64,    FP64,  math_pipe_throttle, NOTHING,      "fp64",   'D', 8,   "8",   "2",  "0",  "double precision")                                    \
    U(P, S, SFU,     sfu,     SFU,     QUEUE, mio_throttle,       NOTHING,      "xu",     'S', 20,  "17",  "8",  "0",  "special functions")                                   \
    U(P, S, CVT,     cvt,     SFU,     QUEUE, math_pipe_throttle, NOTHING,      "xu",     'C', 14,  "17",  "8",  "0",  "conversions")                                         \
    U(P, S, CVT64,   cvt64,   SFU,     QUEUE, math_pipe_throttle, NOTHING,      "xu",     'E', 18,  "18",  "9",  "0",  "conversions of double precision")                     \
    U(P, S, TENSOR,  tensor,  TENSOR,  FIXED, math_pipe_throttle, NOTHING,      "tensor", 'T', 33,  "19",  "7",  "0",  "matrices")                                            \
    U(P, S, IMMA,    imma,    TENSOR,  FIXED, math_pipe_throttle, NOTHING,      "tensor", 'N', 20,  "13",  "5",  "0",  "matrices of 8-bit integers, rows of 16")              \
    U(P, S, LSU,     lsu,     LSU,     SHORT, lg_throttle,        MEMORY_QUEUE, "lsu",    'L', 30,  "20",  "4",  "0",  "memory")                                              \
    U(P, S, TEX,     tex,     TEX,     LONG,  tex_throttle,       MEMORY,       "tex",    'X', 250, "40",  "4",  "2",  "textures")                                            \
    U(P, S, CONTROL, control, CONTROL, FIXED, math_pipe_throttle, NOTHING,      "cbu",    'B', 5,   "4",   "2",  "0",  "branches")                                            \
    U(P, S, JUMP,    jump,    CONTROL, FIXED, math_pipe_throttle, JUMP,         "cbu",    'J', 12,  "12",  "2",  "0",  "branches taken inside divisions and roots")           \
    U(P, S, CALL,    call,    CONTROL, FIXED, math_pipe_throttle, JUMP,         "cbu",    'G', 35,  "35",  "2",  "0",  "calls and returns")                                   \
    U(P, S, SYNC,    sync,    SYNC,    FIXED, math_pipe_throttle, NOTHING,      "adu",    'Y', 20,  "10",  "2",  "2",  "barriers")                                            \
    U(P, S, SHUFFLE, shuffle, SHUFFLE, SHORT, mio_throttle,       NOTHING,      "lsu",    'W', 24,  "24",  "2",  "1",  "shuffles")                                            \
    U(P, S, VOTE,    vote,    ALU,     ALU,   math_pipe_throttle, NOTHING,      "alu",    'V', 4,   "4",   "2",  "0",  "votes")                                               \
    U(P, S, MATCH,   match,   MATCH,   SHORT, math_pipe_throttle, NOTHING,      "adu",    'M', 200, "369", "64", "64", "comparisons with all lanes")                          \
    U(P, S, UNIFORM, uniform, UNIFORM, FIXED, math_pipe_throttle, NOTHING,      "uniform",'U', 7,   "7",   "1",  "0",  "what is the same for all lanes")                     \
    U(P, S, SPECIAL, special, SPECIAL, SHORT, mio_throttle,       NOTHING,      "adu",    'R', 30,  "22",  "2",  "2",  "special registers")                                   \
    U(P, S, CONST,   const,   CONST,   SHORT, math_pipe_throttle, NOTHING,      "adu",    'K', 30,  "28",  "4",  "2",  "loads from constant memory")                          \
    U(P, S, VECTOR,  vector,  VECTOR,  FIXED, math_pipe_throttle, NOTHING,      "valu",   'a', 0,   "4",   "4",  "0",  "AMD: vector arithmetic")                              \
    U(P, S, VECTOR_QUARTER, vector_quarter, VECTOR, FIXED, math_pipe_throttle, NOTHING, "valu", 'b', 0, "16", "16", "0", "AMD: products of 32-bit integers")                      \
    U(P, S, VECTOR_TRANS, vector_trans, VECTOR, FIXED, math_pipe_throttle, NOTHING, "valu", 'c', 0, "16",  "16", "0",  "AMD: special functions")                               \
    U(P, S, VECTOR_DOUBLE, vector_double, VECTOR, FIXED, math_pipe_throttle, NOTHING, "valu", 'd', 0, "64", "64", "0", "AMD: vector arithmetic of 64 bits")                      \
    U(P, S, SCALAR,  scalar,  SCALAR,  FIXED, math_pipe_throttle, NOTHING,      "salu",   'e', 0,   "4",   "4",  "1",  "AMD: scalar arithmetic")                              \
    U(P, S, LDS,     lds,     LDS,     SHORT, mio_throttle,       MEMORY,       "lds",    'f', 0,   "4",   "4",  "1",  "AMD: the LDS")                                        \
    U(P, S, INTERNAL, internal, INTERNAL, FIXED, math_pipe_throttle, NOTHING,   "internal", 'g', 0, "1",   "1",  "0",  "AMD: waits, priorities") \
    U(P, S, MMA,     mma,     TENSOR,  FIXED, math_pipe_throttle, NOTHING,      "tensor", 'h', 33,  "24",  "6",  "0",  "mma of whole depth, such as m16n8k16 of f16")         \
    U(P, S, MMA_HALF, mma_half, TENSOR, FIXED, math_pipe_throttle, NOTHING,     "tensor", 'i', 20,  "17",  "4",  "0",  "mma of half that depth")                              \
    U(P, S, MMA_SPARSE, mma_sparse, TENSOR, FIXED, math_pipe_throttle, NOTHING, "tensor", 'j', 33,  "24",  "8",  "0",  "mma of twice the depth, with a sparse matrix")        \
    U(P, S, DMMA,    dmma,    TENSOR,  FIXED, math_pipe_throttle, NOTHING,      "tensor", 'k', 40,  "34",  "17", "0",  "mma of double precision, m16n8k4")
/* clang-format on */

#endif

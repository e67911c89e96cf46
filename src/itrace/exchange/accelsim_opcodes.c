#include "exchange/accelsim_opcodes.h"
#include "base/bits.h"

#include <string.h>

#define PLAIN(unit)         UNIT_##unit, SASS_NOTHING, SASS_READS, ROLE_NONE
#define BRANCH              UNIT_CONTROL, SASS_NOTHING, SASS_READS, ROLE_BRANCH
#define MEMORY(where, does) UNIT_LSU, SASS_##where, SASS_##does, ROLE_NONE
#define ROLE(unit, role)    UNIT_##unit, SASS_NOTHING, SASS_READS, ROLE_##role

/* clang-format off */
const struct sass_opcode sass_opcodes[] = {
    /* single and half precision */
    {"FADD", PLAIN(FMA), 1, 1},       {"FADD32I", PLAIN(FMA), 1, 1},   {"FFMA", PLAIN(FMA), 1, 1},
    {"FFMA32I", PLAIN(FMA), 1, 1},    {"FMUL", PLAIN(FMA), 1, 1},      {"FMUL32I", PLAIN(FMA), 1, 1},
    {"FSWZADD", PLAIN(FMA), 1, 1},    {"FCHK", PLAIN(SFU), 1, 1},      {"FMNMX", PLAIN(ALU), 1, 1},
    {"FSEL", PLAIN(ALU), 1, 1},       {"FSET", PLAIN(ALU), 1, 1},      {"FSETP", PLAIN(ALU), 1, 1},
    {"HADD2", PLAIN(HALF), 1, 1},     {"HADD2_32I", PLAIN(HALF), 1, 1}, {"HFMA2", PLAIN(HALF), 1, 1},
    {"HFMA2_32I", PLAIN(HALF), 1, 1}, {"HMUL2", PLAIN(HALF), 1, 1},    {"HMUL2_32I", PLAIN(HALF), 1, 1},
    {"HSET2", PLAIN(HALF), 1, 1},     {"HSETP2", PLAIN(HALF), 1, 1},   {"HMNMX2", PLAIN(ALU), 1, 1},

    /* double precision: pairs of registers */
    {"DADD", PLAIN(FP64), 2, 2},      {"DFMA", PLAIN(FP64), 2, 2},     {"DMUL", PLAIN(FP64), 2, 2},
    {"DSETP", PLAIN(FP64), 2, 2},

    /* special functions, conversions */
    {"MUFU", PLAIN(SFU), 1, 1},       {"F2F", PLAIN(CVT), 1, 1},       {"F2I", PLAIN(CVT), 1, 1},
    {"I2F", PLAIN(CVT), 1, 1},        {"FRND", PLAIN(CVT), 1, 1},      {"I2I", PLAIN(ALU), 1, 1},
    {"I2IP", PLAIN(ALU), 1, 1},       {"F2FP", PLAIN(HALF), 1, 1},     {"I2FP", PLAIN(ALU), 1, 1},
    {"F2IP", PLAIN(ALU), 1, 1},       {"POPC", PLAIN(CVT), 1, 1},      {"FLO", PLAIN(CVT), 1, 1},
    {"BREV", PLAIN(CVT), 1, 1},

    /* integers and logic */
    {"BMSK", PLAIN(ALU), 1, 1},       {"IABS", PLAIN(ALU), 1, 1},      {"IADD", PLAIN(ALU), 1, 1},
    {"IADD3", PLAIN(ALU), 1, 1},      {"IADD32I", PLAIN(ALU), 1, 1},   {"IDP", PLAIN(IMAD), 1, 1},
    {"IDP4A", PLAIN(IMAD), 1, 1},     {"IMAD", PLAIN(IMAD), 1, 1},     {"IMUL", PLAIN(IMAD), 1, 1},
    {"IMUL32I", PLAIN(IMAD), 1, 1},   {"IMNMX", PLAIN(ALU), 1, 1},     {"ISCADD", PLAIN(ALU), 1, 1},
    {"ISCADD32I", PLAIN(ALU), 1, 1},  {"ISETP", PLAIN(ALU), 1, 1},     {"LEA", PLAIN(ALU), 1, 1},
    {"LOP", PLAIN(ALU), 1, 1},        {"LOP3", PLAIN(ALU), 1, 1},      {"LOP32I", PLAIN(ALU), 1, 1},
    {"SHF", PLAIN(ALU), 1, 1},        {"SHL", PLAIN(ALU), 1, 1},       {"SHR", PLAIN(ALU), 1, 1},
    {"VABSDIFF", PLAIN(ALU), 1, 1},   {"VABSDIFF4", PLAIN(ALU), 1, 1}, {"VIADD", PLAIN(ALU), 1, 1},
    {"VIADDMNMX", PLAIN(ALU), 1, 1},  {"VIMNMX", PLAIN(ALU), 1, 1},    {"VIMNMX3", PLAIN(ALU), 1, 1},
    {"MOV", PLAIN(ALU), 1, 1},        {"MOV32I", PLAIN(ALU), 1, 1},    {"PRMT", PLAIN(ALU), 1, 1},
    {"SEL", PLAIN(ALU), 1, 1},        {"SGXT", PLAIN(ALU), 1, 1},      {"PLOP3", PLAIN(ALU), 1, 1},
    {"PSETP", PLAIN(ALU), 1, 1},      {"P2R", PLAIN(ALU), 1, 1},       {"R2P", PLAIN(ALU), 1, 1},
    {"CSMTEST", PLAIN(ALU), 1, 1},    {"LEPC", PLAIN(ALU), 2, 1},      {"NOP", PLAIN(ALU), 1, 1},

    /* matrices; how many registers their operands are depends on the shape (accelsim_code.c) */
    {"HMMA", PLAIN(TENSOR), 1, 1},    {"BMMA", PLAIN(IMMA), 1, 1},     {"IMMA", PLAIN(IMMA), 1, 1},
    {"DMMA", PLAIN(TENSOR), 2, 2},    {"HGMMA", PLAIN(TENSOR), 1, 1},  {"QGMMA", PLAIN(TENSOR), 1, 1},
    {"IGMMA", PLAIN(TENSOR), 1, 1},   {"MOVM", PLAIN(SHUFFLE), 1, 1},  {"WARPGROUP", PLAIN(SYNC), 1, 1},

    /* other lanes; special registers; constants */
    {"SHFL", PLAIN(SHUFFLE), 1, 1},   {"VOTE", PLAIN(VOTE), 1, 1},     {"VOTE_VTG", PLAIN(VOTE), 1, 1},
    {"MATCH", PLAIN(MATCH), 1, 1},    {"QSPC", PLAIN(ALU), 1, 2},      {"ELECT", PLAIN(VOTE), 1, 1},
    {"S2R", PLAIN(SPECIAL), 1, 1},    {"CS2R", PLAIN(ALU), 2, 1},      {"B2R", PLAIN(SPECIAL), 1, 1},
    {"R2B", PLAIN(SPECIAL), 1, 1},    {"GETLMEMBASE", PLAIN(SPECIAL), 2, 1},
    {"SETLMEMBASE", PLAIN(SPECIAL), 1, 2}, {"SETCTAID", PLAIN(SPECIAL), 1, 1},
    {"PMTRIG", PLAIN(SPECIAL), 1, 1}, {"LDC", UNIT_CONST, SASS_CONSTANT, SASS_READS, ROLE_NONE, 0, 1},

    /* what is the same for all lanes */
    {"R2UR", PLAIN(UNIFORM), 1, 1},   {"S2UR", PLAIN(SPECIAL), 1, 1},  {"UBMSK", PLAIN(UNIFORM), 1, 1},
    {"UBREV", PLAIN(UNIFORM), 1, 1},  {"UCLEA", PLAIN(UNIFORM), 1, 1}, {"UFLO", PLAIN(UNIFORM), 1, 1},
    {"UIADD3", PLAIN(UNIFORM), 1, 1}, {"UIMAD", PLAIN(UNIFORM), 1, 1}, {"UISETP", PLAIN(UNIFORM), 1, 1},
    {"ULDC", PLAIN(UNIFORM), 1, 1},   {"ULEA", PLAIN(UNIFORM), 1, 1},  {"ULOP", PLAIN(UNIFORM), 1, 1},
    {"ULOP3", PLAIN(UNIFORM), 1, 1},  {"ULOP32I", PLAIN(UNIFORM), 1, 1}, {"UMOV", PLAIN(UNIFORM), 1, 1},
    {"UP2UR", PLAIN(UNIFORM), 1, 1},  {"UPLOP3", PLAIN(UNIFORM), 1, 1}, {"UPOPC", PLAIN(UNIFORM), 1, 1},
    {"UPRMT", PLAIN(UNIFORM), 1, 1},  {"UPSETP", PLAIN(UNIFORM), 1, 1}, {"UR2UP", PLAIN(UNIFORM), 1, 1},
    {"USEL", PLAIN(UNIFORM), 1, 1},   {"USGXT", PLAIN(UNIFORM), 1, 1}, {"USHF", PLAIN(UNIFORM), 1, 1},
    {"USHL", PLAIN(UNIFORM), 1, 1},   {"USHR", PLAIN(UNIFORM), 1, 1},  {"VOTEU", PLAIN(VOTE), 1, 1},
    {"REDUX", PLAIN(CVT), 1, 1},      {"UF2FP", PLAIN(UNIFORM), 1, 1}, {"USETMAXREG", PLAIN(UNIFORM), 1, 1},
    {"USETSHMSZ", PLAIN(UNIFORM), 1, 1},

    /* memory */
    {"LD", MEMORY(GENERIC, READS), 0, 2},    {"LDG", MEMORY(GLOBAL, READS), 0, 2},
    {"LDL", MEMORY(LOCAL, READS), 0, 1},     {"LDS", MEMORY(SHARED, READS), 0, 1},
    {"LDSM", MEMORY(SHARED, READS), 0, 1},   {"ST", MEMORY(GENERIC, WRITES), 1, 0},
    {"STG", MEMORY(GLOBAL, WRITES), 1, 0},   {"STL", MEMORY(LOCAL, WRITES), 1, 0},
    {"STS", MEMORY(SHARED, WRITES), 1, 0},   {"STSM", MEMORY(SHARED, WRITES), 1, 0},
    {"ATOM", MEMORY(GENERIC, ATOMIC), 0, 0}, {"ATOMG", MEMORY(GLOBAL, ATOMIC), 0, 0},
    {"ATOMS", MEMORY(SHARED, ATOMIC), 0, 0}, {"RED", MEMORY(GLOBAL, REDUCES), 1, 0},
    {"REDG", MEMORY(GLOBAL, REDUCES), 1, 0}, {"LDGSTS", MEMORY(COPY, READS), 1, 1},
    {"STAS", MEMORY(SHARED, WRITES), 1, 0},
    {"UBLKCP", MEMORY(TMA, READS), 1, 1},    {"UBLKPF", MEMORY(TMA, READS), 1, 1},
    {"UBLKRED", MEMORY(TMA, WRITES), 1, 1},  {"UTMALDG", MEMORY(TMA, READS), 1, 1},
    {"UTMAPF", MEMORY(TMA, READS), 1, 1},    {"UTMAREDG", MEMORY(TMA, WRITES), 1, 1},
    {"UTMASTG", MEMORY(TMA, WRITES), 1, 1},
    {"UTMACCTL", PLAIN(LSU), 1, 1},   {"UTMACMDFLUSH", PLAIN(LSU), 1, 1},
    {"CCTL", PLAIN(LSU), 1, 2},       {"CCTLL", PLAIN(LSU), 1, 1},     {"CCTLT", PLAIN(LSU), 1, 1},
    {"TEX", PLAIN(TEX), 1, 1},        {"TLD", PLAIN(TEX), 1, 1},       {"TLD4", PLAIN(TEX), 1, 1},
    {"TMML", PLAIN(TEX), 1, 1},       {"TXD", PLAIN(TEX), 1, 1},       {"TXQ", PLAIN(TEX), 1, 1},
    {"SUATOM", PLAIN(TEX), 1, 1},     {"SULD", PLAIN(TEX), 1, 1},      {"SURED", PLAIN(TEX), 1, 1},
    {"SUST", PLAIN(TEX), 1, 1},       {"SUQUERY", PLAIN(TEX), 1, 1},

    /* order */
    {"MEMBAR", ROLE(SYNC, FENCE), 1, 1}, {"FENCE", ROLE(SYNC, FENCE_BLOCK), 1, 1},
    {"ERRBAR", PLAIN(SYNC), 1, 1},    {"CGAERRBAR", PLAIN(SYNC), 1, 1}, {"ACQBULK", PLAIN(SYNC), 1, 1},
    {"DEPBAR", ROLE(SYNC, COPIES), 1, 1}, {"LDGDEPBAR", ROLE(LSU, COMMIT), 1, 1},
    {"BAR", ROLE(SYNC, BARRIER), 1, 1}, {"SYNCS", PLAIN(LSU), 1, 1},   {"ARRIVES", PLAIN(LSU), 1, 1},
    {"UCGABAR_ARV", PLAIN(SYNC), 1, 1}, {"UCGABAR_WAIT", PLAIN(SYNC), 1, 1}, {"PREEXIT", PLAIN(SYNC), 1, 1},

    /* control */
    {"BRA", BRANCH, 1, 1},            {"BRX", BRANCH, 1, 2},           {"BRXU", BRANCH, 1, 1},
    {"JMP", BRANCH, 1, 1},            {"JMX", BRANCH, 1, 2},           {"JMXU", BRANCH, 1, 1},
    {"CALL", PLAIN(CALL), 1, 2},      {"RET", PLAIN(CALL), 1, 2},      {"RTT", PLAIN(CALL), 1, 1},
    {"BMOV", PLAIN(CONTROL), 1, 1},   {"BPT", PLAIN(CONTROL), 1, 1},   {"BREAK", PLAIN(CONTROL), 1, 1},
    {"BSSY", PLAIN(CONTROL), 1, 1},   {"BSYNC", PLAIN(CONTROL), 1, 1}, {"KILL", PLAIN(CONTROL), 1, 1},
    {"NANOSLEEP", PLAIN(CONTROL), 1, 1}, {"RPCMOV", PLAIN(CONTROL), 1, 1}, {"WARPSYNC", PLAIN(CONTROL), 1, 1},
    {"YIELD", PLAIN(CONTROL), 1, 1},  {"EXIT", PLAIN(CONTROL), 1, 1},
    {"REPLAY_START", PLAIN(CONTROL), 1, 1}, {"REPLAY_END", PLAIN(CONTROL), 1, 1},
};
/* clang-format on */

const uint32_t sass_opcode_count = COUNT_OF(sass_opcodes);

const struct sass_opcode *sass_find(const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    size_t own = dot ? (size_t)(dot - text) : length;
    for (uint32_t i = 0; i < sass_opcode_count; i++)
        if (strlen(sass_opcodes[i].name) == own && !memcmp(sass_opcodes[i].name, text, own))
            return &sass_opcodes[i];
    return NULL;
}

bool sass_has(const char *text, size_t length, const char *name)
{
    size_t own = strlen(name);
    const char *end = text + length;
    for (const char *at = text; (at = memchr(at, '.', (size_t)(end - at)));) {
        at++;
        if ((size_t)(end - at) >= own && !memcmp(at, name, own) && (at + own == end || at[own] == '.'))
            return true;
    }
    return false;
}

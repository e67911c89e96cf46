/* ChampSim's binary traces: a record of 64 bytes for each instruction. An access is of one byte, so that it
 * is to one line, as ChampSim has it; what is read comes before what is written. An address of 0 stands for
 * none. */
#include "trace/champsim.h"
#include "trace/import.h"
#include "base/bits.h"

#include <inttypes.h>
#include <string.h>

enum { WRITES = CHAMPSIM_WRITES, READS = CHAMPSIM_READS };
_Static_assert(WRITES + READS <= IMPORT_FOUND_MOST, "of one record");

static bool is_sound(const struct champsim_record *record)
{
    return record->is_branch <= 1 && record->branch_taken <= 1;
}

/* Binary, with flags where they must be. */
static bool looks_so(const char *bytes, size_t count)
{
    size_t whole = count / sizeof(struct champsim_record);
    for (size_t i = 0; i < whole; i++) {
        struct champsim_record record;
        memcpy(&record, bytes + i * sizeof record, sizeof record);
        if (!is_sound(&record) || !record.ip)
            return false;
    }
    return whole && memchr(bytes, 0, whole * sizeof(struct champsim_record));
}

static int cut(const struct import *import, size_t bytes, struct err *err)
{
    err_set(err, "%s: record %" PRIu64 ": it is cut: %zu bytes of %zu", import->input.name, import->line,
            bytes, sizeof(struct champsim_record));
    return IMPORT_BAD;
}

static int strange(const struct import *import, const struct champsim_record *record, struct err *err)
{
    err_set(err,
            "%s: record %" PRIu64 ": is_branch %u and branch_taken %u, expected 0 or 1: this is no trace of "
            "ChampSim's",
            import->input.name, import->line, record->is_branch, record->branch_taken);
    return IMPORT_BAD;
}

static inline int next(struct import *import, struct trace_access *found, struct err *err)
{
    struct input *input = &import->input;
    struct champsim_record record;
    while (UNLIKELY((size_t)(input->end - input->at) < sizeof record)) {
        if (input->ended)
            return input->at == input->end ? IMPORT_END : cut(import, (size_t)(input->end - input->at), err);
        if (!input_more(input, err))
            return IMPORT_BAD;
    }
    memcpy(&record, input->at, sizeof record);
    input->at += sizeof record;
    if (UNLIKELY(!is_sound(&record)))
        return strange(import, &record, err);
    int count = 0;
    for (int i = 0; i < READS; i++) {
        found[count] = trace_access(record.reads[i], import->line, 1, false);
        count += record.reads[i] != 0;
    }
    for (int i = 0; i < WRITES; i++) {
        found[count] = trace_access(record.writes[i], import->line, 1, true);
        count += record.writes[i] != 0;
    }
    import->line++;
    return count;
}

static long read_champsim(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return import_all((struct import *)source, into, most, next, err);
}

const struct import_format import_champsim = {
    .name = "champsim",
    .help = "ChampSim's binary: 64 bytes of each instruction",
    .ending = ".champsimtrace",
    .looks_so = looks_so,
    .read = read_champsim,
};

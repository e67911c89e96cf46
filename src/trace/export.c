#include "trace/export.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/champsim.h"
#include "trace/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { AT_ONCE = 1024 };

/* A loop over the lines of an access. */
#define EACH_LINE(line, access)                                                                              \
    for (uint64_t line = (access).address & -(uint64_t)EXPORT_LINE,                                          \
                  last_##line = ((access).address + trace_bytes(access) - 1) & -(uint64_t)EXPORT_LINE,       \
                  more_##line = 1;                                                                           \
         more_##line; more_##line = line != last_##line, line += EXPORT_LINE)

/* Instructions since the access before. */
static uint64_t between(struct export *to, struct trace_access access)
{
    uint64_t now = trace_instruction(access), gap = to->begun ? now - to->instruction : 1;
    to->begun = true;
    to->instruction = now;
    return gap;
}

/* ---- CSV ---- */

static void put_csv(struct export *to, const struct trace_access *accesses, size_t count)
{
    while (count) {
        size_t now = (size_t)min_u64(count, AT_ONCE);
        fwrite(to->text, 1, trace_csv_rows(accesses, now, to->text), to->file.stream);
        accesses += now;
        count -= now;
    }
}

/* ---- Ramulator 2: LoadStoreTrace ---- */

static void put_loads_stores(struct export *to, const struct trace_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        EACH_LINE(line, accesses[i])
        {
            int length = snprintf(to->text, TRACE_CSV_ROW_MOST, "%s 0x%" PRIx64 "\n",
                                  trace_writes(accesses[i]) ? "ST" : "LD", line);
            fwrite(to->text, 1, (size_t)length, to->file.stream);
        }
}

/* ---- Ramulator 2: SimpleO3 ---- */

/* "BUBBLES READ [WRITTEN BACK]", in decimal. A line that is written goes with the read before it; where there
 * is none, it is read first. */
static void end_o3(struct export *to)
{
    if (!to->has_waiting)
        return;
    fputs("\n", to->file.stream);
    to->has_waiting = false;
}

static void put_o3(struct export *to, const struct trace_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = between(to, accesses[i]), bubbles = gap ? gap - 1 : 0;
        bool writes = trace_writes(accesses[i]);
        EACH_LINE(line, accesses[i])
        {
            int length;
            if (writes && to->has_waiting && !bubbles) {
                length = snprintf(to->text, TRACE_CSV_ROW_MOST, " %" PRIu64 "\n", line);
                to->has_waiting = false;
            } else {
                end_o3(to);
                length = snprintf(to->text, TRACE_CSV_ROW_MOST, "%" PRIu64 " %" PRIu64,
                                  min_u64(bubbles, INT32_MAX), line);
                if (writes)
                    length += snprintf(to->text + length, 24, " %" PRIu64 "\n", line);
                to->has_waiting = !writes;
            }
            fwrite(to->text, 1, (size_t)length, to->file.stream);
            bubbles = 0;
        }
    }
}

/* ---- ChampSim ---- */

static void write_record(struct export *to)
{
    fwrite(to->record, sizeof *to->record, 1, to->file.stream);
    *to->record = (struct champsim_record){.ip = to->record->ip};
}

static bool add_address(uint64_t places[], int count, uint64_t address)
{
    for (int i = 0; i < count; i++)
        if (!places[i]) {
            places[i] = address;
            return true;
        }
    return false;
}

static void end_champsim(struct export *to)
{
    if (to->begun)
        write_record(to);
}

/* A record for each instruction. The traces know of no instruction's address: all have the same. */
static void put_champsim(struct export *to, const struct trace_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool begins = !to->begun, writes = trace_writes(accesses[i]);
        for (uint64_t gap = between(to, accesses[i]); gap && !begins; gap--)
            write_record(to);
        to->record->ip = 4;
        EACH_LINE(line, accesses[i])
        {
            uint64_t at = max_u64(line, accesses[i].address);
            uint64_t *places = writes ? to->record->writes : to->record->reads;
            int most = writes ? CHAMPSIM_WRITES : CHAMPSIM_READS;
            if (!add_address(places, most, at)) { /* it goes on in another record */
                write_record(to);
                add_address(places, most, at);
            }
        }
    }
}

/* ---- formats ---- */

static const struct export_format csv = {.name = "csv",
                                         .help = "address, kind, size, instruction",
                                         .ending = ".csv",
                                         .put = put_csv,
                                         .header = TRACE_CSV_HEADER};
static const struct export_format ramulator2 = {
    .name = "ramulator2",
    .help = "Ramulator 2's LoadStoreTrace: LD or ST and the address of a line",
    .put = put_loads_stores};
static const struct export_format ramulator2_o3 = {
    .name = "ramulator2-o3",
    .help = "Ramulator 2's SimpleO3: other instructions, line read, line written",
    .put = put_o3,
    .end = end_o3};
static const struct export_format champsim = {.name = "champsim",
                                              .help = "ChampSim's binary: 64 bytes of each instruction",
                                              .ending = ".champsimtrace",
                                              .put = put_champsim,
                                              .end = end_champsim};

const struct export_format *const export_formats[] = {&csv, &ramulator2, &ramulator2_o3, &champsim, NULL};

const struct export_format *export_find(const char *name)
{
    for (size_t i = 0; export_formats[i]; i++)
        if (!strcmp(export_formats[i]->name, name))
            return export_formats[i];
    return NULL;
}

const struct export_format *export_of_name(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; export_formats[i]; i++) {
        const char *ending = export_formats[i]->ending;
        size_t own = ending ? strlen(ending) : 0;
        if (own && length > own && !strcmp(path + length - own, ending))
            return export_formats[i];
    }
    return NULL;
}

/* ---- files ---- */

bool export_open(struct export *to, const struct export_format *format, const char *path, struct err *err)
{
    *to = (struct export){.format = format};
    if (!file_open(&to->file, path, err))
        return false;
    to->text = mem_alloc(AT_ONCE, TRACE_CSV_ROW_MOST);
    to->record = mem_alloc(1, sizeof *to->record);
    if (format->header)
        fputs(format->header, to->file.stream);
    return true;
}

bool export_put(struct export *to, const struct trace_access *accesses, size_t count, struct err *err)
{
    to->format->put(to, accesses, count);
    return !ferror(to->file.stream) || err_set(err, "cannot write %s: %s", to->file.path, strerror(errno));
}

bool export_close(struct export *to, bool good, struct err *err)
{
    if (good && to->format->end)
        to->format->end(to);
    mem_free(to->text);
    mem_free(to->record);
    if (good)
        return file_close(&to->file, err);
    file_abandon(&to->file);
    return false;
}

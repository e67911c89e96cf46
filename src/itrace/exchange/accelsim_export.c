/* Traces of instructions as Accel-Sim's: a line for each machine instruction. */
#include "exchange/accelsim.h"
#include "exchange/accelsim_lines.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "itrace/iwalk.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_header(const struct itrace *trace, const struct itrace_launch *launch, uint64_t blocks,
                         FILE *to)
{
    const struct itrace_kernel *kernel = &trace->kernels[launch->kernel];
    struct text text = {0};
    bool is_part = blocks != itrace_launch_blocks(launch);
    text_add(&text, "-kernel name = %s\n-kernel id = %" PRIu64 "\n", kernel->facts.name, launch->number + 1);
    if (is_part)
        text_add(&text, "-grid dim = (%" PRIu64 ",1,1)\n", blocks);
    else
        text_add(&text, "-grid dim = (%u,%u,%u)\n", launch->grid[0], launch->grid[1], launch->grid[2]);
    text_add(&text, "-block dim = (%u,%u,%u)\n-shmem = %" PRIu64 "\n-nregs = %u\n-binary version = %d\n",
             launch->block[0], launch->block[1], launch->block[2],
             kernel->facts.shared_bytes + launch->shared_bytes, kernel->facts.registers,
             accelsim_lines_need_ampere(trace, kernel) ? 80 : 70);
    text_add(&text,
             "-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n"
             "-local mem base_addr = 0x00007f0002000000\n-nvbit version = 1.7\n"
             "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
             "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
             "[adrrescompress?] [mem_addresses] immediate\n\n");
    bool good = fwrite(text.at, 1, text.length, to) == text.length;
    text_fini(&text);
    return good;
}

static bool write_warp(struct iwalk *walk, struct accelsim_lines *lines, uint64_t block, uint32_t warp,
                       FILE *to, struct err *err)
{
    struct iwalk_step step;
    char head[64];
    int got;
    if (!iwalk_begin(walk, block, warp, err))
        return false;
    accelsim_lines_begin(lines, iwalk_lanes(walk, warp));
    while ((got = iwalk_next(walk, &step, err)) > 0)
        accelsim_lines_put(lines, &step);
    accelsim_lines_end(lines);
    int length = snprintf(head, sizeof head, "\nwarp = %u\ninsts = %" PRIu64 "\n", warp, lines->count);
    fwrite(head, 1, (size_t)length, to);
    fwrite(lines->text.at, 1, lines->text.length, to);
    return !got;
}

static bool write_blocks(struct itrace_reader *reader, size_t number, uint64_t first, uint64_t end, FILE *to,
                         struct err *err)
{
    const struct itrace *trace = itrace_reader_trace(reader);
    const struct itrace_launch *launch = &trace->launches[number];
    bool is_part = end - first != itrace_launch_blocks(launch), good = true;
    uint64_t x = is_part ? end - first : launch->grid[0], y = is_part ? 1 : launch->grid[1];
    struct iwalk *walk = iwalk_new(reader, number);
    struct accelsim_lines lines;
    accelsim_lines_init(&lines, trace, launch);
    for (uint64_t block = first; block < end && good; block++) {
        char head[96];
        uint64_t n = block - first;
        int length =
            snprintf(head, sizeof head, "\n#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                     n % x, n / x % y, n / x / y);
        fwrite(head, 1, (size_t)length, to);
        for (uint32_t warp = 0; warp < iwalk_warps(walk) && good; warp++)
            good = write_warp(walk, &lines, block, warp, to, err);
        fputs("\n#END_TB\n", to);
        good = good && (!ferror(to) || err_set(err, "cannot write: %s", strerror(errno)));
    }
    if (lines.lost_barriers)
        log_warn("launch %" PRIu64 ": barriers of parts of a block are left out: Accel-Sim has none",
                 launch->number);
    accelsim_lines_fini(&lines);
    iwalk_free(walk);
    return good;
}

static bool write_kernel(struct itrace_reader *reader, size_t number, const struct itrace_part *part,
                         const char *folder, struct err *err)
{
    const struct itrace *trace = itrace_reader_trace(reader);
    const struct itrace_launch *launch = &trace->launches[number];
    struct file_writer file;
    struct text path = {0};
    uint64_t first, end;
    itrace_part_blocks(part, launch, &first, &end);
    text_add(&path, "%s/kernel-%" PRIu64 ".traceg", folder, launch->number + 1);
    bool good = file_open(&file, path.at, err);
    text_fini(&path);
    if (!good)
        return false;
    good = write_header(trace, launch, end - first, file.stream) &&
           write_blocks(reader, number, first, end, file.stream, err);
    if (good)
        return file_close(&file, err);
    file_abandon(&file);
    return false;
}

/* Copies to the GPU, and kernels, in the order of the program. */
static bool write_list(const struct itrace *trace, const struct itrace_part *part, const char *path,
                       struct err *err)
{
    struct file_writer file;
    char line[128];
    if (!file_open(&file, path, err))
        return false;
    for (size_t i = 0; i < trace->call_count; i++) {
        const struct itrace_call *call = &trace->calls[i];
        const uint64_t *field = call->field;
        int length = 0;
        if (call->kind == CALL_COPY && !field[6] && field[10]) /* from the host to a GPU */
            length = snprintf(line, sizeof line, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", field[3],
                              field[11] * max_u64(field[12], 1) * max_u64(field[13], 1));
        else if (call->kind == CALL_LAUNCH && itrace_part_has(part, &trace->launches[field[1]]))
            length = snprintf(line, sizeof line, "kernel-%" PRIu64 ".traceg\n",
                              trace->launches[field[1]].number + 1);
        fwrite(line, 1, (size_t)length, file.stream);
    }
    return file_close(&file, err);
}

static bool make_folder(const char *folder, const char *list, struct err *err)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return err_set(err, "cannot make the folder %s: %s", folder, strerror(errno));
    return access(list, F_OK) || err_set(err, "%s already holds a trace", folder);
}

bool accelsim_export(const char *from, const struct itrace_part *part, const char *to, struct err *err)
{
    struct itrace_reader *reader = itrace_reader_new(from, err);
    struct text list = {0};
    if (!reader)
        return false;
    const struct itrace *trace = itrace_reader_trace(reader);
    size_t written = 0;
    text_add(&list, "%s/kernelslist.g", to);
    bool good = trace->lanes == 32 ||
                err_set(err, "the trace has warps of %u lanes, and Accel-Sim of 32", trace->lanes);
    for (size_t i = 0; i < trace->launch_count && good; i++) {
        if (!itrace_part_has(part, &trace->launches[i]))
            continue;
        if (itrace_launch_cluster(&trace->launches[i]) > 1) {
            good =
                err_set(err, "launch %" PRIu64 " runs in clusters of blocks, which Accel-Sim does not know",
                        trace->launches[i].number);
            break;
        }
        good = (written++ || make_folder(to, list.at, err)) && write_kernel(reader, i, part, to, err);
    }
    if (good && !written)
        good = err_set(err, "no recorded launch is in this part: nothing was written");
    good = good && write_list(trace, part, list.at, err);
    text_fini(&list);
    itrace_reader_free(reader);
    return good;
}

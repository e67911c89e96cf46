#include "mem/dram_timing.h"
#include "base/bits.h"

/* Sets of timings. A new one is a row here and a word in DRAM_PARAMS (mem/spec.h), in the same order.
 *
 *  gddr5  DRAMsim3's GDDR5_1Gb_x32.ini (1.5 GHz command clock); x32 devices, rows of 2 KiB
 *  gddr6  Ramulator 2's GDDR6_2000_1350mV_quad (570 ps clock); channels of 16 bits, rows of 2 KiB
 *  gddr6x GDDR6 with a PAM4 bus, two bits a symbol (Micron's announcement, September 2020), at 19 Gb/s for
 *         14: what counts in the bus's clocks shrinks. No data sheet is public: channels, banks and the
 *         cells' times are taken to be GDDR6's
 *  hbm    JESD235: channels of 128 bits at 1 Gb/s, rows of 2 KiB; the cells' times are HBM2's, as no data
 * sheet is public hbm2   DRAMsim3's HBM2_8Gb_x128.ini (1 GHz); pseudo channels with rows of 1 KiB (JESD235C)
 *  hbm2e  the same cells with a faster bus: what counts in its clocks shrinks (JESD235D)
 *  hbm3   JESD238A: 4 bank groups of 4 banks in each of 4 ranks (Ramulator 2's HBM3_*_4R), here as one of 64
 *         banks; the cells' times are HBM2's, as no data sheet is public
 *  hbm3e  the same at 6.4 Gb/s
 *
 * All banks refresh at once: an H200 reads 5% less than its pins could move, and V100 and A100 lose as much
 * or more in STREAM, which banks that take turns would not cost. rfc of hbm3e is fitted to that. */
/* clang-format off */
#define ROW(text, groups_, banks_, row_, ...) \
    {.name = text, .groups = groups_, .banks = banks_, .row_bytes = row_, __VA_ARGS__}

const struct dram_timing dram_timings[] = {
    ROW("gddr5", 4, 4, 2048,
        .rcd_read = 12, .rcd_write = 10, .rp = 12, .ras = 28, .cl = 16, .cwl = 4.7,
        .rrd_s = 6, .rrd_l = 6, .faw = 23, .ccd_l = 2,
        .wr = 12, .wtr_s = 5.3, .wtr_l = 5.3, .rtp = 2, .rtw = 3, .refi = 7800, .rfc = 65),
    ROW("gddr6", 4, 4, 2048,
        .rcd_read = 14.8, .rcd_write = 9.1, .rp = 14.8, .ras = 30.2, .cl = 13.7, .cwl = 3.4,
        .rrd_s = 4, .rrd_l = 4, .faw = 16, .ccd_l = 3.4,
        .wr = 14.8, .wtr_s = 5.1, .wtr_l = 6.3, .rtp = 2.3, .rtw = 2.3, .refi = 1900, .rfc = 120),
    ROW("gddr6x", 4, 4, 2048,
        .rcd_read = 14.8, .rcd_write = 9.1, .rp = 14.8, .ras = 30.2, .cl = 13.7, .cwl = 3.4,
        .rrd_s = 4, .rrd_l = 4, .faw = 16, .ccd_l = 2.5,
        .wr = 14.8, .wtr_s = 5.1, .wtr_l = 6.3, .rtp = 2.3, .rtw = 1.7, .refi = 1900, .rfc = 120),
    ROW("hbm", 4, 4, 2048,
        .rcd_read = 14, .rcd_write = 14, .rp = 14, .ras = 34, .cl = 14, .cwl = 8,
        .rrd_s = 4, .rrd_l = 6, .faw = 30, .ccd_l = 4,
        .wr = 16, .wtr_s = 6, .wtr_l = 8, .rtp = 6, .rtw = 4, .refi = 3900, .rfc = 260),
    ROW("hbm2", 4, 4, 1024,
        .rcd_read = 14, .rcd_write = 14, .rp = 14, .ras = 34, .cl = 14, .cwl = 4,
        .rrd_s = 4, .rrd_l = 6, .faw = 16, .ccd_l = 4,
        .wr = 16, .wtr_s = 6, .wtr_l = 8, .rtp = 5, .rtw = 2, .refi = 3900, .rfc = 260),
    ROW("hbm2e", 4, 4, 1024,
        .rcd_read = 14, .rcd_write = 14, .rp = 14, .ras = 34, .cl = 14, .cwl = 4,
        .rrd_s = 4, .rrd_l = 6, .faw = 16, .ccd_l = 3.3,
        .wr = 16, .wtr_s = 6, .wtr_l = 8, .rtp = 5, .rtw = 2, .refi = 3900, .rfc = 260),
    ROW("hbm3", 4, 16, 1024,
        .rcd_read = 14, .rcd_write = 14, .rp = 14, .ras = 33, .cl = 14, .cwl = 5,
        .rrd_s = 2, .rrd_l = 3, .faw = 16, .ccd_l = 3,
        .wr = 16, .wtr_s = 5, .wtr_l = 7, .rtp = 4, .rtw = 2, .refi = 3900, .rfc = 270),
    ROW("hbm3e", 4, 16, 1024,
        .rcd_read = 14, .rcd_write = 14, .rp = 14, .ras = 33, .cl = 14, .cwl = 5,
        .rrd_s = 2, .rrd_l = 3, .faw = 16, .ccd_l = 2.5,
        .wr = 16, .wtr_s = 5, .wtr_l = 7, .rtp = 4, .rtw = 2, .refi = 3900, .rfc = 270),
};
/* clang-format on */
const uint32_t dram_timing_count = COUNT_OF(dram_timings);

struct dram_times dram_times_of(const struct dram_timing *timing)
{
    struct dram_times times = {
        .groups = timing->groups, .banks = timing->banks, .row_bytes = timing->row_bytes};
#define X(name) times.name = (uint64_t)(timing->name * 1000 + 0.5);
    DRAM_TIMES(X)
#undef X
    return times;
}

/* Foreign traces: what each line or record becomes; what is wrong is told by file and line. */
#include "check.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/source.h"

#include <zstd.h>

static struct folder folder;

static int make_folder(void **state)
{
    (void)state;
    folder_make(&folder);
    log_set_level(LOG_error); /* lines that are left out are told of */
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder.path);
}

static const char *access_write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *stream = fopen(folder_file(&folder, name), "wb");
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    fclose(stream);
    return folder.file;
}

enum { MOST = 64 };

/* All accesses as CSV without its header, read in pieces of `at_once`; or the error. */
static void read_all(const char *path, uint64_t skip, size_t at_once, char *text, size_t bytes)
{
    struct err err;
    struct trace_access accesses[MOST];
    struct source *source = source_open(path, skip, &err);
    size_t count = 0;
    long got = source ? 0 : -1;
    while (source && (got = source_read(source, accesses + count, min_u64(at_once, MOST - count), &err)) > 0)
        count += (size_t)got;
    source_close(source);
    if (got < 0)
        snprintf(text, bytes, "%s", err.text);
    else
        text[trace_csv_rows(accesses, count, text)] = 0;
}

static void expect(const char *name, const char *content, uint64_t skip, const char *wanted)
{
    char text[MOST * TRACE_CSV_ROW_MOST];
    char path[128];
    snprintf(path, sizeof path, "%s", folder_write(&folder, name, content));
    for (size_t at_once = 1; at_once <= 8; at_once += at_once == 1 ? 6 : 1) {
        read_all(path, skip, at_once, text, sizeof text);
        if (strcmp(text, wanted))
            fail_msg("%s, %zu at once:\n%s\nand not\n%s", name, at_once, text, wanted);
    }
    unlink(path);
}

/* The error has this in it, and begins with the file's name. */
static void expect_error(const char *name, const char *content, const char *part)
{
    char text[MOST * TRACE_CSV_ROW_MOST];
    char path[128];
    snprintf(path, sizeof path, "%s", folder_write(&folder, name, content));
    read_all(path, 0, 7, text, sizeof text);
    unlink(path);
    if (strncmp(text, path, strlen(path)) || !strstr(text, part))
        fail_msg("%s: '%s' is not '...%s'", name, text, part);
}

/* ---- lackey ---- */

#define LACKEY_HEAD "==77== Lackey, an example Valgrind tool\n==77== \n"

static void lackey(void **state)
{
    (void)state;
    expect("t",
           LACKEY_HEAD "I  04001000,3\n L 1ffefffe7c,4\nI  04001003,5\n S 1FFEFFFE78,8\n M 0421c7cc,16\nI  "
                       "04001000,3\n L 10,1\n",
           0,
           "0x1ffefffe7c,read,4,0\n0x1ffefffe78,write,8,1\n0x421c7cc,read,16,1\n0x421c7cc,write,16,1\n0x10,"
           "read,1,2\n");
    expect("t", " L 10,1\n L 20,1\nI  04001000,3\n L 30,1\nI  04001000,3\n L 40,1\n", 1,
           "0x20,read,1,0\n0x30,read,1,0\n0x40,read,1,1\n");
    expect("t", " M 10,1\r\n M 20,1\r\n", 1, "0x10,write,1,0\n0x20,read,1,0\n0x20,write,1,0\n");
    expect("t", LACKEY_HEAD "hello, world\n L 10,1\n Lx\nIt\n L 20,1\n--77-- L 1,1\n", 0,
           "0x10,read,1,0\n0x20,read,1,0\n");
}

static void lackey_errors(void **state)
{
    (void)state;
    expect_error("t", LACKEY_HEAD " L 10,1\n L 20,0\n",
                 ":4: expected a hexadecimal address, a comma and the bytes (1 to 65535), not ' L 20,0'");
    expect_error("t", LACKEY_HEAD " L 10,1\n S 20,65536\n", ":4: expected");
    expect_error("t", LACKEY_HEAD " L 10,1\n S 20\n", ":4: expected");
    expect_error("t", LACKEY_HEAD " L 10,1\n S 12345678123456789,1\n", ":4: expected");
    expect_error("t", LACKEY_HEAD " L 10,1\nI  20,x\n", ":4: expected");
    expect_error("t", LACKEY_HEAD " L 10,1\n L 20,1", ":4: the last line has no end: the trace was cut");
    expect_error("t", LACKEY_HEAD "I  10,1\n", "there is no access in it");
}

/* ---- Dinero ---- */

static void din(void **state)
{
    (void)state;
    expect("t.din", "2 400000\n0 1000\n1 0x7fff0000\n2 400004\n2 400008\n0 2000 8\n", 0,
           "0x1000,read,4,0\n0x7fff0000,write,4,0\n0x2000,read,8,2\n");
    expect("t", "0 10\n1 20\nr 30 40\n\nw 40\ni 0\n0 50\n2 0\n0 60\n", 0,
           "0x10,read,4,0\n0x20,write,4,1\n0x30,read,64,2\n0x40,write,4,3\n0x50,read,4,4\n0x60,read,4,5\n");
    expect("t", "0 10\n1 ffffffffffffffff\n", 1, "0xffffffffffffffff,write,4,1\n");
}

static void din_errors(void **state)
{
    (void)state;
    expect_error("t.din", "0 10\n3 20\n",
                 ":2: expected 0, 1 or 2 (read, write, instruction fetch) and an address, not '3 20'");
    expect_error("t.din", "0 10\n020\n", ":2: expected 0, 1 or 2");
    expect_error("t.din", "0 10\n0\n", ":2: expected 0, 1 or 2");
    expect_error("t.din", "0 10\n0 xyz\n", ":2: expected a hexadecimal address");
    expect_error("t.din", "0 10\n0 10 0\n", ":2: expected a hexadecimal address, and bytes");
    expect_error("t.din", "0 10\n0 10 4 5\n", ":2: expected a hexadecimal address, and bytes");
    expect_error("t.din", "0 10\n1 20", ":2: the last line has no end: the trace was cut");
    expect_error("t.din", "2 10\n", "there is no access in it");
}

/* ---- CSV ---- */

static void csv(void **state)
{
    (void)state;
    expect("t.csv", TRACE_CSV_HEADER "0x10,write,8,5\n4096,r,1,5\n0XfF,S,65535,140737488355327\n", 0,
           "0x10,write,8,5\n0x1000,read,1,5\n0xff,write,65535,140737488355327\n");
    expect("t", "Address\n16\n0x20\n", 0, "0x10,read,1,0\n0x20,read,1,1\n");
    expect("t", "# made by hand\npc;\"RW\";size ; addr\r\n0;1;4;16\r\n\r\n# more\n1; load ;4; \"0x20\"\n", 0,
           "0x10,write,4,0\n0x20,read,4,1\n");
    expect("t", "icount\taddr\n7\t0\n9\t0xffffffffffffffff\n", 1, "0xffffffffffffffff,read,1,9\n");
}

static void csv_errors(void **state)
{
    (void)state;
    expect_error("t.csv", "size,kind\n1,r\n",
                 ":1: expected the names of the columns: address, and kind, size, instruction");
    expect_error("t.csv", "address,addr\n1,1\n", ":1: expected the names of the columns");
    expect_error("t.csv", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,address\n",
                 ":1: expected the names of the columns");
    expect_error("t.csv", "address,kind\n1,r\n2\n",
                 ":3: expected as many fields as the first line names, not '2'");
    expect_error("t.csv", "address,kind\n1,r,4\n", ":2: expected as many fields as the first line names");
    expect_error("t.csv", "address\nff\n", ":2: expected an address, such as 4096 or 0x1000, not 'ff'");
    expect_error("t.csv", "address\n18446744073709551616\n", ":2: expected an address");
    expect_error("t.csv", "address\n0x12345678123456789\n", ":2: expected an address");
    expect_error("t.csv", "address\n-1\n", ":2: expected an address");
    expect_error("t.csv", "address,kind\n1,x\n", ":2: expected a kind: read or write");
    expect_error("t.csv", "address,size\n1,0\n", ":2: expected a size of 1 to 65535 bytes");
    expect_error("t.csv", "address,instruction\n1,140737488355328\n",
                 ":2: expected an instruction count below 2^47");
    expect_error("t.csv", "address,instruction\n1,9\n1,8\n",
                 ":3: expected an instruction count that does not go back, not '1,8'");
    expect_error("t.csv", "address\n1\n23", ":3: the last line has no end: the trace was cut");
    expect_error("t.csv", "address", ":1: the last line has no end: the trace was cut");
    expect_error("t.csv", TRACE_CSV_HEADER, "there is no access in it");
}

/* ---- ChampSim ---- */

struct record {
    uint64_t ip;
    uint8_t is_branch, branch_taken, registers[6];
    uint64_t writes[2], reads[4];
};

static void champsim(void **state)
{
    (void)state;
    char text[MOST * TRACE_CSV_ROW_MOST];
    const struct record records[] = {
        {.ip = 4096, .reads = {0, 16}, .writes = {32}},
        {.ip = 4100, .is_branch = 1, .branch_taken = 1},
        {.ip = 4104, .writes = {1, 2}, .reads = {3, 4, 5, UINT64_MAX}},
    };
    const char *path = access_write_bytes("t.champsimtrace", records, sizeof records);
    for (size_t at_once = 1; at_once <= 7; at_once++) {
        read_all(path, 1, at_once, text, sizeof text);
        assert_string_equal(
            text, "0x20,write,1,0\n0x3,read,1,2\n0x4,read,1,2\n0x5,read,1,2\n0xffffffffffffffff,read,1,2\n"
                  "0x1,write,1,2\n0x2,write,1,2\n");
    }
    unlink(path);
    path = access_write_bytes("unnamed", records, sizeof records);
    read_all(path, 8, 7, text, sizeof text);
    assert_non_null(strstr(text, "it has only 8 accesses: 8 cannot be left out"));
    unlink(path);
    path = access_write_bytes("t.champsimtrace", records, sizeof records - 10);
    read_all(path, 0, 7, text, sizeof text);
    assert_non_null(strstr(text, "record 2: it is cut: 54 bytes of 64"));
    unlink(path);
    struct record strange = records[0];
    strange.is_branch = 7;
    path = access_write_bytes("t.champsimtrace", &strange, sizeof strange);
    read_all(path, 0, 7, text, sizeof text);
    assert_non_null(strstr(text, "record 0: is_branch 7 and branch_taken 0, expected 0 or 1"));
    unlink(path);
}

/* ---- which format, and packed ---- */

static void formats(void **state)
{
    (void)state;
    char text[MOST * TRACE_CSV_ROW_MOST], path[160];
    expect_error("t", "", "it is empty");
    expect_error("t", "nothing that is known\n",
                 "this is no trace that Heddle knows: expected its own, lackey, din, csv, champsim");
    folder_write(&folder, "t", " 0 10\n");
    snprintf(path, sizeof path, "lackey:%s", folder.file);
    read_all(path, 0, 7, text, sizeof text);
    assert_non_null(strstr(text, "there is no access in it"));
    snprintf(path, sizeof path, "din:%s", folder.file);
    read_all(path, 0, 7, text, sizeof text);
    assert_string_equal(text, "0x10,read,4,0\n");
    unlink(folder.file);
    read_all("/nowhere", 0, 7, text, sizeof text);
    assert_string_equal(text, "cannot read /nowhere: No such file or directory");
    read_all("/dev/zero", 0, 7, text, sizeof text);
    assert_non_null(strstr(text, "/dev/zero: this is no trace that Heddle knows"));
    read_all(folder.path, 0, 7, text, sizeof text);
    assert_non_null(strstr(text, "Is a directory"));
}

/* What never ends and has no accesses is given up. */
static void endless(void **state)
{
    (void)state;
    char text[MOST * TRACE_CSV_ROW_MOST];
    read_all("champsim:/dev/zero", 0, 7, text, sizeof text);
    assert_string_equal(text, "/dev/zero: no access in 64 MiB: is this a trace of champsim?");
    read_all("champsim:/dev/zero", 5, 7, text, sizeof text);
    assert_string_equal(text, "/dev/zero: no access in 64 MiB: is this a trace of champsim?");
}

static void long_lines(void **state)
{
    (void)state;
    struct text content = {0};
    text_add(&content, "0 10\n0 20 ");
    for (int i = 0; i < 5000; i++)
        text_add(&content, " ");
    expect_error("t.din", content.at, ":2: expected lines of at most 4096 bytes");
    text_add(&content, "\n");
    expect_error("t.din", content.at, ":2: expected lines of at most 4096 bytes");
    text_fini(&content);
}

/* Many lines, so that windows have borders within them; packed in two frames. */
static void many_lines(void **state)
{
    (void)state;
    struct err err;
    struct text content = {0};
    const uint64_t count = 200000;
    for (uint64_t i = 0; i < count; i++)
        text_add(&content, "%d %x\n", (int)(i & 1), (unsigned)(i * 77));
    size_t room = ZSTD_compressBound(content.length), half = content.length / 2;
    char *packed = mem_alloc(2 * room, 1);
    size_t first = ZSTD_compress(packed, room, content.at, half, 1);
    size_t all = first + ZSTD_compress(packed + first, room, content.at + half, content.length - half, 1);
    const struct {
        const char *name;
        const char *bytes;
        size_t count;
        bool whole;
    } files[] = {{"a.din", content.at, content.length, true},
                 {"a.din.zst", packed, all, true},
                 {"b.din.zst", packed, all - 9, false}};
    for (size_t k = 0; k < COUNT_OF(files); k++) {
        const char *path = access_write_bytes(files[k].name, files[k].bytes, files[k].count);
        struct source *source = source_open(path, 0, &err);
        struct trace_access accesses[1000];
        uint64_t at = 0;
        long got;
        while ((got = source_read(source, accesses, 1000, &err)) > 0) {
            for (long i = 0; i < got; i++, at++) {
                struct trace_access wanted = trace_access(at * 77, at, 4, at & 1);
                assert_memory_equal(&accesses[i], &wanted, sizeof wanted);
            }
        }
        source_close(source);
        assert_int_equal(got, files[k].whole ? 0 : -1);
        if (files[k].whole)
            assert_int_equal(at, count);
        else
            check_says(&err, "b.din.zst: it is cut");
        unlink(path);
    }
    mem_free(packed);
    text_fini(&content);
}

/* By the programs of the host, where it has them. */
static void packed_by_programs(void **state)
{
    (void)state;
    static const char *const programs[] = {"gzip", "xz"};
    char text[MOST * TRACE_CSV_ROW_MOST], command[512], path[140];
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        snprintf(path, sizeof path, "%s", folder_write(&folder, "a.din", "0 10\n1 20\n"));
        snprintf(command, sizeof command, "%s -c %s > %s.packed 2>/dev/null", programs[i], path, path);
        bool has = system(command) == 0;
        unlink(path);
        strcat(path, ".packed");
        if (has) {
            read_all(path, 1, 7, text, sizeof text);
            assert_string_equal(text, "0x20,write,4,1\n");
            assert_int_equal(truncate(path, 20), 0);
            read_all(path, 0, 7, text, sizeof text);
            assert_non_null(strstr(text, "could not unpack all of it"));
        }
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lackey),     cmocka_unit_test(lackey_errors),      cmocka_unit_test(din),
        cmocka_unit_test(champsim),   cmocka_unit_test(din_errors),         cmocka_unit_test(csv),
        cmocka_unit_test(formats),    cmocka_unit_test(csv_errors),         cmocka_unit_test(long_lines),
        cmocka_unit_test(many_lines), cmocka_unit_test(packed_by_programs), cmocka_unit_test(endless),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

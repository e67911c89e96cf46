/* Timelines: the bytes of Protocol Buffers, windows of time, lanes of slices that overlap. */
#include "check.h"
#include "tracks/lanes.h"
#include "tracks/proto.h"
#include "tracks/tracks.h"

#include <string.h>
#include <unistd.h>

static void fields_are_as_protobuf_has_them(void **state)
{
    struct proto proto = {0};
    (void)state;
    /* the examples of protobuf's own description of its encoding: 150, "testing", a message with 150 */
    static const unsigned char want[] = {0x08, 0x96, 0x01, 0x12, 0x07, 't',  'e',  's', 't',
                                         'i',  'n',  'g',  0x1a, 0x03, 0x08, 0x96, 0x01};
    proto_number(&proto, 1, 150);
    proto_text(&proto, 2, "testing");
    size_t begun = proto_begin(&proto, 3);
    proto_number(&proto, 1, 150);
    proto_end(&proto, begun);
    assert_int_equal(proto.length, sizeof want);
    assert_memory_equal(proto.at, want, sizeof want);
    proto_fini(&proto);
}

static void a_long_message_has_a_longer_length(void **state)
{
    struct proto proto = {0};
    char text[300];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    size_t begun = proto_begin(&proto, 1);
    proto_text(&proto, 2, text);
    proto_end(&proto, begun);
    /* 0x0a, 302 in two bytes, 0x12, 299 in two bytes, the text */
    static const unsigned char want[] = {0x0a, 0xae, 0x02, 0x12, 0xab, 0x02, 'x'};
    assert_int_equal(proto.length, 305);
    assert_memory_equal(proto.at, want, sizeof want);
    proto_fini(&proto);
}

static void windows_are_read(void **state)
{
    struct tracks_window window;
    struct err err;
    (void)state;
    assert_true(tracks_window_parse(&window, "10us..1ms", &err));
    assert_int_equal(window.from_ps, 10000000);
    assert_int_equal(window.to_ps, 1000000000);
    assert_true(tracks_window_parse(&window, "5ns..", &err));
    assert_int_equal(window.from_ps, 5000);
    assert_int_equal(window.to_ps, 0);
    assert_true(tracks_window_parse(&window, "..5ns", &err));
    assert_int_equal(window.to_ps, 5000);
    assert_false(tracks_window_parse(&window, "5ns..5ns", &err));
    assert_false(tracks_window_parse(&window, "5ns", &err));
    assert_false(tracks_window_parse(&window, "5..6", &err));
}

static void slices_that_overlap_are_on_lanes_of_their_own(void **state)
{
    struct tracks_lanes lanes;
    struct err err;
    (void)state;
    struct tracks *tracks = tracks_new("/dev/null", &(struct tracks_window){0}, &err);
    assert_non_null(tracks);
    uint32_t process = tracks_add(tracks, 0, "GPU", TRACK_PROCESS, NULL);
    tracks_lanes_init(&lanes, process, "SM");
    assert_int_equal(tracks_lanes_begin(&lanes, tracks, 100), 0);
    assert_int_equal(tracks_lanes_begin(&lanes, tracks, 150), 1);
    tracks_lanes_end(&lanes, 0, 200);
    assert_int_equal(tracks_lanes_begin(&lanes, tracks, 199), 2); /* the first is busy up to 200 */
    assert_int_equal(tracks_lanes_begin(&lanes, tracks, 200), 0);
    tracks_lanes_fini(&lanes);
    assert_true(tracks_free(tracks, &err));
}

static void slices_outside_of_the_window_are_left_out(void **state)
{
    struct err err;
    (void)state;
    struct tracks *tracks = tracks_new("/dev/null", &(struct tracks_window){1000, 2000}, &err);
    uint32_t track =
        tracks_add(tracks, tracks_add(tracks, 0, "GPU", TRACK_PROCESS, NULL), "SM", TRACK_SLICES, NULL);
    static const struct {
        uint64_t begin, end, count;
    } rows[] = {{0, 1000, 0}, {0, 1001, 1}, {1500, 1500, 2}, {1999, 5000, 3}, {2000, 5000, 3}, {0, 9000, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracks_slice(tracks, track,
                     &(struct track_slice){
                         .begin_ps = rows[i].begin, .end_ps = rows[i].end, .name = "k", .category = "c"});
        assert_int_equal(tracks_slice_count(tracks), rows[i].count);
    }
    assert_true(tracks_free(tracks, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_as_protobuf_has_them),
        cmocka_unit_test(a_long_message_has_a_longer_length),
        cmocka_unit_test(windows_are_read),
        cmocka_unit_test(slices_that_overlap_are_on_lanes_of_their_own),
        cmocka_unit_test(slices_outside_of_the_window_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

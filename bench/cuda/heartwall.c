/* Points of a moving wall, followed from frame to frame: a block has a point and looks where around it the
 * frame is most like the point's template, by normalized cross-correlation, a thread for each displacement.
 * The template then takes in a quarter of what was found. Sums are whole numbers, so scores are exact. */
#include "workload.h"

enum { HEARTWALL_REACH = 7, HEARTWALL_RADIUS = 5 }; /* of the search; of the template, in pixels */
enum { HEARTWALL_SEARCH = 2 * HEARTWALL_REACH + 1, HEARTWALL_SIDE = 2 * HEARTWALL_RADIUS + 1 };
enum { HEARTWALL_PIXELS = HEARTWALL_SIDE * HEARTWALL_SIDE, HEARTWALL_BLOCK = 256 };

enum { HEARTWALL_WIDTH, HEARTWALL_HEIGHT, HEARTWALL_POINTS, HEARTWALL_FRAMES };
static const struct workload_option heartwall_options[] = {
    {"width", 160, 16, 4096, "columns of a frame"},
    {"height", 120, 16, 4096, "rows of a frame"},
    {"points", 8, 1, 4096, "points to follow"},
    {"frames", 4, 2, 1000, "frames"},
    {0, 0, 0, 0, 0},
};

struct heartwall_point {
    int x, y, patch[HEARTWALL_PIXELS]; /* the template, by rows */
};

struct heartwall_frame {
    int width, height;
    uint8_t *pixels;
};

/* A pattern without end, which the frames look at from places that move. */
static uint8_t heartwall_pattern(int x, int y)
{
    uint32_t sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        uint64_t state = (uint64_t)(uint32_t)((x + corner % 2) / 2) << 32 | (uint32_t)((y + corner / 2) / 2);
        workload_random(&state);
        sum += workload_random(&state) >> 23;
    }
    return (uint8_t)(sum / 4);
}

static void heartwall_draw(struct heartwall_frame *frame, int x, int y, uint64_t *seed)
{
    for (int row = 0; row < frame->height; row++)
        for (int column = 0; column < frame->width; column++) {
            uint32_t noise = workload_random(seed) % 8;
            uint32_t pixel = heartwall_pattern(x + column, y + row) * 7u / 8 + noise;
            frame->pixels[row * frame->width + column] = (uint8_t)pixel;
        }
}

static int heartwall_clamp(int at, int size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

static int heartwall_pixel(const struct heartwall_frame *frame, int x, int y)
{
    return frame->pixels[heartwall_clamp(y, frame->height) * frame->width + heartwall_clamp(x, frame->width)];
}

/* How much the template is like the frame around x, y: from -1 to 1. */
static float heartwall_score(const struct heartwall_frame *frame, const int *patch, int x, int y)
{
    int a = 0, b = 0, aa = 0, bb = 0, ab = 0, n = HEARTWALL_PIXELS;
    for (int i = 0; i < n; i++) {
        int is = heartwall_pixel(frame, x + i % HEARTWALL_SIDE - HEARTWALL_RADIUS,
                                 y + i / HEARTWALL_SIDE - HEARTWALL_RADIUS);
        a += patch[i], b += is, aa += patch[i] * patch[i], bb += is * is, ab += patch[i] * is;
    }
    float variances = (float)(n * aa - a * a) * (float)(n * bb - b * b);
    return variances > 0 ? (float)(n * ab - a * b) / sqrtf(variances) : -1;
}

static void heartwall_follow(const struct heartwall_frame *frame, struct heartwall_point *point)
{
    int x = point->x, y = point->y;
    float best = -2;
    for (int i = 0; i < HEARTWALL_SEARCH * HEARTWALL_SEARCH; i++) {
        int to_x = x + i % HEARTWALL_SEARCH - HEARTWALL_REACH,
            to_y = y + i / HEARTWALL_SEARCH - HEARTWALL_REACH;
        float score = heartwall_score(frame, point->patch, to_x, to_y);
        if (score > best)
            best = score, point->x = to_x, point->y = to_y;
    }
    for (int i = 0; i < HEARTWALL_PIXELS; i++) {
        int is = heartwall_pixel(frame, point->x + i % HEARTWALL_SIDE - HEARTWALL_RADIUS,
                                 point->y + i / HEARTWALL_SIDE - HEARTWALL_RADIUS);
        point->patch[i] = (3 * point->patch[i] + is + 2) / 4;
    }
}

static void heartwall_start(const struct heartwall_frame *frame, struct heartwall_point *point,
                            uint64_t *seed)
{
    point->x = (int)(workload_random(seed) % (uint32_t)frame->width);
    point->y = (int)(workload_random(seed) % (uint32_t)frame->height);
    for (int i = 0; i < HEARTWALL_PIXELS; i++)
        point->patch[i] = heartwall_pixel(frame, point->x + i % HEARTWALL_SIDE - HEARTWALL_RADIUS,
                                          point->y + i / HEARTWALL_SIDE - HEARTWALL_RADIUS);
}

static void heartwall_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t points = (uint32_t)options[HEARTWALL_POINTS];
    size_t bytes = points * sizeof(struct heartwall_point);
    size_t frame_bytes = options[HEARTWALL_WIDTH] * options[HEARTWALL_HEIGHT];
    struct heartwall_frame frame = {(int)options[HEARTWALL_WIDTH], (int)options[HEARTWALL_HEIGHT],
                                    (uint8_t *)dev_host(gpu, frame_bytes)};
    struct heartwall_point *expected = (struct heartwall_point *)dev_host(gpu, bytes);
    struct heartwall_point *got = (struct heartwall_point *)dev_host(gpu, bytes);
    void *device_frame = dev_alloc(gpu, frame_bytes), *device_points = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    int x = 1 << 20, y = 1 << 20;
    heartwall_draw(&frame, x, y, &seed);
    for (uint32_t i = 0; i < points; i++)
        heartwall_start(&frame, &expected[i], &seed);
    dev_upload(gpu, device_points, expected, bytes);
    for (uint64_t i = 1; i < options[HEARTWALL_FRAMES]; i++) {
        x += (int)(workload_random(&seed) % 9) - 4, y += (int)(workload_random(&seed) % 9) - 4;
        heartwall_draw(&frame, x, y, &seed);
        dev_upload(gpu, device_frame, frame.pixels, frame_bytes);
        DEV_LAUNCH(gpu, "heartwall", dev_dim(points, 1, 1), dev_dim(HEARTWALL_BLOCK, 1, 1), 0, &frame.width,
                   &frame.height, &device_frame, &device_points);
        for (uint32_t p = 0; p < points; p++)
            heartwall_follow(&frame, &expected[p]);
    }
    dev_download(gpu, got, device_points, bytes);
    dev_expect_bytes(gpu, "points", got, expected, bytes);
}

const struct workload heartwall_workload = {"heartwall", "points followed in moving frames",
                                            heartwall_options, heartwall_run};

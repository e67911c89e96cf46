/* A network of inputs, 16 hidden units and one output. The GPU has the large layer: products with its
 * weights, and their adjustment; the CPU all that is small. */
#include "rodinia.h"
#include "shapes.h"

#include <math.h>
#include <string.h>

enum { HIDDEN = BACKPROP_HIDDEN };
static const float target = 0.1f;

struct small { /* what the CPU knows of the network */
    float bias[HIDDEN], hidden[HIDDEN], weights[HIDDEN + 1], delta[HIDDEN];
};

static float squash(float sum)
{
    return 1.0f / (1.0f + expf(-sum));
}

static void train_small(struct small *net, const float *partial, unsigned blocks)
{
    float sum = net->weights[HIDDEN];
    for (int unit = 0; unit < HIDDEN; unit++) {
        float into = net->bias[unit];
        for (unsigned block = 0; block < blocks; block++)
            into += partial[block * HIDDEN + (unsigned)unit];
        net->hidden[unit] = squash(into);
        sum += net->hidden[unit] * net->weights[unit];
    }
    float out = squash(sum), error = out * (1 - out) * (target - out);
    for (int unit = 0; unit < HIDDEN; unit++) {
        float hidden = net->hidden[unit];
        net->delta[unit] = hidden * (1 - hidden) * error * net->weights[unit];
        net->weights[unit] += BACKPROP_RATE * error * hidden;
    }
    net->weights[HIDDEN] += BACKPROP_RATE * error;
}

/* In the order of the kernel's sums. */
static void forward(const float *input, const float *weights, unsigned blocks, float *partial)
{
    for (unsigned block = 0; block < blocks; block++) {
        for (unsigned unit = 0; unit < HIDDEN; unit++) {
            float products[HIDDEN];
            for (unsigned i = 0; i < HIDDEN; i++) {
                unsigned row = block * HIDDEN + i;
                products[i] = input[row] * weights[row * HIDDEN + unit];
            }
            for (unsigned half = HIDDEN / 2; half; half /= 2) {
                for (unsigned i = 0; i < half; i++)
                    products[i] += products[i + half];
            }
            partial[block * HIDDEN + unit] = products[0];
        }
    }
}

static void adjust(const float *input, const float *delta, unsigned rows, float *weights)
{
    for (unsigned i = 0; i < rows * HIDDEN; i++)
        weights[i] += BACKPROP_RATE * delta[i % HIDDEN] * input[i / HIDDEN] + BACKPROP_MOMENTUM * 0.0f;
}

void backprop(struct hetero *run)
{
    unsigned blocks = pieces(run->size, HIDDEN), rows = blocks * HIDDEN;
    struct buffer input = hetero_buffer(run, rows * sizeof(float));
    struct buffer weights = hetero_buffer(run, rows * HIDDEN * sizeof(float));
    struct buffer before = hetero_buffer(run, weights.bytes); /* the changes of the step before: none */
    struct buffer partial = hetero_buffer(run, blocks * HIDDEN * sizeof(float));
    struct buffer delta = hetero_buffer(run, HIDDEN * sizeof(float));
    CUfunction forwards = hetero_kernel("hetero_forward"), adjusts = hetero_kernel("hetero_adjust");
    float *in = input.host, *large = weights.host;
    struct small net = {.bias = {0}}, expected_net;
    uint64_t seed = 1;
    for (unsigned i = 0; i < rows; i++)
        in[i] = hetero_unit(&seed);
    for (unsigned i = 0; i < rows * HIDDEN; i++)
        large[i] = (hetero_unit(&seed) - 0.5f) / 64;
    for (int i = 0; i < HIDDEN; i++)
        net.bias[i] = hetero_unit(&seed) - 0.5f, net.weights[i] = hetero_unit(&seed) - 0.5f;
    float *expected = hetero_array(rows * HIDDEN, sizeof *expected);
    float *expected_partial = hetero_array(blocks * HIDDEN, sizeof *expected_partial);
    memcpy(expected, large, weights.bytes);
    expected_net = net;

    hetero_begin(run);
    hetero_upload(run, &input);
    hetero_upload(run, &weights);
    LAUNCH(run, forwards, blocks, 1, HIDDEN, HIDDEN, &input.gpu, &weights.gpu, &partial.gpu);
    hetero_wait(run);
    hetero_download(run, &partial);
    train_small(&net, partial.host, blocks);
    memcpy(delta.host, net.delta, delta.bytes);
    hetero_upload(run, &delta);
    hetero_upload(run, &before);
    LAUNCH(run, adjusts, blocks, 1, HIDDEN, HIDDEN, &input.gpu, &delta.gpu, &weights.gpu, &before.gpu);
    hetero_wait(run);
    hetero_download(run, &weights);
    hetero_end(run);

    forward(in, expected, blocks, expected_partial);
    train_small(&expected_net, expected_partial, blocks);
    adjust(in, expected_net.delta, rows, expected);
    hetero_expect(run, large, expected, weights.bytes);
    hetero_expect(run, &net, &expected_net, sizeof net);
}

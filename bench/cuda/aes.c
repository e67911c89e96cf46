/* AES-256 of many blocks under one key (FIPS 197), each by itself: a thread to a block of 16 bytes, the S-box
 * in shared memory. */
#include "placement.h"

enum { AES_BLOCK = 64, AES_ROUNDS = 14, AES_KEY_WORDS = 4 * (AES_ROUNDS + 1) };

enum { AES_N, AES_LOCALITY };
static const struct workload_option aes_options[] = {
    {"n", 4096, 1, 1u << 24, "blocks of 16 bytes"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

static uint8_t aes_double(uint8_t a) /* in GF(2^8) */
{
    return (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
}

/* By powers of 3 and of its inverse 0xf6, which pass through all elements but 0. */
static void aes_sbox(uint8_t sbox[256])
{
    uint8_t power = 1, inverse = 1;
    sbox[0] = 0x63;
    do {
        power = (uint8_t)(power ^ aes_double(power));
        inverse ^= (uint8_t)(inverse << 1);
        inverse ^= (uint8_t)(inverse << 2);
        inverse ^= (uint8_t)(inverse << 4);
        inverse ^= inverse & 0x80 ? 0x09 : 0;
        uint32_t twice = inverse * 0x101u; /* shifts of it are rotations */
        sbox[power] = (uint8_t)(0x63 ^ twice ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7);
    } while (power != 1);
}

/* The first 32 bytes of keys are the key. */
static void aes_expand(const uint8_t sbox[256], uint8_t keys[4 * AES_KEY_WORDS])
{
    uint8_t round = 1;
    for (int word = 8; word < AES_KEY_WORDS; word++) {
        uint8_t last[4];
        memcpy(last, &keys[4 * word - 4], 4);
        for (int i = 0; i < 4; i++) {
            uint8_t from = word % 8 ? last[i] : keys[4 * word - 4 + (i + 1) % 4];
            uint8_t mixed = word % 4 ? from : sbox[from];
            keys[4 * word + i] = (uint8_t)(keys[4 * word + i - 32] ^ mixed ^ (word % 8 || i ? 0 : round));
        }
        round = word % 8 ? round : aes_double(round);
    }
}

static void aes_mix(uint8_t column[4])
{
    uint8_t all = column[0] ^ column[1] ^ column[2] ^ column[3], first = column[0];
    for (int i = 0; i < 4; i++)
        column[i] ^= (uint8_t)(all ^ aes_double((uint8_t)(column[i] ^ (i < 3 ? column[i + 1] : first))));
}

static void aes_encrypt(const uint8_t sbox[256], const uint8_t *keys, uint8_t state[16])
{
    for (int i = 0; i < 16; i++)
        state[i] ^= keys[i];
    for (int round = 1; round <= AES_ROUNDS; round++) {
        uint8_t shifted[16];
        for (int i = 0; i < 16; i++) /* row i % 4 moves by as many columns */
            shifted[i] = sbox[state[(i + 4 * (i % 4)) % 16]];
        for (int i = 0; i < 16 && round < AES_ROUNDS; i += 4)
            aes_mix(&shifted[i]);
        for (int i = 0; i < 16; i++)
            state[i] = shifted[i] ^ keys[16 * round + i];
    }
}

/* The standard's own example, C.3: key 00 01 ... 1f, text 00 11 ... ff; it is the first block. */
static const uint8_t aes_example[16] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                        0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};

static void aes_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[AES_N];
    size_t bytes = (size_t)16 * n;
    uint8_t *text = (uint8_t *)dev_host(gpu, bytes), *expected = (uint8_t *)dev_host(gpu, bytes);
    unsigned blocks = (n + AES_BLOCK - 1) / AES_BLOCK;
    uint8_t sbox[256], keys[4 * AES_KEY_WORDS];
    uint64_t seed = 1;
    for (int i = 0; i < 32; i++)
        keys[i] = (uint8_t)i;
    for (size_t i = 0; i < bytes; i++)
        text[i] = (uint8_t)(i < 16 ? 0x11 * i : workload_random(&seed));
    aes_sbox(sbox);
    aes_expand(sbox, keys);
    memcpy(expected, text, bytes);
    for (size_t i = 0; i < bytes; i += 16)
        aes_encrypt(sbox, keys, &expected[i]);
    dev_expect(gpu, memcmp(expected, aes_example, 16) == 0, "the standard's example");
    void *device_sbox = dev_alloc(gpu, sizeof sbox), *device_keys = dev_alloc(gpu, sizeof keys);
    void *device_text = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_sbox, sbox, sizeof sbox);
    dev_upload(gpu, device_keys, keys, sizeof keys);
    dev_upload(gpu, device_text, text, bytes);
    struct placement placement = placement_of(gpu, options[AES_LOCALITY], blocks);
    placement_memory(&placement, device_text, bytes, AES_BLOCK * 16);
    placement_blocks(&placement, 1);
    DEV_LAUNCH(gpu, "aes", dev_dim(blocks, 1, 1), dev_dim(AES_BLOCK, 1, 1), 0, &n, &device_sbox, &device_keys,
               &device_text);
    dev_download(gpu, text, device_text, bytes);
    dev_expect_bytes(gpu, "text", text, expected, bytes);
}

const struct workload aes_workload = {"aes", "AES-256 of many blocks", aes_options, aes_run};

/* Every function against what an H200 computed. Of dense ranges and of numbers all over there are digests,
 * one for 2^17 results, made on the GPU; special cases are written out. */
#include "check.h"
#include "base/bits.h"
#include "ptx_run/approx.h"

enum { BLOCK = 1024, CHUNK = 1 << 17 };

/* A result's share in the digest, which is their sum: so the GPU's threads could add theirs in any order. */
static uint32_t share(uint32_t r, uint32_t i)
{
    uint32_t h = (r ^ i * 0x9e3779b1) * 0x85ebca6b;
    h = (h ^ h >> 15) * 0xc2b2ae35;
    return h ^ h >> 16;
}

/* Operands for the i-th case where they are not counted up. */
static uint32_t scatter(uint32_t x)
{
    x *= 2654435761;
    x ^= x >> 15;
    x *= 2246822519;
    return x ^ x >> 13;
}

/* --- one f32 ------------------------------------------------------------------------------------------- */

#define BLOCKS(name, result)                                                                                 \
    static void blocks_##name(uint32_t *r, const uint32_t *operands)                                         \
    {                                                                                                        \
        for (int i = 0; i < BLOCK; i++) {                                                                    \
            float a = f32_bits(operands[i]);                                                                 \
            r[i] = bits_f32(result);                                                                         \
        }                                                                                                    \
    }
#define BOTH(op)                                                                                             \
    BLOCKS(op, op##_approx(a))                                                                               \
    BLOCKS(op##_ftz, ftz(op##_approx(ftz(a))))
BOTH(rcp)
BOTH(rsqrt)
BOTH(sqrt)
BOTH(ex2)
BOTH(lg2)
BOTH(sin)
BOTH(cos)
BLOCKS(tanh, tanh_approx(a))

struct sweep {
    const char *name;
    void (*block)(uint32_t *r, const uint32_t *operands);
    uint32_t first, step; /* operands' bits */
    int chunks;
    const uint32_t *digests;
};

static const struct sweep sweeps[] = {
    {"rcp", blocks_rcp, 0x3f800000, 1, 64,
     (const uint32_t[]){
         0x00a55cb7, 0x9db77d67, 0xdaf8df19, 0xbc33b113, 0xadbe2761, 0xc1ca976e, 0x542585dd, 0xd7759142,
         0x734864ba, 0xa82f303c, 0xeaa53d92, 0x23fb95bd, 0x9fd700b9, 0xe30e419e, 0xc9a4a335, 0x1fd755a2,
         0xefb49746, 0xd50ae9c5, 0x287df835, 0xd3b78326, 0x54b03e40, 0xad703e00, 0xc80dd76d, 0x95034b99,
         0x934eade5, 0xf0e1ce1b, 0xb8216fa8, 0x6bec979b, 0x5faa5c23, 0xb2d404f6, 0x360979a3, 0x862e20b4,
         0x4fa91898, 0x7842f7d4, 0xf06eeb18, 0xf8419fc9, 0xf5946099, 0xb2b6038e, 0x34d81289, 0xec1091a4,
         0xcab1c344, 0x6a11fdf6, 0x313ecbbe, 0x015e968c, 0x82a74268, 0x07e31a83, 0x636b2e16, 0x2ad54698,
         0xfc096269, 0x498d352e, 0x3b6c5300, 0xfeb7d404, 0xe14f49e3, 0xd5a6e21f, 0x3a3ed7c6, 0xff9bf992,
         0x01936f9c, 0x80e393ad, 0xfa03f367, 0xc4ce3dbe, 0xb2648654, 0x6d18a29f, 0xf5749561, 0xbb553e2f}},
    {"sqrt", blocks_sqrt, 0x3f800000, 1, 128,
     (const uint32_t[]){
         0x167fd4b3, 0xea304034, 0xfd60f1fe, 0xcea0d192, 0x5adf936c, 0x648ba163, 0xaa85e6dc, 0xe889c8d5,
         0xa87aa65e, 0x500f5607, 0x61c6a7aa, 0xf67375cb, 0x7d1c684e, 0x3d4ca1de, 0xfc78696c, 0x17da3404,
         0x45f8003e, 0x7c02c0d1, 0x09617297, 0x935a1d0b, 0x03519a6f, 0xc2340822, 0x35e4675a, 0x4876f517,
         0x8e5eb42e, 0x20c0c086, 0x02f5cf76, 0x57411533, 0x7e41c143, 0x83647cac, 0xff1e63a3, 0x3b13b19f,
         0x35dc0fa6, 0x7cb5d5db, 0xca834042, 0x2df06bca, 0xbf197480, 0x1bd7fff8, 0x63aa5608, 0x868f82e9,
         0xe73add43, 0xc3dd505e, 0x9513f3b7, 0xc6cf7ec4, 0x672727ea, 0xb8269875, 0x5687cacf, 0x612981b6,
         0x8875f3cf, 0x24e42f11, 0x4ec53a9f, 0xc922a7f4, 0xacac15e0, 0xfd2f2d72, 0x70dc9399, 0x826c7e44,
         0xe6fc4cfe, 0x451719db, 0x79b4e76e, 0xe502e726, 0xec7e8371, 0xad248ac0, 0xef897a6d, 0x059b0f36,
         0x6faeac04, 0x4f9638f5, 0x4b0df4d2, 0x3b047fc0, 0xa53c9830, 0x56e5a849, 0xc7582bf9, 0xaf599cbb,
         0x75239ce0, 0xa60de985, 0xdb0680b8, 0x439256cd, 0x351fbdd1, 0x0241578a, 0xefe23de6, 0x1deacbee,
         0x13aecffc, 0xba9344c4, 0x70931987, 0xdce09dca, 0x57d6e843, 0xd17113d8, 0xfd93443c, 0x9083825d,
         0x19e0cd2a, 0x2e15d026, 0xe6957de1, 0x05bf8b7f, 0x57bf434e, 0x46d74f64, 0x241aa75c, 0x8c345822,
         0x023ff596, 0x58bafcca, 0xe8bce794, 0x65de30a1, 0x1b925b25, 0x9372bc79, 0x667331de, 0x9b58378a,
         0x67075211, 0x8281b5c9, 0x4b2188a6, 0x0883eccb, 0x61918356, 0x4f2947be, 0x7a3d0f79, 0x14e39bfb,
         0x45f5ceb2, 0x14a409af, 0x24c328ec, 0x0e12d7cb, 0x2cac688c, 0xa630f741, 0x393268b6, 0xc083d1d2,
         0xaf1a1560, 0xae1f7bb6, 0xce9a7c5e, 0xa3fe51ae, 0x37a7c594, 0x0dfee685, 0x887311d1, 0x69705773}},
    {"rsqrt", blocks_rsqrt, 0x3f800000, 1, 128,
     (const uint32_t[]){
         0x887bb998, 0xbd78df7e, 0x91a4b913, 0x07d47bfc, 0x4f0e2c99, 0x7649a28e, 0x1142a8f6, 0x3500dc6d,
         0x15b341c2, 0x8be58634, 0x7bd5874d, 0xb6284dfd, 0xee35885a, 0x51312ad9, 0x25b96cf7, 0x56045da1,
         0xd7270917, 0x1373f90e, 0x0bdd0a1d, 0xa3062e62, 0x16ccc444, 0x0e5546f8, 0xba6f8fce, 0x928d21ce,
         0x20458770, 0x452a64e3, 0xffd6597b, 0xc6b3ba99, 0x2c210fb4, 0x68f65eac, 0xd5b3541d, 0x9f39d26f,
         0xfbcec8bb, 0x64b989b2, 0x0a6beee5, 0x4f08895f, 0x6051340f, 0xfe395d6f, 0xea584e19, 0xcf116542,
         0xb03430a4, 0xa7179480, 0x0e433d16, 0x436491c9, 0x9d853576, 0xc7fadd16, 0x71f8a553, 0x2287a400,
         0xacf19ed5, 0x24965a07, 0x216a04a5, 0x4f07a7e6, 0xc71cc7dd, 0x5dbdb5bd, 0x480de85a, 0x683183a4,
         0x695253a3, 0x7f161d4a, 0x1578f53e, 0x9537f73c, 0xfd5da392, 0x3b43dd88, 0xfb208f97, 0x1f157985,
         0x115c71c9, 0x705069e1, 0xed7d8b66, 0x2af4d785, 0xfbb40f8b, 0xdda3112d, 0x2175f926, 0x837ea06d,
         0x852ab2e8, 0xa258d709, 0x32feefb0, 0xdfe53e9f, 0x3486ee94, 0x4c3d0a08, 0xbc8a91c8, 0x73ca9879,
         0x8a9dcb1e, 0xc728b2b7, 0x41be3c41, 0x55100127, 0x7522f47d, 0x9a0b996a, 0xc3a07832, 0xcf2d5343,
         0x337bc520, 0x23baf8d0, 0xb3b5d3ee, 0x2468f5ce, 0x126c2afc, 0xc890fac2, 0xc3cfe7b7, 0x14da1562,
         0x614c9fbd, 0x9abdc6e2, 0xdadff1be, 0xf43b7831, 0x5bcd9c43, 0x1c937906, 0x5147e083, 0x7b1daafc,
         0x0810e4f7, 0x572340da, 0x6ec64a4f, 0xc0bc6bc0, 0x844ad965, 0x7d653076, 0x9b62a5a6, 0xd8f38888,
         0xbe819d52, 0x0855ec4f, 0xfed72b76, 0xa79e73a6, 0x961f3c68, 0x6a15b78c, 0xc3a2e339, 0x365c9007,
         0x3e492052, 0x8c0104ad, 0x5ea4088f, 0x317d1d31, 0x261c6fc3, 0x0799057d, 0x39c0728f, 0x2443b31d}},
    {"ex2", blocks_ex2, 0x3f800000, 1, 64,
     (const uint32_t[]){
         0xfadfe36a, 0x7ef0acff, 0x0f5b2298, 0x333e84be, 0xef805e1c, 0x49e0dc1c, 0x229663c1, 0xe6701b0d,
         0x857ccbd5, 0x5b11b1e7, 0x23e9ffe0, 0xe20c3008, 0x33098d58, 0xa93fe9d1, 0xb884d194, 0xdd248d6c,
         0x52685c93, 0xdca58e3c, 0x925338c0, 0xacb0207a, 0x785002a9, 0x6e33b84b, 0xe473d941, 0x4901dbdf,
         0x0e184b6c, 0xa1d10d4a, 0xd6d57fe7, 0x691aca56, 0x1339448d, 0x44135989, 0x73dcafa4, 0x40519e9b,
         0xb50001ec, 0xcf348b67, 0xec1c1db5, 0x8e4ceece, 0xf472c87f, 0x7decf9de, 0x1e68d272, 0x25b548b3,
         0x7335f36f, 0x29372c91, 0xa43835f5, 0xb2bd327f, 0xcfa9af4a, 0xe99b10e2, 0xcb5a2aa7, 0x719cf008,
         0xf258b5f4, 0x136bd227, 0xb3e4cc31, 0x10bd81bf, 0x50113bf7, 0x48d5ba83, 0x3005df70, 0xcd6ee687,
         0x4c92b5f4, 0xb0b2b21e, 0x3da6cad5, 0x4b62bd49, 0x22ec7bf1, 0xbd732571, 0x9355fc13, 0x842f7005}},
    {"ex2", blocks_ex2, 0xbf800000, 1, 64,
     (const uint32_t[]){
         0x1b19576e, 0x5e1ce208, 0x3d0602c7, 0x9c1eb608, 0x5ae0b27d, 0xb1aa918b, 0x13a835eb, 0x71dc68a1,
         0xb2db7008, 0x4175339d, 0x679a3b3e, 0x204a97db, 0x003ca745, 0x94395844, 0x2e8c7f8e, 0x46b7146d,
         0x912aefc3, 0x27c239b8, 0x33232f15, 0xc1528e2d, 0x74e001d1, 0x3a597b3e, 0x1cce0520, 0x805f359b,
         0x9268c459, 0x67d9efcc, 0x4fa5d54d, 0x9868853e, 0x4d8bd359, 0x26d5cda2, 0x195bca87, 0xaf9deaa7,
         0x9e4d9631, 0x4ab1cc6e, 0xc8e42ed1, 0xcc3fc661, 0x3e7a37dc, 0xea053675, 0x55da090c, 0x8cf51f5c,
         0x1ba7a013, 0xc7a86d41, 0x9aab0e2e, 0x4f226496, 0x11de8524, 0xd9b1635e, 0x4fa82dac, 0xe0dca7cd,
         0x65dabdc9, 0x5696cda3, 0xbd12ba31, 0x703f756f, 0x64367e60, 0x1d794796, 0xd70d24d6, 0x51b95297,
         0x3cd20593, 0xb9fe4fd7, 0x353e80d0, 0xa983eae9, 0x24c81fc5, 0x3abb66d0, 0xeb16b9a8, 0xc258cad5}},
    {"lg2", blocks_lg2, 0x3f000000, 1, 128,
     (const uint32_t[]){
         0xd4095725, 0x9e12c4d6, 0xe436777e, 0xa014fed1, 0x56c94623, 0xcb28e9f9, 0xefa65da2, 0xc9b3233b,
         0x8287e516, 0x5ba63f37, 0x2212e2da, 0xb44bbe73, 0xfa5dc3cc, 0x9f2e1b04, 0x8d013e51, 0x7083cc46,
         0xb851690c, 0xc9b61449, 0x7dfe2294, 0x95a66852, 0x6805e6bc, 0xa4a3a566, 0xcb4cfea7, 0x1e73c2a7,
         0x3251021c, 0xb6f9f553, 0x62370e9b, 0x82bd1b4c, 0x3020cd62, 0xd2e464c1, 0xf37d323e, 0x4e3aa42f,
         0xe36788c0, 0xe251db6e, 0x649b3c3d, 0xdd059d4d, 0x2d0c2039, 0xfb70e89b, 0x78ba3c65, 0xd7263ff7,
         0x4b8a3b07, 0x2aefea39, 0x2d2f233a, 0xae6d65de, 0x9b999d3b, 0x5c810801, 0x88afffcc, 0xcc28b4bc,
         0x537fa813, 0xa5a1c587, 0xa85e7d6b, 0xe2532c97, 0xa4a63fff, 0xa67cf37b, 0xabf43175, 0x48f10c38,
         0x78d45db6, 0xab1525a8, 0x0c3d8b5e, 0xeddacdd5, 0xc6f812e9, 0x1aaafffb, 0x2f78b84f, 0xce7c142b,
         0x3319aac0, 0x21341385, 0xfbbeb1c8, 0x4819423a, 0x19849d6b, 0x0ff6f192, 0x19bffb6d, 0xbb2ebda1,
         0x79b4d39f, 0xc6b35765, 0x036d9984, 0x903084da, 0x557bc5ec, 0xba06a912, 0xd5632658, 0x247dfeff,
         0x3b7ea703, 0x60202600, 0x4fbf41aa, 0x2ede14e6, 0xa49a7829, 0x94ecd5fe, 0x163c2352, 0xc4f2281c,
         0x4809e25f, 0xcde6ff53, 0xfa7cf7a7, 0x4771488a, 0x9869cfeb, 0x85e94ca4, 0x917fa78f, 0x52f43104,
         0x84b29e66, 0x6e5e9151, 0xb42fd18c, 0xe33c59db, 0x570fee90, 0xee9e9a25, 0x9aa45d3f, 0x43e639a0,
         0xe465a10e, 0x6def61fb, 0xe09e3c1d, 0x4510066b, 0xc48567f2, 0xfab33ee5, 0x3b99511c, 0xd874992c,
         0x90510382, 0x357e4d6a, 0x67a25d0e, 0xb41dd8da, 0x94538ee7, 0xc70f04d7, 0xab4b1008, 0xb9bbaf36,
         0x3557b6c3, 0x9e8102d8, 0x25bb70e7, 0x75eadb1a, 0x6df414db, 0x5e2840b8, 0xe2466f86, 0xdaae8476}},
    {"sin", blocks_sin, 0x3f800000, 1, 64,
     (const uint32_t[]){
         0xf6dc8e4f, 0xbb695554, 0x44303e10, 0x5f7d5201, 0x383e4679, 0x0c5671dd, 0x72e74622, 0xe17864c7,
         0xdd5f2f79, 0x22c3f31c, 0x74d31dab, 0xcd679176, 0x75cbb07d, 0x7430aeda, 0x98d7815d, 0xaddf0000,
         0x1b8695f8, 0x42b2fa31, 0xab1be73b, 0x87d1de6d, 0xfc707895, 0xcf53767f, 0x126f6600, 0x1fa85664,
         0x6eaf0603, 0x6911ba48, 0xe0b07ba5, 0x4f57f626, 0xe4b05a88, 0x9809f923, 0xb176c9e7, 0x1895187e,
         0x746fbf36, 0x35612647, 0x6fc82db0, 0x982d8b3e, 0x52dc37fd, 0xaef39e43, 0x5045cd3a, 0xdf4984bf,
         0xaa446d68, 0x0ef44d7d, 0x6b5fffbf, 0x360b171d, 0x07edd1be, 0x35fce828, 0xe3f32be1, 0x6f05815f,
         0x487bb785, 0x4a7bd35a, 0xc21b25b7, 0x37f6dda0, 0x65c6b066, 0xceb65b91, 0xe24164b5, 0xd41c2e63,
         0xdeb1cd15, 0xc67adc68, 0xdf054b3d, 0xabd344fd, 0xb0f751cd, 0x4906ec51, 0x871c9b8e, 0x9edcc073}},
    {"sin", blocks_sin, 0x40000000, 2, 32,
     (const uint32_t[]){0xda5f765a, 0x12c7a073, 0xf6130a47, 0x39324c3b, 0xbebdedc5, 0xbcf605b1, 0xde7e8f34,
                        0xab17169c, 0x05acbcc3, 0x36bddda8, 0x9465b035, 0x08c937ff, 0x4e84c4c0, 0xf5df6ae3,
                        0xd750f4b1, 0x122e4a7f, 0x48456d0b, 0x9be8cf78, 0x9fef652f, 0x7c7b7607, 0x1361fae2,
                        0x11e29ecc, 0xb6274c9e, 0xe2ea3240, 0x293122e3, 0x1fef314f, 0xc833e752, 0xa169a3f2,
                        0xa2d8df64, 0x58e73964, 0x535bda1d, 0x728f9370}},
    {"cos", blocks_cos, 0x3f800000, 1, 64,
     (const uint32_t[]){
         0x21b69268, 0xcd812f95, 0x9615b784, 0x1e91d50e, 0x32f0eefd, 0x33cdd9cd, 0xfc22558b, 0x1d36765c,
         0x74ef467d, 0x0229b1bd, 0x80f9cabf, 0x8402bf0c, 0xe4ce524a, 0x43392ef4, 0x87e5e799, 0x9848b212,
         0x36ff1577, 0xf335efbc, 0x0fe26f0f, 0xb67988d3, 0x17a67fbb, 0x34a9855f, 0x52f8c5d9, 0x8c012e0f,
         0xe883166c, 0x3ba7f158, 0xaa41c21c, 0x6a0bf8ee, 0xaa1d6ba7, 0x078be9b6, 0xfb2f66f7, 0x743f6dd2,
         0x769fc6b4, 0xe5ff82f4, 0xa78546f5, 0x9b9a85d3, 0x26728a7a, 0xd0002961, 0x474bd85d, 0xae692824,
         0xe7ff74e1, 0xa15b180b, 0x763846a4, 0x271552a3, 0xf6523c1e, 0xc466a0cb, 0x1c517435, 0x956ff4c0,
         0x7185c7a2, 0xad90302d, 0x3cfca9bd, 0xa2dc44e1, 0xf29c331d, 0x9f033eaa, 0x87e2f44b, 0x819d042b,
         0x5f1a109f, 0x45e9167d, 0xe902fe1e, 0xf23d351d, 0x2a396fc0, 0xadbf6f4a, 0xbfe5a904, 0x97754216}},
    {"cos", blocks_cos, 0x40000000, 2, 32,
     (const uint32_t[]){0xa049b490, 0x248f9740, 0x6d90c95a, 0xf762ec1c, 0xd9758ca0, 0xd899be97, 0x7617d98d,
                        0x55559cad, 0x35743cf7, 0xe961807e, 0x55bffd14, 0x342b1bbd, 0x492f8b17, 0xbd43ee31,
                        0x30c7d7a7, 0xe05585e0, 0x5bd62629, 0xf2089ed1, 0x3521ea2f, 0xf4fe6970, 0xcb91c430,
                        0x11c64937, 0x524ede5d, 0x713a051a, 0x7c86d722, 0x40ec064c, 0xc4d8dfc6, 0x390f2864,
                        0xcc4658f6, 0x2a2cdabb, 0xd9ec0506, 0xbd89034a}},
    {"tanh", blocks_tanh, 0x3b800000, 64, 3, (const uint32_t[]){0x75f67afa, 0x5a02f1bd, 0x18f2d82a}},
    {"tanh", blocks_tanh, 0x3d000000, 32, 4,
     (const uint32_t[]){0x446d71a1, 0xf512e02b, 0xcef97fd3, 0x29af7e05}},
    {"tanh", blocks_tanh, 0x3e000000, 16, 12,
     (const uint32_t[]){0x5a0ebc2d, 0x35450f6c, 0xd3cc5fd0, 0x4ef9954b, 0x99d7422d, 0xecd911cf, 0xeb6a993e,
                        0xdceed1c2, 0x594a07dd, 0x7b1505c4, 0xbf3708be, 0x9a3a72e8}},
    {"tanh", blocks_tanh, 0x3f800000, 8, 8,
     (const uint32_t[]){0x5a986ad0, 0x9dea8836, 0x8307bda2, 0xae8a8a11, 0x97938eaa, 0x91aa0494, 0xf1a8c544,
                        0x3001079f}},
    {"tanh", blocks_tanh, 0x40000000, 4, 16,
     (const uint32_t[]){0x4459b915, 0x012699c7, 0xe1796589, 0x85798d92, 0x001c2a21, 0x7df663ec, 0x4444f190,
                        0x6ecc2899, 0xf958aadc, 0x4ba06c60, 0xf8872671, 0x0a1db704, 0x94095c96, 0x1956f5b1,
                        0x5dac2ded, 0xbbbdb021}},
    {"tanh", blocks_tanh, 0x40800000, 8, 8,
     (const uint32_t[]){0xdda883f1, 0x084e98a2, 0x2bc41bf3, 0xd4348903, 0xa2abc559, 0x3c75e1cc, 0x22079860,
                        0x3829be9f}},
    {"rcp", blocks_rcp, 0x00000000, 4093, 8,
     (const uint32_t[]){0x7eda0a45, 0x81c2e13e, 0xa7bae5e4, 0xe19e4119, 0xed9b8bee, 0xefcd972a, 0x37654340,
                        0x187ba68c}},
    {"rcp.ftz", blocks_rcp_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0xd571bca5, 0x81c2e13e, 0xa7bae5e4, 0x03279cae, 0x0cde40ac, 0xefcd972a, 0x37654340,
                        0x2cbc13b4}},
    {"sqrt", blocks_sqrt, 0x00000000, 4093, 8,
     (const uint32_t[]){0x71a36a13, 0xa802e7ff, 0xbe3fbe3b, 0x9922adc4, 0x8516e1ea, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"sqrt.ftz", blocks_sqrt_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0x4daf719f, 0xa802e7ff, 0xbe3fbe3b, 0x9922adc4, 0x350d66ec, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"rsqrt", blocks_rsqrt, 0x00000000, 4093, 8,
     (const uint32_t[]){0x746453ff, 0xd7f3e869, 0x06964418, 0x70e69d5e, 0x8516e1ea, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"rsqrt.ftz", blocks_rsqrt_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0x1fcec1dd, 0xd7f3e869, 0x06964418, 0x70e69d5e, 0xccb3f119, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"ex2", blocks_ex2, 0x00000000, 4093, 8,
     (const uint32_t[]){0x6de0c300, 0xb1828f77, 0xaa4c47d1, 0xc8634ef8, 0x2f6bcf02, 0xaecc38e7, 0xf173782a,
                        0xeb97637f}},
    {"ex2.ftz", blocks_ex2_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0x6de0c300, 0xb1828f77, 0xaa4c47d1, 0xc8634ef8, 0x2f6bcf02, 0xaecc38e7, 0xa72cbc69,
                        0xeb97637f}},
    {"lg2", blocks_lg2, 0x00000000, 4093, 8,
     (const uint32_t[]){0x0f564a9b, 0xae9b4437, 0xd05b248b, 0xa28c7d6f, 0x8516e1ea, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"lg2.ftz", blocks_lg2_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0xf7dc49c1, 0xae9b4437, 0xd05b248b, 0xa28c7d6f, 0xccb3f119, 0x05392b4a, 0xbeccfe79,
                        0xae018305}},
    {"sin", blocks_sin, 0x00000000, 4093, 8,
     (const uint32_t[]){0x7e61babb, 0x4a535d71, 0xac3f86fb, 0xff136a34, 0x54a9397f, 0xb4930942, 0x6114b85d,
                        0x63d06885}},
    {"sin.ftz", blocks_sin_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0x7e61babb, 0x4a535d71, 0xac3f86fb, 0xff136a34, 0x54a9397f, 0xb4930942, 0x6114b85d,
                        0x63d06885}},
    {"cos", blocks_cos, 0x00000000, 4093, 8,
     (const uint32_t[]){0x6de0c300, 0x605f6f9d, 0x1f1164c5, 0x8a163544, 0x2f6bcf02, 0x9259c619, 0xb585a516,
                        0xbd70a972}},
    {"cos.ftz", blocks_cos_ftz, 0x00000000, 4093, 8,
     (const uint32_t[]){0x6de0c300, 0x605f6f9d, 0x1f1164c5, 0x8a163544, 0x2f6bcf02, 0x9259c619, 0xb585a516,
                        0xbd70a972}},
    {"tanh", blocks_tanh, 0x00000000, 4093, 8,
     (const uint32_t[]){0xd8850ce6, 0x3f888134, 0xe2c6f4e2, 0x8a163544, 0x3a66c924, 0xcc2428dd, 0x626ce516,
                        0x347d020c}},
};

static void dense_ranges_and_numbers_all_over(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(sweeps); s++) {
        const struct sweep *sweep = &sweeps[s];
        uint32_t digest = 0;
        for (uint32_t i = 0; i < (uint32_t)sweep->chunks * CHUNK; i += BLOCK) {
            uint32_t operands[BLOCK], r[BLOCK];
            for (uint32_t k = 0; k < BLOCK; k++)
                operands[k] = sweep->first + (i + k) * sweep->step;
            sweep->block(r, operands);
            for (uint32_t k = 0; k < BLOCK; k++)
                digest += share(r[k], i + k);
            if ((i + BLOCK) % CHUNK)
                continue;
            uint32_t chunk = i / CHUNK, start = sweep->first + chunk * CHUNK * sweep->step;
            if (digest != sweep->digests[chunk])
                fail_msg("%s differs somewhere in the 2^17 numbers from 0x%08x in steps of %u", sweep->name,
                         start, sweep->step);
            digest = 0;
        }
    }
}

/* --- special cases -------------------------------------------------------------------------------------- */

struct special {
    const char *name;
    float (*f)(float);
    uint32_t a, r;
};

#define ONE(name, result)                                                                                    \
    static float name(float a)                                                                               \
    {                                                                                                        \
        return result;                                                                                       \
    }
ONE(one_rcp, rcp_approx(a))
ONE(one_rcp_ftz, ftz(rcp_approx(ftz(a))))
ONE(one_rsqrt, rsqrt_approx(a))
ONE(one_rsqrt_ftz, ftz(rsqrt_approx(ftz(a))))
ONE(one_sqrt, sqrt_approx(a))
ONE(one_sqrt_ftz, ftz(sqrt_approx(ftz(a))))
ONE(one_ex2, ex2_approx(a))
ONE(one_lg2, lg2_approx(a))
ONE(one_lg2_ftz, ftz(lg2_approx(ftz(a))))
ONE(one_sin, sin_approx(a))
ONE(one_cos, cos_approx(a))
ONE(one_tanh, tanh_approx(a))

static const struct special specials[] = {
    {"rcp", one_rcp, 0x00000000, 0x7f800000},
    {"rcp", one_rcp, 0x80000000, 0xff800000},
    {"rcp", one_rcp, 0x00000001, 0x7f800000},
    {"rcp", one_rcp, 0x007fffff, 0x7e800001},
    {"rcp", one_rcp, 0x007ffffe, 0x7e800002},
    {"rcp", one_rcp, 0x00400000, 0x7f000000},
    {"rcp", one_rcp, 0x807fffff, 0xfe800001},
    {"rcp", one_rcp, 0x7e800000, 0x00800000},
    {"rcp", one_rcp, 0x7e800001, 0x007fffff},
    {"rcp", one_rcp, 0x7f000000, 0x00400000},
    {"rcp", one_rcp, 0x7f7fffff, 0x00200000},
    {"rcp", one_rcp, 0x7f800000, 0x00000000},
    {"rcp", one_rcp, 0xff800000, 0x80000000},
    {"rcp", one_rcp, 0x7f800001, 0x7fffffff},
    {"rcp", one_rcp, 0xffffffff, 0x7fffffff},
    {"rcp", one_rcp, 0x3f800000, 0x3f800000},
    {"rcp", one_rcp, 0x3f800001, 0x3f7ffffe},
    {"rcp", one_rcp, 0xbf800001, 0xbf7ffffe},
    {"rcp.ftz", one_rcp_ftz, 0x007fffff, 0x7f800000},
    {"rcp.ftz", one_rcp_ftz, 0x80000001, 0xff800000},
    {"rcp.ftz", one_rcp_ftz, 0x7e800000, 0x00800000},
    {"rcp.ftz", one_rcp_ftz, 0x7e800001, 0x00000000},
    {"rcp.ftz", one_rcp_ftz, 0xfe800001, 0x80000000},
    {"rcp.ftz", one_rcp_ftz, 0x7f000000, 0x00000000},
    {"rsqrt", one_rsqrt, 0x00000000, 0x7f800000},
    {"rsqrt", one_rsqrt, 0x80000000, 0xff800000},
    {"rsqrt", one_rsqrt, 0x00000001, 0x64b504f2},
    {"rsqrt", one_rsqrt, 0x007fffff, 0x5f000000},
    {"rsqrt", one_rsqrt, 0x80000001, 0x7fffffff},
    {"rsqrt", one_rsqrt, 0x80800000, 0x7fffffff},
    {"rsqrt", one_rsqrt, 0x7f800000, 0x00000000},
    {"rsqrt", one_rsqrt, 0xff800000, 0x7fffffff},
    {"rsqrt", one_rsqrt, 0x7fc00000, 0x7fffffff},
    {"rsqrt", one_rsqrt, 0x3f800000, 0x3f800000},
    {"rsqrt", one_rsqrt, 0x3f800001, 0x3f7ffffe},
    {"rsqrt", one_rsqrt, 0x40800000, 0x3f000000},
    {"rsqrt.ftz", one_rsqrt_ftz, 0x007fffff, 0x7f800000},
    {"rsqrt.ftz", one_rsqrt_ftz, 0x80000001, 0xff800000},
    {"sqrt", one_sqrt, 0x00000000, 0x00000000},
    {"sqrt", one_sqrt, 0x80000000, 0x80000000},
    {"sqrt", one_sqrt, 0x00000001, 0x1a3504f3},
    {"sqrt", one_sqrt, 0x007fffff, 0x1fffffff},
    {"sqrt", one_sqrt, 0x80000001, 0x7fffffff},
    {"sqrt", one_sqrt, 0x7f800000, 0x7f800000},
    {"sqrt", one_sqrt, 0xff800000, 0x7fffffff},
    {"sqrt", one_sqrt, 0x7f800001, 0x7fffffff},
    {"sqrt.ftz", one_sqrt_ftz, 0x007fffff, 0x00000000},
    {"sqrt.ftz", one_sqrt_ftz, 0x807fffff, 0x80000000},
    {"ex2", one_ex2, 0x00000000, 0x3f800000},
    {"ex2", one_ex2, 0x80000001, 0x3f800000},
    {"ex2", one_ex2, 0xbf800000, 0x3f000000},
    {"ex2", one_ex2, 0xbf800001, 0x3efffffe},
    {"ex2", one_ex2, 0x43000000, 0x7f800000},
    {"ex2", one_ex2, 0x7f800000, 0x7f800000},
    {"ex2", one_ex2, 0xff800000, 0x00000000},
    {"ex2", one_ex2, 0xffc00000, 0x7fffffff},
    {"lg2", one_lg2, 0x3f800000, 0x00000000},
    {"lg2", one_lg2, 0x3f800001, 0x3495f600},
    {"lg2", one_lg2, 0x3f7fffff, 0xb24b4000},
    {"lg2", one_lg2, 0x3f000000, 0xbf7ffffe},
    {"lg2", one_lg2, 0x00000001, 0xc3150000},
    {"lg2", one_lg2, 0x007fffff, 0xc2fc0000},
    {"lg2", one_lg2, 0x00800000, 0xc2fbffff},
    {"lg2", one_lg2, 0x00000000, 0xff800000},
    {"lg2", one_lg2, 0x80000000, 0xff800000},
    {"lg2", one_lg2, 0x80000001, 0x7fffffff},
    {"lg2", one_lg2, 0x7f800000, 0x7f800000},
    {"lg2", one_lg2, 0xff800000, 0x7fffffff},
    {"lg2.ftz", one_lg2_ftz, 0x007fffff, 0xff800000},
    {"lg2.ftz", one_lg2_ftz, 0x80000001, 0xff800000},
    {"sin", one_sin, 0x00000000, 0x00000000},
    {"sin", one_sin, 0x80000000, 0x80000000},
    {"sin", one_sin, 0x00000001, 0x00000000},
    {"sin", one_sin, 0x80000001, 0x80000000},
    {"sin", one_sin, 0x3f800000, 0x3f576aa3},
    {"sin", one_sin, 0x40000000, 0x3f68c7b6},
    {"sin", one_sin, 0xc0000000, 0xbf68c7b6},
    {"sin", one_sin, 0x4b000000, 0x3f3504f3},
    {"sin", one_sin, 0x4f000000, 0x00000000},
    {"sin", one_sin, 0x7f7fffff, 0x00000000},
    {"sin", one_sin, 0x7f800000, 0x7fffffff},
    {"sin", one_sin, 0xff800000, 0x7fffffff},
    {"sin", one_sin, 0x7f800001, 0x7fffffff},
    {"cos", one_cos, 0x00000000, 0x3f800000},
    {"cos", one_cos, 0x80000000, 0x3f800000},
    {"cos", one_cos, 0x3f800000, 0x3f0a5141},
    {"cos", one_cos, 0x40000000, 0xbed51130},
    {"cos", one_cos, 0xc0000000, 0xbed51130},
    {"cos", one_cos, 0x4b000000, 0xbf3504f2},
    {"cos", one_cos, 0x4f000000, 0x3f800000},
    {"cos", one_cos, 0x7f7fffff, 0x3f800000},
    {"cos", one_cos, 0x7f800000, 0x7fffffff},
    {"cos", one_cos, 0xff800000, 0x7fffffff},
    {"tanh", one_tanh, 0x00000000, 0x00000000},
    {"tanh", one_tanh, 0x80000000, 0x80000000},
    {"tanh", one_tanh, 0x00000001, 0x00000001},
    {"tanh", one_tanh, 0x80000001, 0x80000001},
    {"tanh", one_tanh, 0x807fffff, 0x807fffff},
    {"tanh", one_tanh, 0x3b000001, 0x3b000001},
    {"tanh", one_tanh, 0x3f800000, 0x3f42f848},
    {"tanh", one_tanh, 0xbf800000, 0xbf42f848},
    {"tanh", one_tanh, 0x41000000, 0x3f800000},
    {"tanh", one_tanh, 0x7f7fffff, 0x3f800000},
    {"tanh", one_tanh, 0x7f800000, 0x3f800000},
    {"tanh", one_tanh, 0xff800000, 0xbf800000},
    {"tanh", one_tanh, 0x7f800001, 0x7fffffff},
};

static void what_is_no_usual_number(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(specials); s++) {
        uint32_t r = bits_f32(specials[s].f(f32_bits(specials[s].a)));
        if (r != specials[s].r)
            fail_msg("%s of 0x%08x is 0x%08x, not 0x%08x", specials[s].name, specials[s].a, specials[s].r, r);
    }
}

/* --- quotients ----------------------------------------------------------------------------------------- */

static uint32_t quotient_digest(float (*f)(float, float), uint32_t chunk)
{
    uint32_t digest = 0;
    for (uint32_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++)
        digest += share(bits_f32(f(f32_bits(scatter(2 * i)), f32_bits(scatter(2 * i + 1)))), i);
    return digest;
}

#define QUOTIENT(name)                                                                                       \
    static float q_##name(float a, float b)                                                                  \
    {                                                                                                        \
        return name(a, b);                                                                                   \
    }
QUOTIENT(div_approx)
QUOTIENT(div_approx_ftz)
QUOTIENT(div_full)
QUOTIENT(div_full_ftz)

static void quotients(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float (*f)(float, float);
        uint32_t digests[8];
    } sweeps_of_two[] = {
        {"div_approx",
         q_div_approx,
         {0x4c55e6af, 0xd1d1b4fb, 0x3de99f30, 0x32f9b511, 0xdf358216, 0x77e33964, 0xe7966504, 0x1534b913}},
        {"div_approx_ftz",
         q_div_approx_ftz,
         {0xa8a5dcdc, 0x31657e2a, 0x938404c5, 0x5d72cd17, 0xd0885c88, 0x6652cc39, 0x75703c66, 0x98536a87}},
        {"div_full",
         q_div_full,
         {0xe69158ae, 0x9dd9a5ef, 0x2785df4f, 0xecae6f5b, 0xf5f4196c, 0xc81548f4, 0x423f87c8, 0xa7073389}},
        {"div_full_ftz",
         q_div_full_ftz,
         {0xd7ca8b9e, 0xae903b40, 0xa9b3912b, 0xe1e4a21e, 0x99c561da, 0x3988f67c, 0x422298e5, 0x6c58a2a9}},
    };
    for (size_t s = 0; s < COUNT_OF(sweeps_of_two); s++)
        for (uint32_t chunk = 0; chunk < 8; chunk++)
            if (quotient_digest(sweeps_of_two[s].f, chunk) != sweeps_of_two[s].digests[chunk])
                fail_msg("%s differs in chunk %u", sweeps_of_two[s].name, chunk);
}

/* Just below the least normal number: what counts is whether it is still below when rounded to 24 bits. */
static void quotients_are_flushed_when_rounded(void **state)
{
    (void)state;
    assert_int_equal(bits_f32(div_approx_ftz(f32_bits(0x33cc8912), f32_bits(0xf2cc8912))), 0x80000000);
    assert_int_equal(bits_f32(div_full_ftz(f32_bits(0xbd559ee6), f32_bits(0xfc559ee7))), 0);
    assert_int_equal(bits_f32(product_ftz(f32_bits(0x25a19292), f32_bits(0x1a4ace86))), 0);
    assert_int_equal(bits_f32(product_ftz(f32_bits(0xa60d3e83), f32_bits(0x19e7fed1))), 0x80000000);
    assert_int_equal(bits_f32(product_ftz(0x1p-63f, 0x1p-63f)), 0x00800000);
    assert_int_equal(bits_f32(product_ftz(0x1.0008p-63f, 0x1.fffp-64f)), 0x00800000);
}

/* --- f16 and bf16: all there are ---------------------------------------------------------------------------
 */

#define HALF(name)                                                                                           \
    static uint16_t h_##name(uint16_t a)                                                                     \
    {                                                                                                        \
        return name(a);                                                                                      \
    }
HALF(ex2_approx_f16)
HALF(ex2_approx_ftz_bf16)
HALF(tanh_approx_f16)
HALF(tanh_approx_bf16)

static void halves(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint16_t (*f)(uint16_t);
        uint32_t digests[4];
    } sweeps_of_16[] = {
        {"ex2_approx_f16", h_ex2_approx_f16, {0x56d38799, 0x71d55071, 0x256129f3, 0xd6a0eca5}},
        {"ex2_approx_ftz_bf16", h_ex2_approx_ftz_bf16, {0x14ecf19b, 0x9a1c9d8a, 0x27a84de7, 0x8810e402}},
        {"tanh_approx_f16", h_tanh_approx_f16, {0x2504aa1f, 0xdae5fbf2, 0xd4237f82, 0x231b684c}},
        {"tanh_approx_bf16", h_tanh_approx_bf16, {0xc982eb00, 0xf49c755a, 0x926e1f0c, 0x58b46709}},
    };
    for (size_t s = 0; s < COUNT_OF(sweeps_of_16); s++) {
        uint32_t digests[4] = {0};
        for (uint32_t i = 0; i < 0x10000; i++)
            digests[i >> 14] += share(sweeps_of_16[s].f((uint16_t)i), i);
        for (int i = 0; i < 4; i++)
            if (digests[i] != sweeps_of_16[s].digests[i])
                fail_msg("%s differs from 0x%04x on", sweeps_of_16[s].name, (unsigned)i << 14);
    }
}

/* --- f64: upper words counted up, any lower words
 * ------------------------------------------------------------ */

#define LONG(name)                                                                                           \
    static double l_##name(double a)                                                                         \
    {                                                                                                        \
        return name(a);                                                                                      \
    }
LONG(rcp_approx_ftz_f64)
LONG(rsqrt_approx_ftz_f64)
LONG(rsqrt_approx_f64)

static void f64(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double (*f)(double);
        uint32_t first, step, chunks;
        uint32_t digests[16];
    } sweeps_of_64[] = {
        {"rcp_approx_ftz_f64",
         l_rcp_approx_ftz_f64,
         0x3ff00000,
         1,
         16,
         {0x4368ccf8, 0xfb2331e9, 0x8d5c3d83, 0x246f0131, 0xa561b896, 0x4318069f, 0xcb9d8a6b, 0x20d57dd8,
          0x0eefd25d, 0xa23e45e6, 0x0da66930, 0x06f82407, 0x5ca05b84, 0xe5f13628, 0xa6171f1e, 0x58b33ce6}},
        {"rcp_approx_ftz_f64",
         l_rcp_approx_ftz_f64,
         0,
         4093,
         8,
         {0x6e1319aa, 0xd45c1c89, 0x216a3c55, 0xe6774929, 0xa8d09c32, 0xd4d1d423, 0x22cb222c, 0x6189bd87}},
        {"rsqrt_approx_ftz_f64",
         l_rsqrt_approx_ftz_f64,
         0x3ff00000,
         1,
         16,
         {0x6bf50cba, 0x23b716ca, 0x5ba588ef, 0xac77991f, 0xdde8a8d2, 0x80ad01cc, 0x995b23fe, 0xf9609a2e,
          0x57eae692, 0x603207ea, 0x06221f5a, 0x4731bd09, 0xb66b6289, 0x47a53cac, 0x8821cbc1, 0xad7eeb29}},
        {"rsqrt_approx_ftz_f64",
         l_rsqrt_approx_ftz_f64,
         0,
         4093,
         8,
         {0xd926b258, 0x8e807f12, 0x629736f2, 0x255858f6, 0x8985c76c, 0x05392b4a, 0xbeccfe79, 0xae018305}},
        {"rsqrt_approx_f64",
         l_rsqrt_approx_f64,
         0x3ff00000,
         1,
         16,
         {0x7ff34200, 0x6648a8ee, 0x841f4942, 0x41034807, 0x94922260, 0x579ce80e, 0xcd4d9677, 0xd26c7ec1,
          0xb0c59620, 0x25d4395a, 0x22fc32eb, 0x9a12330a, 0xab91b4d1, 0x242515ad, 0x6cd7377b, 0xcc014d03}},
        {"rsqrt_approx_f64",
         l_rsqrt_approx_f64,
         0,
         4093,
         8,
         {0xb31a5634, 0xdff51afc, 0xe8d994d5, 0xafe95456, 0x44d6ec6d, 0x9d1a6192, 0xaf46cdc3, 0x501a68e5}},
    };
    for (size_t s = 0; s < COUNT_OF(sweeps_of_64); s++)
        for (uint32_t chunk = 0; chunk < sweeps_of_64[s].chunks; chunk++) {
            uint32_t digest = 0;
            for (uint32_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
                uint64_t a = (uint64_t)(sweeps_of_64[s].first + i * sweeps_of_64[s].step) << 32 | scatter(i);
                uint64_t r = bits_f64(sweeps_of_64[s].f(f64_bits(a)));
                digest += share((uint32_t)(r >> 32) + 3 * (uint32_t)r, i);
            }
            if (digest != sweeps_of_64[s].digests[chunk])
                fail_msg("%s differs in chunk %u of those from 0x%08x", sweeps_of_64[s].name, chunk,
                         sweeps_of_64[s].first);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_ranges_and_numbers_all_over),
        cmocka_unit_test(what_is_no_usual_number),
        cmocka_unit_test(quotients),
        cmocka_unit_test(quotients_are_flushed_when_rounded),
        cmocka_unit_test(halves),
        cmocka_unit_test(f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

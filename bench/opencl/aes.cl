enum { BLOCK = 64, ROUNDS = 14 };

/* A column of the state is a word, its first row in the low byte; all of these work on columns. */
static uint shifted(__local const uchar *sbox, uint a, uint b, uint c, uint d)
{
    return sbox[a & 0xff] | sbox[b >> 8 & 0xff] << 8 | sbox[c >> 16 & 0xff] << 16 | sbox[d >> 24] << 24;
}

static uint doubled(uint a)
{
    return (a & 0x7f7f7f7f) << 1 ^ (a >> 7 & 0x01010101) * 0x1b;
}

static uint mixed(uint a) /* by rotations, all to the left */
{
    uint next = rotate(a, 24u);
    return doubled(a) ^ doubled(next) ^ next ^ rotate(a, 16u) ^ rotate(a, 8u);
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void aes(uint n, __global const uchar *sbox, __global const uint4 *keys, __global uint4 *text)
{
    __local uchar local_sbox[256];
    uint i = get_global_id(0);
    for (uint at = get_local_id(0); at < 256; at += BLOCK)
        local_sbox[at] = sbox[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    uint4 s = text[i] ^ keys[0];
    for (uint round = 1; round <= ROUNDS; round++) {
        uint4 t = (uint4)(shifted(local_sbox, s.x, s.y, s.z, s.w), shifted(local_sbox, s.y, s.z, s.w, s.x),
                          shifted(local_sbox, s.z, s.w, s.x, s.y), shifted(local_sbox, s.w, s.x, s.y, s.z));
        if (round < ROUNDS)
            t = (uint4)(mixed(t.x), mixed(t.y), mixed(t.z), mixed(t.w));
        s = t ^ keys[round];
    }
    text[i] = s;
}

/* The window: memory of the GPU's PCI device, which the guest's programs, heddle and the machine share. It
 * begins with this head, by which programs get their seats; the seats' own parts follow. Heddle's side is
 * relay.c, the guest's guest/gpu.c. */
#ifndef BOOT_WINDOW_H
#define BOOT_WINDOW_H

#include <stdint.h>

#define WINDOW_MAGIC      UINT64_C(0x31776c6464656800)
#define WINDOW_HEAD_BYTES (UINT64_C(2) << 20)

enum {
    WINDOW_SEATS = 4,
    WINDOW_HELLO_MOST = 256,
    WINDOW_WELCOME_MOST = 8192,
    WINDOW_BELL_OFFSET = 12, /* the doorbell of QEMU's ivshmem, in its registers */
    WINDOW_GUEST = 0,        /* number of the guest among those who share the device */
    WINDOW_HEDDLE = 1,       /* and of heddle, which the guest's bell rings */
    WINDOW_BELL_VALUE = WINDOW_HEDDLE << 16,
};

enum slot_state {
    SLOT_FREE,
    SLOT_KNOCKS,   /* the guest wrote a program's words */
    SLOT_ANSWERED, /* heddle wrote the machine's */
    SLOT_LEFT,     /* the guest says that the program has gone */
};

struct window_slot {
    _Atomic uint32_t state;
    uint32_t files;       /* that came with the answer */
    _Atomic uint32_t cut; /* the machine has gone, or sent the program away */
    char hello[WINDOW_HELLO_MOST], welcome[WINDOW_WELCOME_MOST];
};

struct window {
    uint64_t magic;
    uint32_t hello_bytes, welcome_bytes;
    struct window_slot slots[WINDOW_SEATS];
};

#endif

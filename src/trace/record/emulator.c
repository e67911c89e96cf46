#include "record/emulator.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

static const struct emulated {
    uint16_t number;
    uint8_t class, order;
    const char *emulator;
} machines[] = {
    {EM_X86_64, ELFCLASS64, ELFDATA2LSB, "qemu-x86_64"},
    {EM_386, ELFCLASS32, ELFDATA2LSB, "qemu-i386"},
    {EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "qemu-aarch64"},
    {EM_ARM, ELFCLASS32, ELFDATA2LSB, "qemu-arm"},
    {EM_RISCV, ELFCLASS64, ELFDATA2LSB, "qemu-riscv64"},
    {EM_PPC64, ELFCLASS64, ELFDATA2LSB, "qemu-ppc64le"},
    {EM_S390, ELFCLASS64, ELFDATA2MSB, "qemu-s390x"},
};

const char *emulator_of(const char *command, const char *path, struct err *err)
{
    uint8_t head[20] = {0}; /* as far as all kinds of ELF are the same */
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        err_set(err, "%s: cannot read %.200s: %s", command, path, strerror(errno));
        return NULL;
    }
    ssize_t got = read(file, head, sizeof head);
    close(file);
    if (got >= 2 && !memcmp(head, "#!", 2)) {
        err_set(err,
                "%s: %.200s is a script, expected a program: name the one that it starts, or "
                "its interpreter and then the script",
                command, path);
        return NULL;
    }
    if (got != sizeof head || memcmp(head, ELFMAG, SELFMAG)) {
        err_set(err, "%s: %.200s is no program that QEMU runs (expected an ELF file)", command, path);
        return NULL;
    }
    bool big = head[EI_DATA] == ELFDATA2MSB;
    uint16_t number = (uint16_t)(head[big ? 19 : 18] | head[big ? 18 : 19] << 8);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].number == number && machines[i].class == head[EI_CLASS] &&
            machines[i].order == head[EI_DATA])
            return machines[i].emulator;
    }
    err_set(err, "%s: %.200s is for a kind of machine that is not known (ELF machine %u)", command, path,
            number);
    return NULL;
}

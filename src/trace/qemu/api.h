/* The part of QEMU's interface for plugins that ours use (here, and src/boot/plugin), declared anew from its
 * documentation: as version 1 has it (QEMU 5 to 8). QEMU's names are kept, as they are what is linked by. */
#ifndef TRACE_QEMU_API_H
#define TRACE_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef uint32_t plugin_meminfo; /* of one access: asked by the functions below */

/* ---- what QEMU finds in us ---- */

struct plugin_info {
    const char *target_name; /* "x86_64" */
    struct {
        int least, current;
    } version;
    bool system_emulation; /* a whole machine, not one program */
    int processors, processors_most;
};

enum { PLUGIN_VERSION = 1 };
extern PLUGIN_EXPORT int qemu_plugin_version;
PLUGIN_EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int count, char **words);

/* ---- what we find in QEMU ---- */

enum { PLUGIN_NO_REGISTERS }; /* a callback does not look at the program's registers */
enum { PLUGIN_NEITHER, PLUGIN_READS, PLUGIN_WRITES, PLUGIN_READS_AND_WRITES };

struct qemu_plugin_tb;   /* a block of instructions being translated */
struct qemu_plugin_insn; /* one of them */

typedef void plugin_cpu_fn(plugin_id id, unsigned cpu);
typedef void plugin_simple_fn(plugin_id id);
typedef void plugin_translate_fn(plugin_id id, struct qemu_plugin_tb *block);
typedef void plugin_block_fn(unsigned cpu, void *user);
typedef void plugin_memory_fn(unsigned cpu, plugin_meminfo info, uint64_t address, void *user);
typedef void plugin_call_fn(plugin_id id, unsigned cpu, int64_t number, uint64_t, uint64_t, uint64_t,
                            uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef void plugin_return_fn(plugin_id id, unsigned cpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_init_cb(plugin_id id, plugin_cpu_fn *call);
void qemu_plugin_register_vcpu_exit_cb(plugin_id id, plugin_cpu_fn *call);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, plugin_call_fn *call);
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id id, plugin_return_fn *call);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, plugin_translate_fn *call);

/* While a block is translated: what shall be called when it runs. */
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction); /* its bytes */
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, plugin_block_fn *call, int registers,
                                          void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, plugin_memory_fn *call,
                                      int registers, int reads_or_writes, void *user);

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, plugin_block_fn *call,
                                            int registers, void *user);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction); /* its bytes */
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

unsigned qemu_plugin_mem_size_shift(plugin_meminfo info); /* 3: eight bytes */
bool qemu_plugin_mem_is_store(plugin_meminfo info);

/* Forgets all callbacks and all translated blocks once no thread runs, and then calls. */
void qemu_plugin_reset(plugin_id id, plugin_simple_fn *call);

#endif

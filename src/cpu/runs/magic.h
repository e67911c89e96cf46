/* How a library inside a simulated program talks to the simulation: by a call of the system that does not
 * exist, which the plugin in QEMU takes. Its arguments: what, and a place for 8 bytes or a value. */
#ifndef CPU_RUNS_MAGIC_H
#define CPU_RUNS_MAGIC_H

enum { CPURUN_MAGIC = 0x4865646c };
enum cpurun_magic {
    CPURUN_ASK_TIME = 1, /* picoseconds to the place */
    CPURUN_SET_TIME,     /* the thread does not go on before this time */
    CPURUN_MUTE,         /* what the thread does takes no time, */
    CPURUN_UNMUTE,       /* until here */
};

/* Set in the environment of a program that runs on simulated cores. */
#define CPURUN_VARIABLE "HEDDLE_CPU"

#endif

/* The guest's side of `heddle boot`. */
#ifndef GUEST_INSIDE_H
#define GUEST_INSIDE_H

#define INSIDE_JOB    "/job"            /* the folder that heddle prepared: what to run, and what with */
#define INSIDE_SHARE  "/share"          /* the user's */
#define INSIDE_SOCKET "/run/heddle-gpu" /* the door of the machine; its description is beside it */

/* init.c: the first process. */
int inside_init(void);

/* gpu.c: the driver of the GPU's PCI device. Waits for the device, opens the door for programs, and becomes a
 * process of its own; false: there is no such device. */
_Bool inside_start_gpu(void);

/* As printf, to the console. */
void inside_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

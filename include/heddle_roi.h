/* Marks of a program inside a guest of `heddle boot`: a region of interest, or any other moment.
 *
 *   HEDDLE_ROI_BEGIN();  ...  HEDDLE_ROI_END();
 *
 * A mark is one instruction, a long no-op whose displacement holds the mark's number. It changes no register
 * and no memory, and does nothing on a real processor. Marks are numbered 0 to 65535; Heddle uses the first
 * few. */
#ifndef HEDDLE_ROI_H
#define HEDDLE_ROI_H

#define HEDDLE_MARK_READY 0 /* the guest has booted */
#define HEDDLE_MARK_BEGIN 1
#define HEDDLE_MARK_END   2

#define HEDDLE_MARK(number)                                                                                  \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0" : : "i"(0x48450000 | (number)) : "memory")

#define HEDDLE_ROI_BEGIN() HEDDLE_MARK(HEDDLE_MARK_BEGIN)
#define HEDDLE_ROI_END()   HEDDLE_MARK(HEDDLE_MARK_END)

#endif

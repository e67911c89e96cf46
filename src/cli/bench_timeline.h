/* heddle bench timeline: how fast a timeline is written. */
#ifndef CLI_BENCH_TIMELINE_H
#define CLI_BENCH_TIMELINE_H

int cmd_bench_timeline(int count, char **words);

#endif

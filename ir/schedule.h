/* Schedules as data: the fields of schedule.def, read from and written to `field=value` text. */
#ifndef TCC_IR_SCHEDULE_H
#define TCC_IR_SCHEDULE_H

#include "ir/graph.h"

typedef struct Schedule {
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning) int64_t field;
#include "ir/schedule.def"
#undef SCHEDULE
} Schedule;

/* Reads text into *out_schedule (defaults first). False for unknown fields or values out of range,
 * with the reason in *out_message. */
bool schedule_parse(Arena *arena, Str text, Schedule *out_schedule, const char **out_message);
/* Writes the fields that differ from their default; nothing for the default schedule. */
void buf_schedule(Buf *buf, const Schedule *schedule);

/* Bytes of an accumulator of the region's contraction or convolution; 4 where there is none. */
int64_t schedule_sum_bytes(const Graph *region);

#endif

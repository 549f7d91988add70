#include "ir/schedule.h"

#include <stddef.h>

typedef struct Field {
    const char *name;
    size_t offset;
    int64_t initial, least, greatest;
} Field;

static const Field fields[] = {
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    {#field, offsetof(Schedule, field), initial, least, greatest},
#include "ir/schedule.def"
#undef SCHEDULE
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static int64_t *field_of(Schedule *schedule, const Field *field) {
    return (int64_t *)(void *)((char *)schedule + field->offset);
}

static const Field *find_field(Str name) {
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (str_equal(name, str_from(fields[i].name))) return &fields[i];
    return NULL;
}

/* Cuts the part of `text` before `separator` off; the whole of it when there is none. */
static Str cut(Str *text, char separator) {
    size_t n = 0;
    while (n < text->size && text->data[n] != separator) n++;
    Str part = {text->data, n};
    size_t skip = n < text->size ? n + 1 : n;
    *text = (Str){text->data + skip, text->size - skip};
    return part;
}

bool schedule_parse(Arena *arena, Str text, Schedule *out_schedule, const char **out_message) {
    *out_schedule = (Schedule){0};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        *field_of(out_schedule, &fields[i]) = fields[i].initial;
    while (text.size > 0) {
        Str value = cut(&text, ',');
        Str name = cut(&value, '=');
        const Field *field = find_field(name);
        if (field == NULL) {
            *out_message = str_format(arena, "no schedule field \"%.*s\"", STR_ARG(name)).data;
            return false;
        }
        int64_t number;
        if (!str_to_int(value, &number) || number < field->least || number > field->greatest) {
            *out_message =
                str_format(arena, "%s must be from %lld to %lld, not \"%.*s\"", field->name,
                           (long long)field->least, (long long)field->greatest, STR_ARG(value))
                    .data;
            return false;
        }
        *field_of(out_schedule, field) = number;
    }
    return true;
}

void buf_schedule(Buf *buf, const Schedule *schedule) {
    Schedule copy = *schedule;
    const char *separator = "";
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        int64_t value = *field_of(&copy, &fields[i]);
        if (value == fields[i].initial) continue;
        buf_print(buf, "%s%s=%lld", separator, fields[i].name, (long long)value);
        separator = ",";
    }
}

int64_t schedule_sum_bytes(const Graph *region) {
    for (NodeId id = 0; id < region->nodes.count; id++) {
        const Node *node = graph_node(region, id);
        OpClass class = op_info(node->op)->class;
        if (class == CLASS_CONTRACT || class == CLASS_CONV)
            return dtype_info(dtype_compute(node->type->dtype))->bits / 8;
    }
    return 4;
}

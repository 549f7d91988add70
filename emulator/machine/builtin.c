/* Functions that every device has: vprintf, __assertfail, malloc and free. A call goes lane by
 * lane, as threads of the device would make it. */
#include "emulator/machine/access.h"
#include "emulator/machine/call.h"
#include "emulator/machine/device.h"
#include "emulator/machine/lanes.h"

#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 4096, TEXT_LIMIT = 1024 };

typedef struct Line {
    char bytes[LINE_SIZE];
    size_t size;
} Line;

static void put(Line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Line *line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t room = LINE_SIZE - line->size;
    int more = vsnprintf(line->bytes + line->size, room, format, args);
    va_end(args);
    if (more > 0) line->size += (size_t)more < room ? (size_t)more : room - 1;
}

/* A terminated string of the device, at most TEXT_LIMIT - 1 bytes of it. */
static void read_text(Warp *warp, const Record *record, int lane, uint64_t address, char *out) {
    size_t size = 0;
    for (; size < TEXT_LIMIT - 1; size++) {
        const uint8_t *byte = access_pointer(warp, record, lane, address + size, 1);
        if (!byte || !*byte) break;
        out[size] = (char)*byte;
    }
    out[size] = 0;
}

static void print(Warp *warp, const Line *line) {
    Launch *launch = warp->cta->launch;
    pthread_mutex_lock(&launch->print_lock);
    if (launch->reporter && launch->reporter->print)
        launch->reporter->print(launch->reporter->user, (Str){line->bytes, line->size});
    else {
        fwrite(line->bytes, 1, line->size, stdout);
        fflush(stdout);
    }
    pthread_mutex_unlock(&launch->print_lock);
}

/* vprintf: arguments lie one after another, each aligned to its size; all floats are doubles. */

typedef struct Arguments {
    Warp *warp;
    const Record *record;
    int lane;
    uint64_t next;
} Arguments;

static uint64_t take(Arguments *arguments, uint32_t size) {
    uint64_t at = (arguments->next + size - 1) / size * size, value = 0;
    const uint8_t *bytes =
        access_pointer(arguments->warp, arguments->record, arguments->lane, at, size);
    if (bytes) memcpy(&value, bytes, size);
    arguments->next = at + size;
    return value;
}

/* One conversion, from its % on: `spec` is what to give to printf without the length. */
typedef struct Conversion {
    char spec[32];
    bool is_long;
    char letter;
    size_t size; /* of the format's text */
} Conversion;

static Conversion read_conversion(const char *format, Arguments *arguments) {
    Conversion c = {.size = 1};
    size_t used = 0;
    c.spec[used++] = '%';
    for (; format[c.size] && strchr("-+ #0123456789.*hlLjzt", format[c.size]); c.size++) {
        char letter = format[c.size];
        if (strchr("ljzt", letter)) c.is_long = true;
        if (strchr("hlLjzt", letter) || used > 16) continue;
        if (letter == '*')
            used += (size_t)snprintf(c.spec + used, 12, "%d", (int)take(arguments, 4) % 1000);
        else
            c.spec[used++] = letter;
    }
    c.letter = format[c.size];
    if (c.letter) c.size++;
    if (strchr("diouxX", c.letter) && c.letter) c.spec[used++] = 'l', c.spec[used++] = 'l';
    c.spec[used++] = c.letter;
    c.spec[used] = 0;
    return c;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_conversion(Line *line, const Conversion *c, Arguments *arguments) {
    char text[TEXT_LIMIT];
    union {
        uint64_t bits;
        double value;
    } number;
    switch (c->letter) {
    case '%': put(line, "%%"); return;
    case 'd':
    case 'i':
        put(line, c->spec,
            c->is_long ? (long long)take(arguments, 8) : (long long)(int32_t)take(arguments, 4));
        return;
    case 'o':
    case 'u':
    case 'x':
    case 'X': put(line, c->spec, (unsigned long long)take(arguments, c->is_long ? 8 : 4)); return;
    case 'c': put(line, c->spec, (int)take(arguments, 4)); return;
    case 'p': put(line, "0x%llx", (unsigned long long)take(arguments, 8)); return;
    case 's':
        read_text(arguments->warp, arguments->record, arguments->lane, take(arguments, 8), text);
        put(line, c->spec, text);
        return;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        number.bits = take(arguments, 8);
        put(line, c->spec, number.value);
        return;
    default: put(line, "%c", c->letter); return;
    }
}
#pragma GCC diagnostic pop

static void format_line(Line *line, const char *format, Arguments *arguments) {
    for (const char *at = format; *at;) {
        if (*at != '%') {
            put(line, "%c", *at++);
            continue;
        }
        Conversion c = read_conversion(at, arguments);
        at += c.size;
        put_conversion(line, &c, arguments);
    }
}

static uint64_t argument(const Warp *warp, const Record *record, uint32_t index, int lane,
                         uint32_t size) {
    return index < call_arguments(record)
               ? call_read(warp, call_argument(record, index), lane, size)
               : 0;
}

static void give_result(Warp *warp, const Record *record, int lane, uint32_t size, uint64_t value) {
    if (call_results(record)) call_write(warp, record, call_result(record, 0), lane, size, value);
}

PLAIN_HANDLER(builtin_vprintf) {
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        char format[TEXT_LIMIT];
        Line line = {.size = 0};
        Arguments arguments = {warp, record, i, argument(warp, record, 1, i, 8)};
        read_text(warp, record, i, argument(warp, record, 0, i, 8), format);
        format_line(&line, format, &arguments);
        print(warp, &line);
        give_result(warp, record, i, 4, line.size);
    }
    return STEP_next;
}

/* __assertfail(message, file, line, function, size of a character). */
PLAIN_HANDLER(builtin_assertfail) {
    int lane = __builtin_ctz(lanes);
    char message[TEXT_LIMIT], file[TEXT_LIMIT], function[TEXT_LIMIT], text[3 * TEXT_LIMIT + 64];
    read_text(warp, record, lane, argument(warp, record, 0, lane, 8), message);
    read_text(warp, record, lane, argument(warp, record, 1, lane, 8), file);
    read_text(warp, record, lane, argument(warp, record, 3, lane, 8), function);
    snprintf(text, sizeof text, "%s:%u: %s: assertion `%s` failed", file,
             (uint32_t)argument(warp, record, 2, lane, 4), function, message);
    return warp_fatal(warp, record, EMU_FINDING_assertion, lanes, 0, 0, text);
}

PLAIN_HANDLER(builtin_malloc) {
    EmuMemory *memory = emu_device_memory(warp->cta->launch->device);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint64_t size = argument(warp, record, 0, i, 8);
        give_result(warp, record, i, 8,
                    emu_memory_allocate(memory, size, 256, EMU_BLOCK_device, NULL));
    }
    return STEP_next;
}

PLAIN_HANDLER(builtin_free) {
    EmuMemory *memory = emu_device_memory(warp->cta->launch->device);
    memset(warp->worker->views, 0, sizeof warp->worker->views);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint64_t address = argument(warp, record, 0, i, 8);
        if (address && !emu_memory_release(memory, address))
            return warp_fatal(warp, record, EMU_FINDING_use_after_free, 1u << i, address, 0,
                              "free of what malloc did not give, or again");
    }
    return STEP_next;
}

static const struct {
    const char *name;
    Handler *run;
} builtins[] = {
    {"vprintf", builtin_vprintf},
    {"__assertfail", builtin_assertfail},
    {"malloc", builtin_malloc},
    {"free", builtin_free},
};

Handler *builtin_handler(Str name) {
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (str_equal(name, str_from(builtins[i].name))) return builtins[i].run;
    return NULL;
}

/* What decides a compilation, as one key, and the files behind it.
 *
 * The key is that of the text, of the name that it goes by, and of the options. Which files of
 * weights are read is known only from the text, so that their contents are compared when a core is
 * found: by their digests, since a file may change without its size and times telling. */
#include "base/file.h"
#include "base/scratch.h"
#include "base/sha256.h"
#include "compiler/session.h"

#include <string.h>

static void add_text(Sha256 *hash, Str text) {
    uint64_t size = text.size;
    sha256_add(hash, &size, sizeof size);
    sha256_add(hash, text.data, text.size);
}

CacheKey compile_key(const Core *core, Str path, Str text) {
    CacheKey key;
    Sha256 hash;
    sha256_begin(&hash);
    add_text(&hash, path);
    add_text(&hash, text);
    add_text(&hash, options_text(&core->options, core->arena));
    uint8_t strip = core->options.strip_info;
    sha256_add(&hash, &strip, sizeof strip);
    sha256_add(&hash, core->targets, sizeof core->targets);
    sha256_add(&hash, &core->gpu, sizeof core->gpu);
    sha256_end(&hash, key.bytes);
    return key;
}

void core_note_inputs(Core *core, const WeightTable *table) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < weights_source_count(table); i++)
        bytes += weights_source_at(table, i)->size;
    if (bytes > core->most_bytes) core->most_bytes = 0;
    if (core->most_bytes == 0) return;
    for (size_t i = 0; i < weights_source_count(table); i++) {
        const WeightSource *source = weights_source_at(table, i);
        CoreInput input = {.path = str_copy(core->arena, source->path)};
        sha256(source->bytes, source->size, input.digest);
        vec_push(core->arena, &core->inputs, input);
    }
}

typedef struct Recheck {
    Arena *arena;
    Diags *diags; /* that nobody hears */
} Recheck;

static bool input_holds(Recheck *r, const CoreInput *input) {
    uint8_t digest[32];
    Status status = weights_digest(r->arena, r->diags, input->path, digest);
    return status == STATUS_ok && memcmp(digest, input->digest, sizeof digest) == 0;
}

bool core_inputs_hold(const Core *core) {
    if (core->inputs.count == 0) return true;
    Scratch scratch;
    Recheck r = {.arena = scratch_open(&scratch)};
    r.diags = diags_new(r.arena, NULL, NULL, 0);
    bool same = true;
    for (size_t i = 0; same && i < core->inputs.count; i++)
        same = input_holds(&r, &core->inputs.data[i]);
    scratch_close(&scratch);
    return same;
}

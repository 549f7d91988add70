#include "codegen/lower/memo.h"

static uint32_t head_of(const Dim *dim, uint32_t form) {
    return (dim->id * 31 + form) % MEMO_HEADS;
}

LLVMValueRef memo_find(const Memo *memo, const Dim *dim, uint32_t form) {
    for (uint32_t at = memo->heads[head_of(dim, form)]; at; at = memo->entries.data[at - 1].next) {
        const MemoEntry *entry = &memo->entries.data[at - 1];
        if (entry->dim == dim && entry->form == form) return entry->value;
    }
    return NULL;
}

void memo_add(Memo *memo, const Dim *dim, uint32_t form, LLVMValueRef value) {
    uint32_t *head = &memo->heads[head_of(dim, form)];
    vec_push(memo->arena, &memo->entries,
             (MemoEntry){.dim = dim, .form = form, .value = value, .next = *head});
    *head = (uint32_t)memo->entries.count;
}

size_t memo_open(const Memo *memo) { return memo->entries.count; }

/* Newest first, so that each head goes back to what it was. */
void memo_close(Memo *memo, size_t mark) {
    while (memo->entries.count > mark) {
        const MemoEntry *entry = &memo->entries.data[--memo->entries.count];
        memo->heads[head_of(entry->dim, entry->form)] = entry->next;
    }
}

/* Zip archives in memory, as far as .npz needs them: stored and deflated members found through the
 * central directory (PKWARE APPNOTE 6.3, sections 4.3 and 4.5.3), with 64-bit sizes. */
#ifndef TCC_FRONTEND_WEIGHTS_ZIP_H
#define TCC_FRONTEND_WEIGHTS_ZIP_H

#include "frontend/weights/source.h"

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

typedef struct ZipMember {
    Str name; /* in the file's memory, any bytes */
    unsigned method;
    uint32_t crc;
    uint64_t packed_size, size;
    uint64_t local; /* where the local header begins */
    uint64_t data;  /* where the packed bytes begin */
} ZipMember;

typedef struct ZipList {
    ZipMember *members; /* in the order of their places in the file */
    size_t count;
} ZipList;

/* Reads the central directory and each local header. Every member's bytes lie inside the file,
 * overlap no other's, and hold no more than deflate can: `size` may be allocated. */
Status zip_list(WeightFile *file, ZipList *out_list);

/* The member's bytes: in place when stored, else inflated into the storage. Size and CRC-32 are
 * right when this is STATUS_ok. */
Status zip_extract(WeightFile *file, const ZipMember *member, const unsigned char **out_bytes);

#endif

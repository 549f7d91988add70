/* Who touched global memory last, in a launch: for races between its CTAs, and within one of them.
 *
 * Kept by granules of 4 bytes, or of 2 or 1 where a page of memory is accessed in such parts, and
 * only of pages that are accessed. README.md tells what is kept of a granule, and what is known of
 * the order between CTAs. */
#ifndef TCC_EMULATOR_CHECK_GLOBAL_H
#define TCC_EMULATOR_CHECK_GLOBAL_H

#include "base/vec.h"
#include "emulator/check/clocks.h"

#include <pthread.h>
#include <stdatomic.h>

/* An access by one lane. */
typedef struct Touch {
    uint32_t cta; /* its number in the launch, from 1; 0: nobody's */
    uint32_t time;
    uint32_t site : 20;              /* 0: not known */
    uint32_t strong : 1, narrow : 1; /* narrow: of a scope no wider than its CTA */
    uint32_t warp : 5, lane : 5;
} Touch;

typedef enum TouchKind { TOUCH_read, TOUCH_other_read, TOUCH_write, TOUCH_strong } TouchKind;
enum { TOUCH_KINDS = 4, GLOBAL_LOCKS = 64 };

typedef struct GlobalPage {
    uint32_t shift;              /* a granule is 1 << shift bytes */
    Touch *touches[TOUCH_KINDS]; /* by granule; NULL: none of the kind */
} GlobalPage;

/* A block of memory, as far as it is known here. */
typedef struct GlobalBlock {
    uint64_t address, size;
    GlobalPage *_Atomic *pages;
    struct GlobalBlock *next;
} GlobalBlock;

/* A CTA released what it had done: when by its own clock, and when in the launch. */
typedef struct Release {
    uint32_t time;
    uint64_t moment;
    struct Release *before;
} Release;

/* What is kept of a CTA also when it has ended. */
typedef struct GlobalCta {
    uint32_t index[3];
    Release *last;
} GlobalCta;

typedef struct GlobalShadow {
    GlobalBlock *blocks;
    GlobalCta **ctas; /* by number - 1 */
    uint32_t cta_count, cta_room;
    uint64_t moment; /* moves on with every release */
    uint64_t bytes;  /* of pages */
    /* Taken in this order, after the observer's own: of pages, by their number; of `ctas`, their
     * releases and `moment`. The observer's lock is held to change what pages have. */
    pthread_mutex_t locks[GLOBAL_LOCKS], order_lock;
} GlobalShadow;

/* What a CTA that runs has at hand. */
typedef struct GlobalView {
    uint32_t number;
    GlobalCta *self;
    GlobalBlock *recent[4];
    uint32_t next_recent;
    uint64_t acquired;  /* the moment up to which it knows what others released */
    bool acquires;      /* by what it is doing: to be known when that is done */
    uint32_t last_time; /* of its last access that was noted */
    bool blind;         /* its times were used up once: its accesses are no longer looked at */
} GlobalView;

void global_init(GlobalShadow *global);
void global_end(GlobalShadow *global);

#endif

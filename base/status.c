#include "base/status.h"

const char *status_name(Status status) {
    switch (status) {
    case STATUS_ok: return "ok";
    case STATUS_invalid: return "invalid input";
    case STATUS_environment: return "environment";
    case STATUS_memory: return "out of memory";
    case STATUS_internal: return "internal error";
    }
    return "unknown";
}

#include "codegen/lower/sanitize.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
static const char attribute[] = "sanitize_address", passes[] = "asan";
#elif defined(__SANITIZE_THREAD__)
static const char attribute[] = "sanitize_thread", passes[] = "tsan-module,function(tsan)";
#else
static const char attribute[] = "", passes[] = "";
#endif

const char *sanitize_kernels(LLVMModuleRef module) {
    if (*passes == '\0' || getenv("TCC_SANITIZE_KERNELS") == NULL) return NULL;
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    LLVMAttributeRef mark = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
    LLVMValueRef f = LLVMGetFirstFunction(module);
    for (; f != NULL; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f) > 0)
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
    return passes;
}

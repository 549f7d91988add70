// What is said when the driver's compiler refuses a module.
#include "runtime/cuda_refused.h"

#include "tests/unit/test.h"

static const char ptx[] = ".version 8.0\n"                  // line 1
                          ".target sm_80\n"                 // 2
                          ".visible .entry first(\n"        // 3
                          "\t.param .u64 p\n"               // 4
                          ")\n"                             // 5
                          "{\n"                             // 6
                          "\t.loc\t1 3 9\n"                 // 7
                          "\tadd.xx.f32 \t%f1, %f2, %f3;\n" // 8
                          "\t{\n"                           // 9
                          "\t}\n"                           // 10
                          "\tret;\n"                        // 11
                          "}\n"                             // 12
                          ".visible .entry second()\n"      // 13
                          "{\n"                             // 14
                          "\tmov.u32 %r1, 0;\n"             // 15
                          "\t.loc 2 0 0\n"                  // 16
                          "\tret;\n"                        // 17
                          "}\n"                             // 18
                          "\t.file\t1 \"some/model.g\"\n"   // 19
                          ".file 2 \"other.g\", 5, 6";      // 20

static void said(const char *log, const char *want) {
    char text[256];
    cuda_explain_refusal(ptx, log, text, sizeof text);
    CHECK_STR(text, want);
}

static void test_logs(void) {
    said("", "");
    said("ptxas application ptx input, line 8; error   : Unknown modifier '.xx'\n"
         "ptxas fatal   : Ptx assembly aborted due to errors\n",
         "kernel first: some/model.g:3:9: ptxas application ptx input, line 8; error : Unknown "
         "modifier '.xx'; ptxas fatal : Ptx assembly aborted due to errors: "
         "'add.xx.f32 %f1, %f2, %f3;'");
    said("ptxas application ptx input, line 4; warning : something\n"
         "line 11, col 2: error: no\n    \tret;\n",
         "kernel first: line 11, col 2: error: no: '.param .u64 p'");
    said("line 11, col 2: error: behind a block", "kernel first: some/model.g:3:9: line 11, col 2: "
                                                  "error: behind a block: 'ret;'");
    said("line 15, col 2: error: before any place",
         "kernel second: line 15, col 2: error: before any place: 'mov.u32 %r1, 0;'");
    said("line 17: error: of another file",
         "kernel second: line 17: error: of another file: 'ret;'");
    said("line 20: error: behind all", "line 20: error: behind all: '.file 2 \"other.g\", 5, 6'");
    said("line 99: error: nowhere", "line 99: error: nowhere");
    said("a baseline 7 without a line", "a baseline 7 without a line");
    said("something else\n\n  in two lines  \n", "something else; in two lines");
}

// Whatever the room, the text ends in it.
static void test_room(void) {
    const char *log = "line 8, col 5: error: unknown modifier '.xx'";
    for (size_t size = 1; size < 120; size++) {
        char text[128];
        memset(text, 'X', sizeof text);
        cuda_explain_refusal(ptx, log, text, size);
        CHECK(strlen(text) < size && text[size] == 'X');
    }
}

int main(void) {
    RUN(test_logs);
    RUN(test_room);
    return test_done();
}

# What the test scripts share: `. tests/lib.sh`, then pass, fail and skip, and at the end `summary`.
passed=0 failed=0 skipped=0
BUILD=${BUILD:-build}
export LC_ALL=C.UTF-8

pass() { passed=$((passed + 1)); }
# fail NAME [TEXT...]
fail() { failed=$((failed + 1)); printf 'FAILED %s\n' "$*"; }
# skip NAME REASON
skip() { skipped=$((skipped + 1)); printf 'skipped %s: %s\n' "$1" "$2"; }
# check NAME COMMAND...: passes if the command succeeds; shows its output if not.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then pass; else fail "$name"; printf '%s\n' "$out"; fi
}
summary() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

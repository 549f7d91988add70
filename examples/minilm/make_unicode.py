#!/usr/bin/env python3
"""make_unicode.py VOCAB.txt: writes unicode_tables.h, what the tokenizer must know of Unicode.

Of the letters that change when case and accents go, only those are listed whose result stands in the vocabulary: a word
with any other one is unknown to it in either form. Syllables of Hangul are computed by wordpiece.c."""
import sys
import unicodedata
from pathlib import Path

HANGUL, SURROGATES = range(0xAC00, 0xD7A4), range(0xD800, 0xE000)
HEAD = """\
/* Unicode VERSION as far as the tokenizer needs it; written by make_unicode.py. */
#ifndef EXAMPLES_MINILM_UNICODE_TABLES_H
#define EXAMPLES_MINILM_UNICODE_TABLES_H

#include <stdint.h>

typedef struct Range {
    uint32_t first, last;
} Range;

typedef struct Run {
    uint32_t first, last, step;
    int32_t difference;
} Run;

typedef struct Pair {
    uint32_t letter, first, second;
} Pair;

/* clang-format off */
"""
TAIL = """\
/* clang-format on */

#endif
"""
CODES = [code for code in range(0x110000) if code not in SURROGATES]


def category(char):
    return unicodedata.category(char)


def is_dropped(char):
    """Marks that stand on a letter, controls, formats, private use; white space among the controls stays."""
    kind = category(char)
    return char not in "\t\n\r" and kind in ("Mn", "Cc", "Cf", "Co")


def is_punctuation(char):
    return category(char)[0] == "P" or (char.isascii() and char.isprintable() and not char.isalnum() and char != " ")


def plain(char):
    """Without case and accents."""
    kept = (c for c in unicodedata.normalize("NFD", char) if category(c) != "Mn")
    return "".join(c for c in "".join(kept).lower() if category(c) != "Mn")


def ranges(holds):
    found = []
    for code in CODES:
        if holds(chr(code)):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def changes(known):
    found = {}
    for code in CODES:
        char = chr(code)
        result = plain(char)
        if code not in HANGUL and result and result != char and not is_dropped(char) and set(result) <= known:
            assert char not in known and len(result) <= 2, char
            found[code] = [ord(c) for c in result]
    return found


def runs(pairs):
    """(first, last, step, difference): every step-th code in first..last changes by the difference."""
    codes, found, at = sorted(pairs), [], 0
    while at < len(codes):
        def length(step):
            end = at + 1
            while end < len(codes) and codes[end] - codes[end - 1] == step and \
                    pairs[codes[end]] - codes[end] == pairs[codes[at]] - codes[at]:
                end += 1
            return end - at
        step = 2 if length(2) > length(1) else 1
        last = codes[at + length(step) - 1]
        found.append((codes[at], last, step, pairs[codes[at]] - codes[at]))
        at += length(step)
    return found


def table(kind, name, comment, rows):
    lines, line = [], "   "
    for row in rows:
        item = " {" + ", ".join(row) + "},"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "   "
        line += item
    lines.append(line)
    return f"/* {comment} */\nstatic const {kind} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def main():
    tokens = Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")
    known = set("".join(token for token in tokens if not token.startswith("[") or len(token) == 1))
    changed = changes(known)
    single = {code: result[0] for code, result in changed.items() if len(result) == 1}
    double = {code: result for code, result in changed.items() if len(result) == 2}
    text = HEAD.replace("VERSION", unicodedata.unidata_version)
    text += table("Range", "dropped", "What goes: marks on letters, controls.",
                  [map(hex, pair) for pair in ranges(is_dropped)])
    text += table("Range", "punctuation", "What is a word of its own.",
                  [map(hex, pair) for pair in ranges(is_punctuation)])
    text += table("Run", "plain_letters", "Letters without case and accents: every step-th of a range, and what to add.",
                  [(hex(a), hex(b), str(s), str(d)) for a, b, s, d in runs(single)])
    text += table("Pair", "plain_pairs", "The same of letters that become two.",
                  [map(hex, [code] + result) for code, result in double.items()])
    Path(__file__).with_name("unicode_tables.h").write_text(text + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""make_tokens.py VOCAB.txt: writes texts.txt and tokens.txt, how the package tokenizers reads them by that vocabulary, and
small_texts.txt and small_tokens.txt, the same by a small one, small_vocab.txt.

    pip install tokenizers; python3 make_tokens.py VOCAB.txt"""
import random
import sys
from pathlib import Path
from unicodedata import ucd_3_2_0

from tokenizers import BertWordPieceTokenizer

HERE = Path(__file__).parent
WRITTEN = """\
Hello, world!
hello
HELLO hELLo HeLLo
unaffable unaffably reunification
Ångström Çà et là, naïve café, señor, smörgåsbord, Übermaß
ÀÉÎÕÜ àéîõü ÀÉÎÕÜ
don't can't o'clock rock'n'roll
e-mail: someone@example.org, see https://example.org/a_b?c=d&e=f#g
3.14159 1,000,000 -17 +4 6×7 1/2 50% 20°C 48.50 € £3 ¥9 $5
a.b,c;d:e!f?g(h)i[j]k{l}m<n>o/p\\q|r~s`t^u*v&w%x$y#z@
##ing ## ing
東京は日本の首都です。
中文分词，逐字分开！
한국어 문장입니다
Привет, Мир! ЁЖИК Йод й
Ελληνικά Άλφα ΣΊΣΥΦΟΣ ς σ
עברית שָׁלוֹם
العربية مَرْحَبًا
हिन्दी नमस्ते
ไทย ภาษา
বাংলা কো
İstanbul ISTANBUL ıstanbul
ǅ ǆ Ǆ ﬁ ﬂ ß ẞ Æ æ Œ œ Ø ø Ł ł Đ đ Þ þ ð
≠ ≮ ≯ ∄ ℵ Ω K Å ™ © ® § ¶ † ‡ • … ‰ ′ ″ ‹ › « » „ “ ” ‘ ’ ‚ – — ―
𝒜𝓁𝓅𝒽𝒶 😀 👍🏽 𐍈 🇪🇺
zero\u200bwidth soft\u00adhyphen bom\ufeff joiner\u200dhere
tab\tand  many   spaces\u00a0no-break\u2003em\u3000wide
control\u0001here \u007fdelete\u0085next
a\u0301e\u0308o\u0302 combining, \u0301alone
x² x₂ ½ ⅓ Ⅷ ①
pneumonoultramicroscopicsilicovolcanoconiosis
Donaudampfschifffahrtsgesellschaftskapitän
supercalifragilisticexpialidocious antidisestablishmentarianism
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
qzxj wvvq zzyzx xkcd
https://
...
?!?!
_under_score_ snake_case CamelCase kebab-case
C++ C# .NET node.js x86-64 f(x)=y
\ufffdreplaced\ufffd
The quick brown fox jumps over the lazy dog.
"""
SMALL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "##a", "##b", "##c", "ab", "##bc", "abc",
         "##ca", "e", "##e", "o", "##o", "u", "##u", "s", "##s", "ß", "!", ",", ".", "-", "€", "中", "文", "и", "##и",
         "ω", "##ω", "ᄒ", "##ᅡ", "##ᆫ", "1", "##1", "##2", "caba", "##caba", "😀"]
SMALL_LETTERS = "abcabcABCäöüéèÀß!,.-€中文йИΩώ한하12 \t\u00a0\u0301\u200b😀\U0010ffff"
BLOCKS = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x530), (0x590, 0x700), (0x900, 0xE80), (0x10A0, 0x1200),
          (0x1E00, 0x2200), (0x2C00, 0x2D00), (0x3000, 0x3100), (0x4E00, 0x4F00), (0xA640, 0xA700), (0xAC00, 0xAD00),
          (0xF900, 0xFB50), (0xFF00, 0xFFF0), (0x10330, 0x10380), (0x1D400, 0x1D500), (0x1F600, 0x1F640),
          (0x20000, 0x20040), (0x2F800, 0x2FA20)]


def random_texts(seed, count, letter):
    """Without line breaks, which part the texts of a file."""
    rng = random.Random(seed)
    for _ in range(count):
        text = "".join(letter(rng) for _ in range(rng.randint(1, 40)))
        if text.strip():
            yield text


def of_blocks(rng):
    """Letters that Unicode has had for long: of newer ones the package and our tables may know different things."""
    while rng.random() > 0.2:
        char = chr(rng.randrange(*rng.choice(BLOCKS)))
        if ucd_3_2_0.category(char) != "Cn":
            return char
    return " "


def of_words(words):
    def letter(rng):
        word = rng.choice(words).removeprefix("##")
        return word + rng.choice(["", "", " ", "-", "s"])
    return letter


def write(texts, vocabulary, texts_name, tokens_name):
    tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    (HERE / texts_name).write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="\n")
    rows = (" ".join(map(str, tokenizer.encode(text).ids)) for text in texts)
    (HERE / tokens_name).write_text("".join(row + "\n" for row in rows))


def read(vocabulary):
    return Path(vocabulary).read_text(encoding="utf-8").rstrip("\n").split("\n")


def main():
    texts = WRITTEN.rstrip("\n").split("\n")
    texts += random_texts(1, 150, of_blocks)
    texts += random_texts(2, 150, of_words(read(sys.argv[1])[999:]))
    write(texts, sys.argv[1], "texts.txt", "tokens.txt")
    (HERE / "small_vocab.txt").write_text("".join(token + "\n" for token in SMALL), encoding="utf-8")
    small = list(random_texts(3, 100, lambda rng: rng.choice(SMALL_LETTERS)))
    write(small, HERE / "small_vocab.txt", "small_texts.txt", "small_tokens.txt")


if __name__ == "__main__":
    main()

docs/command.md shows the help as it is.

  $ help() { sed -n "/^\`\`\`help $1\$/,/^\`\`\`\$/p" $TOP/docs/command.md | sed '1d;$d'; }; diff <(tcc --help) <(help compile); for c in run check bisect reduce bench explain info devices help completion man; do diff <(tcc $c --help | sed '/^options of the compiler/,$d; /^The exit status/,$d') <(help $c; echo); done

docs/emulator.md lists every finding and every variable of the environment, with its words.

  $ sed -n 's/^FINDING(\([a-z_]*\), "\(.*\)", EMU_OK)$/| `\1` | \2 |  |/p; s/^FINDING(\([a-z_]*\), "\(.*\)", EMU_[A-Z_]*)$/| `\1` | \2 | yes |/p' $TOP/emulator/check/findings.def | diff - <(grep '^| `[a-z_]*` |' $TOP/docs/emulator.md)
  $ grep -rhoE '"TCC_EMU_[A-Z]+"' $TOP/emulator | tr -d '"' | sort -u | diff - <(grep -oE '^\| `TCC_EMU_[A-Z]+' $TOP/docs/emulator.md | cut -c4- | sort -u)
  $ sed -n 's/^    {"\(TCC_EMU_[A-Z]*\)", "\([a-z_]*\)", .*/\1 \2/p' $TOP/emulator/machine/options.c | while read name word; do grep -q "^| .$name. | .*\`$word\`" $TOP/docs/emulator.md || echo "$name: $word"; done

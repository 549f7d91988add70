docs/command.md shows the help as it is.

  $ help() { sed -n "/^\`\`\`help $1\$/,/^\`\`\`\$/p" $TOP/docs/command.md | sed '1d;$d'; }; diff <(tcc --help) <(help compile); for c in run check bisect reduce bench explain info devices help completion man; do diff <(tcc $c --help | sed '/^options of the compiler/,$d; /^The exit status/,$d') <(help $c; echo); done

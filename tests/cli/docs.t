docs/command.md shows the help as it is.

  $ help() { sed -n "/^\`\`\`help $1\$/,/^\`\`\`\$/p" $TOP/docs/command.md | sed '1d;$d'; }; diff <(tcc --help) <(help compile); for c in run check bench explain info help completion man; do diff <(tcc $c --help | sed '/^options of the compiler/,$d') <(help $c; echo); done
  9,10d8
  < The exit status is 0 when all is fine, 1 when the input is wrong or a check failed, 2 when the
  < command line is wrong, 3 when the environment did not allow it.
  9,10d8
  < The exit status is 0 when all is fine, 1 when the input is wrong or a check failed, 2 when the
  < command line is wrong, 3 when the environment did not allow it.
  9,10d8
  < The exit status is 0 when all is fine, 1 when the input is wrong or a check failed, 2 when the
  < command line is wrong, 3 when the environment did not allow it.
  [1]

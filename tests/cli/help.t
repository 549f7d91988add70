The version, and the help (all of it is in docs/command.md, see docs.t).

  $ tcc --version
  tcc 0.1.0
  $ tcc -v
  tcc 0.1.0
  $ tcc run --help | head -2
  usage: tcc run [OPTION...] MODEL
  run a model on arrays and print its results
  $ tcc --help model.g | head -1
  usage: tcc [OPTION...] MODEL
  $ for words in -h help; do tcc $words | cmp - <(tcc --help); done
  $ for words in 'run -h' 'help run'; do tcc $words | cmp - <(tcc run --help); done
  $ tcc help bnech
  ! tcc: error: there is no command 'bnech'
  ! tcc: note: did you mean tcc bench?
  [2]
  $ tcc help run check
  ! tcc: error: one word at a time: run and check were given
  [2]

Lists are tables with headings, the name first.

  $ for list in passes targets schedules; do tcc --list-$list | head -2; done
  pass       dump levels needs              gives              what it does
  inline     -dI  -O0-3  -                  inlined            puts the nodes of functions where they are called
  target          kind  what it is
  native          CPU   the best level that this machine has
  field      values       skeletons                what it does
  unroll     0..16        elementwise row window   vectors in flight in the innermost loop; a quarter where it has polynomials
  $ tcc --list-functions | grep -A1 '`topk\|`softmax'
  * `topk(x, k, axis?, largest?)`, 2 results
    the first k values and i64 indices in order
  --
  * `softmax(x, axis=-1)`
    exp(x - max) / sum: a row of -inf gives NaN
  $ tcc --list-targets
  target          kind  what it is
  native          CPU   the best level that this machine has
  cpu             CPU   every level in one artefact, chosen when a model is opened
  x86-64-v3       CPU   those that have this level
  x86-64-v4       CPU   those that have this level
  x86-64-v4+vnni  CPU   those that have this level
  sm_80           GPU   as PTX (--emit=ptx)
  sm_86           GPU   as PTX (--emit=ptx)
  sm_89           GPU   as PTX (--emit=ptx)
  sm_90a          GPU   as PTX (--emit=ptx)

What shells and man show comes from the same tables: every option is there.

  $ tcc completion bash | bash -n
  $ tcc completion fish
  ! tcc: error: completion takes bash or zsh, not 'fish'
  [2]
  $ tcc completion
  ! tcc: error: completion takes bash or zsh
  [2]
  $ options() { for c in '' run check bench explain info; do tcc $c --help; done | grep -oE '^  --?[a-z-]+' | sort -u; }
  > for word in $(options); do for shell in bash zsh; do tcc completion $shell | grep -qe "$word" || echo "$shell: $word"; done; tcc man | sed 's/\\-/-/g' | grep -qe "$word" || echo "man: $word"; done
  $ tcc man extra
  ! tcc: error: tcc man takes nothing, not 'extra'
  [2]

Completion in bash.

  $ . <(tcc completion bash); complete -p tcc
  complete -o bashdefault -o default -F _tcc tcc
  $ . <(tcc completion bash); words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tcc; echo "${COMPREPLY[@]}"; }
  > words tcc b; words tcc run --js; words tcc --emi; words tcc m.g --emit = p; words tcc m.g --target = sm_8
  > words tcc explain m.g --show = ""; words tcc help ch; words tcc completion ''; words tcc run m.g x
  bisect bench
  --json
  --emit=
  program ptx
  sm_80 sm_86 sm_89
  fusion plan memory schedule gpu
  check
  bash zsh
  

Numbers are read and written the same in a locale with a comma.

@unless [ -r /usr/share/i18n/locales/de_DE ]: there is no source of the locale de_DE

  $ mkdir locales && localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8
  $ echo 'model m(x: f32[2]) -> (y: f32[2]) { y = x * 1.5 + 0.25 }' >m.g; tcc m.g -o b.so
  $ german() { env LOCPATH=$PWD/locales LC_ALL=de_DE.UTF-8 "$@"; }; german bash -c "printf '%.1f\\n' 0,5"; german tcc run m.g -i x=ones; german tcc m.g -o a.so; cmp a.so b.so; german tcc run a.so -i x=ones --json
  0,5
  y: f32[2]
    [1.75, 1.75]
  {"outputs": [{"name": "y", "dtype": "f32", "shape": [2], "elements": 2, "values": [1.75, 1.75]}]}

The search for a wrong step, where none is.

  $ double >double.g
  $ tcc bisect double.g
  all agrees, on 8 sets of inputs
  $ tcc bisect double.g -D N=3 -i x=ones --tries=2 --seed=7 -O0
  all agrees, on 1 set of inputs
  $ tcc bisect - <double.g
  all agrees, on 8 sets of inputs
  $ tcc bisect double.g --json
  {
    "agree": true,
    "part": null,
    "kind": null,
    "inputs": null,
    "what": null,
    "pass": null,
    "rewrite": null,
    "rule": null,
    "place": null,
    "before": null,
    "after": null,
    "kernel": null,
    "skeleton": null,
    "strategy": null,
    "ops": null,
    "schedule": null,
    "fields": null,
    "sets": 8,
    "probes": 2
  }
  $ tcc bisect double.g -v --pass-limit=0 --skip=fuse,fold
  ! tcc: error: schedule is not possible here: ops must be fused into kernels first
  [1]

Models that need several sizes, and ones that the evaluator refuses at some.

  $ printf 'dim N in 1..9\ndim M in 1..9\nmodel m(x: f32[N], y: f32[M]) -> (z: f32[N]) { assert x.shape[0] == y.shape[0]\n z = x + y }\n' >both.g
  $ tcc bisect both.g
  all agrees, on 4 sets of inputs
  $ tcc bisect both.g -D N=2 -D M=3
  ! tcc: error: the evaluator refuses all inputs: N must be equal to M, but they are 2 and 3
  [1]

What cannot be searched.

  $ tcc bisect double.g -i y=ones
  ! tcc: error: the model has no input "y"
  [1]
  $ tcc bisect double.g -D M=3
  ! tcc: error: the model has no dim "M" whose size is open
  [1]
  $ tcc bisect double.g -D N=0
  ! tcc: error: dim N is 0, not in 1..8
  [1]
  $ tcc bisect double.g -i x
  ! tcc: error: -i takes NAME=VALUE, not 'x'
  [2]
  $ tcc bisect double.g -i x=missing.npy
  ! tcc: error: could not read missing.npy: No such file or directory [cannot-read]
  [1]
  $ tcc bisect double.g --tries=0
  ! tcc: error: --tries takes a whole number of at least 1, not '0'
  [2]
  $ tcc bisect double.g --timeout=soon
  ! tcc: error: --timeout takes a number of seconds, not 'soon'
  [2]
  $ tcc bisect double.g --passes=inline
  ! tcc: error: the passes make no program
  [1]
  $ tcc bisect
  ! tcc: error: no model was given; tcc --help tells more
  [2]
  $ tcc bisect missing.g
  ! tcc: error: could not read missing.g: No such file or directory [cannot-read]
  [1]
  $ echo 'model m(x: f32[3]) -> (y: f32[3]) { y = x + z }' >wrong.g
  $ tcc bisect wrong.g
  ! wrong.g:1:45: error: there is no 'z' [unknown-name]
  !     1 | model m(x: f32[3]) -> (y: f32[3]) { y = x + z }
  !       |                                             ^
  [1]
  $ tcc double.g -o double.so && tcc bisect double.so
  ! tcc: error: double.so is compiled already: bisect takes the model file that it came from
  [2]

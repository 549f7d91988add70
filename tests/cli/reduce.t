Models made smaller. Those that do not fail are left alone.

  $ double >double.g
  $ tcc reduce double.g
  ! tcc: error: double.g does not fail: there is nothing to reduce
  [1]
  $ ls
  double.g

What a command wants is kept, and nothing else.

  $ printf 'model m(x: f32[6, 4], y: f32[6, 4]) -> (a: f32[6], b: f32[6, 4]) {\n h = exp(x) * y\n a = sum(h, axis=1)\n b = h + tanh(y)\n}\n' >m.g
  $ tcc reduce m.g --if 'grep -q tanh model.tir' -o small
  small: 2 nodes, 1 input, as .g too
  $ ls small; cat small/model.tir small/model.g small/command
  command
  model.g
  model.tir
  x0.npy
  tir 1
  graph @m {
    %0 = input index=0 name="x0" : f32[1, 1]
    %1 = tanh %0 : f32[1, 1]
    return y = %1
  }
  model m(x0: f32[1, 1]) -> (y: f32[1, 1]) {
      t1 = tanh(x0)
      y = t1
  }
  tcc bisect model.tir -i x0=x0.npy
  $ cd small && tcc check model.tir -i x0=x0.npy | tail -1; cd ..
  all 2 outputs agree
  $ tcc reduce m.g --if 'grep -q "reduce_sum" model.tir' -O0 --json; cat reduced/command
  {"folder": "reduced", "nodes": 2, "inputs": 1, "source": true, "what": null}
  tcc bisect model.tir '-O0' -i x0=x0.npy
  $ ls
  double.g
  m.g
  reduced
  small

What cannot be done.

  $ tcc reduce m.g --if true -o small
  ! tcc: error: small is there already: give -o another folder
  [1]
  $ tcc reduce m.g --if false -o other
  ! tcc: error: the model by itself does not show what is looked for
  [1]
  $ touch file; tcc reduce m.g --if true -o file
  ! tcc: error: file is there already: give -o another folder
  [1]
  $ tcc reduce m.g --if true -o nowhere/other
  ! tcc: error: could not write nowhere/other: No such file or directory
  [1]
  $ tcc reduce m.g -o other --budget=long
  ! tcc: error: --budget takes a number of seconds, not 'long'
  [2]
  $ tcc reduce missing.g
  ! tcc: error: reduced is there already: give -o another folder
  [1]
  $ tcc reduce
  ! tcc: error: no model was given; tcc --help tells more
  [2]
  $ ls
  double.g
  file
  m.g
  reduced
  small

Candidates that could not be written are told of once.

  $ TMPDIR=/nonexistent tcc reduce m.g --if true -o none
  ! tcc: error: could not make a folder for candidates: No such file or directory
  [3]

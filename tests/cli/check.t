Checks against the evaluator.

  $ double >double.g
  $ tcc check double.g
  kernel                       output         elements   left out      worst        rms
  elementwise_mul_3            0                     3      0.00%          0          0  ok
  double                       y                     3      0.00%          0          0  ok
  all 2 outputs agree
  $ tcc check double.g -D N=0
  ! tcc: error: input "x": dim N is 0, not in 1..8 [dim-range]
  [1]
  $ tcc check double.g -D N=8 -i x=random:9 -O0
  kernel                       output         elements   left out      worst        rms
  broadcast_2                  0                     8      0.00%          0          0  ok
  mul_3                        0                     8      0.00%          0          0  ok
  double                       y                     8      0.00%          0          0  ok
  all 3 outputs agree
  $ tcc check double.g --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["agree"], [x["kernel"] for x in r["results"]])'
  True ['elementwise_mul_3', 'double']
  $ tcc check double.g --device=emu -D N=3
  kernel                       output         elements   left out      worst        rms
  elementwise_mul_3            0                     3      0.00%          0          0  ok
  double                       y                     3      0.00%          0          0  ok
  all 2 outputs agree
  $ TCC_CUDA_LIBRARY=/no/such.so tcc check double.g --device=cuda
  ! tcc: error: device cuda: could not load /no/such.so: /no/such.so: cannot open shared object file: No such file or directory [device]
  [3]
  $ tcc check double.g -D N=9
  ! tcc: error: input "x": dim N is 9, not in 1..8 [dim-range]
  [1]

Where a bound reaches over a step of floor, the very value still agrees.

  $ echo 'model m(x: f32[8, 64]) -> (y: f32[8]) { y = floor(sum(x, axis=1) * 0.25) }' >floor.g
  $ tcc check floor.g -i x=ones
  kernel                       output         elements   left out      worst        rms
  row_floor_5                  0                     8      0.00%          0          0  ok
  m                            y                     8      0.00%          0          0  ok
  all 2 outputs agree

Where the evaluator's bound reaches over a step and the values differ, the element is left out; more than 1 % of those are a failure.

  $ echo 'model m(x: f32[1000]) -> (y: f32[1000]) { y = floor(exp(x) * 8388608) }' >steps.g
  $ tcc check steps.g
  kernel                       output         elements   left out      worst        rms
  elementwise_floor_5          0                  1000      6.80%          0    2.7e-08  WRONG
    too few elements could be compared: at most 1 % may be left out
  m                            y                  1000      6.80%          0    2.7e-08  ok
  1 of 2 outputs are wrong
  [1]

A result of f32 that bf16 was rounded to on its way, through many layers, is judged as one of bf16.

  $ cat >deep.g <<'END'
  > fn norm(x) { return x / sqrt(mean(x * x, axis=-1, keep=true) + 0.001) }
  > model deep(x: bf16[8, 64], w: bf16[64, 64]) -> (y: f32[8, 64]) {
  >     for i in 0..<6 { x = norm(tanh(x @ w) * 0.3 + x) }
  >     y = f32(x)
  > }
  > END
  $ tcc check deep.g | tail -1
  all 7 outputs agree

The padding of a convolution is 0 whatever its operand is computed by on the way in.

  $ echo 'model m(x: f64[1, 1, 4], w: f64[1, 1, 1], v: f64[9, 1, 1]) -> (y: f64[1, 1, 6], z: f64[1, 9, 6]) { y = conv(x + 1.0, w, lo=[1], hi=[1]); z = conv(x + 1.0, v, lo=[1], hi=[1]) }' >pad.g
  $ tcc check pad.g | tail -1
  all 4 outputs agree

The digits example at every level.

  $ for level in 0 1 2 3; do tcc check $TOP/examples/digits/digits.g -D N=3 -O$level | tail -1; done
  all 34 outputs agree
  all 6 outputs agree
  all 6 outputs agree
  all 6 outputs agree

Dims that a check at entry makes equal are walked as one; a gathered index is kept within its own bounds.

  $ for level in 0 1 2; do tcc check $TOP/tests/models/dims.g -i i=zeros -O$level 2>/dev/null | tail -1 | cut -d' ' -f3-; done
  outputs agree
  outputs agree
  outputs agree
  $ tcc check $TOP/tests/models/dims.g -i i=zeros -D N=3 2>&1 | tail -1
  tcc: error: */tests/models/dims.g:10:11: M must equal N: 21 is not 3 [dim-check] (glob)
  $ printf '%s\n' 'dim N in 1..8' 'dim M in 1..8' 'model m(x: f32[N, 3], b: f32[M, 3]) -> (y: f32[N, 3]) { y = x + b }' >meet.g; tcc meet.g -o meet.so
  ! meet.g:3:63: warning: dims M and N must be equal here, which is checked when the model is entered [dims-equal]
  !     3 | model m(x: f32[N, 3], b: f32[M, 3]) -> (y: f32[N, 3]) { y = x + b }
  !       |                                                               ^
  ! meet.g:3:63: note: one name for both declares them equal; 'assert M == N' says that the check is meant
  !     3 | model m(x: f32[N, 3], b: f32[M, 3]) -> (y: f32[N, 3]) { y = x + b }
  !       |                                                               ^

Gathers from a sorted row, and dims whose products are hard to bound:

  $ for model in sorted_gather dynamic_slice; do tcc check $TOP/tests/models/$model.g | tail -1; done
  all 4 outputs agree
  all 4 outputs agree

Where an index is out of range the compiled code and the evaluator must both say so. They agree then, and the report says what a run ends with.

  $ printf '%s\n' 'model pick(x: f32[4], i: i64[2]) -> (y, s) {' '    y = gather(x, i) * 2.0' '    s = sum(x)' '}' >pick.g; npy i.npy i8 1 9
  $ tcc check pick.g -i i=i.npy
  kernel                       output         elements   left out      worst        rms
  row_reduce_sum_6             0                     1      0.00%          0          0  ok
  elementwise_mul_5            0                     2      0.00%          0          0  ok
    pick.g:2:9: index 9 is not in -4..3, say both the compiled code and the evaluator
  pick                         y                     2      0.00%          0          0  ok
    pick.g:2:9: index 9 is not in -4..3, say both the compiled code and the evaluator
  pick                         s                     1      0.00%          0          0  ok
    pick.g:2:9: index 9 is not in -4..3, say both the compiled code and the evaluator
  all 4 outputs agree, but a run fails: an index is out of range
  $ tcc run pick.g -i i=i.npy -i x=ones
  ! tcc: error: pick.g:2:22: index 9 is not in -4..3 (kernel elementwise_mul_5) [index-out-of-range]
  [1]
  $ tcc check pick.g -i i=i.npy --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["agree"], [x.get("error") for x in r["results"]])'
  True [None, 'pick.g:2:9: index 9 is not in -4..3', 'pick.g:2:9: index 9 is not in -4..3', 'pick.g:2:9: index 9 is not in -4..3']
  $ tcc check pick.g -i i=zeros | tail -1
  all 4 outputs agree

Where 16 bits overflow and the f32 inside a kernel does not, or f8e4m3 has no infinity, both answers are right; the first level rounds everywhere.

  $ printf '%s\n' 'model square(x: f16[64]) -> (y: f16[64]) {' '    y = (x + 300.0) * (x + 300.0) / (x + 300.0)' '}' >square.g
  $ for level in 0 1 2; do tcc check square.g -O$level -i x=ones | tail -2; done
  square                       y                    64      0.00%          0          0  ok
  all 5 outputs agree
  square                       y                    64      0.00%          0          0  ok
  all 2 outputs agree
  square                       y                    64      0.00%          0          0  ok
  all 2 outputs agree
  $ printf '%s\n' 'model quotient(x: f8e4m3[64], z: f8e4m3[64]) -> (y: f32[64], s: f8e4m3[64]) {' '    y = f32(x / z)' '    s = -(x / z)' '}' >quotient.g
  $ for level in 0 1 2; do tcc check quotient.g -O$level -i x=ones -i z=zeros | tail -2; done
  quotient                     s                    64      0.00%          0          0  ok
  all 5 outputs agree
  quotient                     s                    64      0.00%          0          0  ok
  all 4 outputs agree
  quotient                     s                    64      0.00%          0          0  ok
  all 4 outputs agree

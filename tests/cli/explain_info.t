What was decided, and what a model holds.

  $ double >double.g; tcc double.g --target=x86-64-v3
  $ tcc explain double.g
  fusion:
  1 kernel, 1 launch
    elementwise_mul_3: elementwise of mul; 24 bytes
  plan:
  memory:
    peak 0 bytes for N <= 2
    peak 0 bytes for N <= 3
    peak 0 bytes for N <= 5
    peak 0 bytes for N <= 8
    chose plan bucket=0 arena bytes=0 lower bound=0 places=0
    chose plan bucket=1 arena bytes=0 lower bound=0 places=0
    chose plan bucket=2 arena bytes=0 lower bound=0 places=0
    chose plan bucket=3 arena bytes=0 lower bound=0 places=0
  schedule:
    double.g:3:11: chose schedule at elementwise_mul_3: * (glob)
  $ tcc explain double.g --show=fusion
  fusion:
  1 kernel, 1 launch
    elementwise_mul_3: elementwise of mul; 24 bytes
  $ tcc info double.so
  format: tcc model
  compiler: 0.1.0
  options: -O2
  abi: 1
  model: double
  targets: [x86-64-v3]
  inputs:
    name: x, dtype: f32, shape: [N]
  outputs:
    name: y, dtype: f32, shape: [N]
  dims:
    name: N, lo: 1, hi: 8, tune: 3
  kernels:
    name: elementwise_mul_3, skeleton: elementwise, schedule: * (glob)
  launches: 1
  memory:
    up_to: {N: 2}, arena_bytes: 0
    up_to: {N: 3}, arena_bytes: 0
    up_to: {N: 5}, arena_bytes: 0
    up_to: {N: 8}, arena_bytes: 0
  $ tcc info double.g --target=x86-64-v3 | cmp - <(tcc info double.so)
  $ tcc info double.so --json | python3 -m json.tool --compact | head -c 40
  {"format":"tcc model","compiler":"0.1.0"
  $ tcc info missing.so
  ! tcc: error: could not read missing.so: No such file or directory [cannot-read]
  [1]
  $ echo text >text.so; tcc info text.so
  ! tcc: error: text.so is no model of tcc, or holds no metadata
  [1]
  $ tcc info /lib/x86_64-linux-gnu/libm.so.6
  ! tcc: error: /lib/x86_64-linux-gnu/libm.so.6 is no model of tcc, or holds no metadata
  [1]
  $ head -c 3000 double.so >cut.so; tcc info cut.so
  ! tcc: error: cut.so is no model of tcc, or holds no metadata
  [1]

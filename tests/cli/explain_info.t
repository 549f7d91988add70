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
  schedule:
    double.g:3:11: chose schedule at elementwise_mul_3: * (glob)
  $ echo 'model two(x: f32[8, 8], w: f32[8, 8]) -> (y: f32[8, 8]) { y = relu(x @ w) @ w }' >two.g; tcc explain two.g --show=fusion
  fusion:
  2 kernels, 2 launches
    contract_max_5: contract of contract max; 768 bytes
    contract_contract_6: contract of contract; 768 bytes
    two.g:1:75: contract_max_5 -> contract_contract_6: not fused [fuse-two-walks]: contract and contract accumulate in loop nests of their own, and a kernel has one (bytes 256)
  what would change it:
    [fuse-two-walks] write one of the two without an op that accumulates, or both as reductions over the same axes, which share a loop nest
  $ tcc explain double.g --show=fusion
  fusion:
  1 kernel, 1 launch
    elementwise_mul_3: elementwise of mul; 24 bytes
  $ tcc explain double.so | diff - <(tcc explain double.g --target=x86-64-v3)
  $ tcc explain double.so --show=memory,fusion | diff - <(tcc explain double.g --target=x86-64-v3 --show=fusion,memory)
  $ tcc explain double.g --target=x86-64-v3 --json | python3 -c 'import json, sys; e = json.load(sys.stdin); print(sorted(e), [k["name"] for k in e["kernels"]])'
  ['decisions', 'kernels', 'model'] ['elementwise_mul_3']
  $ tcc explain double.so --json
  ! tcc: error: --json explains a model's source; a model.so keeps the text alone
  [2]
  $ tcc explain double.g --json --show=plan
  ! tcc: error: --json prints all parts, so --show cannot be given with it
  [2]
  $ tcc double.g --strip-info -o stripped.so; tcc explain stripped.so
  ! stripped.so: error: no model of tcc, or it holds no graph and explanation (--strip-info leaves them out) [artefact-part]
  [1]
  $ tcc info double.so
  format: tcc model
  compiler: 0.1.0
  options: -O2
  abi: 3
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
  ! text.so: error: byte 0: not a shared library of 64 bits [artefact-elf]
  [1]
  $ tcc info /lib/x86_64-linux-gnu/libm.so.6
  ! /lib/x86_64-linux-gnu/libm.so.6: error: no model of tcc, or it holds no metadata [artefact-part]
  [1]
  $ head -c 3000 double.so >cut.so; tcc info cut.so
  ! cut.so: error: byte 40: the table of sections would lie outside the 3000 bytes of the file [artefact-place]
  [1]

Of a model for a GPU both say which, and how its kernels are launched there.

  $ tcc double.g --target=x86-64-v3,sm_89 -o gpu.so; tcc info gpu.so | grep targets
  targets: [x86-64-v3, sm_89]
  $ tcc explain gpu.so --show=gpu
  gpu:
    sm_89 elementwise_mul_3: blocks of 128 threads take 4 points, 0 shared bytes
  $ tcc explain gpu.so | diff - <(tcc explain double.g --target=x86-64-v3,sm_89)
  $ tcc explain double.g --target=x86-64-v3,sm_89 --json | python3 -c 'import json, sys; g = json.load(sys.stdin)["gpu"]; print(g["target"], [sorted(k) for k in g["kernels"]])'
  sm_89 [['name', 'points_per_block', 'shared_bytes', 'threads']]
  $ tcc explain double.g --show=gpu
  gpu:
    it is compiled for no GPU (--target=native,sm_80)
  $ tcc info double.g --target=x86-64-v3,sm_90a --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["targets"])'
  ['x86-64-v3', 'sm_90a']

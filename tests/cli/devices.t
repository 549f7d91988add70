Where models can run. A GPU that was asked for is never replaced by the CPU.

  $ TCC_CUDA_LIBRARY=/no/such.so tcc devices
  cpu       x86-64-v*, * threads (glob)
  cuda      none: device cuda: could not load /no/such.so: * (glob)
  emu       NVIDIA A100-SXM4-80GB (tcc emulator), sm_80, 108 multiprocessors, * GB (glob)
  $ TCC_CUDA_LIBRARY=/no/such.so tcc devices --json
  {"devices": [{"device": "cpu", "usable": true, "text": "*"}, {"device": "cuda", "usable": false, "text": "*"}, {"device": "emu", "usable": true, "text": "*"}]} (glob)
  $ cp $TOP/examples/hello/hello.g .; tcc run hello.g --device=emu -D N=2 -i x=ones
  probs: f32[2, 3]
    [[0.39146602, 0.4326369, 0.17589703],
     [0.39146602, 0.4326369, 0.17589703]]
  best: i64[2]
    [1, 1]
  $ TCC_CUDA_LIBRARY=/no/such.so tcc run hello.g --device=cuda -D N=2 -i x=ones
  ! tcc: error: device cuda: could not load /no/such.so: * [device] (glob)
  [3]
  $ TCC_CUDA_LIBRARY=/no/such.so tcc run hello.g --device=auto -D N=2 -i x=ones | head -n 1
  probs: f32[2, 3]
  $ tcc run hello.g --device=gpu -D N=2 -i x=ones
  ! tcc: error: there is no device "gpu": cpu, cuda, cuda:N, emu, emu:sm_80, auto [device]
  [2]

What was compiled for a CPU alone does not run on a GPU; a model.so may hold both.

  $ tcc hello.g -o cpu.so; tcc run cpu.so --device=emu -D N=2 -i x=ones
  ! tcc: error: cpu.so: device emu: the model was not compiled for a GPU (--target=native,sm_80) [device]
  [1]
  $ tcc hello.g --target=native,sm_80 -o both.so; tcc run both.so --device=emu:sm_90a -D N=2 -i x=ones | tail -n 1
    [1, 1]

A driver that refuses a kernel (tests/emulator/liar/spoiled.c changes its text on the way): which, of which line of the model, and why.

  $ echo 'model m(x: f32[300, 8]) -> (y: f32[8]) { y = sum(x, axis=0) }' >sums.g
  $ TCC_SPOIL=add.rn.f32=add.xx.f32 TCC_CUDA_LIBRARY=$BUILD/tests/libemulator-spoiled.so tcc run sums.g --device=cuda -i x=ones
  ! tcc: error: cuda (NVIDIA A100-SXM4-80GB (tcc emulator)): could not load the kernels: a PTX JIT compilation failed (CUDA_ERROR_INVALID_PTX): kernel row_reduce_sum_1: sums.g:1:46: line *, col *: error: unknown modifier '.xx': 'add.rn.f32 *;' [device] (glob)
  [3]
  $ TCC_SPOIL='.entry row_reduce_sum_1=.entry other' TCC_CUDA_LIBRARY=$BUILD/tests/libemulator-spoiled.so tcc run sums.g --device=cuda -i x=ones
  ! tcc: error: cuda (NVIDIA A100-SXM4-80GB (tcc emulator)): could not find kernel row_reduce_sum_1: named symbol not found (CUDA_ERROR_NOT_FOUND) [device]
  [3]
  $ TCC_SPOIL=add.rn.f32=sub.rn.f32 TCC_CUDA_LIBRARY=$BUILD/tests/libemulator-spoiled.so tcc check sums.g --device=cuda
  kernel                       output         elements   left out      worst        rms
  row_reduce_sum_1             0                     8      0.00%   *          2  WRONG (glob)
    8 differ, the first at element 0: got *, expected * +- * (glob)
  m                            y                     8      0.00%   *          2  WRONG (glob)
    8 differ, the first at element 0: got *, expected * +- * (glob)
  2 of 2 outputs are wrong
  [1]
  $ tcc sums.g --target=native,sm_90a -o new.so; tcc run new.so --device=emu:sm_80 -i x=ones
  ! tcc: error: new.so: emu:sm_80 (NVIDIA A100-SXM4-80GB (tcc emulator)): could not load the kernels: no kernel image is available for execution on the device (CUDA_ERROR_NO_BINARY_FOR_GPU): error: target sm_90a does not run on a device of sm_80 [device]
  [3]

tests/run --device=NAME runs nothing where no model runs there.

  $ TCC_CUDA_LIBRARY=/no/such.so $TOP/tests/usable cuda
  ! tests: no model runs on cuda: tcc: error: device cuda: could not load /no/such.so: * [device] (glob)
  [2]
  $ TCC_CUDA_LIBRARY=$BUILD/libtcc-emu.so $TOP/tests/usable cuda
  $ $TOP/tests/usable emu:sm_90a

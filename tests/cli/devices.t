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

Measurements: the numbers differ from run to run, the rest does not.

  $ double >double.g; tcc double.g
  $ tcc bench double.so --iterations=10 -D N=8
  10 runs
  latency     min * us, median * us, mean * us, p99 * us (glob)
  throughput  * runs/s (glob)
  
  time in kernels, us a run over * runs (glob)
  kernel                                   median        min   share  calls  threads
  elementwise_mul_*                        *  100.0%      1        1 (glob)
  all kernels                           * * (glob)
  $ tcc bench double.g --iterations=20 --duration=0 --threads=1 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["runs"], r["min_s"] <= r["median_s"] <= r["p99_s"], len(r["kernels"]), r["profiled_runs"], all(0 < k["min_s"] <= k["median_s"] for k in r["kernels"]))'
  20 True 1 100 True

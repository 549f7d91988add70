The help is printed from the tables of options.

  $ tcc --help
  usage: tcc [OPTION...] MODEL
  compile a model into one self-contained model.so
  
  commands:
    tcc run MODEL             run a model on arrays and print its results
    tcc check MODEL           compare what was compiled with the reference evaluator
    tcc bench MODEL           measure latency, throughput and the time of each kernel
    tcc explain MODEL         say what the passes decided and why
    tcc info FILE             print what a model or a model.so holds
  
  `tcc COMMAND --help` prints the options of a command. A MODEL is a .g or .tir file, - for
  the text of a .g file on stdin, or for run, bench and info a compiled model.so.
  
  options:
    -o FILE                   the file to write, - for stdout; of run: NAME=FILE.npy, an output's
                              array
    -c                        write the object code of the kernels instead of a model.so
    -S                        print the assembly text of the kernels (--emit=asm)
    --emit=KIND               print a level as text: ir, program, tile, tile-free, llvm, ptx, asm,
                              dot, header; or obj
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
    --help-ops                print the reference of all ops
    --list-passes             print the table of passes
    --list-targets            print the targets
    --list-schedules          print the fields of schedules
  
  options of the compiler, where MODEL is not compiled already:
    -O0-3                     optimise: 0 one kernel an op, 1 fold and fuse, 2 (default) and 3
                              layouts, packing and schedules too
    -D NAME=N                 narrow a dim: NAME=8, or NAME=1..64:16 with the value to tune for
    --target=NAME             what to compile for, comma-separated: native (default), cpu, or a name
                              of --list-targets
    --entry=NAME              the model to compile, where the file has several
    --params=FILE             values for parameters that have none: a weights file, or random[:SEED]
    --schedule=KERNEL:FIELD=N,...
                              change fields of a kernel's schedule; * for all kernels
    -fstrict-sums             no rewrite that changes how a float sum is grouped
    -fexcess-precision=none|fused
                              none: every op rounds to its dtype; fused (default): 16-bit values may
                              stay f32 inside a kernel
    --strip-info              leave the graph out of the artefact
    --passes=A,B,...          run these passes instead of the level's
    --skip=A,B,...            leave these passes out
    --pass-limit=N            make only the first N rewrites
    -dLETTERS                 dump the graph after the passes with these letters (--list-passes)
    --dump-after=A,B,...      dump the graph after these passes, or after all
    --dump-dir=FOLDER         write dumps as files there
    --threads=N               threads that compile; 0 (default): one a core
  
  The exit status is 0 when all is fine, 1 when the input is wrong or a check failed, 2 when the
  command line is wrong, 3 when the environment did not allow it.

  $ for c in run check bench explain info; do tcc $c --help | sed '/options of the compiler/,$d'; done
  usage: tcc run [OPTION...] MODEL
  run a model on arrays and print its results
  
  options:
    -o FILE                   the file to write, - for stdout; of run: NAME=FILE.npy, an output's
                              array
    -i NAME=VALUE             an input: FILE.npy, random[:SEED], zeros or ones
    -D NAME=SIZE              the size of a dim in inputs that no file gives
    --threads=N               threads to run on; 0 is one a core
    --json                    print results as JSON
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
  
  usage: tcc check [OPTION...] MODEL
  compare what was compiled with the reference evaluator
  
  options:
    -i NAME=VALUE             an input: FILE.npy, random[:SEED], zeros or ones
    -D NAME=SIZE              the size of a dim in inputs that no file gives
    --json                    print results as JSON
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
  
  usage: tcc bench [OPTION...] MODEL
  measure latency, throughput and the time of each kernel
  
  options:
    -i NAME=VALUE             an input: FILE.npy, random[:SEED], zeros or ones
    -D NAME=SIZE              the size of a dim in inputs that no file gives
    --threads=N               threads to run on; 0 is one a core
    --iterations=N            how many runs to measure
    --duration=SECONDS        how long to measure; 1 without --iterations
    --json                    print results as JSON
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
  
  usage: tcc explain [OPTION...] MODEL
  say what the passes decided and why
  
  options:
    --show=LIST               of fusion, plan, memory, schedule; all without it
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
  
  usage: tcc info [OPTION...] FILE
  print what a model or a model.so holds
  
  options:
    --json                    print results as JSON
    -v                        say on stderr what is done, and the memory planned
    -ftime-report             print the time of each pass and phase on stderr
    --help                    print this help
    --version                 print the version
  

  $ tcc --version
  tcc 0.1.0

  $ tcc -v
  tcc 0.1.0

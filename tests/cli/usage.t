A wrong command line is status 2, with a hint where there is one.

  $ tcc
  ! tcc: error: no model was given; tcc --help tells more
  [2]
  $ tcc run
  ! tcc: error: no model was given; tcc --help tells more
  [2]
  $ tcc --emt=ir model.g
  ! tcc: error: there is no option --emt of tcc MODEL
  ! tcc: note: did you mean --emit?
  [2]
  $ tcc --hlep
  ! tcc: error: there is no option --hlep of tcc MODEL
  ! tcc: note: did you mean --help?
  [2]
  $ tcc --completely-unknown
  ! tcc: error: there is no option --completely-unknown of tcc MODEL
  [2]
  $ tcc -k model.g
  ! tcc: error: there is no option -k of tcc MODEL
  [2]
  $ tcc -vx model.g
  ! tcc: error: there is no option -vx of tcc MODEL
  [2]
  $ tcc --json=1 --version
  ! tcc: error: there is no option --json of tcc MODEL
  ! tcc: note: tcc run has it
  ! tcc: note: tcc check has it
  ! tcc: note: tcc bisect has it
  ! tcc: note: tcc reduce has it
  ! tcc: note: tcc bench has it
  ! tcc: note: tcc explain has it
  ! tcc: note: tcc info has it
  ! tcc: note: tcc devices has it
  [2]
  $ tcc --json model.g
  ! tcc: error: there is no option --json of tcc MODEL
  ! tcc: note: tcc run has it
  ! tcc: note: tcc check has it
  ! tcc: note: tcc bisect has it
  ! tcc: note: tcc reduce has it
  ! tcc: note: tcc bench has it
  ! tcc: note: tcc explain has it
  ! tcc: note: tcc info has it
  ! tcc: note: tcc devices has it
  [2]
  $ tcc bench --iteration=3 model.g
  ! tcc: error: there is no option --iteration of tcc bench
  ! tcc: note: did you mean --iterations?
  [2]
  $ tcc a.g b.g
  ! tcc: error: one model at a time: a.g and b.g were given
  [2]
  $ tcc chek a.g
  ! tcc: error: one model at a time: chek and a.g were given
  ! tcc: note: did you mean tcc check?
  [2]
  $ tcc rnu a.so
  ! tcc: error: one model at a time: rnu and a.so were given
  ! tcc: note: did you mean tcc run?
  [2]
  $ tcc rnu
  ! tcc: error: there is no command and no file 'rnu'
  ! tcc: note: did you mean tcc run?
  [2]
  $ tcc something
  ! tcc: error: there is no command and no file 'something'
  ! tcc: note: tcc --help lists the commands; the name of a model file ends in .g or .tir
  [2]
  $ tcc a.g -o
  ! tcc: error: -o needs a value: FILE
  [2]
  $ tcc -O a.g
  ! tcc: error: -O needs a value: 0-3
  [2]
  $ tcc -O7 a.g
  ! tcc: error: -O: "7" is not a whole number from 0 to 3
  [2]
  $ tcc -O4 a.g
  ! tcc: error: -O: "4" is not a whole number from 0 to 3
  [2]
  $ tcc --threads=x a.g
  ! tcc: error: --threads: "x" is not a whole number from 0 to 1024
  [2]
  $ tcc --pass-limit=-2 a.g
  ! tcc: error: --pass-limit: "-2" is not a whole number of at least 0
  [2]
  $ tcc -D N a.g
  ! tcc: error: -D: "N" is not NAME=N or NAME=LO..HI:TUNE
  [2]
  $ tcc -c -S a.g
  ! tcc: error: only one of -c, -S and --emit says what to write
  [2]
  $ tcc --emit=picture a.g
  ! tcc: error: --emit takes ir, program, tile, tile-free, llvm, ptx, asm, obj, dot and header, not 'picture'
  [2]
  $ tcc - </dev/null
  ! tcc: error: the output needs a name: give -o FILE
  [2]
  $ tcc run a.g --threads=many
  ! tcc: error: --threads takes a whole number of at least 0, not 'many'
  [2]
  $ tcc bench a.g --iterations=0
  ! tcc: error: --iterations takes a whole number of at least 1, not '0'
  [2]
  $ tcc bench a.g --duration=-1
  ! tcc: error: --duration takes a number of seconds, not '-1'
  [2]
  $ tcc bench a.g --duration=nan
  ! tcc: error: --duration takes a number of seconds, not 'nan'
  [2]
  $ tcc explain a.g --show=fusion,colour
  ! tcc: error: --show takes fusion, plan, memory, schedule and gpu, not 'colour'
  [2]
  $ tcc check a.so
  ! tcc: error: a.so is compiled already: check takes the model file that it came from
  [2]
  $ tcc a.g --target=pdp11
  ! tcc: error: --target: there is no target "pdp11"; --list-targets prints them all
  [2]
  $ double >a.g; tcc a.g --passes=fuse,nonsense -o a.so
  ! tcc: error: no pass "nonsense" [pipeline]
  [2]
  $ tcc a.g --emit=ptx
  ! tcc: error: ptx needs a target such as --target=sm_80
  [2]
  $ tcc -S a.g --target=sm_80
  ! tcc: error: asm needs a target such as --target=native
  [2]
  $ tcc a.g --dump-after=fold,nonsense -o a.so
  ! tcc: error: no pass "nonsense" to dump after [pipeline]
  [2]
  $ tcc a.g -dFZ -o a.so
  ! tcc: error: no pass has the letter Z [pipeline]
  [2]
  $ tcc a.g --passes=inline -o a.so
  ! tcc: error: the passes that were run make no program
  [2]
  $ tcc a.g --entry=other -o a.so
  ! a.g: error: the file has no model 'other' [no-entry]
  [1]
  $ tcc a.g --target=sm_80 -o a.so
  ! tcc: error: no CPU is among the targets
  [2]

What is compiled already takes no options of the compiler.

  $ tcc a.g -o a.so; for option in -O1 --target=sm_80 --params=random -ftime-report '-D N=1..2'; do tcc run a.so -i x=ones $option; tcc info a.so $option; done
  ! tcc: error: a.so is compiled already: -O is for the model file that it came from
  ! tcc: error: a.so is compiled already: -O is for the model file that it came from
  ! tcc: error: a.so is compiled already: --target is for the model file that it came from
  ! tcc: error: a.so is compiled already: --target is for the model file that it came from
  ! tcc: error: a.so is compiled already: --params is for the model file that it came from
  ! tcc: error: a.so is compiled already: --params is for the model file that it came from
  ! tcc: error: a.so is compiled already: -ftime-report is for the model file that it came from
  ! tcc: error: a.so is compiled already: -ftime-report is for the model file that it came from
  ! tcc: error: a.so is compiled already: -D N=1..2 is for the model file that it came from
  ! tcc: error: a.so is compiled already: -D is for the model file that it came from
  [2]
  $ tcc bench a.so --schedule=a:unroll=1
  ! tcc: error: a.so is compiled already: --schedule is for the model file that it came from
  [2]
  $ tcc explain a.so --passes=fuse
  ! tcc: error: a.so is compiled already: --passes is for the model file that it came from
  [2]
  $ tcc check a.so -O0
  ! tcc: error: a.so is compiled already: check takes the model file that it came from
  [2]

A word after -- is a file's name.

  $ tcc -o x.so -- -v
  ! tcc: error: could not read -v: No such file or directory [cannot-read]
  [1]

Limits of nesting and size: a message, never a crash.

  $ python3 -c 'print("model m(x: f32[2]) -> (y: f32[2]) { y =", "(" * 100000 + "x" + ")" * 100000, "}")' >deep.g; refused deep.g 2>&1 | cut -c 1-80
  deep.g:1:20025: error: expressions and blocks are nested more than 1000 levels d
      1 | ...(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
        |                                                                         
  $ python3 -c 'print("model m(x: f32[2]) -> (y: f32[2]) { y =", "-" * 50000, "x }")' >unary.g; refused unary.g 2>&1 | cut -c 1-80
  unary.g:1:20025: error: expressions and blocks are nested more than 1000 levels 
      1 | ...---------------------------------------------------------------------
        |                                                                         
  $ echo 'model m(x: f32[2]) -> (y: f32[2]) { for i in 0..<1000000 { x = x + 1 }; y = x }' >trips.g; refused trips.g
  ! trips.g:1:37: error: a loop may run at most 100000 times [too-many-trips]
  !     1 | model m(x: f32[2]) -> (y: f32[2]) { for i in 0..<1000000 { x = x + 1 }; y = x }
  !       |                                     ^~~
  [1]
  $ python3 -c 'print("fn g0_(x) { return x + 1 }"); [print(f"fn g{i+1}_(x) {{ return g{i}_(g{i}_(x)) }}") for i in range(40)]; print("model m(x: f32[2]) -> (y: f32[2]) { y = g40_(x) }")' >growth.g; refused growth.g 2>&1 | tail -n +1 | head -3
  growth.g:1:22: error: the model has more than 1000000 operations [graph-size]
      1 | fn g0_(x) { return x + 1 }
        |                      ^
  $ python3 -c 'print("fn g0_(x) { return x + 1 }"); [print(f"fn g{i+1}_(x) {{ return g{i}_(x) }}") for i in range(300)]; print("model m(x: f32[2]) -> (y: f32[2]) { y = g300_(x) }")' >calls.g; refused calls.g 2>&1 | head -3
  calls.g:102:22: error: calls are nested more than 200 deep [call-depth]
    102 | fn g101_(x) { return g100_(x) }
        |                      ^~~~~
  $ echo 'model m(x: f32[1000000, 1000000, 1000000, 1000000]) -> (y: f32) { y = 0 }' >huge.g; refused huge.g
  ! huge.g:1:12: error: a tensor of this type is too large [type-size]
  !     1 | model m(x: f32[1000000, 1000000, 1000000, 1000000]) -> (y: f32) { y = 0 }
  !       |            ^~~
  [1]
  $ echo 'model m(x: f32[1,1,1,1,1,1,1,1,1]) -> (y: f32) { y = 0 }' >rank.g; refused rank.g
  ! rank.g:1:12: error: the result would have 9 axes; the limit is 8 [rank-limit]
  !     1 | model m(x: f32[1,1,1,1,1,1,1,1,1]) -> (y: f32) { y = 0 }
  !       |            ^~~
  [1]
  $ truncate -s 200M large.g; refused large.g
  ! tcc: error: large.g has 209715200 bytes, more than the limit of 16777216 [too-large]
  [1]
  $ echo 'model m(x: f32[99999999999999999999]) -> (y: f32) { y = 0 }' >number.g; refused number.g
  ! number.g:1:16: error: the number is larger than 9223372036854775807 [int-literal]
  !     1 | model m(x: f32[99999999999999999999]) -> (y: f32) { y = 0 }
  !       |                ^~~~~~~~~~~~~~~~~~~~
  [1]

A row to be sorted that no thread has memory for, by the range of its dim and by a smaller one:

  $ printf '%s\n' 'dim N in 1..100000000' 'model m(x: f32[N]) -> (y, i) { y, i = sort(x) }' >sort.g; refused sort.g; refused sort.g -O0 2>&1 | head -1; tcc sort.g -D N=1..40000000 -o sort.so
  sort.g:2:39: error: an axis of up to 100000000 elements cannot be sorted: at most 44739242 of f32 fit the memory of a thread [sort-size]
  ! sort.g:2:39: error: an axis of up to 100000000 elements cannot be sorted: at most 44739242 of f32 fit the memory of a thread [sort-size]
  !     2 | model m(x: f32[N]) -> (y, i) { y, i = sort(x) }
  !       |                                       ^~~~

-D narrows a dim before types are made of it: what is too large for the whole range may do for a part of it, in both languages.

  $ printf '%s\n' 'dim N in 1..1099511627776' 'model cube(x: f32[N, N, N]) -> (y) { y = reshape(x * 2.0, [N * N * N]) }' >cube.g; refused cube.g
  ! cube.g:1:5: error: dim N may be at most 2147483647 [dim-limit]
  !     1 | dim N in 1..1099511627776
  !       |     ^
  [1]
  $ tcc cube.g -D N=8 -o cube.so && tcc cube.g -D N=1..64:8 --passes=inline --emit=ir | tee cube.tir
  tir 1
  dim N in 1..64 tune 8
  graph @cube {
    %0 = input index=0 name="x" : f32[N, N, N]
    %1 = const value=[0x1p+1] : f32[]
    %2 = broadcast %1 dims=[N, N, N] axes=[] : f32[N, N, N]
    %3 = mul %0, %2 : f32[N, N, N]
    %4 = reshape %3 dims=[N*N*N] : f32[N*N*N]
    return y = %4
  }
  $ sed 's/1[.][.]64/1..1099511627776/' cube.tir >wide.tir; refused wide.tir
  ! wide.tir:4:33: error: a dim here may leave the range of 62 bits [tir-overflow]
  !     4 |   %0 = input index=0 name="x" : f32[N, N, N]
  !       |                                 ^
  [1]
  $ tcc wide.tir -D N=2..4 --passes=inline --emit=ir | head -4
  tir 1
  dim N in 2..4 tune 4
  graph @cube {
    %0 = input index=0 name="x" : f32[N, N, N]
  $ tcc wide.tir -D N=8 -o cube.so && tcc run cube.so -i x=ones | head -1
  y: f32[512]
  $ refused cube.tir -D N=1..65; refused cube.tir -D M=3
  ! cube.tir:2:5: error: 1..65 is not within the range of dim N [dim-override]
  !     2 | dim N in 1..64 tune 8
  !       |     ^
  ! cube.tir: error: the file declares no dim 'M' [unknown-dim]
  [1]

A stack that is too small is raised where that is allowed, and told of where it is not; so are files that the software device cannot have.

  $ echo 'model m(x: f32[2]) -> (y: f32[2]) { y = x + 1 }' >small.g
  $ (ulimit -s 64; tcc bisect small.g)
  ! tcc: error: the stack is limited to 64 KiB, and tcc needs 1024: ulimit -s 1024
  [3]
  $ (ulimit -S -s 64; tcc bisect small.g; tcc check small.g | tail -1)
  all agrees, on 8 sets of inputs
  all 2 outputs agree
  $ (ulimit -f 1; tcc run small.g --device=emu -i x=ones)
  ! tcc emulator: the memory of the device is more than files may have here: ulimit -f unlimited
  ! tcc: error: emu: could not start the driver: operating system (CUDA_ERROR_OPERATING_SYSTEM) [device]
  [3]

Little address space, to whatever point a compilation comes: a model, or a message and nothing left.

  $ double >little.g && mkdir little; for k in $(seq 54 4 90); do (ulimit -v ${k}000; tcc little.g -o little/m.so 2>words); case $? in 0) rm little/m.so ;; 3) grep -vx 'tcc: error: out of memory' words ;; 127) grep -v 'error while loading shared libraries' words ;; *) echo "with $k MB:"; cat words ;; esac; ls -A little; done
  $ for k in 66 74 82; do (ulimit -v ${k}000; tcc bisect little.g >words 2>&1); case $? in 0 | 3) ;; 127) grep -v 'error while loading shared libraries' words ;; *) echo "with $k MB:"; cat words ;; esac; done

Numbers of options that are too large for what they count:

  $ tcc bisect small.g --tries=99999999999; tcc bisect small.g --timeout=1e300
  all agrees, on 8 sets of inputs
  ! tcc: error: --tries takes a whole number of at most 1000000, not '99999999999'
  $ echo 'model m(x: f32[8]) -> (y: f32[1], z: f32[1], w: f32[2]) { y = x[2:8:9223372036854775807]; z = x[::-9223372036854775807]; w = x[::7] }' >far.g; tcc check far.g | tail -1
  all 6 outputs agree

Runs: inputs from files and made, outputs printed and written.

  $ double >double.g; tcc double.g
  $ npy x.npy f4 1 2.5 -0.1 1e30
  $ tcc run double.so -i x=x.npy
  y: f32[4]
    [2, 5, -0.2, 2e+30]
  $ tcc run double.g -i x=x.npy --json
  {"outputs": [{"name": "y", "dtype": "f32", "shape": [4], "elements": 4, "values": [2, 5, -0.2, 2e+30]}]}
  $ tcc run double.so -i x=x.npy -o y=y.npy >/dev/null && tcc run double.so -i x=y.npy
  y: f32[4]
    [4, 10, -0.4, 4e+30]
  $ tcc run double.so -i x=ones
  y: f32[3]
    [2, 2, 2]
  $ tcc run double.so -i x=zeros -D N=2 --threads=2
  y: f32[2]
    [0, 0]
  $ tcc run double.so -i x=random:7 -D N=2
  y: f32[2]
    [-0.881362, -3.8656936]
  $ tcc run double.g -i x=ones -D N=1..4 2>&1
  y: f32[4]
    [2, 2, 2, 2]
  $ tcc run - -i x=ones -D N=1 <double.g
  y: f32[1]
    [2]

Every dtype, and numbers that are none.

  $ cat >kinds.g <<'END'
  > model kinds(x: f32[6]) -> (b: bool[6], c: i4[6], d: u8[6], e: f8e4m3[6], f: f8e5m2[6], g: f16[6], h: bf16[6], i: f64[6], s: f32, z: f32[0], m: i32[1, 2, 3]) {
  >     b = x > 0
  >     c = i4(x)
  >     d = u8(x)
  >     e = f8e4m3(x)
  >     f = f8e5m2(x)
  >     g = f16(x)
  >     h = bf16(x)
  >     i = f64(x)
  >     s = sum(x[:2])
  >     z = x[6:]
  >     m = reshape(i32(x), [1, 2, 3])
  > }
  > END
  $ npy x.npy f4 1 -2.3 0.1 nan inf 1e-8
  $ tcc run kinds.g -i x=x.npy
  b: bool[6]
    [true, false, true, false, true, true]
  c: i4[6]
    [1, -2, 0, 0, 7, 0]
  d: u8[6]
    [1, 0, 0, 0, 255, 0]
  e: f8e4m3[6]
    [1, -2.25, 0.102, nan, 448, 0]
  f: f8e5m2[6]
    [1, -2.5, 0.094, nan, inf, 0]
  g: f16[6]
    [1, -2.3008, 0.099976, nan, inf, 0]
  h: bf16[6]
    [1, -2.297, 0.1001, nan, inf, 1.001e-08]
  i: f64[6]
    [1, -2.299999952316284, 0.10000000149011612, nan, inf, 9.99999993922529e-09]
  s: f32[]
    -1.3
  z: f32[0]
    []
  m: i32[1, 2, 3]
    [[[1, -2, 0],
      [0, 2147483647, 0]]]
  $ tcc run kinds.g -i x=x.npy --json | python3 -c 'import json, sys; print(*[(o["name"], o["values"]) for o in json.load(sys.stdin)["outputs"]], sep="\n")'
  ('b', [True, False, True, False, True, True])
  ('c', [1, -2, 0, 0, 7, 0])
  ('d', [1, 0, 0, 0, 255, 0])
  ('e', [1, -2.25, 0.102, 'nan', 448, 0])
  ('f', [1, -2.5, 0.094, 'nan', 'inf', 0])
  ('g', [1, -2.3008, 0.099976, 'nan', 'inf', 0])
  ('h', [1, -2.297, 0.1001, 'nan', 'inf', 1.001e-08])
  ('i', [1, -2.299999952316284, 0.10000000149011612, 'nan', 'inf', 9.99999993922529e-09])
  ('s', [-1.3])
  ('z', [])
  ('m', [1, -2, 0, 0, 2147483647, 0])

More than 1000 elements are shown as the first and last three of each axis; long rows go on in the next line.

  $ cat >many.g <<'END'
  > model many(x: f32[40], y: f32[3, 8, 50]) -> (a: f32[40], b: f32[3, 8, 50], c: f32[3, 400], d: f32[1001], e: f32[0, 3]) {
  >     a = x * 1000000 + 0.5
  >     b = y
  >     c = full([3, 400], 2.0)
  >     d = full([1001], 1.0)
  >     e = full([0, 3], 1.0)
  > }
  > END
  $ tcc run many.g -i x=ones -i y=zeros
  a: f32[40]
    [1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5,
     1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5,
     1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5,
     1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5,
     1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5, 1000000.5]
  b: f32[3, 8, 50]
    [[[0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      ...,
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0]],
     [[0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      ...,
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0]],
     [[0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      ...,
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0],
      [0, 0, 0, ..., 0, 0, 0]]]
  c: f32[3, 400]
    [[2, 2, 2, ..., 2, 2, 2],
     [2, 2, 2, ..., 2, 2, 2],
     [2, 2, 2, ..., 2, 2, 2]]
  d: f32[1001]
    [1, 1, 1, ..., 1, 1, 1]
  e: f32[0, 3]
    []

What -o writes is not printed, and JSON says where it is.

  $ tcc run double.so -i x=ones -o y=y.npy
  $ tcc run double.so -i x=ones -o y=y.npy --json
  {"outputs": [{"name": "y", "dtype": "f32", "shape": [3], "elements": 3, "file": "y.npy"}]}
  $ tcc run kinds.g -i x=x.npy -o b=b.npy -o c=c.npy -o d=d.npy -o e=e.npy -o f=f.npy -o g=g.npy -o h=h.npy -o i=i.npy -o m=m.npy
  s: f32[]
    -1.3
  z: f32[0]
    []
  $ tcc run many.g -i x=ones -i y=zeros --json | python3 -c 'import json, sys; print(*[(o["elements"], len(o["values"])) for o in json.load(sys.stdin)["outputs"]])'
  (40, 40) (1200, 1200) (1200, 1200) (1001, 1001) (0, 0)

What cannot be run: the reason, and status 1.

  $ tcc run double.so
  ! tcc: error: input 'x' has no value: give -i x=FILE.npy, random, zeros or ones
  [2]
  $ tcc run double.so -i x
  ! tcc: error: -i takes NAME=VALUE, not 'x'
  [2]
  $ tcc run double.so -i z=ones
  ! tcc: error: the model has no input 'z'
  [1]
  $ tcc run double.so -i x=ones -D M=1
  ! tcc: error: the model has no dim 'M' whose size is open
  [1]
  $ tcc run double.so -i x=ones -D N=0
  ! tcc: error: input "x": dim N is 0, not in 1..8 [dim-range]
  [1]
  $ tcc run double.so -i x=ones -D N=9
  ! tcc: error: input "x": dim N is 9, not in 1..8 [dim-range]
  [1]
  $ tcc run double.so -i x=x.npy -D N=2
  ! tcc: error: -D N=2: an input of -i has N = 6
  [1]
  $ tcc run double.so -i x=missing.npy
  ! tcc: error: could not read missing.npy: No such file or directory [cannot-read]
  [1]
  $ tcc run double.so -i x=ones -o y
  ! tcc: error: -o of run takes NAME=FILE.npy, not 'y'
  [2]
  $ tcc run double.so -i x=ones -o y=y.npz
  ! tcc: error: -o of run takes NAME=FILE.npy, not 'y=y.npz'
  [2]
  $ tcc run double.so -i x=ones -o q=q.npy
  ! tcc: error: the model has no output 'q'
  [1]
  $ tcc run double.so -i x=ones -o y=missing/y.npy
  ! tcc: error: could not write missing/y.npy: No such file or directory [cannot-write]
  [1]
  $ npy ints.npy i4 1 2; tcc run double.so -i x=ints.npy
  ! tcc: error: input "x" is i32, expected f32 [tensor-dtype]
  [1]
  $ head -c 100 x.npy >short.npy; tcc run double.so -i x=short.npy
  ! short.npy: error: byte 8: tensor "short.npy": the header is cut off or longer than 10000 bytes [npy-length]
  [1]
  $ tcc run missing.so -i x=ones
  ! tcc: error: could not load the model: ./missing.so: cannot open shared object file: No such file or directory
  [1]
  $ echo text >text.so; tcc run text.so -i x=ones
  ! tcc: error: could not load the model: ./text.so: file too short
  [1]
  $ tcc run /lib/x86_64-linux-gnu/libm.so.6 -i x=ones
  ! tcc: error: /lib/x86_64-linux-gnu/libm.so.6 is no model: it has no function tcc_model_get_api
  [1]

An index out of its range is found at run time.

  $ echo 'model pick(t: f32[4], i: i64[2]) -> (y: f32[2]) { y = gather(t, i) }' >pick.g
  $ npy i.npy i8 1 4; tcc run pick.g -i t=ones -i i=i.npy
  ! tcc: error: pick.g:1:55: index 4 is not in -4..3 (kernel elementwise_gather_2) [index-out-of-range]
  [1]
  $ npy i.npy i8 1 -4; tcc run pick.g -i t=ones -i i=i.npy
  y: f32[2]
    [1, 1]

What a compilation writes, and where.

  $ double >double.g
  $ tcc double.g && ls
  double.g
  double.so
  $ mkdir sub && cd sub && tcc ../double.g -c && ls
  double.o
  $ tcc double.g -o sub/other.so && ls sub
  double.o
  other.so
  $ cat double.g | tcc - -o stdin.so && tcc run stdin.so -i x=ones
  y: f32[3]
    [2, 2, 2]

The same input gives the same bytes.

  $ tcc double.g -o a.so && tcc double.g -o b.so && cmp a.so b.so

A model.so needs libc alone.

  $ readelf -d double.so | grep NEEDED
   0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
  $ readelf --dyn-syms -W double.so | grep -c ' GLOBAL DEFAULT *[0-9]'
  1

Levels as text go to stdout or to the file named.

  $ tcc double.g --emit=ir
  tir 1
  dim N in 1..8 tune 3
  graph @double {
    %0 = input index=0 name="x" : f32[N]
    %1 = kernel %0 name="elementwise_mul_3" skeleton="elementwise" strategy="" schedule="*" : f32[N] { (glob)
      %0 = input index=0 name="" : f32[N]
      %1 = const value=[0x1p+1] : f32[]
      %2 = broadcast %1 dims=[N] axes=[] : f32[N]
      %3 = mul %0, %2 : f32[N]
      return %3
    }
    return y = %1
  }
  $ tcc double.g --passes=inline -o double.tir --emit=ir && tcc double.tir -o t.so && tcc run t.so -i x=ones
  y: f32[3]
    [2, 2, 2]

Graphs read back: before the passes and after them, with the bytes of large constants behind them.

  $ digits=$TOP/examples/digits/digits.g; tcc $digits -o d.so; tcc run d.so -i image=random:3 -D N=2 >want
  > for passes in --passes=inline -O2; do tcc $digits $passes --emit=ir -o d.tir && tcc d.tir -o again.so && tcc run again.so -i image=random:3 -D N=2 | diff - want | head -3; done
  > tcc $digits -O0 -o d0.so; tcc run d0.so -i image=random:3 -D N=2 >want0
  > tcc $digits -O0 --emit=ir -o d.tir && tcc d.tir -O0 -o again.so && tcc run again.so -i image=random:3 -D N=2 | diff - want0 | head -3
  > tcc $digits --dump-after=fuse --dump-dir=dumps -o again.so; tcc dumps/*-fuse.tir -o again.so && tcc run again.so -i image=random:3 -D N=2 | cmp - want
  $ sed '/^blob/{n;s/"A*./"/}' d.tir >cut.tir; tcc cut.tir -o bad.so
  ! cut.tir:194:3: error: expected base64, found '"nfzu2L3Ij4xLYO+nyJs' [tir-syntax]
  !   194 |   "nfzu2L3Ij4xLYO+nyJsvnmr/L0Cf509Ymk0vLh1cz7/kQS9rFA1PhKfqb5MSC28D/yEvjrx+76S2yi+lGH6PmQ8Dz8ASeg+"
  !       |   ^
  [1]
  $ sed '/^blob/{n;s/"..../"AAA=AAAA/}' d.tir >digit.tir; tcc digit.tir -o bad.so
  ! digit.tir:194:3: error: expected base64, found '"AAA=AAAAu2L3Ij4xLYO' [tir-syntax]
  !   194 |   "AAA=AAAAu2L3Ij4xLYO+nyJsvnmr/L0Cf509Ymk0vLh1cz7/kQS9rFA1PhKfqb5MSC28D/yEvjrx+76S2yi+lGH6PmQ8Dz8ASeg+"
  !       |   ^
  [1]
  $ sed '/^blob/{n;s/""*[^A]/"A/}' d.tir >other.tir; tcc other.tir -o bad.so
  ! other.tir:193:6: error: the bytes of this blob are others than its digest says [tir-digest]
  !   193 | blob 3cba11e16bfecec431c45701f8b7d485d7003b5857387fb3314c7bf43a426c0b
  !       |      ^
  [1]
  $ sed '/^blob/,$d' d.tir >less.tir; tcc less.tir -o bad.so 2>&1 | head -1
  less.tir:5:40: error: the bytes of this blob are not known [tir-blob]
  $ for kind in program tile tile-free llvm asm dot header; do tcc double.g --emit=$kind | grep -c . | sed "s/[1-9][0-9]*/$kind/"; done
  program
  tile
  tile-free
  llvm
  asm
  dot
  header
  $ tcc double.g --emit=ptx --target=sm_80 | grep -m1 '^.target'
  .target sm_80
  $ tcc double.g -S --target=x86-64-v3 | grep -c ymm | sed 's/[1-9][0-9]*/some/'
  some
  $ tcc double.g --passes=inline,decompose | head -4
  tir 1
  dim N in 1..8 tune 3
  graph @double {
    %0 = input index=0 name="x" : f32[N]
  $ tcc double.g -S -o double.s && ls double.s
  double.s

Dumps and times go to stderr.

  $ tcc double.g -dF -o a.so
  ! # after fold
  ! (unchanged)
  $ tcc double.g --dump-after=fold,schedule --dump-dir=sub -o a.so; ls sub
  02-fold.tir
  09-schedule.tir
  double.o
  other.so
  $ tcc double.g --dump-after=fold --dump-dir=new/folder -o a.so; ls new/folder
  02-fold.tir
  $ tcc double.g --dump-after=fold --dump-dir=double.g/folder -o a.so
  ! tcc: error: could not write double.g/folder: Not a directory [cannot-write]
  [1]
  $ tcc double.g --time-passes -o a.so 2>&1 | head -1
  pass              ms    nodes    after      bytes  rewrites
  $ tcc double.g -v -o a.so
  ! memory:
  !   peak 0 bytes for N <= 2
  !   peak 0 bytes for N <= 3
  !   peak 0 bytes for N <= 5
  !   peak 0 bytes for N <= 8

The digits example, memory planned.

  $ tcc $TOP/examples/digits/digits.g -o digits.so -v 2>&1 | grep peak
    peak 49152 bytes for N <= 4 (4 places, any plan takes at least 49152 bytes)
    peak 196608 bytes for N <= 16 (4 places, any plan takes at least 196608 bytes)
    peak 786432 bytes for N <= 64 (4 places, any plan takes at least 786432 bytes)
    peak 3145728 bytes for N <= 256 (4 places, any plan takes at least 3145728 bytes)

A limit on the size of files.

  $ double >double.g; mkdir out; echo old >out/model.tir
  $ ulimit -f 0; tcc double.g --emit=ir -o out/model.tir
  ! tcc: error: could not write out/model.tir: File too large [cannot-write]
  [1]
  $ cat out/model.tir; ls -A out
  old
  model.tir

Files that are no models.

A file of zeros, noise, an empty one:

  $ head -c 4096 /dev/zero >zeros.g; refused zeros.g 2>&1 | cut -c 1-80
  zeros.g:1:1: error: control character 0x00 in the text [control-character]
      1 | \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00
        | ^~~~
  $ head -c 4096 /dev/zero >zeros.tir; refused zeros.tir 2>&1 | cut -c 1-80
  zeros.tir:1:1: error: the text must begin with "tir 1" [tir-version]
      1 | \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00
        | ^~~~
  $ python3 -c 'import random, sys; random.seed(1); sys.stdout.buffer.write(random.randbytes(4096))' >noise.g; refused noise.g 2>&1 | head -1
  noise.g:1:1: error: byte 0xf5 does not belong to UTF-8 text [not-utf8]
  $ cp noise.g noise.tir; refused noise.tir 2>&1 | head -1
  noise.tir:1:1: error: the text must begin with "tir 1" [tir-version]
  $ : >empty.g; refused empty.g
  ! empty.g: error: the file has no model [no-model]
  [1]

A directory, a missing file, a name of no language, a device:

  $ mkdir folder.g; refused folder.g
  ! tcc: error: folder.g is not a regular file [not-a-file]
  [1]
  $ refused missing.g
  ! tcc: error: could not read missing.g: No such file or directory [cannot-read]
  [1]
  $ double >double.txt; refused double.txt
  ! tcc: error: double.txt: the name of a model file ends in .g or .tir [language]
  [1]
  $ refused /dev/zero
  ! tcc: error: /dev/zero is not a regular file [not-a-file]
  [1]
  $ mkfifo fifo.g; refused fifo.g
  ! tcc: error: fifo.g is not a regular file [not-a-file]
  [1]

Places where nothing can be written:

  $ double >double.g
  $ tcc double.g -o missing/out.so; echo "[$?]"; ls
  [1]
  double.g
  double.txt
  empty.g
  fifo.g
  folder.g
  noise.g
  noise.tir
  out
  zeros.g
  zeros.tir
  ! tcc: error: could not write missing/out.so: No such file or directory [cannot-write]
  $ ln double.g link.g; for name in double.g ./double.g link.g; do tcc double.g -o $name; tcc double.g --emit=ir -o $name; done; tcc double.g -o double.so && rm double.so link.g
  ! tcc: error: -o double.g would replace the model
  ! tcc: error: -o double.g would replace the model
  ! tcc: error: -o ./double.g would replace the model
  ! tcc: error: -o ./double.g would replace the model
  ! tcc: error: -o link.g would replace the model
  ! tcc: error: -o link.g would replace the model
  $ mkdir folder; tcc double.g -o folder; echo "[$?]"; ls -A folder
  [1]
  ! tcc: error: FOLDER/folder is not a regular file [not-a-file]
  $ tcc double.g --emit=ir -o missing/out.tir
  ! tcc: error: could not write missing/out.tir: No such file or directory [cannot-write]
  [1]
  $ tcc double.g --emit=ir -o folder; echo "[$?]"; ls -A folder
  [1]
  ! tcc: error: could not write folder: Is a directory [cannot-write]
  $ tcc double.g -o ''
  ! tcc: error: "" cannot be the name of a file [bad-path]
  [1]

A model.so that was cut off, and a graph whose kernels are none of ours:

  $ double >double.g; tcc double.g; head -c 5000 double.so >cut.so; tcc run cut.so -i x=ones
  ! tcc: error: could not load the model: cut.so ends too early
  [1]
  $ tcc double.g --emit=ir -o double.tir; sed 's/skeleton="elementwise"/skeleton="elemental"/' double.tir >other.tir; tcc other.tir
  ! other.tir:5:3: error: there is no skeleton "elemental" to build a kernel from [skeleton]
  !     5 |   %1 = kernel %0 name="elementwise_mul_3" skeleton="elemental" strategy="" schedule="unroll=4,streaming=1,grain=4096" : ...
  !       |   ^
  [1]

Output that goes nowhere is status 3; a reader that went away is not worth a word.

  $ tcc --help >/dev/full
  ! tcc: error: could not write to stdout: No space left on device
  [3]
  $ tcc --help >&-
  ! tcc: error: could not write to stdout: Bad file descriptor
  [3]
  $ tcc --help-ops | head -1
  # Ops
  $ (sleep 0.1; tcc --help-ops; echo $? >status) | true; cat status
  3
  $ double >double.g; tcc double.g -o /dev/null; tcc double.g -o /dev/full
  ! tcc: error: could not write /dev/full: No space left on device [cannot-write]
  [1]
  $ tcc double.g --emit=ir -o /dev/full
  ! tcc: error: could not write /dev/full: No space left on device [cannot-write]
  [1]
  $ tcc - -o a.so <&-
  ! tcc: error: could not read stdin: Bad file descriptor
  [1]
  $ double | tcc - -o - | head -c 4 | tail -c 3
  ELF

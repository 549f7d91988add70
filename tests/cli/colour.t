Colour is for terminals, and NO_COLOR turns it off.

@unless script -qec true /dev/null: there is no script to make a terminal with

  $ echo 'model m(x: f32[2]) -> (y: f32[2]) { y = z }' >bad.g
  $ script -qec "tcc bad.g" /dev/null | tr -d '\r' | cat -v
  ^[[1mbad.g:1:41: ^[[0m^[[1;31merror:^[[0m there is no 'z' [unknown-name]
      1 | model m(x: f32[2]) -> (y: f32[2]) { y = z }
        |                                         ^
  $ NO_COLOR=1 script -qec "tcc bad.g" /dev/null | tr -d '\r' | cat -v
  bad.g:1:41: error: there is no 'z' [unknown-name]
      1 | model m(x: f32[2]) -> (y: f32[2]) { y = z }
        |                                         ^
  $ NO_COLOR= script -qec "tcc missing.g" /dev/null | tr -d '\r' | cat -v
  tcc: ^[[1;31merror:^[[0m could not read missing.g: No such file or directory [cannot-read]
  $ tcc missing.g 2>&1 | cat -v
  tcc: error: could not read missing.g: No such file or directory [cannot-read]

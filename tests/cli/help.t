The version, and the help (all of it is in docs/command.md, see docs.t).

  $ tcc --version
  tcc 0.1.0
  $ tcc -v
  tcc 0.1.0
  $ tcc run --help | head -2
  usage: tcc run [OPTION...] MODEL
  run a model on arrays and print its results
  $ tcc --help model.g | head -1
  usage: tcc [OPTION...] MODEL

Files that may not be read or written.

@unless [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --clear-groups test -x "$BUILD/tcc" -a -r "$BUILD/libtensorcc.so.0": the build folder is closed to others

  $ double >closed.g; double >open.g; chmod 0 closed.g; mkdir shut && echo old >shut/model.so && chmod 555 shut; chmod 755 . open.g
  $ user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --clear-groups "$@"; else "$@"; fi; }; user tcc closed.g -o /dev/null; echo "[$?]"; user tcc open.g -o shut/model.so; echo "[$?]"; cat shut/model.so; ls -A shut
  [1]
  [1]
  old
  model.so
  ! tcc: error: could not read closed.g: Permission denied [cannot-read]
  ! tcc: error: could not write FOLDER/shut/model.so: Permission denied [cannot-write]

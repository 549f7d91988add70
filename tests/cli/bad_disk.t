A disk that fills up while the model is written.

@unless mkdir d && mount -t tmpfs -o size=16k tmpfs d && umount d && rmdir d: mounting a small file system is not allowed here

  $ double >double.g; mkdir disk
  $ mount -t tmpfs -o size=16k tmpfs disk; echo old >disk/model.so; tcc double.g -o disk/model.so; echo "[$?]"; head -c 10 disk/model.so; ls -A disk; umount disk
  [1]
  old
  model.so
  ! tcc: error: could not write FOLDER/disk/model.so: No space left on device [cannot-write]
  $ mount -t tmpfs -o size=16k tmpfs disk; TMPDIR=$PWD/disk tcc double.g -o a.so 2>&1 | sed 's|disk/tcc-[A-Za-z0-9/-]*|disk/tcc-XXXXXX|; s|in /.*/disk|in DISK|'; echo "[${PIPESTATUS[0]}]"; ls -A disk; ls a.so; umount disk
  tcc: error: could not write the artefact: could not write in DISK/tcc-XXXXXX: No space left on device [cannot-link]
  [3]
  ! ls: cannot access 'a.so': No such file or directory

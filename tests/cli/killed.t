Killed at any moment, a compilation leaves the older file or the new one, whole.

  $ double >double.g; tcc double.g -o new.so; mkdir out
  $ for i in $(seq 0 25); do
  >     echo old >out/model.so
  >     tcc double.g -o out/model.so & pid=$!
  >     sleep 0.0$((i * 4 % 100)); kill -KILL $pid; wait $pid
  >     cmp -s out/model.so new.so || [ "$(cat out/model.so)" = old ] || echo "damaged in round $i"
  > done 2>/dev/null

A search that is killed takes along the step that it was trying. (Where nobody waits for orphans, that
stays as a zombie.)

  $ printf 'model m(x: f32[64]) -> (y: f32[64]) { y = x * 2.0 }\n' >m.g
  $ for i in $(seq 10); do
  >     tcc bisect m.g --tries=2000 & pid=$!
  >     sleep 0.3; child=$(pgrep -P $pid); kill -KILL $pid; wait $pid; sleep 0.1
  >     [ -z "$child" ] || ! grep -qs 'State:.[RSD]' /proc/$child/status || echo "$child goes on"
  > done 2>/dev/null

Ended by a signal it leaves nothing, neither in $TMPDIR nor beside the output, and ends by that signal.

  $ mkdir tmp n; printf 'model n(x: f32[64]) -> (y: f32[64]) { y = tanh(x) }\n' >n.g
  $ for i in $(seq 0 24); do
  >     for signal in INT TERM HUP; do
  >         TMPDIR=$PWD/tmp env --default-signal tcc n.g -o n/n.so & pid=$!
  >         sleep 0.0$((i * 3 % 80)); kill -$signal $pid; wait $pid; status=$?
  >         [ $status = 0 ] || [ $status -gt 128 ] || echo "status $status"
  >     done
  > done 2>/dev/null
  $ ls -A tmp; ls -A n | grep -v '^n.so$'
  [1]
  $ for i in 2 4 6 8; do
  >     TMPDIR=$PWD/tmp env --default-signal tcc reduce n.g --if 'sleep 2' -o n/r & pid=$!
  >     sleep 0.$i; kill -TERM $pid; wait $pid; status=$?
  >     [ $status = 143 ] || echo "status $status"
  > done 2>/dev/null
  $ sleep 0.2; ls -A tmp; ls -A n | grep -v '^n.so$'
  [1]

What was ignored stays so, and the command that judges candidates has the user's $TMPDIR.

  $ TMPDIR=$PWD/tmp sh -c 'trap "" TERM; exec tcc n.g -o n/m.so' & pid=$!; sleep 0.01; kill -TERM $pid; wait $pid; ls n/m.so
  n/m.so
  $ TMPDIR=$PWD/tmp tcc reduce n.g --if "echo \$TMPDIR >>$PWD/said; false" -o n/r 2>/dev/null; sort -u said | sed "s:$PWD:.:"; ls -A tmp
  ./tmp

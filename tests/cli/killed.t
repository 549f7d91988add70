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

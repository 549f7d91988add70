Killed at any moment, a compilation leaves the older file or the new one, whole.

  $ double >double.g; tcc double.g -o new.so; mkdir out
  $ for i in $(seq 0 25); do
  >     echo old >out/model.so
  >     tcc double.g -o out/model.so & pid=$!
  >     sleep 0.0$((i * 4 % 100)); kill -KILL $pid; wait $pid
  >     cmp -s out/model.so new.so || [ "$(cat out/model.so)" = old ] || echo "damaged in round $i"
  > done 2>/dev/null

// Branches, tables, calls, local memory.
#include "kernel.cuh"

KERNEL(switch_table, int, int, int) {
    int i = INDEX, x = a[i];
    switch (x & 7) {
    case 0: x += b[i]; break;
    case 1: x *= 3; break;
    case 2: x = x / 5 - b[i]; break;
    case 3: x ^= 0x55; break;
    case 4: x = -x; break;
    case 5: x <<= 2; break;
    case 6: x = b[i] - x; break;
    default: x = 11; break;
    }
    out[i] = x;
}

KERNEL(collatz, int, int, int) {
    int steps = 0;
    for (long long x = (a[INDEX] & 1023) + 1; x != 1; steps++) x = x & 1 ? 3 * x + 1 : x / 2;
    out[INDEX] = steps;
}

__device__ __noinline__ int mix(int x, int y, char c) { return x * 31 + (y ^ c); }

struct Pair {
    int first;
    double second;
    short more[3];
};

__device__ __noinline__ Pair make_pair(int x) {
    Pair pair = {x, x * 0.5, {(short)x, (short)(x + 1), (short)(x * 2)}};
    return pair;
}

KERNEL(calls, int, int, int) {
    int i = INDEX;
    Pair pair = make_pair(a[i]);
    out[i] = mix(pair.first, (int)(pair.second * 2), (char)pair.more[1]) + mix(i, pair.more[2], 'x');
}

__device__ int plus(int x, int y) { return x + y; }
__device__ int minus(int x, int y) { return x - y; }
__device__ int times(int x, int y) { return x * y; }
typedef int Operation(int, int);
__device__ Operation *const operations[] = {plus, minus, times};

KERNEL(function_pointers, int, int, int) {
    int i = INDEX;
    out[i] = operations[(unsigned)a[i] % 3](a[i], b[i]);
}

KERNEL(local_array, int, int, int) {
    int stack[16], depth = 0;
    for (int k = 0; k < 16; k++) stack[k] = b[(INDEX * 7 + k) % n];
    for (int k = 0; k < 8; k++) {
        depth = (depth + (a[(INDEX + k) % n] & 15)) % 16;
        stack[depth] += k * 100;
    }
    int sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 3 + stack[(k + depth) % 16];
    out[INDEX] = sum;
}

__constant__ int weights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ char words[4][8] = {"zero", "one", "two", "three"};
__device__ int counters[4] = {10, 20, 30, 40};

KERNEL(constant_tables, int, int, int) {
    int i = INDEX, x = a[i], sum = 0;
    for (const char *c = words[x & 3]; *c; c++) sum = sum * 2 + *c;
    out[i] = sum * weights[x & 7] + counters[x >> 3 & 3];
}

KERNEL(early_exits, int, int, int) {
    int i = INDEX, x = a[i];
    if (x < -500) return;
    out[i] = 1;
    if (x & 1) {
        if (x > 500) return;
        out[i] = 2;
        for (int k = 0; k < 100; k++)
            if (k * k > x) {
                out[i] = k;
                return;
            }
    } else if (x % 3 == 0) {
        goto last;
    }
    out[i] += 10;
last:
    out[i] += 100;
}

KERNEL(nested_loops, int, int, int) {
    int i = INDEX, sum = 0;
    for (int j = 0; j < (a[i] & 7); j++) {
        if (j == 5) continue;
        for (int k = j; k < (b[i] & 15); k++) {
            if ((sum & 31) == 17) break;
            sum += j * k + 1;
        }
    }
    out[i] = sum;
}

KERNEL(vectors, int4, double2, int) {
    int i = INDEX;
    int4 v = a[i];
    double2 d = b[i];
    ((int4 *)out)[i] = make_int4(v.w, v.x + v.y, v.z, d.x < d.y ? 1 : -1);
}

// c[m, n] = sum over k of a[m, k] * b[k, n], all row-major; a chunk is a row.
#include <stdint.h>

void matmul_rows(void *const *addresses, int64_t chunk, void *scratch, const int64_t *sizes) {
  const float *a = addresses[0], *b = addresses[1];
  float *c = addresses[2];
  int64_t n = sizes[1], k = sizes[2];
  for (int64_t j = 0; j < n; ++j)
    c[chunk * n + j] = 0;
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j)
      c[chunk * n + j] += a[chunk * k + p] * b[p * n + j];
}

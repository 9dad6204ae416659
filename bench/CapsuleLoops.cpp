//===- CapsuleLoops.cpp - the capsule primitive as plain loops ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/CapsuleLoops.h"

#include <cstring>

void heddle::bench::capsuleLoops(int64_t n, int64_t in, int64_t out, const float *__restrict p,
                                 const float *__restrict w, float *__restrict v) {
  memset(v, 0, size_t(n * 49 * out * 16) * sizeof(float));
  for (int64_t b = 0; b < n; ++b)
    for (int64_t r = 0; r < 7; ++r)
      for (int64_t c = 0; c < 7; ++c)
        for (int64_t kr = 0; kr < 3; ++kr)
          for (int64_t kc = 0; kc < 3; ++kc)
            for (int64_t a = 0; a < in; ++a)
              for (int64_t o = 0; o < out; ++o)
                for (int64_t i = 0; i < 4; ++i)
                  for (int64_t k = 0; k < 4; ++k)
                    for (int64_t j = 0; j < 4; ++j)
                      v[(((b * 7 + r) * 7 + c) * out + o) * 16 + i * 4 + j] +=
                          p[(((b * 15 + 2 * r + kr) * 15 + 2 * c + kc) * in + a) * 16 + i * 4 + k] *
                          w[(((kr * 3 + kc) * in + a) * out + o) * 16 + k * 4 + j];
}

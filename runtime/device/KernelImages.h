//===- KernelImages.h - the code of a program for a device ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a program for a GPU is a sequence of images, each with one kernel:
//
//     kernel k_1f2e 64 1 1840\n    its symbol, the lanes and chunks of a block, the number of bytes
//     bytes                        in the format of the device's driver (SPIR-V, PTX, ...)
//
// An image that the driver compiles may have code for one kind of chip as well, which needs no
// compiler. Its number of bytes is then the last one of the line, and it follows the image:
//
//     kernel k_1f2e 64 1 1840 5120\n
//     bytes of the image, bytes of the code
//
// The lanes of a block run one chunk together, or one chunk each.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_KERNELIMAGES_H
#define HEDDLE_RUNTIME_DEVICE_KERNELIMAGES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct KernelImage {
  std::string symbol;
  int32_t lanes = 1;  ///< of a block
  int32_t chunks = 1; ///< of a block
  std::string bytes;
  std::string code = {}; ///< for the chip for which the program is compiled; empty: none
};

std::string writeImage(const KernelImage &image);
/// None for malformed code; `error` then describes the mistake.
std::optional<std::vector<KernelImage>> readImages(std::string_view code, std::string &error);

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_KERNELIMAGES_H

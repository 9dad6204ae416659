//===- MemorySpace.h - memories by name -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memory space is a memory with addresses of its own: the host's, or that of a device. Values of a
// program, tensors and memory managers name the one that they belong to. Only code that runs on the
// host may use addresses of the space "host"; addresses of other spaces mean something to the device
// that serves them alone (`Device::memory`).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_MEMORYSPACE_H
#define HEDDLE_RUNTIME_MEMORY_MEMORYSPACE_H

#include <string_view>

namespace heddle {

inline constexpr std::string_view hostSpace = "host";

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_MEMORYSPACE_H

//===- MemorySpace.h - memory spaces ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memory space is a memory with its own addresses: the host's, or a device's. Values of a
// program, tensors and memory managers name their space. Code on the host may dereference addresses
// of the space "host"; addresses of another space are valid only for the device that provides it
// (`Device::memory`).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_MEMORYSPACE_H
#define HEDDLE_RUNTIME_FORMAT_MEMORYSPACE_H

#include <string_view>

namespace heddle {

/// The name of the host's memory space.
inline constexpr std::string_view hostSpace = "host";
/// The kind of memory whose pages are backed by files (FileMemory.h).
inline constexpr std::string_view fileMemoryName = "file";

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_MEMORYSPACE_H

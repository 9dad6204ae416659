//===- OpenCl.h - the OpenCL device of the tests ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_OPENCL_H
#define HEDDLE_TEST_UNIT_OPENCL_H

#include "heddle/Error.h"
#include "runtime/device/Device.h"

#include <cstdlib>
#include <filesystem>

namespace heddle::test {

/// Why there is no OpenCL device, for GTEST_SKIP; empty if there is one: that of
/// scripts/install-packages in the build folder, or what HEDDLE_OPENCL or the system names.
inline std::string whyNoOpenCl() {
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  std::filesystem::path installed =
      self.parent_path().parent_path() / "gpu" / "lib" / "libintelocl.so";
  if (std::filesystem::exists(installed))
    setenv("HEDDLE_OPENCL", installed.c_str(), /*overwrite=*/0);
  setenv("HEDDLE_OPENCL_OPTIONS", "-cl-opt-disable", 0); // it compiles 20 times faster
  setenv("HEDDLE_GUARD_BUFFERS", "1", 0);                // a write out of bounds is an error
  try {
    (void)memoryOfDevice("opencl:0");
    return "";
  } catch (const Error &error) {
    return std::string(error.what()) + " (scripts/install-packages gpu)";
  }
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_OPENCL_H

//===- Driver.h - the interface of a device's driver ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a device that a StreamDevice (StreamDevice.h) calls. A vendor implements it
// over the vendor's library, which is opened at run time, so that one binary also runs where there
// is none:
//
//     std::unique_ptr<Driver> driver = openOpenCl(0);
//     Driver::Buffer x = driver->allocate(4096);
//     driver->upload(x, 0, numbers, 4096);
//     Driver::Image image = driver->loadKernel({"scale", 64, spirv});
//     driver->launch(image, 16, {{x, 0}, {nullptr, 4096}, ...});
//     driver->download(numbers, x, 0, 4096);          // waits for the launch
//
// Memory is in buffers, not at addresses: OpenCL 1.2 has none. Work runs in the order in which it
// was given. All functions but `release` and `unload` throw Error. Threads take turns.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_DRIVER_H
#define HEDDLE_RUNTIME_DEVICE_DRIVER_H

#include "runtime/device/KernelImages.h"

#include <memory>

namespace heddle {

/// The driver of one device.
class Driver {
public:
  using Buffer = void *;
  using Image = void *;
  /// An argument of a kernel: a buffer, or a number if that is null.
  struct Argument {
    Buffer buffer = nullptr;
    int64_t number = 0;
    bool isBuffer = true; ///< a null buffer is an argument too, which the kernel does not read
  };

  virtual ~Driver() = default;
  /// False for an OpenCL runtime that runs kernels on the host's CPU.
  virtual bool isFast() const { return true; }
  /// Null if there is too little memory.
  virtual Buffer allocate(int64_t bytes) = 0;
  virtual void release(Buffer buffer) noexcept = 0;
  /// Copies between the host and a buffer. Returns when the host's memory can be used again.
  virtual void upload(Buffer to, int64_t offset, const void *from, int64_t bytes) = 0;
  virtual void download(void *to, Buffer from, int64_t offset, int64_t bytes) = 0;
  /// Copies between buffers. Returns at once.
  virtual void copy(Buffer to, int64_t toOffset, Buffer from, int64_t fromOffset,
                    int64_t bytes) = 0;
  virtual Image loadKernel(const KernelImage &image) = 0;
  virtual void unload(Image image) noexcept = 0;
  /// Starts blocks of lanes. Returns at once.
  virtual void launch(Image image, int64_t blocks, const std::vector<Argument> &arguments) = 0;
  /// Waits for all work; throws Error if some of it failed.
  virtual void finish() = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_DRIVER_H

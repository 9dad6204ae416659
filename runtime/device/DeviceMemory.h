//===- DeviceMemory.h - the memory of a device ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device that is open: its driver, which several threads share, and its memory, as a memory
// manager. Drivers have buffers, but values and tensors have addresses. So each buffer gets a range
// of addresses that nobody can access, and `at` finds the buffer of an address in it:
//
//     auto memory = std::make_shared<DeviceMemory>("opencl:0", std::move(driver));
//     void *x = memory->allocate(4096, 64, {"x", "", "opencl:0"});
//     memory->copy(MemoryManager::Way::In, x, numbers, 4096);
//     auto [buffer, offset] = memory->at(static_cast<char *>(x) + 256);      // offset: 256
//
// Freed buffers are kept for the next request of their size class. Work runs in the order in which
// it was given, so a buffer can be freed, and used again, while a kernel that reads it is running.
//
// A child of fork can't use the driver of its parent: its functions then throw Error.
//
// If the variable HEDDLE_GUARD_BUFFERS is set, known bytes lie behind the bytes that were
// requested, and a launch that changes them fails: its kernel writes out of bounds. Launches become
// slow.
//
// If HEDDLE_FRESH_BUFFERS is set, each value gets a new buffer of its own size, so that a tool that
// watches memory finds reads of what a kernel has not written, and of bytes behind a value.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_DEVICEMEMORY_H
#define HEDDLE_RUNTIME_DEVICE_DEVICEMEMORY_H

#include "runtime/device/Driver.h"
#include "runtime/memory/MemoryManager.h"

namespace heddle {

class DeviceMemory : public CachingManager {
public:
  /// `name` is that of the memory space.
  DeviceMemory(std::string name, std::unique_ptr<Driver> driver);
  ~DeviceMemory() override;

  std::string_view space() const override { return name; }
  void copy(Way way, void *to, const void *from, int64_t bytes) override;
  /// The buffer that an address of this space lies in, and the offset in bytes.
  std::pair<Driver::Buffer, int64_t> at(const void *address) const;
  /// Calls `act` with the driver, which no other thread uses meanwhile.
  template <typename F>
  auto use(F &&act) {
    std::lock_guard lock(turn);
    requireOwnProcess();
    return act(*driver);
  }
  /// The same for what must not fail; does nothing in a child of fork.
  template <typename F>
  void clean(F &&act) noexcept {
    std::lock_guard lock(turn);
    if (age == processAge())
      act(*driver);
  }

  /// With guards: waits for all work and throws Error if a guard has changed. `kernel` was the last
  /// to run.
  void requireGuards(const std::string &kernel);

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  void *fresh(int64_t bytes, int64_t alignment) override;
  void discard(void *address, int64_t bytes) noexcept override;

private:
  struct Range {
    int64_t bytes; ///< of addresses
    Driver::Buffer buffer;
    int64_t requested = 0; ///< bytes; the guard follows. Stays when the buffer is freed
  };
  const std::string name;
  const uint32_t age = processAge();
  const bool guarded, reuses;
  std::unique_ptr<Driver> driver;
  ForkMutex turn;
  std::map<const char *, Range> ranges; ///< by first address; guarded by MemoryManager::mutex

  void requireOwnProcess() const;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_DEVICEMEMORY_H

//===- DeviceMemory.cpp - the memory of a device --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceMemory.h"
#include "heddle/Error.h"
#include "runtime/expr/Integer.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

using namespace heddle;

/// Code reads an element 0 that it does not use, also of an empty value.
static constexpr int64_t spareBytes = 64;
static constexpr int64_t page = 4096;
static const std::string &guard() {
  static const std::string bytes(1024, char(0xA5));
  return bytes;
}

DeviceMemory::DeviceMemory(std::string name, std::unique_ptr<Driver> driver)
    : name(std::move(name)), guarded(std::getenv("HEDDLE_GUARD_BUFFERS")),
      reuses(!std::getenv("HEDDLE_FRESH_BUFFERS")), driver(std::move(driver)) {}

DeviceMemory::~DeviceMemory() {
  trim();
  if (age != processAge())
    (void)driver.release(); // it is the parent's
}

void DeviceMemory::requireOwnProcess() const {
  if (age != processAge())
    throw Error("the device '" + name +
                "' was opened before this process was forked; expected a process that opens it "
                "itself");
}

void *DeviceMemory::obtain(int64_t bytes, int64_t alignment) {
  void *address = reuses ? CachingManager::obtain(bytes, alignment) : fresh(bytes, alignment);
  if (address && guarded) {
    Range &range = ranges.find(static_cast<char *>(address))->second;
    range.requested = bytes;
    use([&](Driver &with) {
      with.upload(range.buffer, bytes, guard().data(), int64_t(guard().size()));
    });
  }
  return address;
}

void DeviceMemory::release(void *address, int64_t bytes) {
  if (reuses)
    CachingManager::release(address, bytes);
  else
    discard(address, bytes);
}

void DeviceMemory::requireGuards(const std::string &kernel) {
  if (!guarded)
    return;
  std::lock_guard lock(mutex);
  for (const auto &[address, range] : ranges) {
    std::string found(guard().size(), 0);
    use([&](Driver &with) {
      with.download(found.data(), range.buffer, range.requested, int64_t(found.size()));
    });
    if (size_t at = size_t(std::ranges::mismatch(found, guard()).in1 - found.begin());
        at < guard().size())
      throw Error("the kernel '" + kernel + "' writes out of bounds: " + std::to_string(at) +
                  " bytes behind a buffer of " + std::to_string(range.requested));
  }
}

void *DeviceMemory::fresh(int64_t bytes, int64_t alignment) {
  int64_t extra = spareBytes + (guarded ? int64_t(guard().size()) : 0);
  int64_t length = roundUp(bytes + extra, page);
  if (alignment > page || bytes > int64_t(1) << 46)
    return nullptr;
  Driver::Buffer buffer = use([&](Driver &with) { return with.allocate(bytes + extra); });
  if (!buffer)
    return nullptr;
  void *address =
      mmap(nullptr, size_t(length), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    clean([&](Driver &with) { with.release(buffer); });
    return nullptr;
  }
  ranges[static_cast<char *>(address)] = {length, buffer};
  return address;
}

void DeviceMemory::discard(void *address, int64_t) noexcept {
  auto found = ranges.find(static_cast<char *>(address));
  Range range = found->second;
  ranges.erase(found);
  munmap(address, size_t(range.bytes));
  clean([&](Driver &with) { with.release(range.buffer); });
}

std::pair<Driver::Buffer, int64_t> DeviceMemory::at(const void *address) const {
  auto *byte = static_cast<const char *>(address);
  std::lock_guard lock(mutex);
  auto after = ranges.upper_bound(byte);
  if (after == ranges.begin() || byte - std::prev(after)->first >= std::prev(after)->second.bytes)
    throw Error("an address is not in the memory of the device '" + name + "'");
  return {std::prev(after)->second.buffer, byte - std::prev(after)->first};
}

void DeviceMemory::copy(Way way, void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return;
  std::pair<Driver::Buffer, int64_t> target, source;
  if (way != Way::Out)
    target = at(to);
  if (way != Way::In)
    source = at(from);
  use([&](Driver &with) {
    if (way == Way::In)
      with.upload(target.first, target.second, from, bytes);
    else if (way == Way::Out)
      with.download(to, source.first, source.second, bytes);
    else
      with.copy(target.first, target.second, source.first, source.second, bytes);
  });
}

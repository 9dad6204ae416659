//===- MemoryManager.cpp - where tensors get their memory -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/MemoryManager.h"

#include "heddle/Error.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sys/mman.h>

using namespace heddle;

MemoryManager::~MemoryManager() = default;

void *MemoryManager::allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info) {
  bytes = std::max<int64_t>(bytes, 1);
  std::lock_guard lock(mutex);
  void *address = obtain(bytes, alignment);
  if (!address)
    throw Error("out of memory: " + std::to_string(bytes) + " bytes for '" + std::string(info.name) + "'" +
                (info.location.empty() ? "" : " at " + std::string(info.location)));
  MemoryEvent event{MemoryEvent::Kind::Allocate, address, bytes, std::string(info.name), std::string(info.location)};
  counts.live += bytes;
  counts.peak = std::max(counts.peak, counts.live);
  ++counts.allocations;
  if (listener)
    listener(event);
  live.emplace(address, std::move(event));
  return address;
}

void MemoryManager::free(void *address) {
  if (!address)
    return;
  std::lock_guard lock(mutex);
  auto found = live.find(address);
  if (found == live.end())
    return;
  MemoryEvent event = std::move(found->second);
  live.erase(found);
  counts.live -= event.bytes;
  event.kind = MemoryEvent::Kind::Free;
  if (listener)
    listener(event);
  release(address, event.bytes);
}

MemoryStatistics MemoryManager::statistics() const {
  std::lock_guard lock(mutex);
  MemoryStatistics result = counts;
  result.reserved = reservedBytes();
  return result;
}

void MemoryManager::setListener(std::function<void(const MemoryEvent &)> newListener) {
  std::lock_guard lock(mutex);
  listener = std::move(newListener);
}

static constexpr int64_t hugePage = 2 << 20;

static int64_t rounded(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

static void *fromSystem(int64_t bytes, int64_t alignment) {
  if (bytes >= hugePage)
    alignment = std::max(alignment, hugePage);
  void *address = std::aligned_alloc(size_t(alignment), size_t(rounded(bytes, alignment)));
  if (address && bytes >= hugePage)
    madvise(address, size_t(rounded(bytes, alignment)), MADV_HUGEPAGE);
  return address;
}

void *SystemManager::obtain(int64_t bytes, int64_t alignment) {
  void *address = fromSystem(bytes, std::max<int64_t>(alignment, 64));
  reserved += address ? bytes : 0;
  return address;
}

void SystemManager::release(void *address, int64_t bytes) {
  std::free(address);
  reserved -= bytes;
}

/// 64, 80, 96, 112, 128, 160, ...: a quarter of a power of two apart.
static int64_t sizeClass(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 64);
  int64_t quarter = int64_t(std::bit_floor(uint64_t(bytes))) / 4;
  return rounded(bytes, std::max<int64_t>(quarter, 16));
}

CachingManager::~CachingManager() { trim(); }

void CachingManager::trim() {
  for (auto &[bytes, list] : cached)
    for (void *address : list) {
      std::free(address);
      reserved -= bytes;
    }
  cached.clear();
}

void *CachingManager::obtain(int64_t bytes, int64_t alignment) {
  int64_t size = sizeClass(bytes);
  if (auto found = cached.find(size); found != cached.end() && !found->second.empty() && alignment <= 64) {
    void *address = found->second.back();
    found->second.pop_back();
    return address;
  }
  void *address = fromSystem(size, std::max<int64_t>(alignment, 64));
  if (!address && reserved > 0) {
    trim();
    address = fromSystem(size, std::max<int64_t>(alignment, 64));
  }
  reserved += address ? size : 0;
  return address;
}

void CachingManager::release(void *address, int64_t bytes) { cached[sizeClass(bytes)].push_back(address); }

static std::mutex defaultMutex;
static std::shared_ptr<MemoryManager> &defaultSlot() {
  static std::shared_ptr<MemoryManager> manager = std::make_shared<CachingManager>();
  return manager;
}

std::shared_ptr<MemoryManager> heddle::defaultMemoryManager() {
  std::lock_guard lock(defaultMutex);
  return defaultSlot();
}

void heddle::setDefaultMemoryManager(std::shared_ptr<MemoryManager> manager) {
  std::lock_guard lock(defaultMutex);
  defaultSlot() = manager ? std::move(manager) : std::make_shared<CachingManager>();
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

int64_t heddle::liveBytes(const std::vector<PlannedBuffer> &buffers) {
  std::vector<std::pair<int32_t, int64_t>> changes;
  for (const PlannedBuffer &buffer : buffers) {
    changes.emplace_back(buffer.first, buffer.bytes);
    changes.emplace_back(buffer.last + 1, -buffer.bytes);
  }
  std::sort(changes.begin(), changes.end()); // frees come before allocations of the same step
  int64_t live = 0, most = 0;
  for (auto &[step, bytes] : changes)
    most = std::max(most, live += bytes);
  return most;
}

/// Places buffers in the given order, each in the smallest gap that it fits among those alive with it.
static int64_t placeInOrder(std::vector<PlannedBuffer> &buffers, const std::vector<size_t> &order, int64_t alignment) {
  std::vector<size_t> placed; // by offset
  int64_t total = 0;
  for (size_t index : order) {
    PlannedBuffer &buffer = buffers[index];
    int64_t bytes = rounded(buffer.bytes, alignment), end = 0, best = -1, bestGap = INT64_MAX;
    for (size_t other : placed) {
      const PlannedBuffer &taken = buffers[other];
      if (taken.last < buffer.first || buffer.last < taken.first)
        continue;
      int64_t gap = taken.offset - end;
      if (gap >= bytes && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, taken.offset + rounded(taken.bytes, alignment));
    }
    buffer.offset = best >= 0 ? best : end;
    total = std::max(total, buffer.offset + bytes);
    placed.insert(std::lower_bound(placed.begin(), placed.end(), index,
                                   [&](size_t a, size_t b) { return buffers[a].offset < buffers[b].offset; }),
                  index);
  }
  return total;
}

int64_t heddle::planArena(std::vector<PlannedBuffer> &buffers, int64_t alignment) {
  auto length = [&](size_t i) { return int64_t(buffers[i].last) - buffers[i].first + 1; };
  std::function<int64_t(size_t)> keys[] = {
      [&](size_t i) { return buffers[i].bytes; },
      [&](size_t i) { return length(i); },
      [&](size_t i) { return buffers[i].bytes * length(i); },
      [&](size_t i) { return -int64_t(buffers[i].first); },
  };
  std::vector<PlannedBuffer> best;
  int64_t bestTotal = INT64_MAX;
  for (const auto &key : keys) {
    std::vector<size_t> order(buffers.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
    int64_t total = placeInOrder(buffers, order, alignment);
    if (total < bestTotal) {
      bestTotal = total;
      best = buffers;
    }
  }
  buffers = std::move(best);
  return buffers.empty() ? 0 : bestTotal;
}

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

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

MemoryManager::~MemoryManager() = default;

void *MemoryManager::allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info) {
  bytes = std::max<int64_t>(bytes, 1);
  std::unique_lock lock(mutex);
  void *address = obtain(bytes, alignment);
  if (!address)
    throw Error("out of memory: " + std::to_string(bytes) + " bytes" +
                (info.name.empty() ? "" : " for '" + std::string(info.name) + "'") +
                (info.location.empty() ? "" : " at " + std::string(info.location)) + ", beside " +
                std::to_string(counts.live) + " bytes that are in use");
  counts.live += bytes;
  counts.peak = std::max(counts.peak, counts.live);
  ++counts.allocations;
  const MemoryEvent &event = live[address] = {
      MemoryEvent::Kind::Allocate, address, bytes, alignment, std::string(info.name),
      std::string(info.location)};
  if (auto call = listener) {
    MemoryEvent copy = event;
    lock.unlock(); // the listener may ask for statistics
    (*call)(copy);
  }
  return address;
}

void MemoryManager::free(void *address) {
  if (!address)
    return;
  std::unique_lock lock(mutex);
  auto found = live.find(address);
  if (found == live.end())
    return;
  MemoryEvent event = std::move(found->second);
  live.erase(found);
  counts.live -= event.bytes;
  if (auto call = listener) {
    event.kind = MemoryEvent::Kind::Free;
    lock.unlock();
    (*call)(event);
    lock.lock();
  }
  release(address, event.bytes);
}

MemoryStatistics MemoryManager::statistics() const {
  std::lock_guard lock(mutex);
  MemoryStatistics result = counts;
  result.reserved = reservedBytes() < 0 ? counts.live : reservedBytes();
  return result;
}

void MemoryManager::setListener(std::function<void(const MemoryEvent &)> newListener) {
  std::lock_guard lock(mutex);
  listener =
      newListener
          ? std::make_shared<const std::function<void(const MemoryEvent &)>>(std::move(newListener))
          : nullptr;
}

MemoryStatistics heddle::replay(const std::vector<MemoryEvent> &events, MemoryManager &manager) {
  std::unordered_map<void *, void *> given;
  for (const MemoryEvent &event : events) {
    if (event.kind == MemoryEvent::Kind::Allocate) {
      given[event.address] =
          manager.allocate(event.bytes, event.alignment, {event.name, event.location});
    } else if (auto found = given.find(event.address); found != given.end()) {
      manager.free(found->second);
      given.erase(found);
    }
  }
  MemoryStatistics result = manager.statistics();
  for (auto [recorded, address] : given)
    manager.free(address);
  return result;
}

//===----------------------------------------------------------------------===//
// The system
//===----------------------------------------------------------------------===//

static constexpr int64_t hugePage = 2 << 20;

static int64_t rounded(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

static void *fromSystem(int64_t bytes, int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 64);
  if (bytes >= hugePage)
    alignment = std::max(alignment, hugePage);
  if (bytes > int64_t(1) << 46) // beyond any address space
    return nullptr;
  void *address = std::aligned_alloc(size_t(alignment), size_t(rounded(bytes, alignment)));
  if (address && bytes >= hugePage)
    madvise(address, size_t(rounded(bytes, alignment)), MADV_HUGEPAGE);
  return address;
}

void *SystemManager::obtain(int64_t bytes, int64_t alignment) {
  return fromSystem(bytes, alignment);
}

void SystemManager::release(void *address, int64_t) { std::free(address); }

//===----------------------------------------------------------------------===//
// Size classes
//===----------------------------------------------------------------------===//

/// 64, 80, 96, 112, 128, 160, ...: a quarter of a power of two apart.
static int64_t sizeClass(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 64);
  int64_t quarter = int64_t(std::bit_floor(uint64_t(bytes))) / 4;
  return bytes > INT64_MAX - quarter ? bytes : rounded(bytes, quarter);
}

CachingManager::~CachingManager() { releaseCached(); }

void CachingManager::trim() {
  std::lock_guard lock(mutex);
  releaseCached();
}

void CachingManager::releaseCached() {
  for (auto &[bytes, list] : cached)
    for (void *address : list) {
      std::free(address);
      reserved -= bytes;
    }
  cached.clear();
}

void *CachingManager::obtain(int64_t bytes, int64_t alignment) {
  int64_t size = sizeClass(bytes);
  if (auto found = cached.find(size); found != cached.end()) {
    auto &list = found->second;
    for (size_t i = list.size(); i-- > 0;)
      if (reinterpret_cast<uintptr_t>(list[i]) % uint64_t(alignment) == 0) {
        void *address = list[i];
        list.erase(list.begin() + std::ptrdiff_t(i));
        return address;
      }
  }
  void *address = fromSystem(size, alignment);
  if (!address && !cached.empty()) {
    releaseCached();
    address = fromSystem(size, alignment);
  }
  reserved += address ? size : 0;
  return address;
}

void CachingManager::release(void *address, int64_t bytes) {
  cached[sizeClass(bytes)].push_back(address);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

ArenaManager::~ArenaManager() {
  for (char *block : blocks)
    std::free(block);
}

void ArenaManager::setFree(std::map<char *, Piece>::iterator piece, bool free) {
  piece->second.free = free;
  if (free)
    freePieces.insert({piece->second.bytes, piece->first});
  else
    freePieces.erase({piece->second.bytes, piece->first});
}

void *ArenaManager::obtain(int64_t bytes, int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 64);
  if (bytes > int64_t(1) << 46)
    return nullptr;
  bytes = rounded(bytes, 64);
  auto gapOf = [&](char *address) {
    return int64_t(rounded(int64_t(reinterpret_cast<uintptr_t>(address)), alignment) -
                   int64_t(reinterpret_cast<uintptr_t>(address)));
  };
  auto found = freePieces.lower_bound({bytes, nullptr});
  while (found != freePieces.end() && gapOf(found->second) + bytes > found->first)
    ++found;
  if (found == freePieces.end()) {
    int64_t size = rounded(std::max(bytes + alignment, blockBytes), hugePage);
    char *block = static_cast<char *>(fromSystem(size, alignment));
    if (!block)
      return nullptr;
    reserved += size;
    blocks.push_back(block);
    setFree(pieces.emplace(block, Piece{size, false, true}).first, true);
    found = freePieces.find({size, block});
  }
  auto piece = pieces.find(found->second);
  setFree(piece, false);
  // What is left before and after becomes pieces of their own.
  if (int64_t gap = gapOf(piece->first)) {
    auto next =
        pieces.emplace(piece->first + gap, Piece{piece->second.bytes - gap, false, false}).first;
    piece->second.bytes = gap;
    setFree(piece, true);
    piece = next;
  }
  if (int64_t left = piece->second.bytes - bytes) {
    piece->second.bytes = bytes;
    setFree(pieces.emplace(piece->first + bytes, Piece{left, false, false}).first, true);
  }
  return piece->first;
}

void ArenaManager::release(void *address, int64_t) {
  auto piece = pieces.find(static_cast<char *>(address));
  if (auto next = std::next(piece);
      next != pieces.end() && next->second.free && !next->second.startsBlock) {
    setFree(next, false);
    piece->second.bytes += next->second.bytes;
    pieces.erase(next);
  }
  if (!piece->second.startsBlock)
    if (auto previous = std::prev(piece); previous->second.free) {
      setFree(previous, false);
      previous->second.bytes += piece->second.bytes;
      pieces.erase(piece);
      piece = previous;
    }
  setFree(piece, true);
}

//===----------------------------------------------------------------------===//
// The default
//===----------------------------------------------------------------------===//

namespace {
struct Default {
  std::mutex mutex;
  std::shared_ptr<MemoryManager> original = std::make_shared<CachingManager>(), current = original;
};
} // namespace

static Default &theDefault() {
  // Never destroyed: tensors may outlive all other statics.
  static auto &instance = *new Default;
  return instance;
}

std::shared_ptr<MemoryManager> heddle::defaultMemoryManager() {
  std::lock_guard lock(theDefault().mutex);
  return theDefault().current;
}

void heddle::setDefaultMemoryManager(std::shared_ptr<MemoryManager> manager) {
  std::lock_guard lock(theDefault().mutex);
  theDefault().current = manager ? std::move(manager) : theDefault().original;
}

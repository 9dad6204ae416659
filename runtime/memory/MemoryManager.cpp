//===- MemoryManager.cpp - allocates memory for tensors -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/memory/MemoryManager.h"

#include "heddle/Error.h"
#include "runtime/expr/Integer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace heddle;

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

MemoryManager::~MemoryManager() = default;

void *MemoryManager::allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info) {
  auto what = [&] {
    return (info.name.empty() ? "" : " for '" + std::string(info.name) + "'") +
           (info.location.empty() ? "" : " at " + std::string(info.location));
  };
  if (info.space != space())
    throw Error("expected a memory manager of the space '" + std::string(info.space) + "'" +
                what() + ", got one of the space '" + std::string(space()) + "'");
  bytes = std::max<int64_t>(bytes, 1);
  MemoryEvent event{MemoryEvent::Kind::Allocate, nullptr, bytes, alignment, std::string(info.name),
                    std::string(info.location)};
  std::unique_lock lock(mutex);
  void *address = nullptr;
  try {
    address = event.address = obtain(bytes, alignment);
  } catch (const Error &error) {
    throw Error(error.what() + what());
  }
  if (!address)
    throw Error("out of memory: " + std::to_string(bytes) + " bytes" + what() + ", beside " +
                std::to_string(counts.live) + " bytes that are in use");
  // Compiled code uses aligned vector loads, which fault at other addresses.
  if (auto place = std::bit_cast<uintptr_t>(address);
      place % uintptr_t(std::max<int64_t>(alignment, 1))) {
    release(address, bytes);
    throw Error("the memory manager gave an address" + what() + " that is a multiple of " +
                std::to_string(place & -place) + " bytes, expected one of " +
                std::to_string(alignment));
  }
  auto call = listener;
  try {
    live.emplace(address, call ? event : std::move(event));
  } catch (...) {
    release(address, bytes);
    throw;
  }
  counts.live += bytes;
  counts.peak = std::max(counts.peak, counts.live);
  ++counts.allocations;
  if (call) {
    lock.unlock(); // the listener may call statistics()
    (*call)(event);
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

void MemoryManager::copy(Way, void *to, const void *from, int64_t bytes) {
  if (space() != hostSpace)
    throw Error("the memory space '" + std::string(space()) + "' has no copies");
  std::memcpy(to, from, size_t(bytes));
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
      given[event.address] = manager.allocate(event.bytes, event.alignment,
                                              {event.name, event.location, manager.space()});
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
// SystemManager
//===----------------------------------------------------------------------===//

static constexpr int64_t hugePage = 2 << 20;

static void *fromSystem(int64_t bytes, int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 64);
  if (bytes >= hugePage)
    alignment = std::max(alignment, hugePage);
  if (bytes > int64_t(1) << 46) // larger than any address space
    return nullptr;
  void *address = std::aligned_alloc(size_t(alignment), size_t(roundUp(bytes, alignment)));
  if (address && bytes >= hugePage)
    madvise(address, size_t(roundUp(bytes, alignment)), MADV_HUGEPAGE);
  return address;
}

void *SystemManager::obtain(int64_t bytes, int64_t alignment) {
  return fromSystem(bytes, alignment);
}

void SystemManager::release(void *address, int64_t) { std::free(address); }

//===----------------------------------------------------------------------===//
// CachingManager
//===----------------------------------------------------------------------===//

/// 64, 80, 96, 112, 128, 160, ...: four sizes per power of two.
static int64_t sizeClass(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 64);
  int64_t quarter = int64_t(std::bit_floor(uint64_t(bytes))) / 4;
  return bytes > INT64_MAX - quarter ? bytes : roundUp(bytes, quarter);
}

CachingManager::~CachingManager() { releaseCached(); }

void CachingManager::trim() {
  std::lock_guard lock(mutex);
  releaseCached();
}

void *CachingManager::fresh(int64_t bytes, int64_t alignment) {
  return fromSystem(bytes, alignment);
}

void CachingManager::discard(void *address, int64_t) noexcept { std::free(address); }

void CachingManager::releaseCached() {
  for (auto &[bytes, list] : cached)
    for (void *address : list) {
      discard(address, bytes);
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
  void *address = fresh(size, alignment);
  if (!address && !cached.empty()) {
    releaseCached();
    address = fresh(size, alignment);
  }
  reserved += address ? size : 0;
  return address;
}

void CachingManager::release(void *address, int64_t bytes) {
  int64_t size = sizeClass(bytes);
  try {
    cached[size].push_back(address);
  } catch (const std::bad_alloc &) { // no memory for the list
    discard(address, size);
    reserved -= size;
  }
}

//===----------------------------------------------------------------------===//
// ArenaManager
//===----------------------------------------------------------------------===//

ArenaManager::~ArenaManager() {
  for (char *block : blocks)
    std::free(block);
}

/// Adds a piece that is not free. Strong exception guarantee.
ArenaManager::Pieces::iterator ArenaManager::makePiece(char *address, int64_t bytes,
                                                       bool startsBlock) {
  FreePieces one{{bytes, address}};
  return pieces.emplace(address, Piece{bytes, startsBlock, one.extract(one.begin())}).first;
}

void ArenaManager::setFree(Pieces::iterator piece, bool free) {
  if (free) {
    piece->second.node.value() = {piece->second.bytes, piece->first};
    freePieces.insert(std::move(piece->second.node));
  } else {
    piece->second.node = freePieces.extract({piece->second.bytes, piece->first});
  }
}

/// Allocates a block with a free piece of at least `bytes` bytes; `pieces.end()`: out of memory.
ArenaManager::Pieces::iterator ArenaManager::makeBlock(int64_t bytes, int64_t alignment) {
  blocks.reserve(blocks.size() + 1);
  int64_t size = roundUp(std::max(bytes + alignment, blockBytes), hugePage);
  char *block = static_cast<char *>(fromSystem(size, alignment));
  if (!block)
    return pieces.end();
  try {
    setFree(makePiece(block, size, true), true);
  } catch (...) {
    std::free(block);
    throw;
  }
  blocks.push_back(block);
  reserved += size;
  return pieces.find(block);
}

void *ArenaManager::obtain(int64_t bytes, int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 64);
  if (bytes > int64_t(1) << 46)
    return nullptr;
  bytes = roundUp(bytes, 64);
  auto gapOf = [&](char *address) {
    return int64_t(roundUp(int64_t(reinterpret_cast<uintptr_t>(address)), alignment) -
                   int64_t(reinterpret_cast<uintptr_t>(address)));
  };
  auto found = freePieces.lower_bound({bytes, nullptr});
  while (found != freePieces.end() && gapOf(found->second) + bytes > found->first)
    ++found;
  auto piece = found == freePieces.end() ? makeBlock(bytes, alignment) : pieces.find(found->second);
  if (piece == pieces.end())
    return nullptr;
  // The gap before and the rest after become pieces of their own; allocate both before any change.
  int64_t whole = piece->second.bytes, gap = gapOf(piece->first), left = whole - gap - bytes;
  char *address = piece->first + gap;
  auto rest = left ? makePiece(address + bytes, left, false) : pieces.end();
  auto taken = piece;
  try {
    if (gap)
      taken = makePiece(address, bytes, false);
  } catch (...) {
    if (left)
      pieces.erase(rest);
    throw;
  }
  setFree(piece, false);
  piece->second.bytes = gap;
  taken->second.bytes = bytes;
  if (gap)
    setFree(piece, true);
  if (left)
    setFree(rest, true);
  return address;
}

void ArenaManager::release(void *address, int64_t) {
  auto piece = pieces.find(static_cast<char *>(address));
  if (auto next = std::next(piece);
      next != pieces.end() && next->second.isFree() && !next->second.startsBlock) {
    setFree(next, false);
    piece->second.bytes += next->second.bytes;
    pieces.erase(next);
  }
  if (!piece->second.startsBlock)
    if (auto previous = std::prev(piece); previous->second.isFree()) {
      setFree(previous, false);
      previous->second.bytes += piece->second.bytes;
      pieces.erase(piece);
      piece = previous;
    }
  setFree(piece, true);
}

//===----------------------------------------------------------------------===//
// The default manager
//===----------------------------------------------------------------------===//

namespace {
struct Default {
  ForkMutex mutex;
  std::shared_ptr<MemoryManager> original = std::make_shared<CachingManager>(), current = original;
};
} // namespace

static Default &theDefault() {
  // Never destroyed: tensors may outlive other static objects.
  static auto &instance = *new Default;
  return instance;
}

std::shared_ptr<MemoryManager> heddle::defaultMemoryManager() {
  std::lock_guard lock(theDefault().mutex);
  return theDefault().current;
}

void heddle::setDefaultMemoryManager(std::shared_ptr<MemoryManager> manager) {
  if (manager && manager->space() != hostSpace)
    throw Error("expected a default memory manager of the space 'host', got one of the space '" +
                std::string(manager->space()) + "'");
  if (!manager)
    manager = theDefault().original;
  std::lock_guard lock(theDefault().mutex);
  theDefault().current.swap(manager); // destroy the former one after the lock is released
}

//===- MemoryManager.h - where tensors get their memory ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small interface that a user can replace: allocate, free, statistics, and events that carry the name and place of the
// op a buffer is for. Two managers come with it: `CachingManager` keeps freed buffers for the next request of their size
// class, `ArenaManager` keeps one large block on huge pages for the planned arena of a program.
//
//     struct Counting : MemoryManager { ... };
//     setDefaultMemoryManager(std::make_shared<Counting>());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H
#define HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle {

/// What a buffer is for.
struct AllocationInfo {
  std::string_view name;     ///< of the op or argument
  std::string_view location; ///< source place, "file:line:column"
};

struct MemoryStatistics {
  int64_t live = 0;     ///< bytes handed out now
  int64_t peak = 0;     ///< the most that were handed out at once
  int64_t reserved = 0; ///< bytes taken from the system, cached ones included
  int64_t allocations = 0;
};

struct MemoryEvent {
  enum class Kind { Allocate, Free } kind;
  void *address;
  int64_t bytes;
  std::string name, location;
};

class MemoryManager {
public:
  virtual ~MemoryManager();
  /// At least `bytes` bytes, aligned to `alignment` (a power of two). Throws Error when there is no memory.
  void *allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info);
  void free(void *address);
  MemoryStatistics statistics() const;
  /// Called on every allocation and free, on the thread that makes it.
  void setListener(std::function<void(const MemoryEvent &)> listener);

protected:
  virtual void *obtain(int64_t bytes, int64_t alignment) = 0; ///< null when there is none
  virtual void release(void *address, int64_t bytes) = 0;
  virtual int64_t reservedBytes() const = 0;

private:
  mutable std::mutex mutex;
  MemoryStatistics counts;
  std::unordered_map<void *, MemoryEvent> live;
  std::function<void(const MemoryEvent &)> listener;
};

/// Straight from the system.
class SystemManager : public MemoryManager {
protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  int64_t reservedBytes() const override { return reserved; }

private:
  int64_t reserved = 0;
};

/// Rounds sizes up to classes (four a power of two) and keeps what is freed; large buffers lie on huge pages.
class CachingManager : public MemoryManager {
public:
  ~CachingManager() override;
  /// Gives everything cached back to the system.
  void trim();

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  int64_t reservedBytes() const override { return reserved; }

private:
  std::unordered_map<int64_t, std::vector<void *>> cached; ///< by size class
  int64_t reserved = 0;
};

/// The manager that tensors use when none is named: a CachingManager unless it was replaced.
std::shared_ptr<MemoryManager> defaultMemoryManager();
void setDefaultMemoryManager(std::shared_ptr<MemoryManager> manager);

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// A buffer of a program: it lives from step `first` to step `last`, both included.
struct PlannedBuffer {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
  int64_t offset = -1; ///< set by planArena
};

/// The most bytes that live at one step: no arena can be smaller.
int64_t liveBytes(const std::vector<PlannedBuffer> &buffers);
/// Gives each buffer an offset such that buffers alive together do not overlap; returns the arena's size. Several orders
/// are tried (by size, by lifetime, by their product), each placed best-fit, and the smallest arena wins. Deterministic.
int64_t planArena(std::vector<PlannedBuffer> &buffers, int64_t alignment = 64);

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H

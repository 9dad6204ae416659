//===- MemoryManager.h - allocates memory for tensors -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An interface that a user can implement with two functions, for the memory of every tensor and
// program:
//
//     struct Counting : MemoryManager {
//       void *obtain(int64_t bytes, int64_t alignment) override { ... }
//       void release(void *address, int64_t bytes) override { ... }
//     };
//     setDefaultMemoryManager(std::make_shared<Counting>());
//
// Each allocation has the name and source location of its op. A listener sees all of them, and its
// record can be replayed through another manager.
//
// There are three managers. `CachingManager` (the default) keeps freed buffers for the next request
// of their size class; `ArenaManager` allocates best-fit from large blocks on huge pages and merges
// adjacent free pieces; `SystemManager` asks the system each time. Fresh memory costs ten to a
// hundred times as much to touch as memory that was used before, so keeping it matters.
// `FileManager` (FileMemory.h) is for tensors that memory is too small for.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H
#define HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H

#include "runtime/device/Fork.h"
#include "runtime/memory/MemorySpace.h"
#include "runtime/memory/Planner.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle {

/// Describes the buffer that is allocated.
struct AllocationInfo {
  std::string_view name;     ///< of the op or argument
  std::string_view location; ///< source location, "file:line:column"
  std::string_view space = hostSpace;
};

/// Statistics of a memory manager.
struct MemoryStatistics {
  int64_t live = 0;        ///< bytes that are allocated now
  int64_t peak = 0;        ///< the most bytes that were allocated at once
  int64_t reserved = 0;    ///< bytes that the manager has from the system, cached ones included
  int64_t allocations = 0; ///< number of allocations so far
};

/// An allocation or a release of memory, with the name and source location of the op.
struct MemoryEvent {
  enum class Kind { Allocate, Free } kind;
  void *address;
  int64_t bytes, alignment;
  std::string name, location;
};

/// Allocates the memory of tensors and programs. Thread-safe.
class MemoryManager {
public:
  virtual ~MemoryManager();
  /// The memory space of the buffers.
  virtual std::string_view space() const { return hostSpace; }
  /// The memory of that space: `fileMemoryName`, or empty for its own. Outlives the manager.
  virtual std::string_view memory() const { return {}; }
  /// Allocates at least `bytes` bytes at a multiple of `alignment` bytes (a power of two). Throws
  /// Error with the name and source location if there is too little memory, or if `info` requests
  /// another memory space.
  void *allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info);
  /// Frees a buffer of `allocate`; does nothing for null.
  void free(void *address);
  MemoryStatistics statistics() const;
  /// Sets a function that is called after every allocation and before every release, in the thread
  /// that makes it.
  void setListener(std::function<void(const MemoryEvent &)> listener);

protected:
  /// The two functions that a manager must implement. They are called by one thread at a time.
  /// `obtain` returns null if there is too little memory, or throws Error with another reason, to
  /// which the name of the buffer is added. `release` takes the number of bytes that
  /// were requested, and must not throw.
  virtual void *obtain(int64_t bytes, int64_t alignment) = 0;
  virtual void release(void *address, int64_t bytes) = 0;
  /// The number of bytes that the manager has from the system; -1: those that are live.
  virtual int64_t reservedBytes() const { return -1; }

  mutable ForkMutex mutex; ///< held while obtain and release run

private:
  MemoryStatistics counts;
  std::unordered_map<void *, MemoryEvent> live;
  std::shared_ptr<const std::function<void(const MemoryEvent &)>> listener;
};

/// Allocates each buffer from the system.
class SystemManager : public MemoryManager {
protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
};

/// Rounds sizes up to size classes, four per power of two, and keeps freed buffers; large buffers
/// are on huge pages.
class CachingManager : public MemoryManager {
public:
  ~CachingManager() override;
  /// Returns all cached buffers to the system.
  void trim();

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  int64_t reservedBytes() const override { return reserved; }

private:
  void releaseCached();
  std::map<int64_t, std::vector<void *>> cached; ///< by size class
  int64_t reserved = 0;
};

/// Allocates best-fit from blocks on huge pages, which it keeps.
class ArenaManager : public MemoryManager {
public:
  explicit ArenaManager(int64_t blockBytes = int64_t(64) << 20) : blockBytes(blockBytes) {}
  ~ArenaManager() override;

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  int64_t reservedBytes() const override { return reserved; }

private:
  using FreePieces = std::set<std::pair<int64_t, char *>>;
  struct Piece {
    int64_t bytes;
    bool startsBlock;
    /// Its node of `freePieces` while it is in use, so that freeing allocates nothing.
    FreePieces::node_type node;
    bool isFree() const { return node.empty(); }
  };
  using Pieces = std::map<char *, Piece>;
  Pieces pieces; ///< all of them, by address
  FreePieces freePieces;
  std::vector<char *> blocks;
  int64_t blockBytes, reserved = 0;

  Pieces::iterator makePiece(char *address, int64_t bytes, bool startsBlock);
  void setFree(Pieces::iterator piece, bool free);
  Pieces::iterator makeBlock(int64_t bytes, int64_t alignment);
};

/// Replays the recorded events through a manager and returns its statistics.
MemoryStatistics replay(const std::vector<MemoryEvent> &events, MemoryManager &manager);

/// The manager that tensors use by default: a CachingManager unless it was replaced.
std::shared_ptr<MemoryManager> defaultMemoryManager();
/// Replaces the default manager; null restores the original one. Throws Error for a manager of a
/// memory space other than "host".
void setDefaultMemoryManager(std::shared_ptr<MemoryManager> manager);

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H

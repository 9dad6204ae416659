//===- MemoryManager.h - allocates memory for tensors -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface for the memory of all tensors and programs. A user implements it by two functions:
//
//     struct Counting : MemoryManager {
//       void *obtain(int64_t bytes, int64_t alignment) override { ... }
//       void release(void *address, int64_t bytes) override { ... }
//     };
//     setDefaultMemoryManager(std::make_shared<Counting>());
//
// Each allocation carries the name and source location of its op. A listener observes all of them,
// and `replay` runs its record through another manager.
//
// There are three managers for memory. `CachingManager` (the default) keeps freed buffers for the
// next request of their size class. `ArenaManager` allocates best-fit from large blocks on huge
// pages and merges adjacent free pieces. `SystemManager` calls the system each time. The first
// access to fresh memory costs ten to a hundred times as much as later ones, so reuse matters.
// `FileManager` (FileMemory.h) is for tensors that do not fit into memory.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H
#define HEDDLE_RUNTIME_MEMORY_MEMORYMANAGER_H

#include "runtime/base/Fork.h"
#include "runtime/format/MemorySpace.h"
#include "runtime/memory/PackArena.h"

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

/// Describes the buffer to allocate.
struct AllocationInfo {
  std::string_view name;     ///< of the op or argument
  std::string_view location; ///< source location, "file:line:column"
  std::string_view space = hostSpace;
};

/// Statistics of a memory manager.
struct MemoryStatistics {
  int64_t live = 0;        ///< bytes currently allocated
  int64_t peak = 0;        ///< maximum of `live`
  int64_t reserved = 0;    ///< bytes obtained from the system, including cached ones
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
  /// The kind of memory within that space: `fileMemoryName`, or empty for the usual one. The string
  /// outlives the manager.
  virtual std::string_view memory() const { return {}; }
  /// Allocates at least `bytes` bytes at a multiple of `alignment` bytes (a power of two). If there
  /// is too little memory, or `info` requests another memory space, throws Error with the name and
  /// source location.
  void *allocate(int64_t bytes, int64_t alignment, const AllocationInfo &info);
  /// Frees a buffer of `allocate`; null is allowed.
  void free(void *address);
  MemoryStatistics statistics() const;
  /// Copies bytes from the host's memory into a buffer, from a buffer to the host's memory, or from
  /// one buffer to another. The addresses may lie within buffers. A manager of another space than
  /// the host's overrides it.
  enum class Way { In, Out, Within };
  virtual void copy(Way way, void *to, const void *from, int64_t bytes);
  /// Sets a function that is called after every allocation and before every release, on the
  /// allocating thread.
  void setListener(std::function<void(const MemoryEvent &)> listener);

protected:
  /// The two functions that a manager implements; calls are serialised. `obtain` returns null if
  /// there is too little memory, or throws Error with another reason, to which the buffer's name is
  /// added. `release` receives the number of bytes that were requested, and must not throw.
  virtual void *obtain(int64_t bytes, int64_t alignment) = 0;
  virtual void release(void *address, int64_t bytes) = 0;
  /// The number of bytes obtained from the system; -1: equal to the live bytes.
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

/// Rounds sizes up to size classes, four per power of two, and caches freed buffers; large buffers
/// use huge pages. A class for another memory overrides `fresh` and `discard`, and calls
/// `releaseCached` in its destructor.
class CachingManager : public MemoryManager {
public:
  ~CachingManager() override;
  /// Returns all cached buffers to the system.
  void trim();

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
  int64_t reservedBytes() const override { return reserved; }
  /// Get buffers from the system, null if there is too little memory, and return them.
  virtual void *fresh(int64_t bytes, int64_t alignment);
  virtual void discard(void *address, int64_t bytes) noexcept;
  void releaseCached();

private:
  std::map<int64_t, std::vector<void *>> cached; ///< by size class
  int64_t reserved = 0;
};

/// Allocates best-fit from blocks on huge pages, which it never returns.
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
    /// Its node of `freePieces` while it is in use, so that freeing does not allocate.
    FreePieces::node_type node;
    bool isFree() const { return node.empty(); }
  };
  using Pieces = std::map<char *, Piece>;
  Pieces pieces; ///< all pieces, by address
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

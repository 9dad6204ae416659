//===- SharedArena.cpp - memory that the ranks of a host share ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/shm/SharedArena.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::collectives;

static constexpr int64_t page = 4096;

template <typename... Parts>
[[noreturn]] static void failed(const Parts &...what) {
  throw Failure(HEDDLE_FAILED, "shared memory: can't ", what..., ": ", std::strerror(errno));
}

Arena::Arena(int file, int64_t headerBytes)
    : file(file), headerBytes(headerBytes), head(reinterpret_cast<Header *>(map(0, headerBytes))) {}

Arena::~Arena() {
  for (auto &[offset, memory] : mapped)
    munmap(memory.first, size_t(memory.second));
  munmap(head, size_t(headerBytes));
  close(file);
}

char *Arena::map(int64_t offset, int64_t bytes) const {
  void *address = mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                       file, offset);
  if (address == MAP_FAILED)
    failed("map ", bytes, " bytes");
  return static_cast<char *>(address);
}

int64_t Arena::allocate(int64_t bytes) {
  bytes = (bytes + page - 1) / page * page;
  int64_t begin = head->end.fetch_add(bytes);
  // Writing the last byte extends the file if needed, and never truncates it.
  if (pwrite(file, "", 1, begin + bytes - 1) != 1)
    failed("get ", bytes, " bytes");
  return begin;
}

char *Arena::at(int64_t offset, int64_t bytes) {
  std::lock_guard lock(mutex);
  auto &memory = mapped[offset];
  if (!memory.first)
    memory = {map(offset, bytes), bytes};
  return memory.first;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {
/// The first message of each rank to the others.
struct Card {
  uint64_t nonce; ///< rank 0 chooses it
  uint64_t host;
  int32_t process, file;
};
} // namespace

/// A number that is equal for processes that can open each other's files: same host and container.
static uint64_t hostNumber() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(stream, text);
  struct stat status;
  if (stat("/proc/self/ns/pid", &status) == 0)
    text += std::to_string(status.st_ino);
  return std::hash<std::string>()(text);
}

std::shared_ptr<Arena> Arena::join(World &world) {
  static auto &mutex = *new std::mutex;
  static auto &arenas = *new std::map<uint64_t, std::weak_ptr<Arena>>; // of this process, by nonce
  int64_t headerBytes =
      (int64_t(sizeof(Header)) + world.size * int64_t(sizeof(RankBlock)) + page - 1) / page * page;
  std::random_device random;
  Card card{.nonce = uint64_t(random()) << 32 | random(),
            .host = hostNumber(),
            .process = getpid(),
            .file = -1};
  std::shared_ptr<Arena> arena;
  if (world.rank == 0) {
    card.file = memfd_create("heddle", MFD_CLOEXEC);
    if (card.file < 0 || ftruncate(card.file, headerBytes) != 0)
      failed("make a file");
    arena.reset(new Arena(card.file, headerBytes));
    arena->head->nonce = card.nonce;
    arena->head->end = headerBytes;
    arena->head->base = arena->allocate(groupBytes(world.size));
    std::lock_guard lock(mutex);
    arenas[card.nonce] = arena;
  }
  std::vector<Card> cards = world.exchange(card);
  for (int32_t rank = 1; rank < world.size; ++rank)
    if (cards[size_t(rank)].host != cards[0].host)
      throw Failure(HEDDLE_INVALID, "shared memory: rank ", rank,
                    " is on another host than rank 0; use the engine mpi");
  std::lock_guard lock(mutex);
  std::erase_if(arenas, [](auto &each) { return each.second.expired(); });
  if (!arena && cards[0].process == getpid())
    arena = arenas[cards[0].nonce].lock();
  if (!arena) {
    std::string path =
        "/proc/" + std::to_string(cards[0].process) + "/fd/" + std::to_string(cards[0].file);
    int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0)
      failed("open '", path, "' of rank 0");
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size < headerBytes) {
      close(file);
      throw Failure(HEDDLE_FAILED, "shared memory: '", path, "' is not that of rank 0");
    }
    arena.reset(new Arena(file, headerBytes));
    arenas[cards[0].nonce] = arena;
  }
  if (arena->head->nonce != cards[0].nonce)
    throw Failure(HEDDLE_FAILED, "shared memory: found that of other ranks");
  return arena;
}

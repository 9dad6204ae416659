//===- KernelCache.cpp - compiled kernels on disk -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/KernelCache.h"

#include "runtime/base/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/WithColor.h"

#include <mutex>
#include <set>

using namespace heddle;

std::string KernelCache::keyOf(const std::string &text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

std::string heddle::usersCacheDirectory() {
  if (const char *chosen = std::getenv("HEDDLE_CACHE_DIR"); chosen && *chosen)
    return chosen;
  llvm::SmallString<128> path;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base)
    path = base;
  else if (llvm::sys::path::home_directory(path))
    llvm::sys::path::append(path, ".cache");
  else
    return "";
  llvm::sys::path::append(path, "heddle");
  return std::string(path);
}

KernelCache::KernelCache(std::string given)
    : directory(given.empty() ? usersCacheDirectory() : std::move(given)) {}

std::string KernelCache::pathOf(const std::string &key) const {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, key.substr(0, 2), key.substr(2) + ".o");
  return std::string(path);
}

std::optional<std::string> KernelCache::find(const std::string &key) const {
  if (directory.empty())
    return std::nullopt;
  std::string path = pathOf(key);
  if (!llvm::sys::fs::is_regular_file(path)) // reading a pipe would block forever
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  // The last 64 bytes are the hash of the rest.
  llvm::StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < 64 || keyOf(bytes.drop_back(64).str()) != bytes.take_back(64))
    return std::nullopt;
  return bytes.drop_back(64).str();
}

void KernelCache::store(const std::string &key, const std::string &bytes) const {
  if (directory.empty())
    return;
  auto warn = [&](const std::string &reason) {
    static std::mutex mutex;
    static std::set<std::string> warned;
    std::lock_guard lock(mutex);
    if (warned.insert(directory).second)
      llvm::WithColor::warning() << "the cache directory '" << directory << "' can't be written ("
                                 << reason << "); compiled kernels are not kept\n";
  };
  std::string path = pathOf(key);
  if (std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return warn(error.message());
  // After a power failure, an incomplete file has a wrong checksum.
  if (std::string reason = writeAtomically(path, bytes + keyOf(bytes), /*durable=*/false);
      !reason.empty())
    warn(reason);
}

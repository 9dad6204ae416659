//===- KernelCache.h - compiled kernels on disk -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of object files, each named by the hash of its inputs. Files are written completely
// and then renamed, so processes may share the directory. A file whose checksum does not match is
// ignored and rewritten; a directory that can't be written is only read, with one warning.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_KERNELCACHE_H
#define HEDDLE_LIB_COMPILE_KERNELCACHE_H

#include <optional>
#include <string>

namespace heddle {

/// $HEDDLE_CACHE_DIR, $XDG_CACHE_HOME/heddle or ~/.cache/heddle; empty if there is no home.
std::string usersCacheDirectory();

class KernelCache {
public:
  /// `directory` empty: the user's cache directory.
  explicit KernelCache(std::string directory);
  std::optional<std::string> find(const std::string &key) const;
  void store(const std::string &key, const std::string &bytes) const;
  /// The key of a text: SHA-256, in hexadecimal.
  static std::string keyOf(const std::string &text);

private:
  std::string directory; ///< empty: no cache
  std::string pathOf(const std::string &key) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_KERNELCACHE_H

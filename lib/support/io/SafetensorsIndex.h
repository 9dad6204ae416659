//===- SafetensorsIndex.h - which file holds which array --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index and its files lie in one folder. A lock on the folder keeps a reader from opening files
// that a writer is about to remove, and two writers from removing each other's.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_SUPPORT_IO_SAFETENSORSINDEX_H
#define HEDDLE_SUPPORT_IO_SAFETENSORSINDEX_H

#include <map>
#include <string>
#include <vector>

namespace heddle::io {

struct Index {
  std::map<std::string, std::string> files; ///< of arrays, by their names
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Throws Error that names the file.
Index readIndex(const std::string &path);
void writeIndex(const std::string &path, const Index &index);

/// The path of a file in the index's folder.
std::string beside(const std::string &index, const std::string &file);
/// The files of the index at `path`; empty if it is missing or can't be read.
std::vector<std::string> filesOf(const std::string &path);
/// Names for `count` new files.
std::vector<std::string> freeNames(const std::string &path, size_t count);
/// Removes the files, except those whose names are not of this library's form.
void remove(const std::string &path, const std::vector<std::string> &files);

/// Locks the folder of `path`; waits for other holders. Does nothing if the file system can't lock
/// folders.
class FolderLock {
public:
  FolderLock(const std::string &path, bool exclusive);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int descriptor;
};

} // namespace heddle::io

#endif // HEDDLE_SUPPORT_IO_SAFETENSORSINDEX_H

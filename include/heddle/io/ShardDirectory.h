//===- ShardDirectory.h - arrays that several processes write ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of safetensors files, each with some ranges of the coordinates of some arrays, and a
// manifest that says which file holds what:
//
//     run/checkpoint.shards/manifest.json
//                           save-00000007-rank-00000.safetensors
//                           save-00000007-rank-00001.safetensors
//
// Each process writes its own file; then one of them writes the manifest. Until the manifest is
// renamed into place, readers see the previous save. The next save recognises the files of an
// unfinished one by their number and removes them.
//
//     ShardManifest manifest{{arrays, metadata}};
//     writeShards(path, shardFile(7, rank), manifest, {{"w", {{0}, {3}}}}, source);
//     manifest.addShards(theirs);                       // what the other processes have written
//     manifest.write(path);
//
//     ShardDirectory reader(path);
//     reader.read("w");                                 // the whole array, from all its files
//
// The manifest has a checksum of itself and of the bytes of each range.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_SHARDDIRECTORY_H
#define HEDDLE_IO_SHARDDIRECTORY_H

#include "heddle/io/Safetensors.h"

namespace heddle::io {

/// A range of coordinates along each axis of an array.
struct ShardRange {
  std::vector<int64_t> begin, counts;
  bool operator==(const ShardRange &) const = default;
  /// "[3:5, 0:4]", the ends not included
  std::string str() const;
};

/// A range and the file that holds it.
struct Shard {
  ShardRange range;
  std::string file;
  uint32_t checksum = 0; ///< CRC-32 of its bytes
};

struct ShardManifest {
  Safetensors whole; ///< metadata, and arrays without their bytes
  std::map<std::string, std::vector<Shard>, std::less<>> shards;

  /// Throws Error that names array and range unless the shards of each array fill it, without
  /// overlaps.
  void verify(const std::string &path) const;
  /// Replaces the manifest in a directory, atomically.
  void write(const std::string &directory, Here here = Here::current()) const;
  /// Throws Error that names the file if it is damaged or missing.
  static ShardManifest read(const std::string &directory, Here here = Here::current());
  /// The shards as text; `addShards` adds the shards of such a text.
  std::string shardsText() const;
  void addShards(const std::string &text);
};

/// True if a directory has a manifest.
bool isShardDirectory(const std::string &path);
/// A number for the next save, above those of all files that are there.
int64_t nextSave(const std::string &directory);
/// The name of the file that a rank writes in a save.
std::string shardFile(int64_t save, int rank);
/// Removes the files that the manifest does not list; without a manifest, the files of all saves.
void removeLeftovers(const std::string &directory);

/// Returns the bytes of a range of an array.
using ShardSource = std::function<HostArray(const std::string &name, const ShardRange &range)>;
/// Writes the ranges of one process, array by array, and adds them to the manifest. Writes no file
/// if there are none. Throws Error that names the file.
void writeShards(const std::string &directory, const std::string &file, ShardManifest &manifest,
                 const std::map<std::string, ShardRange> &ranges, const ShardSource &source,
                 Here here = Here::current());

/// A directory that is open for reading; its files are opened as they are needed.
class ShardDirectory {
public:
  explicit ShardDirectory(const std::string &path, Here here = Here::current());
  ~ShardDirectory();

  /// Metadata, and whole arrays without their bytes.
  const Safetensors &header() const;
  /// An array, or a range of it. Throws Error that names the file and the range if one is missing
  /// or damaged.
  HostArray read(const std::string &name, Here here = Here::current()) const;
  HostArray read(const std::string &name, const ShardRange &range,
                 Here here = Here::current()) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Writes all arrays and the metadata to one safetensors file; one array is in memory at a time.
void exportShards(const std::string &directory, const std::string &path,
                  Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_SHARDDIRECTORY_H

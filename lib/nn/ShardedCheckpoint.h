//===- ShardedCheckpoint.h - checkpoints of several ranks -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank writes the blocks of which it is the first holder, so that every shard is in exactly
// one file. Rank 0 first chooses the number of the save, and writes the manifest after all ranks
// have written their files.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_SHARDEDCHECKPOINT_H
#define HEDDLE_LIB_NN_SHARDEDCHECKPOINT_H

#include "heddle/io/Safetensors.h"
#include "heddle/io/ShardDirectory.h"
#include "heddle/nn/Checkpoint.h"

namespace heddle::nn {

/// The array of a tensor, without its bytes, its axes sorted by name.
io::HostArray headerOf(const Tensor &tensor, Here here);

/// Saves `tensors`; `header` has their types and the notes. All ranks call it.
void saveShards(const std::string &directory, const io::Safetensors &header,
                const std::map<std::string, const Tensor *> &tensors, const Ranks &ranks,
                Here here);

/// A file, an index of files, or a directory of shards.
class OpenedCheckpoint {
public:
  OpenedCheckpoint(const std::string &path, Here here);
  const io::Safetensors &header() const;
  io::HostArray read(const std::string &name, Here here) const;
  /// This rank's block of a tensor that is split in the same way as `like`.
  Tensor readBlock(const std::string &name, const Tensor &like, Here here) const;

private:
  std::unique_ptr<io::SafetensorsFile> file;
  std::unique_ptr<io::ShardDirectory> shards;
};

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_SHARDEDCHECKPOINT_H

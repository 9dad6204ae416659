//===- ShardedCheckpoint.cpp - checkpoints of several ranks ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/ShardedCheckpoint.h"

#include "runtime/program/Gather.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::nn;

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// The first character of a message between ranks: a result, or the reason of a failure.
static constexpr char good = '+', bad = '-';

/// Runs `action` on all ranks and returns the texts that it returned on each. If it failed on one
/// rank, all ranks throw that rank's message.
template <typename Action>
static std::vector<std::string> together(const Ranks &ranks, const std::string &what, Here here,
                                         Action &&action) {
  std::string mine;
  try {
    mine = good + std::string(action());
  } catch (const std::exception &error) {
    mine = bad + std::string(error.what());
  }
  std::vector<std::string> said{mine};
  if (ranks.size() > 1)
    try {
      said = ranks.job()->exchange(what, mine);
    } catch (const Error &error) {
      throw Error(what + ": " + error.what(), here);
    }
  for (size_t rank = 0; rank < said.size(); ++rank) {
    if (said[rank].empty() || said[rank][0] != good)
      throw Error((ranks.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") +
                      said[rank].substr(std::min<size_t>(1, said[rank].size())),
                  here);
    said[rank].erase(0, 1);
  }
  return said;
}

static io::ShardRange rangeOf(const Shards::Intervals &intervals) {
  io::ShardRange range;
  for (const auto &[name, part] : intervals) {
    range.begin.push_back(part.begin);
    range.counts.push_back(part.count);
  }
  return range;
}

/// The ranges that this rank writes.
static std::map<std::string, io::ShardRange>
rangesOf(const io::Safetensors &header, const std::map<std::string, const Tensor *> &tensors,
         int rank, Here here) {
  std::map<std::string, io::ShardRange> ranges;
  for (const auto &[name, tensor] : tensors) {
    const io::HostArray &array = header.arrays.find(name)->second;
    if (auto split = tensor->split(here)) {
      if (split->shards.firstHolder(rank) != rank)
        continue;
      io::ShardRange range = rangeOf(split->shards.heldBy(rank));
      // The first holder writes also a shard without elements, so that the array exists.
      if (rank == split->shards.firstHolders()[0] || io::elementCount(range.counts, here) > 0)
        ranges[name] = range;
    } else if (rank == 0) {
      ranges[name] = {std::vector<int64_t>(array.shape.size(), 0), array.shape};
    }
  }
  return ranges;
}

/// The elements of a rank's block, without padding.
static io::HostArray heldOf(const Tensor &tensor, int rank, Here here) {
  auto split = tensor.split(here);
  return arrayOf(split ? Tensor::fromData(split->shards.withoutFilling(*split->block, rank), here)
                       : tensor,
                 here);
}

/// Creates the directory, removes files that the manifest does not list, and returns the number of
/// the save.
static std::string beginSave(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error("can't make the directory '" + directory + "': " + error.message());
  int64_t number = io::nextSave(directory);
  try {
    io::removeLeftovers(directory);
  } catch (const Error &) { // the manifest is damaged: its files stay, and the save replaces it
  }
  return std::to_string(number);
}

void nn::saveShards(const std::string &directory, const io::Safetensors &header,
                    const std::map<std::string, const Tensor *> &tensors, const Ranks &ranks,
                    Here here) {
  bool isFirst = ranks.isFirst();
  std::string what = "saving '" + directory + "'";
  int64_t number = std::stoll(together(
      ranks, what, here, [&] { return isFirst ? beginSave(directory) : std::string(); })[0]);
  io::ShardManifest manifest{header, {}};
  try {
    std::vector<std::string> written = together(ranks, what, here, [&] {
      io::writeShards(
          directory, io::shardFile(number, ranks.rank()), manifest,
          rangesOf(header, tensors, ranks.rank(), here),
          [&](const std::string &name, const io::ShardRange &) {
            return heldOf(*tensors.at(name), ranks.rank(), here);
          },
          Here());
      return manifest.shardsText();
    });
    together(ranks, what, here, [&] {
      if (isFirst) {
        for (size_t rank = 1; rank < written.size(); ++rank)
          manifest.addShards(written[rank]);
        manifest.write(directory, Here());
        io::removeLeftovers(directory);
      }
      return "";
    });
  } catch (const Error &) {
    // If the new manifest is already in place, its files stay.
    if (isFirst)
      try {
        io::removeLeftovers(directory);
      } catch (const Error &) {
      }
    throw;
  }
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

OpenedCheckpoint::OpenedCheckpoint(const std::string &path, Here here) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    shards = std::make_unique<io::ShardDirectory>(path, here);
  else
    file = std::make_unique<io::SafetensorsFile>(path, here);
}

const io::Safetensors &OpenedCheckpoint::header() const {
  return shards ? shards->header() : file->header();
}

io::HostArray OpenedCheckpoint::read(const std::string &name, Here here) const {
  return shards ? shards->read(name, here) : file->read(name, here);
}

Tensor OpenedCheckpoint::readBlock(const std::string &name, const Tensor &like, Here here) const {
  const SplitTensor &split = *like.split(here);
  int rank = split.job ? split.job->rank() : 0;
  auto made = std::make_shared<SplitTensor>(split);
  if (shards) {
    Shards::Intervals held = split.shards.heldBy(rank);
    io::ShardRange range;
    for (const std::string &axis : header().at(name, here).names) {
      range.begin.push_back(held.at(axis).begin);
      range.counts.push_back(held.at(axis).count);
    }
    made->block =
        split.shards.withFilling(*tensorOf(shards->read(name, range, here), here).data(here), rank);
  } else {
    made->block = split.shards.cut(*tensorOf(file->read(name, here), here).data(here), rank);
  }
  return Tensor::fromSplit(std::move(made), here);
}

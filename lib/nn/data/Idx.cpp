//===- Idx.cpp - IDX files and labelled images ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Idx.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <zlib.h>

using namespace heddle;
using namespace heddle::nn;

static bool exists(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

IdxArray nn::readIdx(const std::string &given) {
  std::string path = exists(given) || !exists(given + ".gz") ? given : given + ".gz";
  // zlib reads plain files as they are.
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file)
    throw Error("can't open '" + path + "': " + std::strerror(errno));
  auto read = [&](void *to, size_t bytes, const char *what) {
    for (size_t done = 0; done < bytes;) {
      int count = gzread(file.get(), static_cast<char *>(to) + done, unsigned(std::min<size_t>(bytes - done, 1 << 20)));
      if (count <= 0)
        throw Error("'" + path + "' is truncated: expected " + std::to_string(bytes) + " bytes of " + what + ", got " +
                    std::to_string(done));
      done += size_t(count);
    }
  };
  uint8_t magic[4];
  read(magic, 4, "magic number");
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0)
    throw Error("'" + path + "' is not an IDX file: expected a magic number 00 00 type rank");
  if (magic[2] != 0x08)
    throw Error("'" + path + "' has elements of type " + std::to_string(magic[2]) + "; expected 8, unsigned bytes");
  IdxArray array;
  int64_t count = 1;
  for (int i = 0; i < magic[3]; ++i) {
    uint8_t size[4];
    read(size, 4, "sizes");
    array.sizes.push_back(int64_t(size[0]) << 24 | int64_t(size[1]) << 16 | int64_t(size[2]) << 8 | size[3]);
    count *= array.sizes.back();
    if (count > int64_t(1) << 34)
      throw Error("'" + path + "' claims to hold more than 16 GiB");
  }
  array.values.resize(size_t(count));
  read(array.values.data(), array.values.size(), "elements");
  char extra;
  if (gzread(file.get(), &extra, 1) != 0)
    throw Error("'" + path + "' goes on after its " + std::to_string(count) + " elements");
  return array;
}

LabelledImages nn::fashionMnist(bool train, std::string directory) {
  const char *usual = "/usr/share/datasets/fashion-mnist";
  if (directory.empty())
    directory = usual;
  std::string stem = directory + (train ? "/train" : "/t10k");
  std::string images = stem + "-images-idx3-ubyte", labels = stem + "-labels-idx1-ubyte";
  if (!exists(images) && !exists(images + ".gz"))
    throw Error("there is no Fashion-MNIST in '" + directory + "': install Debian's package dataset-fashion-mnist, or "
                "give the directory that holds " + (train ? "train" : "t10k") + "-images-idx3-ubyte.gz");
  IdxArray pixels = readIdx(images), classes = readIdx(labels);
  if (pixels.sizes.size() != 3 || classes.sizes.size() != 1 || pixels.sizes[0] != classes.sizes[0])
    throw Error("expected images [n, rows, columns] and labels [n] in '" + directory + "'");
  LabelledImages result{pixels.sizes[0], pixels.sizes[1], pixels.sizes[2], std::move(pixels.values),
                        std::move(classes.values)};
  for (uint8_t label : result.labels)
    if (label > 9)
      throw Error("'" + labels + "' has the label " + std::to_string(label) + "; expected 0 to 9");
  return result;
}

std::vector<int64_t> nn::shuffled(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    order[size_t(i)] = i;
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + epoch * 0xbf58476d1ce4e5b9ull + 1;
  auto next = [&] { // SplitMix64 (Steele, Lea, Flood, OOPSLA'14)
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[next() % i]);
  return order;
}

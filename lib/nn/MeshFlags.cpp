//===- MeshFlags.cpp - options of programs that train on ranks ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of a command line have no source location.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/MeshFlags.h"

#include "runtime/control/FindRank.h"

#include <charconv>

using namespace heddle;
using namespace heddle::nn;

static void put(const std::string &, std::string &member, const std::string &value) {
  member = value;
}
static void put(const std::string &, std::vector<std::string> &member, const std::string &value) {
  member.push_back(value);
}
static void put(const std::string &flag, std::optional<int64_t> &member, const std::string &value) {
  const char *end = value.data() + value.size();
  auto [read, error] = std::from_chars(value.data(), end, member.emplace());
  if (error != std::errc() || read != end)
    throw Error("expected a number after " + flag + ", got '" + value + "'");
}

MeshFlags MeshFlags::take(int &argc, char **argv) {
  MeshFlags flags;
  int all = argc, left = 0;
  for (int i = 0; i < all; ++i) {
    std::string word = argv[i], flag = word.substr(0, word.find('='));
    bool isTaken = false;
    flags.forEach([&](const char *name, auto &member, const char *) {
      if (isTaken || flag != name)
        return;
      isTaken = true;
      if (flag != word)
        return put(flag, member, word.substr(flag.size() + 1));
      if (++i == all)
        throw Error("expected a value after " + flag);
      put(flag, member, argv[i]);
    });
    if (!isTaken)
      argv[left++] = argv[i];
  }
  if (left < all)
    argv[left] = nullptr;
  argc = left;
  return flags;
}

/// Without a mesh each rank would train on its own, and write into the same files.
static void requireOneRank() {
  RankInfo found = findRank();
  std::string ranks = std::to_string(found.ranks);
  if (found.ranks > 1)
    throw Error("expected a mesh of the " + ranks + " ranks that " + found.source +
                " has started, such as --mesh data=" + ranks + " --shard batch:data");
}

void MeshFlags::apply(Training &training, TrainerOptions &options) const {
  training.microBatches = microBatches;
  options.mesh = Mesh::parse(mesh, Here());
  options.rules = shard;
  options.plan = plan;
  options.zero = zero;
  options.timeline = timeline;
  if (mesh.empty() && plan.empty())
    requireOneRank();
  if (!mesh.empty() || !plan.empty() || !engine.empty())
    options.ranks = Ranks::join(engine, Here());
}

void MeshFlags::fail(const std::string &reason) const {
  if (!mesh.empty() || !plan.empty() || !engine.empty())
    try {
      Ranks::join(engine, Here()).fail(reason);
    } catch (const Error &) { // this process has not joined
    }
}

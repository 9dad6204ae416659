//===- MeshFlags.h - options of programs that train on ranks ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-launch -n 2 my-program --mesh data=2 --shard batch:data data.idx
//
//     int main(int argc, char **argv) {
//       nn::MeshFlags flags = nn::MeshFlags::take(argc, argv);        // leaves data.idx
//       ...
//       flags.apply(training, options);
//       nn::Trainer trainer(net, lossOf, key(7), training, options);
//
// A program that parses its options by CLI11 adds the flags with `nn::addMeshFlags(app, flags)`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_MESHFLAGS_H
#define HEDDLE_NN_MESHFLAGS_H

#include "heddle/nn/Trainer.h"

namespace heddle::nn {

struct MeshFlags {
  std::string mesh, plan, engine, timeline;
  std::vector<std::string> shard;
  std::optional<int64_t> zero, microBatches;

  /// Removes the flags from a command line, in the forms `--flag value` and `--flag=value`. Throws
  /// Error for a flag without a value, and for a value that is not a number where one is expected.
  static MeshFlags take(int &argc, char **argv);
  /// Sets the options, and joins the job if a mesh, a plan or an engine is given. Throws Error if
  /// it can't be joined, and if several ranks were started without a mesh.
  void apply(Training &training, TrainerOptions &options) const;
  /// True if any flag was given.
  bool isGiven() const {
    return !(mesh + plan + engine + timeline).empty() || !shard.empty() || zero || microBatches;
  }
  /// Tells the other ranks, if any, why this one ends.
  void fail(const std::string &reason) const;

  /// Calls visit(flag, member, help text) for each flag.
  template <typename V>
  void forEach(V &&visit) {
    visit("--mesh", mesh, "Train on the ranks of a mesh, such as data=2,model=2");
    visit("--shard", shard,
          "Split a name over axes: batch:data, net.wide/hidden:model; may be repeated");
    visit("--plan", plan,
          "File with lines such as: mesh data=2, batch:data, zero 3, micro-batches 4");
    visit("--engine", engine,
          "Moves tensors between ranks: shm, mpi or net (default: the launcher's, else shm)");
    visit("--zero", zero,
          "Split the optimiser's state (1), gradients as well (2), parameters as well (3) over the "
          "axes that split the batch");
    visit("--micro-batches", microBatches, "Split each batch into this many parts, run one by one");
    visit("--timeline", timeline,
          "Write a Chrome trace of the first steps to this file: steps and transfers of each rank");
  }
};

/// Adds the flags to a CLI::App or to a subcommand.
template <typename App>
void addMeshFlags(App &command, MeshFlags &flags) {
  flags.forEach([&]<typename M>(const char *name, M &member, const char *text) {
    auto *option = command.add_option(name, member, text);
    if constexpr (std::is_same_v<M, std::vector<std::string>>)
      option->take_all()->allow_extra_args(false);
  });
}

} // namespace heddle::nn

#endif // HEDDLE_NN_MESHFLAGS_H

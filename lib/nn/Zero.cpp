//===- Zero.cpp - ZeRO: splits the state of training ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ZeRO is rules: each tensor of the state gets one that splits it over the ranks that share the
// samples. Stage 1 splits the moments of the optimiser, stage 2 the gradients as well, stage 3 the
// parameters too. The passes of lib/transforms/mesh do the rest.
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRanks.h"

using namespace heddle;
using namespace heddle::nn;

/// Chooses the axes of the samples for names of a tensor that no rule splits. Empty if rules use
/// these axes already, or if no name can be split.
Sharding TrainerRanks::splitOf(const std::string &path, const Tensor &tensor) const {
  Sizes sizes = tensor.sizes();
  for (const MeshRule &rule : plan.rules) {
    if (rule.isOfOperators || !sizes.contains(rule.name) || !rule.fits(path))
      continue;
    for (const AxisPart axis : rule.axes)
      for (const AxisPart &other : sampleAxes)
        if (axis.name == other.name)
          return {};
    sizes.erase(rule.name);
  }
  return leastPadding(spec, sampleAxes, sizes);
}

void TrainerRanks::splitState(TrainingState &state) {
  if (zero == 0)
    return;
  forEachTensor(state, [&](const std::string &path, Tensor &tensor) {
    bool isParameter = path.starts_with("net.");
    if (path.starts_with("mode.") || path.starts_with("moving."))
      return; // evaluation uses them whole
    std::vector<NameAxes> gradient;
    for (const auto &[name, list] : splitOf(path, tensor)) {
      std::string axes;
      std::vector<MeshAxis> parts;
      for (const AxisPart &axis : list) {
        axes += (axes.empty() ? "" : "+") + axis.str();
        parts.push_back(MeshAxis(axis.str()));
      }
      // A rule without axes keeps parameters whole; otherwise propagation would split them as their
      // moments.
      rules.push_back(path + "/" + name + ":" + (isParameter && zero < 3 ? "" : axes));
      gradient.push_back(NameAxes(Name(name), parts));
    }
    if (isParameter && zero >= 2 && !gradient.empty())
      gradientAxes.emplace(path.substr(4), gradient);
  });
}

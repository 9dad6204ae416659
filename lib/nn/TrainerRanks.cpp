//===- TrainerRanks.cpp - the ranks of a trainer --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRanks.h"

#include "runtime/program/Gather.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nn;

TrainerRanks::TrainerRanks(const TrainerOptions &options, const std::string &samples, Here here)
    : plan(MeshPlan::of(options.mesh, options.rules, options.plan, here)), samples(samples),
      zero(plan.number("zero", options.zero, here).value_or(0)) {
  if (options.ranks)
    all = *options.ranks;
  else if (!plan.mesh.empty())
    all = Ranks::join("", here);
  for (const AxisSize &axis : plan.mesh.axes())
    spec.axes.emplace_back(axis.axis, axis.size);
  try {
    requireRanks(spec, all.size());
    for (const MeshRule &rule : plan.rules)
      if (rule.pattern.empty() && rule.name == samples)
        sampleAxes.assign(rule.axes.begin(), rule.axes.end());
    Sharding axes{{samples, sampleAxes}};
    count = Shards(spec, axes, {{samples, 1}}).blocks();
    own = Shards(spec, axes, {{samples, count}}).heldBy(all.rank()).at(samples).begin;
  } catch (const Error &error) {
    throw Error(error.what(), here);
  }
  if (zero < 0 || zero > 3)
    throw Error("expected a stage of ZeRO from 1 to 3, or 0 for none, got " + std::to_string(zero) +
                    plan.whereIs("zero"),
                here);
  if (zero > 0 && sampleAxes.empty())
    throw Error("expected a rule that splits the samples, such as '" + samples +
                    ":data', with which ZeRO splits the state" + plan.whereIs("zero"),
                here);
}

int64_t TrainerRanks::microBatches(std::optional<int64_t> stated, int64_t batch, Here here) const {
  int64_t number = plan.number("micro-batches", stated, here).value_or(1);
  if (number < 1 || batch % number != 0)
    throw Error("expected micro-batches that divide a batch of " + std::to_string(batch) +
                    ", got " + std::to_string(number) + plan.whereIs("micro-batches"),
                here);
  return number;
}

bool TrainerRanks::hasStages() const {
  return std::ranges::any_of(plan.rules, [](const MeshRule &rule) { return rule.isPlace(); });
}

Fields TrainerRanks::fieldsOf(const Batch &batch, double progress, Here here) const {
  Fields fields = nn::fieldsOf(batch, progress, here);
  if (count == 1)
    return fields;
  for (auto &[name, tensor] : fields) {
    Sizes sizes = tensor.sizes(here);
    if (!sizes.contains(samples))
      continue;
    sizes[samples] = batch.size;
    tensor = Tensor::fromSplit(std::make_shared<SplitTensor>(SplitTensor{
                                   Shards(spec, {{samples, sampleAxes}}, sizes), tensor.data(here),
                                   all.job(), "'" + name + "' of a batch"}),
                               here);
  }
  return fields;
}

void TrainerRanks::addTo(JitOptions &options) const {
  if (!plan.mesh.empty()) {
    options.mesh = plan.mesh;
    options.ranks = all;
  }
  for (const MeshRule &rule : plan.rules)
    options.rules.push_back(rule.commented());
  options.rules.insert(options.rules.end(), rules.begin(), rules.end());
  options.rules.insert(options.rules.end(), plan.statements.begin(), plan.statements.end());
}

std::string TrainerRanks::describe() const {
  if (plan.mesh.empty())
    return "";
  std::string text =
      "training on " + std::to_string(all.size()) + (all.size() == 1 ? " rank" : " ranks") +
      ", mesh " + plan.mesh.str() + "; " +
      (count == 1 ? "each reads whole batches"
                  : "each reads one of " + std::to_string(count) + " parts of a batch");
  for (const std::string &axis : plan.idleAxes())
    text += "\nwarning: no rule uses the axis '" + axis + "'" + plan.whereIs("mesh") + ": its " +
            std::to_string(spec.sizeOf(axis)) + " ranks compute the same values";
  return text;
}

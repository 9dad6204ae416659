//===- AssignSpaces.cpp - memory spaces of values -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/AssignSpaces.h"

#include "lib/conversion/nest_to_steps/ControlRanges.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "runtime/memory/PackArena.h"

using namespace heddle;

using Kind = ValueSpec::Kind;

namespace {
class Spaces {
public:
  explicit Spaces(OutlinedEntry &entry)
      : spec(entry.spec), values(spec.values), old(std::move(entry.steps)), ranges(old) {}

  std::vector<OutlinedStep> run(const std::string &device) {
    for (ValueSpec &value : values) {
      value.space = device;
      if (value.kind == Kind::Temporary)
        value.offset = -1; // the runtime packs the device's arena
    }
    size_t count = values.size();
    std::vector<int32_t> first, last; // new numbers: of the copies before a step and after it
    for (size_t s = 0; s < old.size(); ++s) {
      first.push_back(now());
      add(s);
      last.push_back(now() - 1);
    }
    for (size_t v = 0; v < count && !old.empty(); ++v) {
      values[v].firstStep = first[size_t(values[v].firstStep)];
      values[v].lastStep = last[size_t(values[v].lastStep)];
    }
    packHostArena();
    return std::move(steps);
  }

private:
  EntrySpec &spec;
  std::vector<ValueSpec> &values;
  std::vector<OutlinedStep> old, steps;
  ControlRanges ranges; ///< of the old steps
  /// Values on the device and those on the host that replace them.
  using Pairs = std::vector<std::pair<int32_t, int32_t>>;
  std::map<size_t, std::pair<int32_t, int32_t>> conditions; ///< of each old Loop
  struct Transfer {
    Pairs operands, results;
  };
  std::map<int32_t, Transfer> inFlight;

  int32_t now() const { return int32_t(steps.size()); }

  /// A value in the host's memory, live at the next step.
  int32_t onHost(int32_t value) {
    ValueSpec made = values[size_t(value)];
    made.kind = Kind::Temporary;
    made.space = hostSpace;
    made.aliasOf = -1;
    made.shards = {}, made.wholeDims = {}, made.place = {}, made.memory = {};
    made.firstStep = made.lastStep = now();
    values.push_back(std::move(made));
    return int32_t(values.size()) - 1;
  }

  void copy(int32_t from, int32_t to, const std::string &location) {
    OutlinedStep &step = steps.emplace_back();
    step.spec.kind = StepKind::Copy;
    step.spec.name = "copy";
    step.spec.location = location;
    step.spec.bytesMoved = double(typicalBytes(values[size_t(from)]));
    step.operands = {from};
    step.results = {to};
  }

  /// Replaces values by new ones on the host, and copies them there.
  Pairs fetch(std::vector<int32_t> &operands, const std::string &location) {
    Pairs pairs;
    for (int32_t &operand : operands) {
      int32_t made = onHost(operand);
      copy(operand, made, location);
      pairs.emplace_back(std::exchange(operand, made), made);
    }
    keep(pairs);
    return pairs;
  }
  /// The values on the host are live until the next step.
  void keep(const Pairs &pairs) {
    for (auto [device, host] : pairs)
      values[size_t(host)].lastStep = now();
  }

  void add(size_t s) {
    OutlinedStep step = old[s];
    StepKind kind = step.spec.kind;
    if (kind == StepKind::If) {
      fetch(step.operands, step.spec.location);
    } else if (kind == StepKind::Loop) {
      conditions[s] = fetch(step.operands, step.spec.location)[0];
    } else if (kind == StepKind::EndLoop) { // the body has computed the condition anew
      auto condition = conditions[ranges.of(s)->begin];
      copy(condition.first, condition.second, step.spec.location);
      keep({condition});
    } else if (step.spec.communication) {
      Transfer &transfer = inFlight[step.transfer];
      transfer.operands = fetch(step.operands, step.spec.location);
      for (int32_t &result : step.results) {
        int32_t made = onHost(result);
        transfer.results.emplace_back(std::exchange(result, made), made);
      }
    } else if (kind == StepKind::Await) {
      Transfer &transfer = inFlight[step.transfer];
      keep(transfer.operands);
      step.operands.clear();
      for (const Pairs *pairs : {&transfer.operands, &transfer.results})
        for (auto [device, host] : *pairs)
          step.operands.push_back(host);
    }
    std::string location = step.spec.location;
    int32_t transfer = step.transfer;
    steps.push_back(std::move(step));
    if (kind == StepKind::Invoke || kind == StepKind::Await)
      for (auto [device, host] : inFlight[transfer].results) {
        values[size_t(host)].lastStep = now();
        copy(host, device, location);
      }
  }

  void packHostArena() {
    std::vector<ArenaBuffer> buffers;
    std::vector<size_t> owners;
    for (auto [v, value] : llvm::enumerate(values))
      if (value.space == hostSpace) {
        buffers.push_back(
            {typicalBytes(value), value.firstStep, value.lastStep, -1, value.layout.alignment});
        owners.push_back(v);
      }
    spec.arenaBytes = packArena(buffers);
    for (auto [buffer, v] : llvm::zip_equal(buffers, owners))
      values[v].offset = buffer.offset;
  }
};
} // namespace

void heddle::assignSpaces(OutlinedEntry &entry, const std::string &device) {
  entry.steps = Spaces(entry).run(device);
}

//===- CallRanks.cpp - a call that several ranks make together ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/CallRanks.h"

#include "heddle/Error.h"

#include <algorithm>

using namespace heddle;

void CallRanks::requireJob() const {
  const MeshSpec &mesh = program.manifest.mesh;
  int ranks = options.job ? options.job->ranks() : 1, rank = options.job ? options.job->rank() : 0;
  if (!mesh.axes.empty() && mesh.ranks() != ranks)
    throw Error("'" + spec.name + "' is for the " + std::to_string(mesh.ranks()) +
                " ranks of the mesh " + mesh.describe() + ", got a job of " +
                std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
  if (const RoleSpec *role = program.manifest.roleOf(spec))
    if (std::find(role->ranks.begin(), role->ranks.end(), rank) == role->ranks.end())
      throw Error("'" + spec.name + "' is run by ranks of the role '" + role->name + "', rank " +
                  std::to_string(rank) + " is none of them");
  for (const StepSpec &step : spec.steps)
    if (step.communication && (!options.job || !options.job->transport()))
      throw Error("'" + spec.name + "' communicates at '" + step.name + "' (" + step.location +
                  "), but the job has no engine");
}

SuppliedNumbers CallRanks::suppliedNumbers() const {
  SuppliedNumbers numbers = options.supplied;
  int rank = options.job ? options.job->rank() : 0;
  for (const auto &[symbol, axis] : spec.coordinates)
    numbers[symbol] = program.manifest.mesh.coordinate(rank, axis);
  return numbers;
}

/// The group of a point-to-point message is its two ranks; no other rank takes part.
static void joinPair(JobTransport::Operation &operation, int32_t self) {
  int64_t &member = operation.source >= 0 ? operation.source : operation.target;
  if (member < 0 || size_t(member) >= operation.group.size())
    return; // verifyCommunication reports it
  int32_t other = operation.group[size_t(member)];
  operation.group = {std::min(self, other), std::max(self, other)};
  member = other > self;
}

JobTransport::Operation CallRanks::operationOf(const StepSpec &step) const {
  const CommunicationSpec &with = *step.communication;
  CommunicationSpec known = with;
  auto evaluate = [&](Expr &number) {
    auto value = number.evaluate([&](const std::string &name) -> std::optional<int64_t> {
      auto at = std::find(spec.symbols.begin(), spec.symbols.end(), name);
      return memory.sized->symbols[size_t(at - spec.symbols.begin())];
    });
    if (!value)
      throw Error("'" + spec.name + "' can't communicate at '" + step.name + "' (" + step.location +
                  "): " + number.str() + " is too large");
    number = Expr(*value);
    return *value;
  };
  JobTransport::Operation operation;
  operation.spec = &with;
  operation.group = program.manifest.mesh.group(options.job->rank(), with.axes);
  for (Expr &count : known.counts)
    operation.counts.push_back(evaluate(count));
  for (Expr &count : known.outputCounts)
    operation.outputCounts.push_back(evaluate(count));
  bool hasParts = with.kind == CommunicationSpec::Kind::ReduceScatter ||
                  with.kind == CommunicationSpec::Kind::AllGather ||
                  with.kind == CommunicationSpec::Kind::AllToAll;
  for (auto *counts : {&operation.counts, &operation.outputCounts})
    if (hasParts && counts->size() == 1) // all parts have the same size
      counts->resize(operation.group.size(), counts->front());
  operation.source = evaluate(known.source);
  operation.target = evaluate(known.target);
  if (with.kind == CommunicationSpec::Kind::Send || with.kind == CommunicationSpec::Kind::Receive)
    joinPair(operation, options.job->rank());
  std::vector<std::optional<int64_t>> bytes;
  for (int32_t value : step.values)
    bytes.push_back(memory.sized->types[size_t(value)]->bytes);
  if (std::string message = verifyCommunication(program.manifest.mesh, known, bytes);
      !message.empty())
    throw Error("'" + spec.name + "' can't communicate: its step '" + step.name + "' (" +
                step.location + ") " + message);
  return operation;
}

void CallRanks::prepare() {
  operations.clear();
  for (size_t s = 0; s < spec.steps.size(); ++s)
    if (spec.steps[s].communication)
      operations[int32_t(s)] = operationOf(spec.steps[s]);
  if (channel())
    describeToOthers();
}

std::unique_ptr<JobTransport::Pending> CallRanks::start(int32_t index) {
  const StepSpec &step = spec.steps[size_t(index)];
  JobTransport::Operation &operation = operations.at(index);
  if (step.communication->hasInput())
    operation.input = memory.addresses[size_t(step.values.front())];
  if (step.communication->hasOutput())
    operation.output = memory.addresses[size_t(step.values.back())];
  if (size_t count = step.values.size() / 2; count > 1) { // several tensors in one bucket
    operation.output = memory.addresses[size_t(step.values[count])];
    operation.others.clear();
    for (size_t i = 1; i < count; ++i)
      operation.others.emplace_back(memory.addresses[size_t(step.values[i])],
                                    memory.addresses[size_t(step.values[count + i])]);
  }
  operation.overlapped = step.kind == StepKind::Start;
  return options.job->transport()->start(operation);
}

/// Whether the symbol occurs in the whole size of a sharded argument.
static bool isWholeSize(const EntrySpec &entry, const std::string &symbol) {
  for (int32_t argument : entry.arguments)
    for (const auto &[name, size] : entry.values[size_t(argument)].wholeDims)
      if (std::ranges::count(size.names(), symbol))
        return true;
  return false;
}

/// Collects the values that must be equal on all ranks: all sizes, but not other numbers that a
/// rank supplies, such as its coordinates. A role may bind fewer sizes than another.
void CallRanks::describeToOthers() {
  agreement = {{"entry", "'" + spec.name + "'"},
               {"CPU that the program is for", "'" + program.manifest.cpu + "'"},
               {"program with the checksum", program.hash()}};
  for (size_t i = 0; i < spec.symbols.size(); ++i)
    if (const std::string &symbol = spec.symbols[i];
        !spec.isSupplied(symbol) || isWholeSize(spec, symbol))
      agreement.emplace_back("size '" + symbol + "' =", std::to_string(memory.sized->symbols[i]));
}

bool CallRanks::agree(CallFailure &failure) const {
  try {
    channel()->agree(agreement);
    return true;
  } catch (const JobError &error) {
    failure.abort(error.failure);
    return false;
  }
}

//===- Binding.cpp - the arguments and results of a call ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Binding.h"

#include "heddle/Error.h"

#include <algorithm>
#include <cstring>

using namespace heddle;

Binding::Binding(const EntrySpec &entry, CallMemory &memory)
    : results(entry.results.size()), spec(entry), memory(memory), arguments(entry.arguments.size()),
      resultOf(entry.values.size(), -1), resultDonated(entry.arguments.size(), -1) {
  for (size_t r = results.size(); r-- > 0;)
    resultOf[size_t(spec.results[r])] = int32_t(r);
  for (auto [argument, result] : spec.donations)
    resultDonated[size_t(argument)] = result;
}

void Binding::bind(size_t argument, TensorRef tensor, bool donate) {
  if (argument >= arguments.size())
    throw Error("'" + spec.name + "' has " + std::to_string(arguments.size()) +
                " arguments, there is none at position " + std::to_string(argument));
  const ValueSpec &formal = formalOf(argument);
  if (!tensor)
    throw Error("'" + spec.name + "' lacks its argument '" + formal.name + "'");
  requireNotDonated(spec, argument, *tensor);
  if (!(tensor->spec() == formal.type))
    requireArgumentType(spec, argument, tensor->spec());
  // Between the host and a device it is copied; between two devices only if the caller says so.
  if (tensor->space() != formal.space && tensor->space() != hostSpace && formal.space != hostSpace)
    throw Error("expected the argument '" + formal.name + "' of '" + spec.name +
                "' in the memory space '" + formal.space + "' or 'host', got '" + tensor->space() +
                "'");
  arguments[argument] = {std::move(tensor), nullptr, Donation(donate)};
}

void Binding::requireAll() const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].tensor)
      throw Error("'" + spec.name + "' lacks its argument '" + formalOf(i).name + "'");
}

void Binding::requireUsable() const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].tensor)
      requireNotDonated(spec, i, *arguments[i].tensor, "; bind another one");
}

std::vector<const TensorSpec *> Binding::types() const {
  std::vector<const TensorSpec *> types;
  for (const Argument &argument : arguments)
    types.push_back(&argument.tensor->spec());
  return types;
}

void Binding::clear() {
  for (Argument &argument : arguments)
    argument = {};
  copiesBefore.clear();
  copiesAfter.clear();
}

TensorRef &Binding::ensureResult(size_t result) {
  size_t value = size_t(spec.results[result]);
  if (!results[result] || results[result]->storedType() != memory.sized->types[value])
    results[result] = std::make_shared<RuntimeTensor>(
        memory.sized->types[value], memory.managerOf(spec.values[value]),
        AllocationInfo{spec.values[value].name, spec.values[value].location});
  return results[result];
}

/// True if the program can use the tensor without a copy.
static bool fitsInPlace(const RuntimeTensor &tensor, const ValueSpec &formal) {
  return tensor.space() == formal.space &&
         reinterpret_cast<uintptr_t>(tensor.address()) % uint64_t(formal.layout.alignment) == 0 &&
         servesAs(tensor.layout(), formal.layout, tensor.sizes());
}

void Binding::place() {
  copiesBefore.clear();
  copiesAfter.clear();
  placeArguments();
  placeResults();
}

void Binding::placeArguments() {
  std::vector<void *> all;
  for (const Argument &argument : arguments)
    all.push_back(argument.tensor->address());
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto &[tensor, converted, donation] = arguments[i];
    const ValueSpec &formal = formalOf(i);
    void *&address = memory.addresses[size_t(spec.arguments[i])];
    bool fits = fitsInPlace(*tensor, formal);
    if (int32_t result = resultDonated[i]; result >= 0) { // the program writes here
      const auto &type = memory.sized->types[size_t(spec.results[size_t(result)])];
      if (donation.accept(spec, formal, *tensor, fits, all, type)) {
        results[size_t(result)] = nullptr;
        address = tensor->address();
      } else {
        TensorRef &target = ensureResult(size_t(result));
        copiesBefore.emplace_back(target.get(), tensor.get());
        address = target->address();
      }
    } else if (fits) {
      address = tensor->address();
    } else {
      converted =
          std::make_shared<RuntimeTensor>(tensor->spec(), formal.layout, memory.managerOf(formal),
                                          AllocationInfo{formal.name, formal.location});
      copiesBefore.emplace_back(converted.get(), tensor.get());
      address = converted->address();
    }
  }
}

void Binding::placeResults() {
  for (size_t r = 0; r < results.size(); ++r) {
    size_t value = size_t(spec.results[r]);
    if (std::ranges::count(resultDonated, int32_t(r)))
      continue;
    ensureResult(r);
    bool ownsMemory = spec.values[value].kind == ValueSpec::Kind::Result &&
                      memory.sized->storage[value] == int32_t(value) &&
                      resultOf[value] == int32_t(r);
    if (ownsMemory)
      memory.addresses[value] = results[r]->address();
    else // the result is an argument, a constant or another result
      copiesAfter.emplace_back(results[r].get(), int32_t(value));
  }
}

void Binding::copyIn() {
  for (auto [to, from] : copiesBefore)
    to->copyFrom(*from);
}

void Binding::poison() {
  for (Argument &argument : arguments)
    if (argument.tensor)
      argument.donation.poison(*argument.tensor);
}

void Binding::copyOut() {
  for (auto [to, value] : copiesAfter)
    std::memcpy(to->address(), memory.addresses[size_t(value)], size_t(to->bytes()));
}

bool Binding::takeOver() {
  bool took = false;
  for (auto [argument, result] : spec.donations)
    if (auto &[tensor, converted, donation] = arguments[size_t(argument)]; donation.isInPlace()) {
      results[size_t(result)] = donation.takeOver(*tensor);
      took = true;
    }
  return took;
}

TensorRef Binding::result(size_t result) const {
  if (result >= results.size())
    throw Error("'" + spec.name + "' has " + std::to_string(results.size()) +
                " results, there is none at position " + std::to_string(result));
  if (!results[result])
    throw Error("'" + spec.name + "' has not run yet: it has no result '" +
                spec.values[size_t(spec.results[result])].name + "'");
  return results[result];
}

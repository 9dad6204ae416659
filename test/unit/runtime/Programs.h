//===- Programs.h - small programs for the tests ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that need no compiler: their entries are functions of this process,
// written the way that compiled code behaves (Abi.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_PROGRAMS_H
#define HEDDLE_TEST_UNIT_RUNTIME_PROGRAMS_H

#include "runtime/program/Program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace heddle {

/// Runs a step on chunk `chunk` of `chunks`.
using StepBody = void (*)(HeddleCall *call, int step, int64_t chunk, int64_t chunks);

/// Steps with hooks, counters and barriers, as the compiler emits them.
inline int32_t runSteps(HeddleCall *call, int32_t thread, int steps, int64_t chunks,
                        StepBody body) {
  auto hook = [&](int step) -> int32_t {
    if (!call->hooks)
      return 0;
    if (thread == 0)
      if (int32_t status = call->table->step(call, step))
        return status;
    return call->table->barrier(call, thread);
  };
  for (int step = 0; step < steps; ++step) {
    if (int32_t status = hook(step))
      return status;
    int64_t *counter = call->counters + 8 * step;
    for (int64_t chunk; (chunk = __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)) < chunks;)
      body(call, step, chunk, chunks);
    if (int32_t status = call->table->barrier(call, thread))
      return status;
  }
  return hook(steps);
}

inline TensorSpec floats(ExprMap dims) { return {ElementType::F32, std::move(dims)}; }

inline TensorRef tensorOf(const std::vector<float> &values, const char *layout = "[i]") {
  auto tensor = std::make_shared<RuntimeTensor>(floats({{"i", int64_t(values.size())}}),
                                                *Layout::parse(layout));
  tensor->copyFrom(values.data(), {"i"});
  return tensor;
}

inline std::vector<float> valuesOf(const TensorRef &tensor) {
  std::vector<std::string> order;
  int64_t count = 1;
  for (const auto &[name, size] : tensor->sizes()) {
    order.push_back(name);
    count *= size;
  }
  std::vector<float> values(static_cast<size_t>(count));
  tensor->copyTo(values.data(), order);
  return values;
}

inline ValueSpec value(ValueSpec::Kind kind, std::string name, TensorSpec type, const char *layout,
                       int32_t first = 0, int32_t last = 0) {
  ValueSpec result;
  result.kind = kind;
  result.name = std::move(name);
  result.location = "model.cpp:" + std::to_string(first + 1) + ":1";
  result.type = std::move(type);
  result.layout = *Layout::parse(layout);
  bool constant = true;
  for (const auto &[dim, size] : result.type.dims)
    constant &= size.isConstant();
  result.bytes = constant ? Expr(byteCount(result.type, result.layout)) : Expr::name("N") * 4;
  result.firstStep = first;
  result.lastStep = last;
  return result;
}

//===----------------------------------------------------------------------===//
// A chain: y = x + 1 + 1 + ..., each sum a step into a temporary
//===----------------------------------------------------------------------===//

inline constexpr int chainSteps = 6;
inline constexpr int64_t chainSize = 1000;

inline EntrySpec chainEntry() {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "chain";
  TensorSpec type = floats({{"i", chainSize}});
  entry.values.push_back(value(Kind::Argument, "x", type, "[i]"));
  entry.values.push_back(value(Kind::Result, "y", type, "[i]"));
  std::vector<ArenaBuffer> buffers;
  for (int s = 0; s + 1 < chainSteps; ++s) {
    entry.values.push_back(value(Kind::Temporary, "t" + std::to_string(s), type, "[i]", s, s + 1));
    buffers.push_back({chainSize * 4, s, s + 1});
  }
  entry.arenaBytes = packArena(buffers);
  for (int s = 0; s < chainSteps; ++s) {
    if (s + 1 < chainSteps)
      entry.values[size_t(s) + 2].offset = buffers[size_t(s)].offset;
    entry.steps.push_back({"add" + std::to_string(s), "model.cpp:" + std::to_string(s + 1) + ":1",
                           10, "add", 1000, 8000});
  }
  entry.arguments = {0};
  entry.results = {1};
  return entry;
}

inline void chainBody(HeddleCall *call, int step, int64_t chunk, int64_t chunks) {
  auto *from = static_cast<const float *>(call->addresses[step == 0 ? 0 : step + 1]);
  auto *to = static_cast<float *>(call->addresses[step + 1 == chainSteps ? 1 : step + 2]);
  for (int64_t i = chunk * chainSize / chunks; i < (chunk + 1) * chainSize / chunks; ++i)
    to[i] = from[i] + 1;
}

inline int32_t chainFunction(HeddleCall *call, int32_t thread, int32_t) {
  return runSteps(call, thread, chainSteps, 10, chainBody);
}

//===----------------------------------------------------------------------===//
// A counter: state' = state + 1 in the memory of state, and the sum of before
//===----------------------------------------------------------------------===//

inline EntrySpec counterEntry() {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "count";
  TensorSpec type = floats({{"i", 4}});
  entry.values = {value(Kind::Argument, "state", type, "[i]"),
                  value(Kind::Argument, "other", type, "[i]"),
                  value(Kind::Result, "next", type, "[i]")};
  entry.values[2].aliasOf = 0;
  entry.steps = {{"increment", "model.cpp:7:1", 1, "add", 4, 32}};
  entry.arguments = {0, 1};
  entry.results = {2};
  entry.donations = {{0, 0}};
  return entry;
}

inline int32_t counterFunction(HeddleCall *call, int32_t thread, int32_t) {
  return runSteps(call, thread, 1, 1, [](HeddleCall *call, int, int64_t, int64_t) {
    auto *state = static_cast<float *>(call->addresses[2]);
    auto *other = static_cast<const float *>(call->addresses[1]);
    for (int i = 0; i < 4; ++i)
      state[i] += other[i];
  });
}

inline std::shared_ptr<Program> smallPrograms() {
  Manifest manifest;
  manifest.entries = {chainEntry(), counterEntry()};
  manifest.entries[1].codeOffset = 1;
  return Program::fromFunctions(std::move(manifest), {chainFunction, counterFunction});
}

//===----------------------------------------------------------------------===//
// For any sizes: y = x + 2 M, of which x has 2 N and another argument M
//===----------------------------------------------------------------------===//

inline std::shared_ptr<Program> symbolicProgram() {
  using Kind = ValueSpec::Kind;
  Expr n = Expr::name("N");
  EntrySpec entry;
  entry.name = "double";
  entry.symbols = {"N", "M"};
  entry.values = {
      value(Kind::Argument, "x", floats({{"i", 2 * n}}), "[i]"),
      value(Kind::Argument, "w", floats({{"i", n + 1}, {"k", Expr::name("M")}}), "[i, k]"),
      value(Kind::Temporary, "t", floats({{"i", 2 * n}}), "[i]", 0, 1),
      value(Kind::Result, "y", floats({{"i", 2 * n}}), "[i]")};
  entry.steps = {{"first", "", 1, "", 0, 0}, {"second", "", 1, "", 0, 0}};
  entry.arguments = {0, 1};
  entry.results = {3};
  entry.requirements = {{n + 2, Expr(60) * Expr::name("M"), "what there is", "model.cpp:1:1"}};
  Manifest manifest;
  manifest.entries = {entry};
  return Program::fromFunctions(
      manifest, {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
        return runSteps(call, thread, 2, 1, [](HeddleCall *call, int step, int64_t, int64_t) {
          auto *from = static_cast<const float *>(call->addresses[step == 0 ? 0 : 2]);
          auto *to = static_cast<float *>(call->addresses[step == 0 ? 2 : 3]);
          for (int64_t i = 0; i < 2 * call->symbols[0]; ++i)
            to[i] = from[i] + float(call->symbols[1]);
        });
      }});
}

//===----------------------------------------------------------------------===//
// A program with machine code
//===----------------------------------------------------------------------===//

/// y = x * c[0] for four floats, as clang compiles it for x86-64:
///   if (thread == 0) for (int i = 0; i < 4; ++i) y[i] = x[i] * c[0]; return 0;
inline const unsigned char scaleCode[] = {
    0x85, 0xf6, 0x75, 0x27, 0x48, 0x8b, 0x17, 0x48, 0x8b, 0x02, 0x48, 0x8b, 0x4a, 0x08, 0x48, 0x8b,
    0x52, 0x10, 0x31, 0xf6, 0xf3, 0x0f, 0x10, 0x04, 0xb0, 0xf3, 0x0f, 0x59, 0x02, 0xf3, 0x0f, 0x11,
    0x04, 0xb1, 0x48, 0xff, 0xc6, 0x48, 0x83, 0xfe, 0x04, 0x75, 0xe9, 0x31, 0xc0, 0xc3};

inline ProgramImage scaleImage() {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "scale";
  entry.codeOffset = 16;
  entry.values = {value(Kind::Argument, "x", floats({{"i", 4}}), "[i]"),
                  value(Kind::Result, "y", floats({{"i", 4}}), "[i], align 128"),
                  value(Kind::Constant, "c", floats({}), "[]")};
  entry.values[2].offset = 64;
  entry.steps = {{"scale", "model.cpp:1:1", 1, "k0", 4, 32}};
  entry.arguments = {0};
  entry.results = {1};
  ProgramImage image;
  image.manifest.compilerVersion = "test";
  image.manifest.target = "x86_64-unknown-linux-gnu";
  image.manifest.cpu = "x86-64";
  image.manifest.features = {"sse3", "a-feature-that-only-tunes"};
  image.manifest.entries = {entry};
  image.code = std::string(16, '\xcc') +
               std::string(reinterpret_cast<const char *>(scaleCode), sizeof scaleCode);
  image.constants = std::string(68, '\0');
  float factor = 2.5f;
  std::memcpy(image.constants.data() + 64, &factor, 4);
  return image;
}

/// The message of the Error that `action` throws; empty if it throws none.
template <typename Exception = std::exception, typename Action>
std::string errorOf(Action &&action) {
  try {
    action();
  } catch (const Exception &error) {
    return error.what();
  }
  return "";
}

inline void expectIn(const std::string &part, const std::string &text) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in '" << text << "'";
}

} // namespace heddle

#endif // HEDDLE_TEST_UNIT_RUNTIME_PROGRAMS_H

//===- CHandles.h - what the handles of the C interface hold ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle of include/heddle/runtime_c.h is a pointer to one of these objects. A function that can
// fail runs its body in `guarded` or `made`, which keep the message for heddle_last_error:
//
//     heddle_status heddle_call_run(heddle_call *call) {
//       return guarded([&] { required(call, "a call").call->run(); });
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CHANDLES_H
#define HEDDLE_RUNTIME_PROGRAM_CHANDLES_H

#include "heddle/Error.h"
#include "heddle/runtime_c.h"
#include "runtime/program/Program.h"

#include <new>

struct heddle_value {
  struct Dim {
    std::string name, text;
    int64_t size;
  };
  std::string name, layout;
  heddle_element element;
  std::vector<Dim> dims;
};

struct heddle_entry {
  const heddle::EntrySpec *spec;
  std::vector<heddle_value> arguments, results;
};

struct heddle_program {
  std::shared_ptr<heddle::Program> program;
  std::vector<heddle_entry> entries;
  std::string manifest;
};

struct heddle_tensor {
  heddle::TensorRef tensor;
  std::string layout;
};

struct heddle_call {
  std::unique_ptr<heddle::Call> call;
};

static_assert(int(heddle::ElementType::F8E5M2) == HEDDLE_F8E5M2 &&
              int(heddle::ElementType::UI8) == HEDDLE_UI8);

namespace heddle::detail {

/// Keep the message of a failure in the function with this name, for heddle_last_error.
void rememberOutOfMemory(const char *function) noexcept;
void remember(const char *message, const char *function) noexcept;

/// Every function that can fail runs its body in here, so no exception crosses the C interface.
/// `function` is its name.
template <typename Action>
heddle_status guarded(Action &&action, const char *function = __builtin_FUNCTION()) noexcept {
  try {
    action();
    return HEDDLE_OK;
  } catch (const ExecutionError &error) {
    remember(error.what(), function);
    return HEDDLE_EXECUTION_ERROR;
  } catch (const std::bad_alloc &) {
    rememberOutOfMemory(function);
  } catch (const std::exception &error) {
    remember(error.what(), function);
  } catch (...) {
    remember("unknown failure", function);
  }
  return HEDDLE_ERROR;
}

/// The result of `make`, or null.
template <typename Make>
auto made(Make &&make, const char *function = __builtin_FUNCTION()) noexcept -> decltype(make()) {
  decltype(make()) result = nullptr;
  guarded([&] { result = make(); }, function);
  return result;
}

template <typename T>
T &required(T *handle, const char *what) {
  if (!handle)
    throw Error(std::string("expected ") + what + ", got NULL");
  return *handle;
}

template <typename List>
auto *at(List &list, size_t index, const char *what) {
  if (index >= list.size())
    throw Error("expected the number of " + std::string(what) + " below " +
                std::to_string(list.size()) + ", got " + std::to_string(index));
  return &list[index];
}

} // namespace heddle::detail

#endif // HEDDLE_RUNTIME_PROGRAM_CHANDLES_H

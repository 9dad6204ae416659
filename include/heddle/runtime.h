//===- runtime.h - run compiled programs ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program file without the compiler, with libheddle_runtime alone:
//
//     using namespace heddle::runtime;
//     Program program("classifier.heddle");
//     Tensor image = Tensor::of<float>(pixels, {{"row", 28}, {"column", 28}});
//     auto results = program.run("classify", {{"image", image}});
//     std::vector<float> scores = results.at("scores").to<float>({"class"});
//
// To call an entry often, bind its arguments once:
//
//     Call call(program, "classify", {.threads = 1});
//     call.bind("image", image);
//     while (next(image.address()))
//       call.run();
//
// This header wraps the C functions of runtime_c.h, so that the binary interface of the library is
// C alone. All functions throw Error if they fail; a run throws ExecutionError if the program fails
// while it runs.
//
// A program file is native code that runs with all rights of the process. Load one only if you
// would run an executable from the same source: its checksums detect damage, they do not
// authenticate its author.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_H
#define HEDDLE_RUNTIME_H

#include "heddle/ElementType.h"
#include "heddle/Error.h"
#include "heddle/runtime_c.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::runtime {

namespace detail {
inline void check(heddle_status status) {
  if (status == HEDDLE_EXECUTION_ERROR)
    throw ExecutionError(heddle_last_error(), "", "", "");
  if (status != HEDDLE_OK)
    throw Error(heddle_last_error());
}
template <typename T>
T *check(T *handle) {
  if (!handle)
    throw Error(heddle_last_error());
  return handle;
}
inline std::vector<const char *> pointers(const std::vector<std::string> &texts) {
  std::vector<const char *> result;
  for (const std::string &text : texts)
    result.push_back(text.c_str());
  return result;
}
} // namespace detail

/// A name with its size.
struct Dim {
  std::string name;
  int64_t size; ///< in the description of an entry -1 if it depends on the arguments
  bool operator==(const Dim &) const = default;
};

/// A handle on a tensor in memory; copies are handles on the same tensor.
class Tensor {
public:
  /// A tensor with undefined values. An empty `layout` is row-major in the order of `dims`.
  Tensor(ElementType element, const std::vector<Dim> &dims, const std::string &layout = "") {
    Lists lists(dims);
    handle.reset(detail::check(heddle_tensor_create(heddle_element(element), dims.size(),
                                                    lists.names.data(), lists.sizes.data(),
                                                    layout.empty() ? nullptr : layout.c_str())),
                 heddle_tensor_free);
  }
  /// Takes ownership of a handle of the C interface. Throws Error if it is null.
  explicit Tensor(heddle_tensor *taken) : handle(detail::check(taken), heddle_tensor_free) {}

  /// A tensor with the given values, row-major in the order of `dims`. Throws Error for another
  /// number of values.
  template <typename T>
  static Tensor of(std::span<const T> values, const std::vector<Dim> &dims) {
    Tensor tensor(elementTypeOf<T>(), dims);
    tensor.requireCount(values.size());
    std::vector<std::string> order;
    for (const Dim &dim : dims)
      order.push_back(dim.name);
    tensor.copyFrom(values.data(), order);
    return tensor;
  }
  template <typename T>
  static Tensor of(const std::vector<T> &values, const std::vector<Dim> &dims) {
    return of(std::span<const T>(values), dims);
  }
  /// A view of dense memory, row-major in the order of `dims`. The memory must outlive all handles.
  static Tensor view(ElementType element, const std::vector<Dim> &dims, void *memory) {
    Lists lists(dims);
    return Tensor(heddle_tensor_view(heddle_element(element), dims.size(), lists.names.data(),
                                     lists.sizes.data(), memory));
  }

  ElementType element() const { return ElementType(heddle_tensor_element(handle.get())); }
  /// The dimensions, sorted by name.
  std::vector<Dim> dims() const {
    std::vector<Dim> result;
    for (size_t i = 0; i < heddle_tensor_rank(handle.get()); ++i)
      result.push_back(
          {heddle_tensor_dim_name(handle.get(), i), heddle_tensor_dim_size(handle.get(), i)});
    return result;
  }
  /// The number of elements.
  int64_t count() const { return heddle_tensor_count(handle.get()); }
  /// The address of the elements, in the tensor's own layout; null after the tensor was donated.
  void *address() const { return heddle_tensor_address(handle.get()); }
  std::string layout() const { return detail::check(heddle_tensor_layout(handle.get())); }

  /// Copies all elements from a dense array, row-major in `order`, which lists every name once.
  void copyFrom(const void *dense, const std::vector<std::string> &order) {
    detail::check(
        heddle_tensor_copy_from(handle.get(), dense, detail::pointers(order).data(), order.size()));
  }
  /// Copies all elements to such an array.
  void copyTo(void *dense, const std::vector<std::string> &order) const {
    detail::check(
        heddle_tensor_copy_to(handle.get(), dense, detail::pointers(order).data(), order.size()));
  }
  /// The values, row-major in `order`. Throws Error unless T is the element type.
  template <typename T>
  std::vector<T> to(const std::vector<std::string> &order) const {
    if (element() != elementTypeOf<T>())
      throw Error("expected elements of type " + std::string(spelling(element())) +
                  ", as the tensor " + describe() + " has, got " +
                  std::string(spelling(elementTypeOf<T>())));
    std::vector<T> values(static_cast<size_t>(count()));
    copyTo(values.data(), order);
    return values;
  }

  heddle_tensor *get() const { return handle.get(); }

private:
  struct Lists {
    std::vector<const char *> names;
    std::vector<int64_t> sizes;
    explicit Lists(const std::vector<Dim> &dims) {
      for (const Dim &dim : dims) {
        names.push_back(dim.name.c_str());
        sizes.push_back(dim.size);
      }
    }
  };
  std::shared_ptr<heddle_tensor> handle;

  void requireCount(size_t got) const {
    if (size_t(count()) != got)
      throw Error("expected " + std::to_string(count()) + " values, got " + std::to_string(got) +
                  " for the tensor " + describe());
  }
  /// "f32 {column: 3, row: 2}"
  std::string describe() const {
    std::string text;
    for (const Dim &dim : dims())
      text += (text.empty() ? "" : ", ") + dim.name + ": " + std::to_string(dim.size);
    return std::string(spelling(element())) + " {" + text + "}";
  }
};

/// An argument or a result of an entry.
struct Value {
  std::string name;
  ElementType element;
  std::vector<Dim> dims;
  std::string layout; ///< the layout that the program reads or writes
};

/// Options of a call.
struct Options {
  int threads = 0;      ///< number of threads; 0: HEDDLE_THREADS, else all cores
  bool managed = false; ///< allocate each temporary by itself, without an arena
};

/// A loaded program file. Any number of threads may run it at once.
class Program {
public:
  /// Throws Error if the file is damaged or this CPU can't run it.
  explicit Program(const std::string &path)
      : handle(detail::check(heddle_program_load(path.c_str())), heddle_program_free) {}

  /// The names of its entries.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < heddle_program_entry_count(handle.get()); ++i)
      names.push_back(heddle_entry_name(heddle_program_entry(handle.get(), i)));
    return names;
  }
  /// The arguments of an entry. Throws Error for an unknown one, as the functions below do.
  std::vector<Value> arguments(const std::string &entry) const {
    const heddle_entry *found = find(entry);
    std::vector<Value> values;
    for (size_t i = 0; i < heddle_entry_argument_count(found); ++i)
      values.push_back(describe(heddle_entry_argument(found, i)));
    return values;
  }
  /// The results of an entry.
  std::vector<Value> results(const std::string &entry) const {
    const heddle_entry *found = find(entry);
    std::vector<Value> values;
    for (size_t i = 0; i < heddle_entry_result_count(found); ++i)
      values.push_back(describe(heddle_entry_result(found, i)));
    return values;
  }
  /// The memory in bytes that an entry needs. Throws Error for an entry with symbolic sizes.
  heddle_memory_needs memory(const std::string &entry) const {
    heddle_memory_needs needs;
    detail::check(heddle_entry_memory(find(entry), &needs));
    return needs;
  }

  /// Calls an entry once, with arguments by name; returns its results by name.
  std::map<std::string, Tensor> run(const std::string &entry,
                                    const std::map<std::string, Tensor> &arguments,
                                    const Options &options = {}) const;

  heddle_program *get() const { return handle.get(); }

private:
  std::shared_ptr<heddle_program> handle;

  const heddle_entry *find(const std::string &entry) const {
    return detail::check(heddle_program_find(handle.get(), entry.c_str()));
  }
  static Value describe(const heddle_value *value) {
    Value result{heddle_value_name(value),
                 ElementType(heddle_value_element(value)),
                 {},
                 heddle_value_layout(value)};
    for (size_t i = 0; i < heddle_value_rank(value); ++i)
      result.dims.push_back({heddle_value_dim_name(value, i), heddle_value_dim_size(value, i)});
    return result;
  }
};

/// A call of an entry: its bound arguments and its memory. Can run many times, in one thread at a
/// time.
class Call {
public:
  Call(const Program &program, const std::string &entry, const Options &options = {}) {
    heddle_call_options chosen = {options.threads, options.managed};
    handle.reset(detail::check(heddle_call_create(program.get(), entry.c_str(), &chosen)));
  }
  /// Binds an argument for this and all later runs. With `donate` a result may reuse the tensor's
  /// memory: the tensor is lost, and the argument must be bound again before the next run.
  void bind(const std::string &argument, const Tensor &tensor, bool donate = false) {
    detail::check(heddle_call_bind(handle.get(), argument.c_str(), tensor.get(), donate));
  }
  void run() { detail::check(heddle_call_run(handle.get())); }
  /// A result of the last run. The next run overwrites it.
  Tensor result(const std::string &name) const {
    return Tensor(heddle_call_result(handle.get(), name.c_str()));
  }

private:
  struct Free {
    void operator()(heddle_call *call) const { heddle_call_free(call); }
  };
  std::unique_ptr<heddle_call, Free> handle;
};

inline std::map<std::string, Tensor> Program::run(const std::string &entry,
                                                  const std::map<std::string, Tensor> &arguments,
                                                  const Options &options) const {
  Call call(*this, entry, options);
  for (const auto &[name, tensor] : arguments)
    call.bind(name, tensor);
  call.run();
  std::map<std::string, Tensor> given;
  for (const Value &value : results(entry))
    given.emplace(value.name, call.result(value.name));
  return given;
}

/// The memory that tensors and calls of this process use.
inline heddle_memory_statistics memoryNow() {
  heddle_memory_statistics statistics;
  heddle_memory_now(&statistics);
  return statistics;
}

} // namespace heddle::runtime

#endif // HEDDLE_RUNTIME_H

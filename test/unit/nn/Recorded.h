//===- Recorded.h - values that PyTorch computed ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cases of a file that test/references/operators.py wrote, in f64: inputs, the output, a cotangent
// and the gradients of sum(output * cotangent). Values and gradients of a function are within 1e-12
// of their largest magnitude, NaN and infinities equal.
//
//     Recorded pooling("pooling");
//     pooling.expect("max-1d", [](const Given &x) { return nn::maxPool(x.at("x"), ...); });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_NN_RECORDED_H
#define HEDDLE_TEST_UNIT_NN_RECORDED_H

#include "heddle/io/Safetensors.h"
#include "heddle/nn/Checkpoint.h"
#include "test/unit/nn/Compare.h"

#include <filesystem>

namespace heddle::test {

using Given = std::map<std::string, Tensor>;

inline void expectSame(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.type(), wanted.type()) << what;
  auto values = [](const Tensor &x) { return x.cast(ElementType::F64).to<double>(orderOf(x)); };
  std::vector<double> a = values(got), b = values(wanted);
  double most = 1e-3;
  for (double value : b)
    if (std::isfinite(value) && std::abs(value) < 1e300)
      most = std::max(most, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i) {
    bool same = std::isfinite(b[i]) ? std::abs(a[i] - b[i]) <= 1e-12 * most || a[i] == b[i]
                                    : a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    ASSERT_TRUE(same) << what << " at " << i << ": " << a[i] << " instead of " << b[i];
  }
}

class Recorded {
public:
  explicit Recorded(const std::string &file) {
    std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
    for (const auto &[name, array] :
         io::readSafetensors(here / ".." / ".." / "references" / (file + ".safetensors")).arrays)
      all[name] = nn::tensorOf(array);
  }
  const Tensor &at(const std::string &name) const { return all.at(name); }
  bool has(const std::string &name) const { return all.contains(name); }
  Given inputs(const std::string &name) const {
    Given found;
    std::string prefix = name + ".input.";
    for (const auto &[path, tensor] : all)
      if (path.starts_with(prefix))
        found[path.substr(prefix.size())] = tensor;
    return found;
  }

  /// Compares function(inputs) and its gradients, those of all recorded ones. `check`: NaN and
  /// coordinates out of bounds are errors.
  template <typename F>
  void expect(const std::string &name, F &&function, bool check = false) const {
    SCOPED_TRACE(name);
    JitOptions options{.check = check};
    Given inputs = this->inputs(name);
    ASSERT_FALSE(inputs.empty());
    if (!has(name + ".cotangent")) {
      expectSame(jit([&](Given x) { return function(x); }, options)(inputs), at(name + ".output"),
                 "the value");
      return;
    }
    auto both = jit(
        [&](Given x, Tensor cotangent) {
          auto [result, gradient] = valueAndGrad(
              [&](Given x) {
                Tensor y = function(x);
                Tensor loss = y * cotangent;
                return std::pair(y.names().empty() ? loss : sum(loss, orderOf(y)), y);
              },
              x);
          return std::pair(result.second, gradient);
        },
        options);
    auto [y, gradient] = both(inputs, at(name + ".cotangent"));
    expectSame(y, at(name + ".output"), "the value");
    size_t compared = 0, recorded = 0;
    for (const auto &[path, tensor] : gradient)
      if (has(name + ".gradient." + path)) {
        expectSame(tensor, at(name + ".gradient." + path), "the gradient of " + path);
        ++compared;
      }
    for (const auto &[path, tensor] : all)
      recorded += path.starts_with(name + ".gradient.");
    EXPECT_EQ(compared, recorded);
  }
  /// Compares further results.
  void expectResult(const std::string &name, const std::string &path, const Tensor &got) const {
    expectSame(got, at(name + ".result." + path), name + ": " + path);
  }

private:
  std::map<std::string, Tensor> all;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_NN_RECORDED_H

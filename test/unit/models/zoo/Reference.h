//===- Reference.h - PyTorch's numbers of a model ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that test/references/models.py wrote for a model's tiny setting.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_MODELS_ZOO_REFERENCE_H
#define HEDDLE_TEST_UNIT_MODELS_ZOO_REFERENCE_H

#include "heddle/io/Safetensors.h"
#include "models/zoo/Zoo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace heddle::test {

inline std::string referenceFile(const std::string &model) {
  return std::filesystem::path(__FILE__).parent_path() / ".." / ".." / ".." / "references" /
         (model + ".safetensors");
}

class Reference {
public:
  explicit Reference(const std::string &model) : file(io::readSafetensors(referenceFile(model))) {}

  /// The tensors whose names begin with "WORD.", in the order of the names, without that.
  nn::ByPath all(const std::string &word) const {
    nn::ByPath tensors;
    for (const auto &[name, array] : file.arrays)
      if (name.starts_with(word + "."))
        tensors[name.substr(word.size() + 1)] = nn::tensorOf(array);
    return tensors;
  }
  Tensor at(const std::string &name) const { return nn::tensorOf(file.at(name)); }
  double number(const std::string &note) const {
    return std::stod(file.metadata.find(note)->second);
  }
  nn::Fields batch() const {
    nn::Fields fields = all("batch");
    fields.emplace("progress", constant(1));
    return fields;
  }

private:
  io::Safetensors file;
};

inline float largest(const Tensor &tensor) {
  float most = 0;
  for (float value : tensor.to<float>(nn::namesOf(tensor)))
    most = std::max(most, std::abs(value));
  return most;
}

/// The largest difference of two tensors, relative to their largest magnitude. For tensors that are
/// zero except for rounding, relative to `scale`, the largest magnitude of the other tensors.
inline double difference(const Tensor &got, const Tensor &wanted, double scale) {
  if (got.type() != wanted.type()) {
    ADD_FAILURE() << "expected " << wanted.type() << ", got " << got.type();
    return INFINITY;
  }
  auto a = got.to<float>(nn::namesOf(got)), b = wanted.to<float>(nn::namesOf(got));
  double unit = std::max<double>(largest(wanted), 1e-2 * scale), most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double d = std::abs(double(a[i]) - double(b[i])) / unit;
    if (!(d < INFINITY)) // NaN as well
      return INFINITY;
    most = std::max(most, d);
  }
  return most;
}

/// Notes an error in the report that --gtest_output writes (test/references/errors.py).
inline void recordError(const std::string &what, double error) {
  char text[32];
  snprintf(text, sizeof text, "%.3g", error);
  testing::Test::RecordProperty(what, text);
}

/// Expects the tensors to agree; names the worst one.
inline void expectAlike(const nn::ByPath &got, const nn::ByPath &wanted, const std::string &what,
                        double bound = 1e-4) {
  double scale = 0, most = -1;
  std::string worst;
  for (const auto &[path, tensor] : wanted) {
    EXPECT_TRUE(got.contains(path)) << what << ": missing '" << path << "'";
    scale = std::max<double>(scale, largest(tensor));
  }
  for (const auto &[path, tensor] : got) {
    if (tensor.empty())
      continue; // the gradient of integers
    auto found = wanted.find(path);
    ASSERT_NE(found, wanted.end()) << what << ": the reference lacks '" << path << "'";
    if (double d = difference(tensor, found->second, scale); !(d <= most)) {
      most = d;
      worst = path;
    }
  }
  recordError(what, most);
  EXPECT_LE(most, bound) << what << ": the worst one is '" << worst << "'";
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_MODELS_ZOO_REFERENCE_H

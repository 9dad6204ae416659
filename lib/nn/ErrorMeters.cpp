//===- ErrorMeters.cpp - how often predictions are wrong ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Meters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace heddle;
using namespace heddle::nn;

static void requireClass(int64_t number, int64_t classes, const char *what, Here here) {
  if (number < 0 || number >= classes)
    throw Error(std::string("expected a ") + what + " from 0 to " + std::to_string(classes - 1) +
                    ", got " + std::to_string(number),
                here);
}

static void requireAlike(size_t got, size_t wanted, Here here) {
  if (got != wanted)
    throw Error("expected as many predictions as labels, got " + std::to_string(got) + " for " +
                    std::to_string(wanted),
                here);
}

TopK::TopK(int64_t k, Here here) : k(k) {
  if (k < 1)
    throw Error("expected k of at least 1 for a top-k accuracy, got " + std::to_string(k), here);
}

void TopK::add(std::span<const float> scores, std::span<const int32_t> labels, Here here) {
  if (labels.empty() ? !scores.empty() : scores.size() % labels.size() != 0)
    throw Error("expected a row of scores for each label, got " + std::to_string(scores.size()) +
                    " scores for " + std::to_string(labels.size()),
                here);
  for (size_t i = 0; i < labels.size(); ++i) {
    size_t width = scores.size() / labels.size();
    requireClass(labels[i], int64_t(width), "label", here);
    auto row = scores.subspan(i * width, width);
    float own = row[size_t(labels[i])];
    int64_t before = 0; // classes that rank before the label; NaN ranks last
    for (size_t c = 0; c < width; ++c)
      before += row[c] > own || (row[c] == own && c < size_t(labels[i])) ||
                (std::isnan(own) && !std::isnan(row[c]));
    hits.add(before < k);
  }
}

Confusion::Confusion(int64_t classes, Here here) : classes(classes) {
  static constexpr int64_t most = 1 << 15; // the table takes 8 GiB
  if (classes < 1 || classes > most)
    throw Error(
        "expected 1 to " + std::to_string(most) + " classes, got " + std::to_string(classes), here);
  counts.resize(size_t(classes * classes));
}

void Confusion::add(std::span<const int32_t> predicted, std::span<const int32_t> labels,
                    Here here) {
  requireAlike(predicted.size(), labels.size(), here);
  for (size_t i = 0; i < labels.size(); ++i) {
    requireClass(predicted[i], classes, "prediction", here);
    requireClass(labels[i], classes, "label", here);
    ++counts[size_t(labels[i] * classes + predicted[i])];
  }
}

int64_t Confusion::count(int64_t label, int64_t predicted, Here here) const {
  requireClass(label, classes, "label", here);
  requireClass(predicted, classes, "prediction", here);
  return counts[size_t(label * classes + predicted)];
}

static double part(int64_t some, int64_t all) { return all ? double(some) / double(all) : 0; }

double Confusion::accuracy() const {
  int64_t right = 0;
  for (int64_t c = 0; c < classes; ++c)
    right += count(c, c);
  return part(right, std::accumulate(counts.begin(), counts.end(), int64_t(0)));
}

double Confusion::precision(int64_t predicted, Here here) const {
  int64_t all = 0;
  for (int64_t c = 0; c < classes; ++c)
    all += count(c, predicted, here);
  return part(count(predicted, predicted), all);
}

double Confusion::recall(int64_t label, Here here) const {
  int64_t all = 0;
  for (int64_t c = 0; c < classes; ++c)
    all += count(label, c, here);
  return part(count(label, label), all);
}

int64_t EditDistance::distance(std::span<const int32_t> a, std::span<const int32_t> b) {
  std::vector<int64_t> row(b.size() + 1); // distances of a prefix of a from each prefix of b
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      int64_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void EditDistance::add(std::span<const int32_t> got, std::span<const int32_t> wanted) {
  errors += distance(got, wanted);
  length += int64_t(wanted.size());
}

double EditDistance::value() const {
  return length ? double(errors) / double(length) : errors ? INFINITY : 0;
}

void FrameError::add(std::span<const int32_t> got, std::span<const int32_t> wanted, Here here) {
  requireAlike(got.size(), wanted.size(), here);
  for (size_t i = 0; i < got.size(); ++i)
    wrong.add(got[i] != wanted[i]);
}

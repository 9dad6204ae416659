//===- Labelling.cpp - labels by colour refinement ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Canonical.h"

#include <numeric>

using namespace heddle;
using namespace mlir;

namespace {
using Text = llvm::function_ref<std::string(const Labels &)>;

class Labelling {
public:
  Labelling(ArrayRef<std::string> names, Text text) : names(names), text(text) {}

  /// `alike`: sets of names that were interchangeable when they were singled out.
  void search(std::vector<unsigned> colours, std::vector<std::vector<std::string>> alike = {}) {
    refine(colours);
    while (true) {
      // The first class with several members.
      std::vector<std::vector<unsigned>> classes(names.size());
      for (unsigned i = 0; i < names.size(); ++i)
        classes[colours[i]].push_back(i);
      auto tied = llvm::find_if(classes, [](const auto &members) { return members.size() > 1; });
      if (tied == classes.end())
        break;
      if (isSpent()) {
        singleOut(colours, *tied); // in the listed order
        continue;
      }
      // Of interchangeable names only one is tried first: the others give the same text.
      std::vector<unsigned> representatives;
      for (unsigned i : *tied)
        if (llvm::none_of(representatives,
                          [&](unsigned other) { return areAlike(other, i, colours); }))
          representatives.push_back(i);
      if (representatives.size() == 1) {
        alike.emplace_back();
        for (unsigned i : *tied)
          alike.back().push_back(names[i]);
        singleOut(colours, *tied);
        refine(colours);
        continue;
      }
      for (unsigned i : representatives) {
        std::vector<unsigned> single(colours);
        for (unsigned k = 0; k < names.size(); ++k)
          if (k != i && colours[k] >= colours[i])
            ++single[k];
        search(single, alike);
        if (isSpent())
          break;
      }
      return;
    }
    Labels labels = labelled(colours, "d");
    std::string candidate = textUnder(labels);
    if (best.labels.empty() || candidate < best.text)
      best = {std::move(candidate), std::move(labels), std::move(alike)};
  }

  CanonicalForm best;

private:
  // Beyond this many bytes of text a symmetric op may have several forms, which only reduces
  // sharing.
  static constexpr size_t mostText = 2 << 20;
  ArrayRef<std::string> names;
  Text text;
  size_t written = 0; ///< bytes of text so far

  bool isSpent() const { return written > mostText; }
  std::string textUnder(const Labels &labels) {
    std::string result = text(labels);
    written += result.size();
    return result;
  }
  Labels labelled(ArrayRef<unsigned> colours, const char *prefix) const {
    Labels labels;
    for (auto [name, colour] : llvm::zip_equal(names, colours))
      labels[name] = prefix + std::to_string(colour);
    return labels;
  }
  static void singleOut(std::vector<unsigned> &colours, ArrayRef<unsigned> members) {
    for (auto [rank, i] : llvm::enumerate(members))
      colours[i] += unsigned(rank);
  }

  /// Returns true if exchanging the two does not change the text. Names that belong to them
  /// (`3.row` to `3`) are exchanged too, where they have equal colours.
  bool areAlike(unsigned a, unsigned b, ArrayRef<unsigned> colours) {
    auto whose = [&](unsigned i) { return StringRef(names[i]).split('.').first; };
    auto belongings = [&](unsigned of) {
      SmallVector<std::pair<unsigned, unsigned>> list; // by colour
      for (unsigned i = 0; i < names.size(); ++i)
        if (i == of || (whose(i) == whose(of) && whose(a) != whose(b)))
          list.emplace_back(colours[i], i);
      llvm::stable_sort(list, llvm::less_first());
      return list;
    };
    auto ofA = belongings(a), ofB = belongings(b);
    if (ofA.size() != ofB.size())
      return false;
    std::vector<unsigned> each(names.size());
    std::iota(each.begin(), each.end(), 0u);
    std::string before = textUnder(labelled(each, "d"));
    for (auto [x, y] : llvm::zip_equal(ofA, ofB))
      std::swap(each[x.second], each[y.second]);
    return textUnder(labelled(each, "d")) == before;
  }

  /// Replaces colours by the ranks of (colour, text in which only this name is `self`), up to a
  /// fixed point.
  void refine(std::vector<unsigned> &colours) {
    size_t classes = 0;
    while (true) {
      std::map<unsigned, unsigned> members;
      Labels labels;
      for (auto [name, colour] : llvm::zip_equal(names, colours)) {
        ++members[colour];
        labels[name] = "c" + std::to_string(colour);
      }
      bool stable = members.size() == classes;
      classes = members.size();
      std::vector<std::pair<unsigned, std::string>> signatures;
      for (auto [name, colour] : llvm::zip_equal(names, colours)) {
        signatures.emplace_back(colour, "");
        if (stable || members[colour] == 1)
          continue; // no text can distinguish it
        std::string kept = std::exchange(labels[name], "self");
        signatures.back().second = textUnder(labels);
        labels[name] = kept;
      }
      std::vector<std::pair<unsigned, std::string>> sorted(signatures);
      llvm::sort(sorted);
      for (auto [colour, signature] : llvm::zip_equal(colours, signatures))
        colour = llvm::lower_bound(sorted, signature) - sorted.begin();
      if (stable || classes == names.size())
        return;
    }
  }
};
} // namespace

CanonicalForm heddle::canonicalise(ArrayRef<std::string> names, Text text) {
  if (names.empty())
    return {text({}), {}, {}};
  Labelling labelling(names, text);
  labelling.search(std::vector<unsigned>(names.size()));
  return std::move(labelling.best);
}

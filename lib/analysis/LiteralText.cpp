//===- LiteralText.cpp - canonical texts of constants ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/LiteralText.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/BlockForms.h"

#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using namespace mlir;

/// The maximum number of elements of a constant that is reordered (as many as a fold creates), and
/// of orders that are tried.
static constexpr int64_t mostElements = 256;
static constexpr size_t mostWays = 24;

template <typename T>
static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

Literal::Literal(nd::LiteralInterface constant) {
  ElementsAttr value = constant.getValue();
  auto type = cast<nd::NdTensorType>(constant->getResult(0).getType());
  if (TypedAttr splat = nd::splatOf(constant->getResult(0))) {
    whole = print(splat);
    return;
  }
  int64_t stride = type.elements();
  for (StringRef name : nd::stringsOf(constant.getOrder())) {
    int64_t size = *type.size(name).constant();
    stride /= std::max<int64_t>(size, 1);
    dims.push_back({name.str(), size, stride});
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (type.elements() == 0) {
    dims.clear();
    whole = "nothing";
  } else if (!dense || type.elements() > mostElements) {
    whole = hashed(dense ? StringRef(dense.getRawData().data(), dense.getRawData().size())
                         : StringRef(print(value)));
    llvm::erase_if(dims, [](const Dimension &dim) { return dim.size == 1; });
  } else {
    for (Attribute element : dense.getValues<Attribute>())
      elements.push_back(print(element));
    llvm::erase_if(dims, [&](const Dimension &dim) {
      return llvm::all_of(llvm::seq(elements.size()), [&](size_t i) {
        int64_t coordinate = int64_t(i) / dim.stride % dim.size;
        return elements[i] == elements[i - size_t(coordinate * dim.stride)];
      });
    });
  }
}

std::string Literal::inOrder(ArrayRef<unsigned> order) const {
  std::string text;
  SmallVector<int64_t> at(order.size());
  for (int64_t index = 0;;) {
    text += elements[size_t(index)] + " ";
    size_t k = order.size();
    for (; k > 0; --k) {
      const Dimension &dim = dims[order[k - 1]];
      index += dim.stride;
      if (++at[k - 1] < dim.size)
        break;
      index -= dim.stride * dim.size;
      at[k - 1] = 0;
    }
    if (k == 0)
      return text;
  }
}

std::string Literal::text(const Labels &labels) const {
  auto keyOf = [&](unsigned i) {
    return labels.find(dims[i].name)->second + ": " + std::to_string(dims[i].size);
  };
  std::vector<std::string> keys;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < dims.size(); ++i) {
    order.push_back(i);
    keys.push_back(keyOf(i));
  }
  if (!whole.empty())
    return whole + " by " + llvm::join(keys, ", ");
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  // Names with equal labels may be in any order: the smallest text is canonical.
  std::vector<SmallVector<unsigned>> orders = {{}};
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && keys[order[end]] == keys[order[first]])
      ++end;
    std::vector<SmallVector<unsigned>> longer;
    auto run = MutableArrayRef(order).slice(first, end - first);
    do {
      for (SmallVector<unsigned> each : orders) {
        each.append(run.begin(), run.end());
        longer.push_back(std::move(each));
      }
    } while (longer.size() < mostWays && std::next_permutation(run.begin(), run.end()));
    llvm::sort(run);
    orders = std::move(longer);
  }
  std::string smallest;
  for (const auto &each : orders)
    if (std::string text = inOrder(each); smallest.empty() || text < smallest)
      smallest = std::move(text);
  llvm::sort(keys);
  return hashed(smallest) + " by " + llvm::join(keys, ", ");
}

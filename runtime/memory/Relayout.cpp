//===- Relayout.cpp - copies between layouts ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/memory/Relayout.h"

#include <algorithm>
#include <cstring>

using namespace heddle;

namespace {

/// Names that one of the two layouts merges, directly or through other names.
using MergedNames = std::vector<std::string>;

/// A loop of `count` steps with constant strides from the offsets `from` and `to`.
struct Run {
  int64_t from = 0, to = 0, count = 0, fromStride = 0, toStride = 0;
};
using Loop = std::vector<Run>;

/// The contribution of a factor to the offset.
struct Part {
  std::vector<std::pair<size_t, int64_t>>
      merge; ///< position in the group, weight in the merged index
  int64_t low, divisor, modulus, stride;

  int64_t index(const std::vector<int64_t> &position) const {
    int64_t index = low;
    for (auto [name, weight] : merge)
      index += position[name] * weight;
    return index;
  }
  int64_t at(const std::vector<int64_t> &position) const {
    int64_t block = index(position) / divisor;
    return (modulus ? block % modulus : block) * stride;
  }
  int64_t weight(size_t name) const {
    for (auto [other, weight] : merge)
      if (other == name)
        return weight;
    return 0;
  }
  /// The stride of `name`, for `evenSteps` steps.
  int64_t step(size_t name) const { return divisor == 1 ? weight(name) * stride : 0; }
  int64_t evenSteps(const std::vector<int64_t> &position, size_t name) const {
    int64_t weight = this->weight(name), block = divisor > 1 ? divisor : modulus;
    if (weight == 0 || block == 0)
      return INT64_MAX;
    return (block - index(position) % block + weight - 1) / weight;
  }
};
} // namespace

static std::vector<MergedNames> groupsOf(const Layout &a, const Layout &b, const Sizes &sizes) {
  std::vector<MergedNames> groups;
  for (const auto &[name, size] : sizes)
    groups.push_back({name});
  auto find = [&](const std::string &name) {
    return std::find_if(groups.begin(), groups.end(), [&](const MergedNames &group) {
      return std::find(group.begin(), group.end(), name) != group.end();
    });
  };
  for (const Layout *layout : {&a, &b})
    for (const Layout::Factor &factor : layout->factors)
      for (const std::string &name : factor.names) {
        auto first = find(factor.names[0]), other = find(name);
        if (first == other)
          continue;
        // In the order of the merge, so that positions advance as in the layout.
        first->insert(first->end(), other->begin(), other->end());
        groups.erase(other);
      }
  return groups;
}

static std::vector<Part> partsOf(const Layout &layout, const MergedNames &group,
                                 const Sizes &sizes) {
  std::vector<Part> parts;
  int64_t stride = 1;
  std::vector<int64_t> extents = layout.extents(sizes);
  for (size_t i = layout.factors.size(); i-- > 0;) {
    const Layout::Factor &factor = layout.factors[i];
    if (auto found = std::find(group.begin(), group.end(), factor.names[0]); found != group.end()) {
      Part part{{}, factor.low, factor.divisor, factor.modulus, stride};
      int64_t weight = 1;
      for (size_t k = factor.names.size(); k-- > 0;) {
        auto found = std::find(group.begin(), group.end(), factor.names[k]);
        part.merge.emplace_back(size_t(found - group.begin()), weight);
        weight *= sizes.find(factor.names[k])->second;
      }
      parts.push_back(std::move(part));
    }
    stride *= extents[i];
  }
  return parts;
}

/// Appends a run; merges it with the last one if it continues that with the same strides.
static void append(Loop &loop, const Run &run) {
  if (!loop.empty()) {
    Run &last = loop.back();
    int64_t fromStride = last.count == 1 ? run.from - last.from : last.fromStride;
    int64_t toStride = last.count == 1 ? run.to - last.to : last.toStride;
    bool even = run.count == 1 || (run.fromStride == fromStride && run.toStride == toStride);
    if (even && run.from == last.from + last.count * fromStride &&
        run.to == last.to + last.count * toStride) {
      last = {last.from, last.to, last.count + run.count, fromStride, toStride};
      return;
    }
  }
  loop.push_back(run);
}

static Loop loopOf(const MergedNames &group, const Layout &from, const Layout &to,
                   const Sizes &sizes) {
  std::vector<Part> fromParts = partsOf(from, group, sizes), toParts = partsOf(to, group, sizes);
  std::vector<int64_t> position(group.size()), extents;
  for (const std::string &name : group)
    extents.push_back(sizes.find(name)->second);
  size_t fastest = group.size() - 1;
  Loop loop;
  for (;;) {
    Run run;
    run.count = extents[fastest] - position[fastest];
    for (const Part &part : fromParts) {
      run.from += part.at(position);
      run.fromStride += part.step(fastest);
      run.count = std::min(run.count, part.evenSteps(position, fastest));
    }
    for (const Part &part : toParts) {
      run.to += part.at(position);
      run.toStride += part.step(fastest);
      run.count = std::min(run.count, part.evenSteps(position, fastest));
    }
    append(loop, run);
    position[fastest] += run.count;
    size_t i = fastest;
    while (position[i] == extents[i]) {
      position[i] = 0;
      if (i-- == 0)
        return loop;
      ++position[i];
    }
  }
}

/// Merges two loops if the outer continues where the inner ends.
static void coalesce(std::vector<Loop> &loops) {
  for (size_t outer = 0; outer < loops.size(); ++outer)
    for (size_t inner = 0; inner < loops.size(); ++inner) {
      if (outer == inner || loops[outer].size() != 1 || loops[inner].size() != 1)
        continue;
      const Run &a = loops[outer][0];
      Run &b = loops[inner][0];
      bool single = a.count == 1 || b.count == 1;
      if (!single && (a.fromStride != b.count * b.fromStride || a.toStride != b.count * b.toStride))
        continue;
      const Run &longer = a.count == 1 ? b : b.count == 1 ? a : b;
      b = {a.from + b.from, a.to + b.to, a.count * b.count, longer.fromStride, longer.toStride};
      loops.erase(loops.begin() + std::ptrdiff_t(outer));
      return coalesce(loops);
    }
}

namespace {
template <typename Element>
struct Copy {
  const Element *from;
  Element *to;
  const Layout::Swizzle *fromSwizzle = nullptr, *toSwizzle = nullptr; ///< null: none

  static int64_t swizzled(int64_t offset, const Layout::Swizzle *swizzle) {
    if (!swizzle)
      return offset;
    int64_t mask = ((int64_t(1) << swizzle->bits) - 1) << swizzle->base;
    return offset ^ ((offset >> swizzle->shift) & mask);
  }

  void line(const Run &run, int64_t a, int64_t b) const {
    a += run.from;
    b += run.to;
    if (fromSwizzle || toSwizzle) {
      for (int64_t i = 0; i < run.count; ++i)
        to[swizzled(b + i * run.toStride, toSwizzle)] =
            from[swizzled(a + i * run.fromStride, fromSwizzle)];
    } else if (run.fromStride == 1 && run.toStride == 1) {
      std::memcpy(to + b, from + a, size_t(run.count) * sizeof(Element));
    } else if (run.toStride == 1) {
      for (int64_t i = 0; i < run.count; ++i)
        to[b + i] = from[a + i * run.fromStride];
    } else {
      for (int64_t i = 0; i < run.count; ++i)
        to[b + i * run.toStride] = from[a + i * run.fromStride];
    }
  }

  /// `inner` has a constant stride in the target, `outer` in the source.
  void tile(const Run &outer, const Run &inner, int64_t a, int64_t b) const {
    if (inner.fromStride == 1 || outer.count == 1) {
      for (int64_t k = 0; k < outer.count; ++k)
        line(inner, a + outer.from + k * outer.fromStride, b + outer.to + k * outer.toStride);
      return;
    }
    constexpr int64_t width = 32;
    for (int64_t i = 0; i < inner.count; i += width)
      for (int64_t o = 0; o < outer.count; o += width) {
        Run part = inner;
        part.count = std::min(width, inner.count - i);
        part.from += i * inner.fromStride;
        part.to += i * inner.toStride;
        for (int64_t k = o; k < std::min(o + width, outer.count); ++k)
          line(part, a + outer.from + k * outer.fromStride, b + outer.to + k * outer.toStride);
      }
  }

  void walk(const Loop *loops, size_t count, int64_t a, int64_t b) const {
    if (count == 1) {
      for (const Run &run : loops[0])
        line(run, a, b);
      return;
    }
    if (count == 2) {
      for (const Run &outer : loops[0])
        for (const Run &inner : loops[1])
          tile(outer, inner, a, b);
      return;
    }
    for (const Run &run : loops[0])
      for (int64_t i = 0; i < run.count; ++i)
        walk(loops + 1, count - 1, a + run.from + i * run.fromStride,
             b + run.to + i * run.toStride);
  }
};
} // namespace

/// The smallest stride of the loop on one side; the loop with the least is innermost.
static int64_t reach(const Loop &loop, bool source) {
  for (const Run &run : loop)
    if (run.count > 1)
      return std::abs(source ? run.fromStride : run.toStride);
  return INT64_MAX;
}

template <typename Element>
static void copyElements(const void *from, const Layout &fromLayout, void *to,
                         const Layout &toLayout, const Sizes &sizes) {
  std::vector<Loop> loops;
  for (const MergedNames &group : groupsOf(fromLayout, toLayout, sizes))
    loops.push_back(loopOf(group, fromLayout, toLayout, sizes));
  coalesce(loops);
  // The innermost loop is contiguous in the target, the next in the source; the outermost loops
  // have the largest strides.
  std::sort(loops.begin(), loops.end(),
            [](const Loop &a, const Loop &b) { return reach(a, false) > reach(b, false); });
  if (loops.size() > 2) {
    auto closest =
        std::min_element(loops.begin(), loops.end() - 1, [](const Loop &a, const Loop &b) {
          return reach(a, true) < reach(b, true);
        });
    std::rotate(closest, closest + 1, loops.end() - 1);
  }
  if (loops.empty())
    loops.push_back({Run{0, 0, 1, 0, 0}});
  Copy<Element> copy{static_cast<const Element *>(from), static_cast<Element *>(to)};
  if (fromLayout.swizzle.bits)
    copy.fromSwizzle = &fromLayout.swizzle;
  if (toLayout.swizzle.bits)
    copy.toSwizzle = &toLayout.swizzle;
  copy.walk(loops.data(), loops.size(), 0, 0);
}

void heddle::relayout(const void *from, const Layout &fromLayout, void *to, const Layout &toLayout,
                      const Sizes &sizes, int64_t elementBytes) {
  int64_t bytes = toLayout.elements(sizes) * elementBytes;
  if (bytes == 0)
    return;
  bool padded = toLayout.hasPadding(sizes);
  if (fromLayout.factors == toLayout.factors && fromLayout.swizzle == toLayout.swizzle &&
      (!toLayout.zeroPadded || fromLayout.zeroPadded || !padded)) {
    std::memcpy(to, from, size_t(bytes));
    return;
  }
  if (toLayout.zeroPadded && padded)
    std::memset(to, 0, size_t(bytes));
  switch (elementBytes) {
  case 1:
    return copyElements<uint8_t>(from, fromLayout, to, toLayout, sizes);
  case 2:
    return copyElements<uint16_t>(from, fromLayout, to, toLayout, sizes);
  case 4:
    return copyElements<uint32_t>(from, fromLayout, to, toLayout, sizes);
  default:
    return copyElements<uint64_t>(from, fromLayout, to, toLayout, sizes);
  }
}

//===- Shards.cpp - tensors that are sharded over ranks -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Shards.h"

#include "heddle/Error.h"
#include "runtime/memory/Relayout.h"

#include <cstring>
#include <limits>
#include <ranges>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Shards::Shards(MeshSpec mesh, Sharding axes, Sizes sizes, Place place)
    : ranks(std::move(mesh)), split(std::move(axes)), whole(std::move(sizes)), block(whole),
      at(std::move(place)) {
  if (std::string problem = verifyPlace(ranks, at); !problem.empty())
    throw Error("the tensor is at " + problem);
  if (std::string problem = verifyShards(ranks, split); !problem.empty())
    throw Error("the sharding " + describe(split) + " has " + problem);
  std::erase_if(split, [](const auto &entry) { return entry.second.empty(); });
  for (const auto &[name, size] : whole)
    if (size < 0)
      throw Error("expected sizes of at least 0, got " + std::to_string(size) + " of '" + name +
                  "'");
  for (const auto &[name, list] : split) {
    auto size = whole.find(name);
    if (size == whole.end())
      throw Error("the sharding " + describe(split) + " splits '" + name +
                  "', which the tensor lacks");
    int64_t parts = 1;
    for (const AxisPart &axis : list) {
      digits[name].push_back(*ranks.digitOf(axis));
      parts *= digits[name].back().parts;
    }
    if (size->second > std::numeric_limits<int64_t>::max() - parts)
      throw Error("expected a smaller size of '" + name + "' to split it into " +
                  std::to_string(parts) + " parts, got " + std::to_string(size->second));
    block[name] = blockSize(size->second, parts);
  }
}

bool Shards::holds(int64_t rank) const {
  return std::all_of(at.begin(), at.end(), [&](const auto &stated) {
    int64_t own = ranks.coordinate(rank, stated.first);
    return std::find(at.begin(), at.end(), std::pair(stated.first, own)) != at.end();
  });
}

TensorRef Shards::absent(ElementType element) {
  return std::make_shared<RuntimeTensor>(TensorSpec{element, {{absentName, Expr(0)}}},
                                         Layout::rowMajor({absentName}));
}

Shards::Intervals Shards::heldBy(int64_t rank) const {
  Intervals held;
  if (!holds(rank)) {
    for (const auto &[name, size] : whole)
      held[name] = {size, 0};
    return held;
  }
  for (const auto &[name, size] : whole) {
    int64_t part = 0, full = block.find(name)->second;
    if (auto list = digits.find(name); list != digits.end())
      for (const MeshSpec::Digit &digit : list->second)
        part = part * digit.parts + rank / digit.stride % digit.parts;
    int64_t begin = std::min(part * full, size);
    held[name] = {begin, std::min(full, size - begin)};
  }
  return held;
}

int64_t Shards::blocks() const {
  int64_t count = 1;
  for (const auto &[name, list] : digits)
    for (const MeshSpec::Digit &digit : list)
      count *= digit.parts;
  return count;
}

/// The first rank of the place.
int64_t Shards::firstOfPlace() const {
  std::map<std::string, int64_t> least; // by axis
  for (const auto &[axis, coordinate] : at) {
    int64_t &known = least.try_emplace(axis, coordinate).first->second;
    known = std::min(known, coordinate);
  }
  int64_t first = 0;
  for (const auto &[axis, coordinate] : least)
    first += coordinate * ranks.digitOf(axis)->stride;
  return first;
}

int64_t Shards::firstHolder(int64_t rank) const {
  int64_t first = firstOfPlace();
  for (const auto &[name, list] : digits)
    for (const MeshSpec::Digit &digit : list)
      first += rank / digit.stride % digit.parts * digit.stride;
  return first;
}

std::vector<int32_t> Shards::firstHolders() const {
  std::vector<int32_t> holders = {int32_t(firstOfPlace())};
  for (const auto &[name, list] : digits)
    for (const MeshSpec::Digit &digit : list) {
      size_t before = holders.size();
      for (int64_t i = 1; i < digit.parts; ++i)
        for (size_t k = 0; k < before; ++k)
          holders.push_back(int32_t(holders[k] + i * digit.stride));
    }
  std::sort(holders.begin(), holders.end());
  return holders;
}

AxisList Shards::splittingAxes() const {
  AxisList result;
  for (const auto &[axis, size] : ranks.axes) {
    auto uses = [&, &axis = axis](const AxisPart &part) { return part.name == axis; };
    if (size > 1 &&
        (std::any_of(at.begin(), at.end(), [&](const auto &each) { return uses(each.first); }) ||
         std::any_of(split.begin(), split.end(), [&](const auto &each) {
           return std::any_of(each.second.begin(), each.second.end(), uses);
         })))
      result.push_back(axis);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Choosing names
//===----------------------------------------------------------------------===//

namespace {
/// Tries all ways to distribute the prime factors of the axes, in order, over the names, the
/// longest first.
class Splitting {
public:
  Splitting(const MeshSpec &mesh, const AxisList &axes, const Sizes &sizes)
      : axes(axes), names(sizes.begin(), sizes.end()), given(names.size()), best(names.size()) {
    std::erase_if(names, [](const auto &name) { return name.second < 2; });
    std::stable_sort(names.begin(), names.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    names.resize(std::min<size_t>(names.size(), 4)); // more would take long for little gain
    for (const AxisPart &axis : axes) {
      int64_t left = mesh.sizeOf(axis);
      for (int64_t factor = 2; left > 1; ++factor)
        for (; left % factor == 0; left /= factor)
          factors.push_back({axis, factor});
    }
  }

  Sharding find() {
    Sharding split;
    if (names.empty())
      return split;
    if (factors.empty()) // one device
      return {{names[0].first, axes}};
    visit(0, 0, 1, 0);
    size_t begin = 0;
    for (size_t i = 0; i < names.size(); begin += best[i++])
      if (best[i] > 0)
        split[names[i].first] = axesOf(begin, begin + best[i]);
    return split;
  }

private:
  struct Factor {
    AxisPart axis;
    int64_t parts;
  };
  const AxisList &axes;
  std::vector<std::pair<std::string, int64_t>> names;
  std::vector<Factor> factors;
  std::vector<size_t> given, best; ///< number of factors, by name
  double fewest = -1;              ///< elements of a block
  int used = 0;                    ///< names

  void visit(size_t name, size_t first, double elements, int count) {
    size_t least =
        name + 1 == names.size() ? factors.size() : first; // the last name takes the rest
    for (size_t end = factors.size() + 1; end-- > least;) {
      int64_t parts = 1;
      for (size_t i = first; i < end; ++i)
        parts *= factors[i].parts;
      given[name] = end - first;
      double block = elements * double(blockSize(names[name].second, parts));
      int now = count + (end > first);
      if (name + 1 < names.size()) {
        visit(name + 1, end, block, now);
      } else if (fewest < 0 || block < fewest || (block == fewest && now < used)) {
        fewest = block;
        used = now;
        best = given;
      }
    }
  }

  /// Converts a range of factors to parts of the given axes.
  AxisList axesOf(size_t begin, size_t end) const {
    AxisList result;
    for (size_t i = begin; i < end;) {
      const AxisPart &axis = factors[i].axis;
      int64_t before = axis.before, count = 1, all = 1;
      for (size_t k = 0; k < factors.size(); ++k)
        if (factors[k].axis == axis) {
          all *= factors[k].parts;
          if (k < begin)
            before *= factors[k].parts;
        }
      for (; i < end && factors[i].axis == axis; ++i)
        count *= factors[i].parts;
      result.push_back(count == all ? axis : AxisPart(axis.name, before, count));
    }
    return result;
  }
};
} // namespace

Sharding heddle::leastPadding(const MeshSpec &mesh, const AxisList &axes, const Sizes &sizes) {
  return Splitting(mesh, axes, sizes).find();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The layout for the elements of the intervals only; the other elements become a border. None if
/// the layout merges a split name with others.
static std::optional<Layout> within(Layout layout, const Sizes &sizes,
                                    const Shards::Intervals &intervals) {
  for (Layout::Factor &factor : layout.factors)
    for (const std::string &name : factor.names) {
      Shards::Interval part = intervals.find(name)->second;
      int64_t size = sizes.find(name)->second;
      if (part.begin == 0 && part.count == size)
        continue;
      if (factor.names.size() > 1)
        return std::nullopt;
      factor.low += part.begin;
      factor.high += size - part.begin - part.count;
    }
  layout.zeroPadded = false; // do not write the border
  return layout;
}

static TensorSpec specOf(ElementType element, const Sizes &sizes) {
  return {element, ExprMap(sizes.begin(), sizes.end())};
}

/// Throws unless the tensor has these sizes.
static void requireSizes(const RuntimeTensor &tensor, const Sizes &sizes, const char *what) {
  if (tensor.sizes() != sizes)
    throw Error(std::string("expected ") + what + " of type " +
                heddle::describe(specOf(tensor.spec().element, sizes)) + ", got " +
                heddle::describe(tensor.spec()));
}

Layout heddle::denseLayout(const Sizes &sizes) {
  auto names = std::views::keys(sizes);
  return Layout::rowMajor({names.begin(), names.end()});
}

TensorRef heddle::denseTensor(ElementType element, const Sizes &sizes,
                              std::optional<Layout> layout) {
  return std::make_shared<RuntimeTensor>(specOf(element, sizes),
                                         layout ? *layout : denseLayout(sizes));
}

/// Copies the intervals `source` of one tensor to `target` of the other, which have the same sizes.
static void copyWithin(const RuntimeTensor &from, const Shards::Intervals &source,
                       RuntimeTensor &to, const Shards::Intervals &target) {
  Sizes counts;
  for (const auto &[name, part] : source)
    if ((counts[name] = part.count) == 0)
      return;
  // If a layout merges a split name, or a device has the elements, copy through a dense tensor.
  auto fromLayout = within(from.layout(), from.sizes(), source);
  if (!fromLayout || from.space() != hostSpace)
    return copyWithin(*from.inLayout(denseLayout(from.sizes())), source, to, target);
  auto toLayout = within(to.layout(), to.sizes(), target);
  if (!toLayout || to.space() != hostSpace) {
    TensorRef dense = to.inLayout(denseLayout(to.sizes()));
    copyWithin(from, source, *dense, target);
    return to.copyFrom(*dense);
  }
  relayout(from.address(), *fromLayout, to.address(), *toLayout, counts,
           byteSize(to.spec().element));
}

/// The same intervals, relative to the block.
static Shards::Intervals fromZero(Shards::Intervals intervals) {
  for (auto &[name, part] : intervals)
    part.begin = 0;
  return intervals;
}

static Sizes countsOf(const Shards::Intervals &intervals) {
  Sizes counts;
  for (const auto &[name, part] : intervals)
    counts[name] = part.count;
  return counts;
}

static TensorRef zeros(ElementType element, const Sizes &sizes,
                       std::optional<Layout> layout = std::nullopt) {
  TensorRef made = denseTensor(element, sizes, std::move(layout));
  if (made->bytes() > 0)
    std::memset(made->address(), 0, size_t(made->bytes()));
  return made;
}

static void requireMemory(const RuntimeTensor &tensor) {
  if (tensor.bytes() > 0 && !tensor.address())
    (void)tensor.inLayout(tensor.layout()); // throws
}

TensorRef Shards::cut(const RuntimeTensor &tensor, int64_t rank,
                      std::optional<Layout> layout) const {
  requireSizes(tensor, whole, "a whole tensor");
  requireMemory(tensor);
  if (!holds(rank))
    return absent(tensor.spec().element);
  TensorRef made = zeros(tensor.spec().element, block, std::move(layout));
  Intervals held = heldBy(rank);
  copyWithin(tensor, held, *made, fromZero(held));
  return made;
}

TensorRef Shards::withoutFilling(const RuntimeTensor &held, int64_t rank) const {
  if (!holds(rank))
    return zeros(held.spec().element, countsOf(heldBy(rank)));
  requireSizes(held, block, "a block");
  requireMemory(held);
  Intervals part = fromZero(heldBy(rank));
  Sizes counts = countsOf(part);
  TensorRef made = zeros(held.spec().element, counts);
  copyWithin(held, part, *made, part);
  return made;
}

TensorRef Shards::withFilling(const RuntimeTensor &given, int64_t rank) const {
  Intervals part = fromZero(heldBy(rank));
  requireSizes(given, countsOf(part), "a part");
  if (!holds(rank))
    return absent(given.spec().element);
  requireMemory(given);
  TensorRef made = zeros(given.spec().element, block);
  copyWithin(given, part, *made, part);
  return made;
}

void Shards::put(const RuntimeTensor &held, int64_t rank, RuntimeTensor &tensor) const {
  requireSizes(tensor, whole, "a whole tensor");
  if (!holds(rank))
    return;
  requireSizes(held, block, "a block");
  if (held.spec().element != tensor.spec().element)
    throw Error("expected a block of " + std::string(spelling(tensor.spec().element)) + ", got " +
                heddle::describe(held.spec()));
  requireMemory(held);
  requireMemory(tensor);
  Intervals place = heldBy(rank);
  copyWithin(held, fromZero(place), tensor, place);
}

//===- Shards.cpp - tensors that are split over ranks ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Shards.h"

#include "heddle/Error.h"
#include "runtime/program/Relayout.h"

#include <charconv>
#include <cstring>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Reads a number of at least 1 from the front of `text`.
static bool takeNumber(std::string_view &text, int64_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(size_t(end - text.data()));
  return error == std::errc() && number >= 1;
}

std::optional<AxisPart> AxisPart::parse(std::string_view text) {
  size_t bracket = std::min(text.find('('), text.size());
  AxisPart part{std::string(text.substr(0, bracket))};
  if (part.axis.empty())
    return std::nullopt;
  if (bracket == text.size())
    return part;
  text.remove_prefix(bracket + 1);
  if (!takeNumber(text, part.before) || text.empty() || text[0] != ')')
    return std::nullopt;
  text.remove_prefix(1);
  if (!takeNumber(text, part.count) || !text.empty())
    return std::nullopt;
  return part;
}

namespace {
/// The parts of an axis that `text` names, from `before` to `end` of `size`.
struct Placed {
  std::string name; ///< of the tensor
  int64_t before, end, size;
};
} // namespace

/// The part of the mesh that `text` names; what is wrong with it is in `problem`.
static Placed placeOf(const MeshSpec &mesh, const std::string &name, const std::string &text,
                      std::string &axis, std::string &problem) {
  auto part = AxisPart::parse(text);
  Placed placed{name, 1, 1, part ? mesh.sizeOf(part->axis) : 0};
  if (!part) {
    problem = "the axis '" + text + "', expected one such as data or data(2)4";
    return placed;
  }
  axis = part->axis;
  int64_t size = placed.size, count = std::max<int64_t>(part->count, 1);
  if (size == 0) {
    problem = "the axis '" + axis + "', which the mesh " + mesh.describe() + " lacks";
  } else if (part->before > size || count > size || size % (part->before * count) != 0) {
    problem = "'" + text + "', which does not divide the " + std::to_string(size) +
              " ranks of the axis '" + axis + "'";
  } else {
    placed.before = part->before;
    placed.end = part->count ? part->before * part->count : size;
  }
  return placed;
}

std::string heddle::verifyShards(const MeshSpec &mesh, const ShardAxes &axes) {
  std::map<std::string, std::vector<Placed>> taken; // by axis
  std::string problem, axis;
  for (const auto &[name, list] : axes)
    for (const std::string &text : list) {
      Placed placed = placeOf(mesh, name, text, axis, problem);
      if (!problem.empty())
        return problem;
      // Parts of one axis follow each other: the end of one divides the beginning of the next.
      for (const Placed &other : taken[axis]) {
        const Placed &first = other.before < placed.before ? other : placed;
        const Placed &second = &first == &placed ? other : placed;
        if (first.before == second.before || second.before % first.end != 0)
          return "the axis '" + axis + "' twice, on '" + other.name + "' and '" + name + "'";
      }
      taken[axis].push_back(placed);
    }
  return "";
}

std::string heddle::describe(const ShardAxes &axes) {
  std::string text;
  for (const auto &[name, list] : axes) {
    text += (text.empty() ? "" : ", ") + name + ": ";
    for (size_t i = 0; i < list.size(); ++i)
      text += (i ? "+" : "") + list[i];
  }
  return "{" + text + "}";
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Shards::Shards(MeshSpec mesh, ShardAxes axes, Sizes sizes)
    : ranks(std::move(mesh)), split(std::move(axes)), whole(std::move(sizes)), block(whole) {
  if (std::string problem = verifyShards(ranks, split); !problem.empty())
    throw Error("the sharding " + describe(split) + " has " + problem);
  for (const auto &[name, size] : whole)
    if (size < 0)
      throw Error("expected sizes of at least 0, got " + std::to_string(size) + " of '" + name +
                  "'");
  std::map<std::string, int64_t> strides; // of ranks, of each axis
  int64_t stride = 1;
  for (size_t i = ranks.axes.size(); i-- > 0; stride *= ranks.axes[i].second)
    strides[ranks.axes[i].first] = stride;
  for (const auto &[name, list] : split) {
    auto size = whole.find(name);
    if (size == whole.end())
      throw Error("the sharding " + describe(split) + " splits '" + name +
                  "', which the tensor lacks");
    int64_t parts = 1;
    for (const std::string &text : list) {
      std::string axis, problem;
      Placed placed = placeOf(ranks, name, text, axis, problem);
      digits[name].push_back(
          {strides[axis] * (placed.size / placed.end), placed.end / placed.before});
      parts *= placed.end / placed.before;
    }
    block[name] = (size->second + parts - 1) / parts;
  }
}

Shards::Intervals Shards::heldBy(int64_t rank) const {
  Intervals held;
  for (const auto &[name, size] : whole) {
    int64_t part = 0, full = block.find(name)->second;
    if (auto list = digits.find(name); list != digits.end())
      for (const Digit &digit : list->second)
        part = part * digit.parts + rank / digit.stride % digit.parts;
    int64_t begin = std::min(part * full, size);
    held[name] = {begin, std::min(full, size - begin)};
  }
  return held;
}

int64_t Shards::blocks() const {
  int64_t count = 1;
  for (const auto &[name, list] : digits)
    for (const Digit &digit : list)
      count *= digit.parts;
  return count;
}

int64_t Shards::firstHolder(int64_t rank) const {
  int64_t first = 0;
  for (const auto &[name, list] : digits)
    for (const Digit &digit : list)
      first += rank / digit.stride % digit.parts * digit.stride;
  return first;
}

std::vector<int32_t> Shards::firstHolders() const {
  std::vector<int32_t> holders = {0};
  for (const auto &[name, list] : digits)
    for (const Digit &digit : list) {
      size_t before = holders.size();
      for (int64_t i = 1; i < digit.parts; ++i)
        for (size_t k = 0; k < before; ++k)
          holders.push_back(int32_t(holders[k] + i * digit.stride));
    }
  std::sort(holders.begin(), holders.end());
  return holders;
}

std::vector<std::string> Shards::splittingAxes() const {
  std::vector<std::string> result;
  for (const auto &[axis, size] : ranks.axes)
    for (const auto &[name, list] : split)
      for (const std::string &text : list)
        if (size > 1 && AxisPart::parse(text)->axis == axis &&
            (result.empty() || result.back() != axis))
          result.push_back(axis);
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The layout that names the elements of the intervals only: what is beside them is a border. None
/// where the layout merges a name that is split with others.
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
  layout.zeroPadded = false; // what is beside the intervals keeps its values
  return layout;
}

/// Throws unless the tensor has these sizes.
static void requireSizes(const RuntimeTensor &tensor, const Sizes &sizes, const char *what) {
  if (tensor.sizes() == sizes)
    return;
  TensorSpec wanted{tensor.spec().element, {}};
  for (const auto &[name, size] : sizes)
    wanted.dims[name] = size;
  throw Error(std::string("expected ") + what + " of type " + heddle::describe(wanted) + ", got " +
              heddle::describe(tensor.spec()));
}

static Layout denseLayout(const Sizes &sizes) {
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  return Layout::rowMajor(names);
}

/// Copies the intervals `source` of one tensor to `target` of the other, which are as large.
static void copyWithin(const RuntimeTensor &from, const Shards::Intervals &source,
                       RuntimeTensor &to, const Shards::Intervals &target) {
  Sizes counts;
  for (const auto &[name, part] : source)
    if ((counts[name] = part.count) == 0)
      return;
  // A layout that merges a name that is split goes through a dense copy.
  auto fromLayout = within(from.layout(), from.sizes(), source);
  if (!fromLayout)
    return copyWithin(*from.inLayout(denseLayout(from.sizes())), source, to, target);
  auto toLayout = within(to.layout(), to.sizes(), target);
  if (!toLayout) {
    TensorRef dense = to.inLayout(denseLayout(to.sizes()));
    copyWithin(from, source, *dense, target);
    return to.copyFrom(*dense);
  }
  relayout(from.address(), *fromLayout, to.address(), *toLayout, counts,
           byteSize(to.spec().element));
}

/// The same coordinates within a block.
static Shards::Intervals fromZero(Shards::Intervals intervals) {
  for (auto &[name, part] : intervals)
    part.begin = 0;
  return intervals;
}

static void requireMemory(const RuntimeTensor &tensor) {
  if (tensor.bytes() > 0 && (!tensor.address() || tensor.space() != hostSpace))
    (void)tensor.inLayout(tensor.layout()); // throws
}

TensorRef Shards::cut(const RuntimeTensor &tensor, int64_t rank,
                      std::optional<Layout> layout) const {
  requireSizes(tensor, whole, "a whole tensor");
  requireMemory(tensor);
  TensorSpec spec{tensor.spec().element, {}};
  for (const auto &[name, size] : block)
    spec.dims[name] = size;
  auto made = std::make_shared<RuntimeTensor>(spec, layout ? *layout : denseLayout(block));
  Intervals held = heldBy(rank);
  if (made->bytes() > 0 && !std::all_of(held.begin(), held.end(), [&](const auto &part) {
        return part.second.count == block.find(part.first)->second;
      }))
    std::memset(made->address(), 0, size_t(made->bytes()));
  copyWithin(tensor, held, *made, fromZero(held));
  return made;
}

void Shards::put(const RuntimeTensor &held, int64_t rank, RuntimeTensor &tensor) const {
  requireSizes(tensor, whole, "a whole tensor");
  requireSizes(held, block, "a block");
  if (held.spec().element != tensor.spec().element)
    throw Error("expected a block of " + std::string(spelling(tensor.spec().element)) + ", got " +
                heddle::describe(held.spec()));
  requireMemory(held);
  requireMemory(tensor);
  Intervals place = heldBy(rank);
  copyWithin(held, fromZero(place), tensor, place);
}

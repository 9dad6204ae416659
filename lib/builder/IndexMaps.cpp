//===- IndexMaps.cpp - windows, slices, padding, renaming, parts ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"
#include "lib/builder/Graph.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

namespace {
/// The shape of a window over `whole` elements, and padding to add beforehand: padding that depends
/// on a symbol cannot be part of the shape.
struct Window {
  nd::WindowShape shape;
  Expr low = Expr(0), high = Expr(0);
  bool isPadded = false; ///< pad by `low` and `high` first

  Window(const Name &name, const Name &tap, const WindowOptions &options, const Expr &whole)
      : shape{name.str(), tap.str(), options.size, options.stride, options.dilation, 0, 0} {
    if (options.padding.kind == Padding::Kind::Explicit) {
      shape.low = options.padding.low;
      shape.high = options.padding.high;
    } else if (options.padding.kind == Padding::Kind::Same) {
      // There are ceil(whole / stride) windows; the last one ends with the padding.
      Expr total = Expr((options.size - 1) * options.dilation + 1 - options.stride) +
                   (Expr(0) - whole).mod(options.stride);
      total = Expr::max(total, Expr(0));
      low = total.floordiv(2);
      high = total - low;
      isPadded = !total.constant();
      if (!isPadded) {
        shape.low = *low.constant();
        shape.high = *high.constant();
      }
    }
  }
};
} // namespace

static void requirePositive(const WindowOptions &options, Here here) {
  if (std::min({options.size, options.stride, options.dilation}) < 1)
    fail(here, "expected a window's size, stride and dilation to be at least 1, got " +
                   std::to_string(options.size) + ", " + std::to_string(options.stride) + " and " +
                   std::to_string(options.dilation));
}

/// Throws Error for a window that does not fit in a non-empty tensor.
static void requireFit(const Tensor &tensor, const Name &name, const WindowOptions &options,
                       Here here) {
  Expr whole = tensor.size(name, here).expr();
  int64_t reach = (options.size - 1) * options.dilation + 1,
          most = whole.constant().value_or(INT64_MAX);
  if (options.padding.kind == Padding::Kind::Same || most == 0 || most == INT64_MAX)
    return;
  if (options.padding.kind == Padding::Kind::Explicit)
    most += options.padding.low + options.padding.high;
  if (reach > most)
    fail(here, "expected a window that reaches over at most " + std::to_string(most) +
                   " elements of '" + name.str() + "' of " + typeAndOrigin(tensor) + ", got " +
                   std::to_string(reach));
}

Tensor Tensor::window(const Name &name, const Name &tap, WindowOptions options, Here here) const {
  GraphLock lock;
  NodeRef input = nodeOf(*this, here);
  requirePositive(options, here);
  requireFit(*this, name, options, here);
  nd::SizeAttr whole = input->type().size(name.str());
  Window window(name, tap, options, whole ? whole.getExpr() : Expr(0));
  requireNumber(options.padding.value, input->type().getElementType(), here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    if (window.isPadded && options.padding.exclude) {
      // Makes a window at every element, with the largest padding, and keeps every stride-th one.
      nd::WindowShape everywhere = window.shape;
      int64_t most = (options.size - 1) * options.dilation;
      everywhere.stride = 1;
      everywhere.low = most / 2;
      everywhere.high = most - everywhere.low;
      return nd::buildSlice(builder, loc, nd::buildWindow(builder, loc, input->value, everywhere),
                            name.str(), Expr(everywhere.low) - window.low,
                            (whole.getExpr() + (options.stride - 1)).floordiv(options.stride),
                            options.stride);
    }
    TypedAttr padding;
    if (!options.padding.exclude)
      padding = nd::numberAttr(input->type().scalarType(), options.padding.value);
    if (window.isPadded)
      return nd::buildWindow(
          builder, loc,
          nd::buildPad(builder, loc, input->value, name.str(), window.low, window.high, 0, padding),
          window.shape);
    bool isInside = !window.shape.low && !window.shape.high;
    return nd::buildWindow(builder, loc, input->value, window.shape,
                           isInside ? TypedAttr() : padding);
  });
}

Tensor Tensor::unwindow(const Name &name, const Name &tap, WindowOptions options, const Size &whole,
                        Here here) const {
  NodeRef input = nodeOf(*this, here);
  requirePositive(options, here);
  Window window(name, tap, options, whole.expr());
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    Expr padded = whole.expr() + (window.isPadded ? window.low + window.high : Expr(0));
    Value sum = nd::buildUnwindow(builder, loc, input->value, window.shape, padded);
    return window.isPadded ? nd::buildSlice(builder, loc, sum, name.str(), window.low, whole.expr())
                           : sum;
  });
}

Tensor Tensor::rename(const std::vector<Rename> &renames, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    SmallVector<StringRef> from, to;
    for (const Rename &rename : renames) {
      from.push_back(rename.from.str());
      to.push_back(rename.to.str());
    }
    return nd::buildRename(builder, loc, input->value, from, to);
  });
}

Tensor Tensor::broadcast(const std::vector<Extent> &extents, Here here) const {
  NodeRef input = nodeOf(*this, here);
  auto dims = dimsOf(extents, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildBroadcast(builder, loc, input->value, dims);
  });
}

Tensor Tensor::slice(const Name &name, const Size &start, const Size &size, int64_t stride,
                     Here here) const {
  NodeRef input = nodeOf(*this, here);
  if (stride == 0)
    fail(here, "expected a stride of '" + name.str() + "' other than 0, got 0");
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildSlice(builder, loc, input->value, name.str(), start.expr(), size.expr(),
                          stride);
  });
}

Tensor Tensor::pad(const Name &name, const Size &low, const Size &high, double value,
                   Here here) const {
  NodeRef input = nodeOf(*this, here);
  requireNumber(value, input->type().getElementType(), here);
  bool addsNone = low.expr() == Expr(0) && high.expr() == Expr(0);
  if (!addsNone && includedIn(input, here))
    fail(here, "expected no padding of what windows exclude taps from, got " +
                   typeAndOrigin(*this) + "; pad before the window, or give it a padding value");
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildPad(builder, loc, input->value, name.str(), low.expr(), high.expr(), 0,
                        nd::numberAttr(input->type().scalarType(), value));
  });
}

Tensor Tensor::split(const Name &name, const std::vector<Extent> &into, Here here) const {
  NodeRef input = nodeOf(*this, here);
  auto dims = dimsOf(into, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildSplit(builder, loc, input->value, name.str(), dims);
  });
}

Tensor Tensor::merge(const Names &names, const Name &into, Here here) const {
  NodeRef input = nodeOf(*this, here);
  return make(here, {input}, [&](OpBuilder &builder, Location loc) {
    return nd::buildMerge(builder, loc, input->value, strings(names), into.str());
  });
}

Tensor concat(const std::vector<Tensor> &parts, const Name &along, Here here) {
  if (parts.empty())
    fail(here, "expected tensors to join along '" + along.str() + "', got none");
  std::vector<NodeRef> nodes = nodesOf(parts, here);
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    return nd::buildConcat(builder, loc, valuesOf(nodes), along.str());
  });
}

Tensor Tensor::reverse(const Name &name, Here here) const {
  Size count = size(name, here);
  return count.expr() == Expr(0) ? *this : slice(name, count - 1, count, -1, here);
}

Tensor Tensor::pad(const Name &name, const Size &low, const Size &high, PadMode mode,
                   Here here) const {
  Size count = size(name, here);
  // The padding may not exceed the elements that it copies. If that depends on symbols, each call
  // checks it.
  Expr most = mode == PadMode::Reflect ? count.expr() - Expr(1)
              : mode == PadMode::Wrap  ? count.expr()
                                       : Expr(INT64_MAX);
  if (count.expr() == Expr(0))
    most = 0;
  for (const Size &beyond : {low, high})
    if (beyond.expr().constant().value_or(0) < 0 ||
        (mode != PadMode::Edge || most == Expr(0) ? (most - beyond.expr()).constant().value_or(0)
                                                  : 0) < 0)
      fail(here, "expected 0 to " + most.str() + " elements beyond either end of '" + name.str() +
                     "' of " + type() + ", got " + low.expr().str() + " and " + high.expr().str());
  auto repeated = [&](const Size &first, const Size &times) {
    return slice(name, first, 1, 1, here).split(name, {}, here).broadcast({{name, times}}, here);
  };
  std::vector<Tensor> parts{*this};
  if (low.expr() != Expr(0))
    parts.insert(parts.begin(), mode == PadMode::Edge ? repeated(0, low)
                                : mode == PadMode::Reflect
                                    ? slice(name, low, low, -1, here)
                                    : slice(name, count - low, low, 1, here));
  if (high.expr() != Expr(0))
    parts.push_back(mode == PadMode::Edge      ? repeated(count - 1, high)
                    : mode == PadMode::Reflect ? slice(name, count - 2, high, -1, here)
                                               : slice(name, 0, high, 1, here));
  return concat(parts, name, here);
}

} // namespace heddle

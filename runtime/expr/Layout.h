//===- Layout.h - the order of elements in memory ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout orders the elements of a tensor with named dimensions in memory. It is a list of
// factors, outermost first. A factor is derived from one name or from a merged group of names,
// whose last name varies fastest:
//
//     [batch, channel floordiv 16, row, column, channel mod 16]
//     [row, (out, j) floordiv 16, (out, j) mod 16]
//     [k floordiv 2, column, k mod 2]             pairs of k, for AVX-512 BF16
//     [row pad(1, 1), column pad(1, 1), channel]   a border of one element
//
// A factor's extent follows from the sizes: with channel: 20 the first layout has `channel floordiv
// 16` of extent 2 and `channel mod 16` of extent 16; the remaining 12 lanes are padding. Padding is
// undefined unless the layout has `zero_padded`. The address of an element is the row-major index
// of its factors: for batch: 8, row: 4, column: 4 the element (b, c, y, x) is at (((b * 2 + c
// floordiv 16) * 4 + y) * 4 + x) * 16 + c mod 16.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_EXPR_LAYOUT_H
#define HEDDLE_EXPR_LAYOUT_H

#include "heddle/Expr.h"

namespace heddle {

/// The maximum value of a size symbol; the minimum is 0.
inline constexpr int64_t largestSymbol = int64_t(1) << 31;
/// Sizes over symbols.
using SizeExprs = ExprMap;

struct Layout {
  /// `((merged index + low) floordiv divisor) mod modulus`; modulus 0 means none.
  struct Factor {
    std::vector<std::string> names;
    int64_t divisor = 1;
    int64_t modulus = 0;
    int64_t low = 0, high = 0; ///< border elements, `pad(low, high)`
    bool operator==(const Factor &) const = default;
    /// `b`, or `(a, b)` if names are merged.
    std::string namesText() const;
    /// The number of elements of the merged names, including the border.
    int64_t elements(const Sizes &sizes) const;
  };
  /// XORs address bits [base, base+bits) with those `shift` above.
  struct Swizzle {
    int64_t bits = 0, base = 0, shift = 0;
    bool operator==(const Swizzle &) const = default;
  };

  std::vector<Factor> factors;
  int64_t alignment = 64;  ///< of the first element, in bytes
  bool zeroPadded = false; ///< padding lanes and borders hold zero
  Swizzle swizzle;

  bool operator==(const Layout &) const = default;

  /// Row-major over `names`, the first outermost.
  static Layout rowMajor(const std::vector<std::string> &names);

  /// `[a, b floordiv 16, b mod 16]`, followed by `, align 128`, `, zero_padded`, `, swizzle(3, 4,
  /// 3)` if they differ from the default.
  std::string str() const;
  static std::optional<Layout> parse(std::string_view text, std::string *error = nullptr);

  /// Empty if the elements of a tensor with these sizes have distinct offsets; otherwise a message
  /// that names the offending dimension.
  std::string verify(const Sizes &sizes) const;
  /// The same for all values of the symbols.
  std::string verifyAll(const ExprMap &sizes) const;

  /// The extent of each factor.
  std::vector<int64_t> extents(const Sizes &sizes) const;
  std::vector<Expr> extentsOver(const ExprMap &sizes) const;
  /// The index of each factor as an expression over the tensor's names.
  std::vector<Expr> indices(const Sizes &sizes) const;
  std::vector<Expr> indicesOver(const ExprMap &sizes) const;
  /// The element offset (before the swizzle) as an expression over the names.
  Expr address(const Sizes &sizes) const;
  /// The number of elements in memory, including padding; 0 if a size is 0.
  int64_t elements(const Sizes &sizes) const;
  Expr elementsOver(const ExprMap &sizes) const;
  /// True if some offset corresponds to no element.
  bool hasPadding(const Sizes &sizes) const;
  /// The same layout with names replaced; others are kept.
  Layout rename(const std::map<std::string, std::string, std::less<>> &to) const;
  /// The offset of one element, including the swizzle.
  int64_t offset(const Sizes &sizes, const Sizes &position) const;
};

} // namespace heddle

#endif // HEDDLE_EXPR_LAYOUT_H

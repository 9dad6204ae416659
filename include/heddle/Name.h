//===- Name.h - names of dimensions -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension is known by its name, everywhere and only by it:
//
//     Name row("row"), column("column");
//     Name ky = fresh("ky");              // a name that nothing else has
//
// Two names are equal if they are spelt alike. Names are bound to one another by pairs,
// `{row_k, ky}`, never by assignment, which is why a Name cannot be assigned to.
// Arithmetic on names gives index expressions: `2 * row + ky - 1`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NAME_H
#define HEDDLE_NAME_H

#include "heddle/Expr.h"

#include <concepts>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct SymbolicSize;

class Name {
public:
  /// Throws Error unless `spelling` matches [A-Za-z_][A-Za-z0-9_.$]*.
  explicit Name(std::string_view spelling);
  Name(const Name &) = default;
  Name &operator=(const Name &) = delete;

  const std::string &str() const { return spelling; }
  operator Expr() const { return Expr::name(spelling); }
  bool operator==(const Name &other) const { return spelling == other.spelling; }
  bool operator<(const Name &other) const { return spelling < other.spelling; }

  /// For JitOptions::symbolic: sizes from `low` to `high`, or multiples of `divisor`.
  SymbolicSize between(int64_t low, int64_t high) const;
  SymbolicSize multipleOf(int64_t divisor) const;

private:
  std::string spelling;
};

/// What is said of a size that is no number: `batch.between(1, 4096).multipleOf(8)`. The name alone
/// says nothing.
struct SymbolicSize {
  Name name;
  int64_t low = 0, high = int64_t(1) << 31, divisor = 1;
  SymbolicSize(const Name &name) : name(name) {}
  SymbolicSize between(int64_t low, int64_t high) const;
  SymbolicSize multipleOf(int64_t divisor) const;
};
inline SymbolicSize Name::between(int64_t low, int64_t high) const {
  return SymbolicSize(*this).between(low, high);
}
inline SymbolicSize Name::multipleOf(int64_t divisor) const {
  return SymbolicSize(*this).multipleOf(divisor);
}

/// A name unlike any other, spelt `base$1`, `base$2`, ...; numbered from one within each traced
/// function.
Name fresh(std::string_view base);

using Names = std::vector<Name>;
/// Some of them; names alone will do.
struct SymbolicSizes : std::vector<SymbolicSize> {
  using std::vector<SymbolicSize>::vector;
  SymbolicSizes(std::vector<SymbolicSize> sizes) : vector(std::move(sizes)) {}
  SymbolicSizes(const Names &names) : vector(names.begin(), names.end()) {}
};
/// A list of names: `over(row, column)`.
template <typename... N>
Names over(const N &...names) {
  return Names{names...};
}

/// `from` becomes `to`.
struct Rename {
  Name from, to;
};
/// How large a dimension is: a number, and used as one. In a function that one program serves for
/// every size (JitOptions::symbolic) it may be an expression over symbols instead; then it can be
/// passed on, `{batch, x.size(batch)}`, and asking it for a number throws.
class Size {
public:
  Size(std::integral auto number) : size(int64_t(number)) {}
  Size(Expr size) : size(std::move(size)) {}
  /// Of dimension `name`, asked for `here`.
  Size(Expr size, const Name &name, std::source_location here)
      : size(std::move(size)), name(name.str()), here(here) {}
  operator int64_t() const { return size.isConstant() ? size.offset() : refuse(); }
  const Expr &expr() const { return size; }
  bool isNumber() const { return size.isConstant(); }

private:
  Expr size;
  std::string name;
  std::source_location here;
  [[noreturn]] int64_t refuse() const;
};

/// A name with a size: `{row, 28}`.
struct Extent {
  Name name;
  Size size;
};

inline Expr operator+(const Name &a, const Name &b) { return Expr(a) + Expr(b); }
inline Expr operator-(const Name &a, const Name &b) { return Expr(a) - Expr(b); }
inline Expr operator+(const Name &a, int64_t b) { return Expr(a) + Expr(b); }
inline Expr operator-(const Name &a, int64_t b) { return Expr(a) - Expr(b); }
inline Expr operator*(const Name &a, int64_t b) { return Expr(a) * Expr(b); }

} // namespace heddle

#endif // HEDDLE_NAME_H

//===- Name.h - names of dimensions -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name alone identifies a dimension:
//
//     Name row("row"), column("column");
//     Name ky = fresh("ky");              // distinct from all other names
//
// Two names are equal if their spellings are. Pairs relate names to each other, `{row_k, ky}`; a
// Name cannot be assigned to. Arithmetic on names makes index expressions: `2 * row + ky - 1`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NAME_H
#define HEDDLE_NAME_H

#include "heddle/Expr.h"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct SymbolicSize;

class Name {
public:
  /// Throws Error unless `spelling` matches [A-Za-z_][A-Za-z0-9_.$]*.
  explicit Name(std::string_view spelling, Here here = Here::current());
  Name(const Name &) = default;
  Name &operator=(const Name &) = delete;

  const std::string &str() const { return spelling; }
  operator Expr() const { return Expr::name(spelling); }
  operator const std::string &() const { return spelling; }
  bool operator==(const Name &other) const { return spelling == other.spelling; }
  bool operator<(const Name &other) const { return spelling < other.spelling; }

  /// A symbolic size (JitOptions::symbolic) from `low` to `high`, both inclusive. Throws Error
  /// unless 0 <= low <= high <= 2^31.
  SymbolicSize between(int64_t low, int64_t high, Here here = Here::current()) const;
  /// A symbolic size that is a multiple of `divisor`. Throws Error unless 1 <= divisor <= 2^31.
  SymbolicSize multipleOf(int64_t divisor, Here here = Here::current()) const;
  /// A symbolic size that is an expression over the sizes of other names: `time.is(batch)`,
  /// `time.is(2 * batch + 1)`.
  SymbolicSize is(const Expr &size) const;

private:
  std::string spelling;
};

/// A symbolic size with conditions on it: `batch.between(1, 4096).multipleOf(8)`. A Name converts
/// to one without conditions.
struct SymbolicSize {
  Name name;
  int64_t low = 0, high = int64_t(1) << 31; ///< both inclusive
  int64_t divisor = 1;                      ///< the size is a multiple of it
  std::optional<Expr> relation;             ///< the size, as an expression over other names
  SymbolicSize(const Name &name) : name(name) {}
  SymbolicSize between(int64_t low, int64_t high, Here here = Here::current()) const;
  SymbolicSize multipleOf(int64_t divisor, Here here = Here::current()) const;
};
inline SymbolicSize Name::between(int64_t low, int64_t high, Here here) const {
  return SymbolicSize(*this).between(low, high, here);
}
inline SymbolicSize Name::is(const Expr &size) const {
  SymbolicSize result(*this);
  result.relation = size;
  return result;
}
inline SymbolicSize Name::multipleOf(int64_t divisor, Here here) const {
  return SymbolicSize(*this).multipleOf(divisor, here);
}

/// A name that is distinct from all others, spelt `base$1`, `base$2`, ...; numbers start at 1
/// within each traced function.
Name fresh(std::string_view base, Here here = Here::current());

/// A list of names. A single name or spelling converts to one: `sum(x, row)`, `sum(x, "row")`.
struct Names : std::vector<Name> {
  Names() = default;
  Names(std::initializer_list<Name> names) : vector(names) {}
  Names(std::vector<Name> names) : vector(std::move(names)) {}
  Names(const Name &name) : vector(1, name) {}
  /// Throws Error for an invalid spelling. (It is a template, so that a literal 0 does not convert
  /// to it as a null pointer.)
  template <std::convertible_to<std::string_view> S>
  Names(const S &spelling, Here here = Here::current()) : vector(1, Name(spelling, here)) {}
};
/// A list of symbolic sizes, which converts from names.
struct SymbolicSizes : std::vector<SymbolicSize> {
  using std::vector<SymbolicSize>::vector;
  SymbolicSizes(std::vector<SymbolicSize> sizes) : vector(std::move(sizes)) {}
  SymbolicSizes(const Names &names) : vector(names.begin(), names.end()) {}
};
/// A list of names: `over(row, column)`, `over("row", "column")`.
template <typename... N>
Names over(const N &...names) {
  return Names{Name(names)...};
}

/// `from` becomes `to`.
struct Rename {
  Name from, to;
};
/// The size of a dimension, which converts to a number. In a function with symbolic sizes
/// (JitOptions::symbolic) it may be an expression over symbols. Such a size can be passed on,
/// `{batch, x.size(batch)}`, and computed with, `x.size(batch) / 8`; its conversion to a number
/// throws Error.
class Size {
public:
  Size(std::integral auto number) : size(int64_t(number)) {}
  Size(Expr size) : size(std::move(size)) {}
  /// The size of dimension `name`, queried at `here`.
  Size(Expr size, const Name &name, Here here)
      : size(std::move(size)), name(name.str()), here(here) {}
  operator int64_t() const { return size.isConstant() ? size.offset() : refuse(); }
  const Expr &expr() const { return size; }
  /// The number or the expression as text.
  std::string str() const { return size.str(); }
  bool isNumber() const { return size.isConstant(); }
  /// The source location of the query; `Here()` for a number.
  Here location() const { return here; }

private:
  Expr size;
  std::string name;
  Here here;
  [[noreturn]] int64_t refuse() const;
};

/// Arithmetic on sizes. Division rounds towards minus infinity; the divisor must be positive, else
/// Error is thrown.
inline Size operator+(const Size &a, const Size &b) { return a.expr() + b.expr(); }
inline Size operator-(const Size &a, const Size &b) { return a.expr() - b.expr(); }
inline Size operator*(const Size &a, const Size &b) { return a.expr() * b.expr(); }
template <std::same_as<Size> S>
Size operator+(const S &a, std::integral auto b) {
  return a + Size(b);
}
template <std::same_as<Size> S>
Size operator-(const S &a, std::integral auto b) {
  return a - Size(b);
}
template <std::same_as<Size> S>
Size operator*(const S &a, std::integral auto b) {
  return a * Size(b);
}
namespace detail {
/// Throws Error unless `b` is positive.
Size divided(const Size &a, int64_t b, bool remainder);
} // namespace detail
template <std::same_as<Size> S>
Size operator/(const S &a, std::integral auto b) {
  return detail::divided(a, int64_t(b), false);
}
template <std::same_as<Size> S>
Size operator%(const S &a, std::integral auto b) {
  return detail::divided(a, int64_t(b), true);
}
template <std::same_as<Size> S>
Size operator+(std::integral auto a, const S &b) {
  return Size(a) + b;
}
template <std::same_as<Size> S>
Size operator-(std::integral auto a, const S &b) {
  return Size(a) - b;
}
template <std::same_as<Size> S>
Size operator*(std::integral auto a, const S &b) {
  return Size(a) * b;
}

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

//===- Expr.h - canonical integer expressions over names --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `Expr` is an integer expression over named variables. The same class describes the size of a
// dimension (variables are size symbols: `(N - 3) floordiv 2 + 1`), the index of a read of a nest
// (variables are iteration names: `2 * row + ky - 1`) and the address of an element in a layout.
//
// Every Expr is kept in one canonical form, a sum of integer multiples of
// products of atoms
//
//     offset + c1 * a11 * a12 ... + c2 * a21 ... + ...
//
// whose atoms are names, `e floordiv k`, `e mod k`, `min(e, f)`, `max(e, f)` and
// whose terms are sorted. Two expressions that normalise to the same form are
// equal and print the same, so equality, hashing and printing are cheap and
// deterministic:
//
//     Expr r = Expr::name("row"), k = Expr::name("ky");
//     2 * r + k - r          ==  k + r
//     (4 * r + 6).floordiv(2) ==  2 * r + 3
//
// Ranges of the names allow more: `simplify` with r in [0, 8) and l in [0, 16) turns `(16 * r + l)
// floordiv 16` into `r` and `(16 * r + l) mod 16` into `l`. This rule is all that code generation
// needs for blocked, merged and interleaved layouts.
//
// Products of sums are multiplied out, so that a few lines of text can ask for more terms than fit
// into memory. The size of an expression is therefore limited. An expression beyond the limits is
// *too large*: it has no value, and every expression computed from it is too large as well. Code
// that parses the expressions of users checks `isTooLarge` and refuses them:
//
//     Expr size(1);
//     for (int i = 0; i < 16; ++i)
//       size = size * (Expr::name("A" + std::to_string(i)) + 1);
//     size.isTooLarge()       // 65,536 terms
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_EXPR_H
#define HEDDLE_EXPR_H

#include "heddle/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// An inclusive interval of integers.
struct Range {
  int64_t low = 0, high = 0;
  bool operator==(const Range &other) const = default;
};

/// Names with sizes; the order of a map is the sorted order of the names.
using Sizes = std::map<std::string, int64_t, std::less<>>;
/// The ranges of the names in an expression.
using Ranges = std::map<std::string, Range, std::less<>>;
class Expr;
/// Names with expressions: sizes over symbols, coordinates, or substitutions.
using ExprMap = std::map<std::string, Expr, std::less<>>;

class Expr {
public:
  /// One factor of a product: a name, or a non-linear function of expressions.
  struct Atom;
  using AtomRef = std::shared_ptr<const Atom>;

  /// `coefficient` times the product of `factors` (sorted, at least one).
  struct Term {
    int64_t coefficient;
    std::vector<AtomRef> factors;
  };

  Expr(int64_t constant = 0);
  Expr(const Expr &other);
  Expr(Expr &&other) noexcept;
  Expr &operator=(const Expr &other);
  Expr &operator=(Expr &&other) noexcept;
  ~Expr();
  /// An expression of one term.
  static Expr ofTerm(Term term);
  /// The variable called `name`. Names match `[A-Za-z_][A-Za-z0-9_.$]*`; the name `@3`, written
  /// `read(3)`, is the value of a nest's fourth read.
  static Expr name(std::string_view name);

  Expr operator+(const Expr &other) const;
  Expr operator-(const Expr &other) const;
  Expr operator*(const Expr &other) const;
  Expr operator-() const { return *this * Expr(-1); }
  /// Division rounding towards minus infinity. `divisor` must be positive.
  Expr floordiv(int64_t divisor, Here here = Here::current()) const;
  Expr ceildiv(int64_t divisor, Here here = Here::current()) const {
    return (*this + (divisor - 1)).floordiv(divisor, here);
  }
  /// The remainder in [0, divisor). `divisor` must be positive.
  Expr mod(int64_t divisor, Here here = Here::current()) const;
  static Expr min(const Expr &a, const Expr &b);
  static Expr max(const Expr &a, const Expr &b);

  /// The limits: terms in a sum, factors in an expression (names, divisions, minima and maxima,
  /// those within other factors included), and divisions, minima and maxima inside each other.
  static constexpr size_t mostTerms = 1024, mostFactors = 8192, mostNested = 64;
  /// True if the expression exceeds a limit. Expressions that are too large compare equal; they
  /// have no value and no bounds, print as `<too large>` and cannot be parsed back.
  bool isTooLarge() const;
  /// For messages: `an expression of at most 1024 terms, ...`.
  static std::string limits();

  bool isConstant() const { return termList.empty(); }
  /// The value, if the expression mentions no name.
  std::optional<int64_t> constant() const {
    return isConstant() ? std::optional<int64_t>(constantPart) : std::nullopt;
  }
  /// The name, if the expression is exactly one name.
  std::optional<std::string> asName() const;

  /// The canonical form: `offset()` plus the sum of `terms()`.
  int64_t offset() const { return constantPart; }
  const std::vector<Term> &terms() const { return termList; }

  /// The coefficient of the term that is `name` alone; 0 if there is none.
  int64_t coefficient(std::string_view name) const;
  /// True if the expression is `coefficient(name) * name + rest`, where `rest` does not mention
  /// `name`.
  bool isLinearIn(std::string_view name) const;
  /// True if every term is a single name.
  bool isAffine() const;
  /// The names in the expression, sorted.
  std::vector<std::string> names() const;
  bool mentions(std::string_view name) const;

  /// Replaces names by expressions; keeps names that have no replacement.
  Expr substitute(const ExprMap &replacement) const;
  Expr substitute(const std::function<std::optional<Expr>(const std::string &)> &replacement) const;
  /// The value, where `lookup` returns the value of each name; overflow wraps around. None if
  /// `lookup` returns none, or if the expression is too large.
  std::optional<int64_t>
  evaluate(const std::function<std::optional<int64_t>(const std::string &)> &lookup) const;

  /// Bounds that hold for all values of the names in `ranges`, not always the tightest ones; none
  /// if they depend on a name that has no range.
  std::optional<Range> bounds(const Ranges &ranges) const;
  /// An expression that is equal for all values of the names in `ranges`, without the divisions,
  /// remainders, minima and maxima that the ranges decide.
  Expr simplify(const Ranges &ranges) const;

  /// Text such as `2 * row + ky - 1`, `(N - 3) floordiv 2 + 1`, `min(a, b)`.
  std::string str() const;
  /// The inverse of `str`; none for invalid text, and `*error` (if not null) then says why.
  static std::optional<Expr> parse(std::string_view text, std::string *error = nullptr);

  /// A total order of canonical forms: negative, 0 or positive, as this is less than, equal to or
  /// greater than `other`.
  int compare(const Expr &other) const;
  bool operator==(const Expr &other) const { return compare(other) == 0; }
  bool operator<(const Expr &other) const { return compare(other) < 0; }
  size_t hash() const;

private:
  int64_t constantPart = 0;
  std::vector<Term> termList;
  static Expr ofAtom(AtomRef atom, int64_t coefficient = 1);
  /// The expression that is one atom; too large if the atom is nested too deep.
  static Expr ofAtom(Atom atom);
  static Expr tooLarge();
  void addTerm(Term term);
  bool exceeds() const;
  /// A sum of terms in the canonical form, or too large.
  static Expr finished(Expr sum);
  bool recombine();
  Expr simplify(const Ranges &ranges, int &rounds) const;
  /// The expression with each atom replaced by another expression.
  Expr replaceAtoms(const std::function<Expr(const AtomRef &)> &replacement) const;
};

struct Expr::Atom {
  enum class Kind : uint8_t { Name, FloorDiv, Mod, Min, Max };
  Kind kind;
  std::string name;           ///< Name
  std::vector<Expr> operands; ///< one for FloorDiv and Mod, two for Min and Max
  int64_t divisor = 0;        ///< FloorDiv, Mod
  size_t factors = 1;         ///< number of atoms in this one, itself included
  size_t nested = 0;          ///< depth of divisions, minima and maxima inside each other

  int compare(const Atom &other) const;
};

inline Expr operator+(int64_t a, const Expr &b) { return Expr(a) + b; }
inline Expr operator-(int64_t a, const Expr &b) { return Expr(a) - b; }
inline Expr operator*(int64_t a, const Expr &b) { return Expr(a) * b; }

/// True if `name` may name a dimension, a symbol or an iteration name.
bool isValidName(std::string_view name);

} // namespace heddle

template <>
struct std::hash<heddle::Expr> {
  size_t operator()(const heddle::Expr &expr) const { return expr.hash(); }
};

#endif // HEDDLE_EXPR_H

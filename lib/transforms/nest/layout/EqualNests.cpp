//===- EqualNests.cpp - nests with equal costs of layouts ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/EqualNests.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class KeyWriter {
public:
  explicit KeyWriter(const cost::NestFacts &facts) : facts(facts), nest(facts.nest()) {}

  std::string write(ArrayRef<AccessedValue> values) {
    writeNest();
    llvm::DenseMap<Value, unsigned> tensors;
    for (const NestAccess &access : nest.accesses) {
      add(tensors.try_emplace(access.tensor, unsigned(tensors.size())).first->second);
      writeAccess(access);
    }
    for (const AccessedValue &value : values) {
      addAll(value.accesses);
      add(value.open);
      for (const Layout &layout : value.candidates)
        writeLayout(nest.accesses[value.accesses[0]], layout);
    }
    return std::move(key);
  }

private:
  const cost::NestFacts &facts;
  const NestModel &nest;
  std::string key;

  void addBytes(const void *data, size_t size) {
    key.append(static_cast<const char *>(data), size);
  }
  template <typename T>
  void add(T number) {
    static_assert(std::is_arithmetic_v<T> || std::is_pointer_v<T>);
    addBytes(&number, sizeof number);
  }
  template <typename List>
  void addAll(const List &list) {
    add(list.size());
    for (auto each : list)
      add(each);
  }

  /// Adds the places of names in alphabetical order, among those that derived coordinates have.
  void addOrder(ArrayRef<std::string> names) {
    SmallVector<std::pair<StringRef, size_t>> order = {{"lane$", names.size()},
                                                       {"vector$", names.size() + 1}};
    for (auto [i, name] : llvm::enumerate(names))
      order.emplace_back(name, i);
    llvm::sort(order);
    for (auto [name, i] : order)
      add(i);
  }

  void writeNest() {
    for (const cost::Instructions *each : {&facts.body, &facts.combine, &facts.finish})
      addBytes(each, sizeof *each);
    add(facts.isUpdate), add(facts.depth), add(facts.adjustments);
    addOrder(nest.names);
    addAll(nest.sizes), addAll(nest.symbolic), addAll(nest.divisors);
    add(nest.firstProduced), add(nest.firstReduced);
    add(nest.bodyCost), add(nest.finishCost), add(nest.operations);
    add(nest.reduction), add(nest.accumulators), add(nest.lanes), add(nest.registers);
    add(nest.l1), add(nest.l2), add(nest.l3), add(nest.line);
  }

  void writeAccess(const NestAccess &access) {
    addOrder(access.dims);
    for (const nd::Dim &dim : access.type.getDims())
      add(dim.size().getAsOpaquePointer());
    add(access.type.getElementType().getAsOpaquePointer());
    add(access.elements);
    addAll(access.sizes);
    add(access.isWrite), add(access.inFinish), add(access.gathered), add(access.stageable);
    bool arePlain = true;
    for (const Coordinate &coordinate : access.coordinates) {
      add(coordinate.plain);
      arePlain &= coordinate.plain >= 0;
    }
    if (arePlain)
      return;
    add(access.map.getAsOpaquePointer());
    for (const Coordinate &coordinate : access.coordinates) {
      addAll(coordinate.mentioned), addAll(coordinate.movers), addAll(coordinate.steps);
      add(coordinate.linear), add(coordinate.constant);
      key += coordinate.expr.str() + ";";
    }
    for (const std::string &name : nest.names)
      key += name + ";";
  }

  void writeLayout(const NestAccess &access, const Layout &layout) {
    add(layout.factors.size());
    for (const Layout::Factor &factor : layout.factors) {
      for (const std::string &name : factor.names)
        add(size_t(llvm::find(access.dims, name) - access.dims.begin()));
      add(SIZE_MAX);
      add(factor.divisor), add(factor.modulus), add(factor.low), add(factor.high);
    }
    add(layout.alignment), add(layout.zeroPadded);
    add(layout.swizzle.bits), add(layout.swizzle.base), add(layout.swizzle.shift);
  }
};
} // namespace

std::string nest::keyOf(const cost::NestFacts &facts, ArrayRef<AccessedValue> values) {
  return KeyWriter(facts).write(values);
}

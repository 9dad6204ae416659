//===- ContentsTest.cpp - equal hashes of equal nests ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Rewrite.h"

#include "test/unit/transforms/nest/Held.h"

using namespace heddle;
using namespace mlir;

namespace {
/// A nest that adds the first read and `what`, a function of both.
std::string sum(const std::string &result, const std::string &a, const std::string &b,
                const std::string &what = "arith.mulf %q, %q : f32", const std::string &map = "[]",
                const std::string &attributes = "") {
  return "%" + result + " = nest.compute (k: 4) reads %" + a + "[], %" + b + map + " {\n" +
         "^bb0(%p: f32, %q: f32):\n  %r = " + what + "\n  %s = arith.addf %p, %r : f32\n" +
         "  nest.yield %s : f32\n} " + attributes +
         " : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>\n";
}

class ContentsTest : public ::testing::Test {
protected:
  /// The hash of the nests of a function, which has arguments a, b and c.
  uint64_t of(const std::string &nests) {
    module =
        parseSourceString<ModuleOp>("func.func @f(%a: !nd.tensor<f32, k: 4>, "
                                    "%b: !nd.tensor<f32, k: 4>, %c: !nd.tensor<f32, k: 4>) {\n" +
                                        nests + "return\n}",
                                    &context);
    EXPECT_TRUE(module) << nests;
    SmallVector<Operation *> ops;
    if (module)
      module->walk([&](nest::ComputeOp op) { ops.push_back(op); });
    return nest::Contents().of(ops);
  }

  void SetUp() override { loadDialects(context); }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ContentsTest, NeitherValuesNorNamesMatter) {
  uint64_t one = of(sum("x", "a", "b"));
  EXPECT_EQ(one, of(sum("x", "b", "c")));
  EXPECT_EQ(one,
            of(sum("x", "a", "b", "arith.mulf %q, %q : f32", "[]", "{heddle.name = \"other\"}")));
}

TEST_F(ContentsTest, CodeMapsAndAttributesMatter) {
  uint64_t one = of(sum("x", "a", "b"));
  EXPECT_NE(one, of(sum("x", "a", "b", "arith.mulf %p, %q : f32")));
  EXPECT_NE(one, of(sum("x", "a", "b", "arith.subf %q, %q : f32")));
  EXPECT_NE(one, of(sum("x", "a", "b", "arith.mulf %q, %q : f32", "[k = 3 - k]")));
  EXPECT_NE(one, of(sum("x", "a", "b", "arith.mulf %q, %q : f32", "[]", "{heddle.recompute}")));
}

TEST_F(ContentsTest, SharedValuesMatter) {
  EXPECT_NE(of(sum("x", "a", "b")), of(sum("x", "a", "a")));
  // A chain, nests side by side that share a read, and others that share none.
  uint64_t chain = of(sum("x", "a", "b") + sum("y", "x", "c"));
  uint64_t shares = of(sum("x", "a", "b") + sum("y", "a", "c"));
  EXPECT_NE(chain, shares);
  EXPECT_NE(shares, of(sum("x", "a", "b") + sum("y", "c", "c")));
  EXPECT_EQ(chain, of(sum("x", "b", "c") + sum("y", "x", "a")));
}

TEST_F(ContentsTest, ChangedNestsAreHashedAnew) {
  of(sum("x", "a", "b"));
  Operation *nest = nullptr;
  module->walk([&](nest::ComputeOp op) { nest = op; });
  nest::Contents contents;
  uint64_t before = contents.of(nest);
  nest->setAttr(nest::recomputeAttr, UnitAttr::get(&context));
  EXPECT_EQ(contents.of(nest), before);
  contents.forget(nest);
  EXPECT_NE(contents.of(nest), before);
}

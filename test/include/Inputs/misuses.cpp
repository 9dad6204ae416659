// Programs that are wrong: a compiler's message says what to write instead.

#include "heddle/heddle.h"

using namespace heddle;

static const Name row("row");

void conditions(Tensor a, Tensor b, Scalar s, Scalar t) {
  if (sum(a, over(row)) > 100.0)
    return;
  // CHECK: misuses.cpp:[[#@LINE-2]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  Tensor c = a ? a : b;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  bool either = a || b;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  bool both = a > 0.0 && b > 0.0;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  bool none = !a;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  bool plain = bool(a);
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write cond, select, logicalAnd
  if (s < t)
    return;
  // CHECK: misuses.cpp:[[#@LINE-2]]:{{.*}} error: {{.*}}deleted
  // CHECK: write select, logicalAnd
  Scalar larger = s > t ? s : t;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write select, logicalAnd
  bool outside = s < 0.0 || s > t;
  // CHECK: misuses.cpp:[[#@LINE-1]]:{{.*}} error: {{.*}}deleted
  // CHECK: write select, logicalAnd
}

#ifdef TREES
struct Plain {
  Tensor weight, bias;
};

void trees(Tensor x, Plain plain) {
  jit([](Tensor y, Plain p) { return y * p.weight; })(x, plain);
  // TREES-DAG: error: {{.*}}expected a tree of tensors: {{.*}} HEDDLE_FIELDS(first, second)
  grad([](Plain p) { return sum(p.weight, over(row)); }, plain);
  // TREES-DAG: misuses.cpp:[[#@LINE-1]]:{{.*}} {{requested|required from}} here
  jit([](auto y) { return y + 1.0; });
  // TREES-DAG: error: {{.*}}generic lambda names its parameters' types, [](Tensor x)
  valueAndGrad([](Tensor y) { return y.item(); }, x);
  // TREES-DAG: error: {{.*}}gives its loss as a Tensor, {{.*}} a number, such as item() gives
  jit([](Tensor y) { return y.item(); });
  // TREES-DAG: error: {{.*}}function that gives a tree of tensors: {{.*}} with constant(x)
  jit([](Tensor y, double rate) { return y * rate; });
  // TREES-DAG: error: {{.*}}trees of tensors as parameters: {{.*}}[](Tensor x, Tensor rate){{.*}}f(x, 0.1)
  sum(x, 0);
  // TREES-DAG: misuses.cpp:[[#@LINE-1]]:{{.*}} error:
}
// A member that is missing in the standard library says nothing to anybody.
// TREES-NOT: tuple_size
#endif

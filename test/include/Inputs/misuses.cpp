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
  // TREES-DAG: error: {{.*}}trees of tensors as parameters: {{.*}}[](Tensor x, Tensor
  // rate){{.*}}f(x, 0.1)
  sum(x, 0);
  // TREES-DAG: misuses.cpp:[[#@LINE-1]]:{{.*}} error:
}
// A member that is missing in the standard library says nothing to anybody.
// TREES-NOT: tuple_size
#endif

#ifdef MEMBERS
template <typename T>
void look(T tree) {
  forEachTensor(tree, [](const std::string &, Tensor &) {});
}
struct Forgets {
  Tensor w, b;
  HEDDLE_FIELDS(w)
};
struct Inner {
  Tensor w;
};
struct ForgetsOthers {
  Tensor w;
  std::vector<Tensor> many;
  std::optional<Forgets> some;
  std::map<std::string, std::pair<int, Tensor>> mapped;
  Inner inside;
  HEDDLE_FIELDS(w)
};
struct ListsTwice {
  Tensor first, second;
  HEDDLE_FIELDS(first, first)
};
struct Unknown {
  Tensor w;
  HEDDLE_FIELDS(w)
  std::function<Tensor(Tensor)> activation;
  const double *rate;
};
struct Unique {
  Tensor w;
  HEDDLE_FIELDS(w)
  std::unique_ptr<int> number;
};
struct Based : Unknown {
  Tensor b;
};
class Private {
public:
  Tensor w;
  HEDDLE_FIELDS(w)
  explicit Private(Tensor b) : b(b) {}

private:
  Tensor b;
};
struct WrongPlain {
  Tensor w, b;
  HEDDLE_FIELDS(w)
  HEDDLE_PLAIN(b)
};

void members(Forgets forgets, ForgetsOthers others, ListsTwice twice, Unknown unknown, Based based,
             Private hidden, Unique &unique, WrongPlain wrong) {
  look(forgets);
  // MEMBERS-DAG: error: {{.*}}a member that holds tensors is not listed: {{.*}}HEDDLE_PLAIN
  // MEMBERS-DAG: refuseForgotten{{.*}}Forgets{{[,;].*}}b{{[)>]}}
  look(others);
  // MEMBERS-DAG: refuseForgotten{{.*}}ForgetsOthers{{[,;].*}}many{{[)>]}}
  // MEMBERS-DAG: refuseForgotten{{.*}}ForgetsOthers{{[,;].*}}some{{[)>]}}
  // MEMBERS-DAG: refuseForgotten{{.*}}ForgetsOthers{{[,;].*}}mapped{{[)>]}}
  // MEMBERS-DAG: refuseForgotten{{.*}}ForgetsOthers{{[,;].*}}inside{{[)>]}}
  look(twice);
  // MEMBERS-DAG: refuseForgotten{{.*}}ListsTwice{{[,;].*}}second{{[)>]}}
  look(unknown);
  // MEMBERS-DAG: error: {{.*}}a member is neither a tree of tensors nor plain {{.*}}HEDDLE_PLAIN
  // MEMBERS-DAG: refuseUnknown{{.*}}Unknown{{[,;].*}}activation{{[)>]}}
  // MEMBERS-DAG: refuseUnknown{{.*}}Unknown{{[,;].*}}rate{{[)>]}}
  look(based);
  // MEMBERS-DAG: error: {{.*}}a struct's members can't be enumerated, since it has a base, a
  // constructor MEMBERS-DAG: requireComplete{{.*}}Based
  look(hidden);
  // MEMBERS-DAG: requireComplete{{.*}}Private
  forEachTensor(unique, [](const std::string &, Tensor &) {});
  // MEMBERS-DAG: requireComplete{{.*}}Unique
  jit([](WrongPlain w) { return w.w; })(wrong);
  // MEMBERS-DAG: error: {{.*}}expected plain members in HEDDLE_PLAIN
}
#endif

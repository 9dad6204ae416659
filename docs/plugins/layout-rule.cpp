// A rule of one's own for layouts: nothing that a program makes may lie in blocks (say, because a
// tool that looks at its memory can't read them). A layout that splits a name costs as much as a
// second of work.
#include "lib/pipelines/Extension.h"

namespace {
struct NoBlocks : heddle::Extension {
  void adjustLayouts(heddle::nest::LayoutProblem &problem) const override {
    for (heddle::nest::LaidValue &value : problem.values)
      for (size_t i = 0; i < value.cost.size(); ++i)
        if (value.candidates[i].str().find("floordiv") != std::string::npos)
          value.cost[i] += 2.5e9; // cycles
    // Nor may a copy in blocks be made for a nest: it accesses the value itself. That is slow, but
    // not as bad as a value in blocks.
    for (heddle::nest::LayoutTerm &term : problem.terms)
      for (size_t i = 0; i < term.copy.size(); ++i)
        if (term.copy[i] >= 0 && problem.values[term.value].candidates[term.copy[i]].str().find(
                                     "floordiv") != std::string::npos) {
          term.copy[i] = -1;
          term.cost[i] += 2.5e7;
        }
  }
};
} // namespace

HEDDLE_EXTENSION(NoBlocks)

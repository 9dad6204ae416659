// A cost model of one's own: a machine without caches, whose memory answers single elements slowly.
// Only registers hold data, so the compiler chooses other loops.
#include "lib/cost/Cost.h"
#include "lib/pipelines/Extension.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

using namespace heddle;

namespace {
struct NoCaches : Extension {
  nest::MachineAttr adjustMachine(nest::MachineAttr machine) const override {
    for (const char *cache : {"l1_bytes", "l2_bytes", "l3_bytes"})
      machine = cost::withFact(machine, cache, 0);
    return cost::withFact(machine, "memory_cycles_per_byte", 0.02);
  }

  void adjustCost(llvm::ArrayRef<cost::NestFacts>, cost::Cost &cost) const override {
    constexpr double latency = 80e-9;
    double waiting = cost.amounts.gathered * latency; // lanes that are loaded one by one
    cost.seconds += waiting;
    if (waiting > cost.seconds / 2)
      cost.limit = "latency";
  }
};
} // namespace

HEDDLE_EXTENSION(NoCaches)

// For heddle-opt, which loads it with the dialects of plugins.
extern "C" ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "no-caches", "1", [](mlir::DialectRegistry *registry) {
            cost::addAdjustment(*registry, std::make_shared<NoCaches>());
          }};
}

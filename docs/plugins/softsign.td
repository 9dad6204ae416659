include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "dialects/nd/NdTypes.td"
include "dialects/nd/NdInterfaces.td"
include "lib/transforms/nd/ExpandInterface.td"
include "lib/interp/MeaningInterface.td"

def Mine_Dialect : Dialect {
  let name = "mine";
  let cppNamespace = "mine";
}

def Mine_SoftsignOp : Op<Mine_Dialect, "softsign", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Nd_DifferentiableInterface>, DeclareOpInterfaceMethods<Nd_ExpandInterface>,
    DeclareOpInterfaceMethods<Interp_MeaningInterface>]> {
  let summary = "x / (1 + |x|), element by element";
  let arguments = (ins Nd_Tensor:$input);
  let results = (outs Nd_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

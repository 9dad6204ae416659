"""Prints programs in which sizes that are not large meet: large-sizes.py join | merge | call | address | place."""
import sys


def total(letter, count):
    return " + ".join(f"{letter}{i}" for i in range(count))


def told(count):
    return ", ".join(f"a{i}: A{i}, b{i}: B{i}" for i in range(count))


programs = {
    "join": f"""func.func private @f(%x: !nd.tensor<f32, n: {total('A', 600)}>, %y: !nd.tensor<f32, n: {total('B', 600)}>) {{
  %z = nd.concat %x, %y along n : (!nd.tensor<f32, n: {total('A', 600)}>, !nd.tensor<f32, n: {total('B', 600)}>) -> !nd.tensor<f32, n: 1>
  return
}}""",
    "merge": f"""func.func private @f(%x: !nd.tensor<f32, n: {total('A', 40)}, m: {total('B', 40)}>) {{
  %z = nd.merge %x [n, m] into k : !nd.tensor<f32, n: {total('A', 40)}, m: {total('B', 40)}> -> !nd.tensor<f32, k: 1>
  return
}}""",
    "call": f"""func.func private @inner(%x: !nd.tensor<f32, n: A, m: B>) -> !nd.tensor<f32> {{
  %z = nd.merge %x [n, m] into k : !nd.tensor<f32, n: A, m: B> -> !nd.tensor<f32, k: A * B>
  %s = nd.reduce %z over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: A * B>) -> !nd.tensor<f32> {{
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }}
  return %s : !nd.tensor<f32>
}}


func.func @f(%x: !nd.tensor<f32, n: {total('A', 40)}, m: {total('B', 40)}>, %y: !nd.tensor<f32, {told(40)}>) -> !nd.tensor<f32> {{
  %s = nd.call @inner(%x) : (!nd.tensor<f32, n: {total('A', 40)}, m: {total('B', 40)}>) -> !nd.tensor<f32>
  return %s : !nd.tensor<f32>
}}""",
}
names = ", ".join(f"d{i}: A{i} + B{i}" for i in range(14))
programs["address"] = f"""func.func @f(%x: !nd.tensor<f32, {names}>, %y: !nd.tensor<f32, {told(14)}>) -> !nd.tensor<f32, {names}> {{
  return %x : !nd.tensor<f32, {names}>
}}"""
# Each place is a sum, each size of the tensor that is read too: the bytes have 512 terms, the address has more than 1,024.
lines, kept = [], [f"d{i}: A{i} + B{i}" for i in range(9)]
for i in range(9):
    before = ", ".join(kept)
    kept[i] = f"d{i}: A{i}"
    lines.append(
        f"  %{i + 1} = nd.slice %{i} d{i} from B{i} - C size A{i} : !nd.tensor<f32, {before}> -> !nd.tensor<f32, {', '.join(kept)}>"
    )
names = ", ".join(f"d{i}: A{i} + B{i}" for i in range(9))
programs["place"] = "\n".join(
    [f"func.func @f(%0: !nd.tensor<f32, {names}>, %y: !nd.tensor<f32, {told(9)}, c: C>) -> !nd.tensor<f32, {', '.join(kept)}> {{"]
    + lines
    + [f"  return %9 : !nd.tensor<f32, {', '.join(kept)}>", "}"]
)
print(programs[sys.argv[1]])

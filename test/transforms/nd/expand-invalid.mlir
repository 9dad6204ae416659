// RUN: heddle-opt %s --load-dialect-plugin=%{expand-after} --nd-expand --split-input-file --verify-diagnostics

!k_t = !nd.tensor<f32, k: 4>
!j_t = !nd.tensor<f32, j: 2>

func.func @of_other_types(%x: !k_t, %y: !j_t) -> !k_t {
  // expected-error @below {{expected to be expanded to values of type '!nd.tensor<f32, k: 4>', got '!nd.tensor<f32, j: 2>'}}
  %0 = nd.after %x, %y {to = "token"} : !k_t, !j_t
  return %0 : !k_t
}

// -----

!k_t = !nd.tensor<f32, k: 4>
!j_t = !nd.tensor<f32, j: 2>

func.func @without_end(%x: !k_t, %y: !j_t) -> !k_t {
  // expected-error @below {{expands to ops that expand again, without end}}
  %0 = nd.after %x, %y {to = "itself"} : !k_t, !j_t
  return %0 : !k_t
}

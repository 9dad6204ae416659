/* Runs a program file through the C functions of the runtime. */
#include "heddle/runtime_c.h"

#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "error: %s\n", heddle_last_error());
  return 1;
}

int main(int argc, char **argv) {
  const char *const table_order[] = {"row", "column"};
  const int64_t table_sizes[] = {2, 3}, *weight_sizes = table_sizes + 1;
  const float table_values[] = {1, 2, 3, 4, 5, 6}, weight_values[] = {1, 10, 100};
  float sums[2];

  heddle_program *program = heddle_program_load(argv[argc - 1]);
  if (!program)
    return failed();
  const heddle_entry *entry = heddle_program_entry(program, 0);
  heddle_call *call = heddle_call_create(program, heddle_entry_name(entry), NULL);
  heddle_tensor *table = heddle_tensor_create(HEDDLE_F32, 2, table_order, table_sizes, NULL);
  heddle_tensor *weight = heddle_tensor_create(HEDDLE_F32, 1, table_order + 1, weight_sizes, NULL);
  if (heddle_tensor_copy_from(table, table_values, table_order, 2) ||
      heddle_tensor_copy_from(weight, weight_values, table_order + 1, 1) ||
      heddle_call_bind(call, heddle_value_name(heddle_entry_argument(entry, 0)), table, 0) ||
      heddle_call_bind(call, heddle_value_name(heddle_entry_argument(entry, 1)), weight, 0) ||
      heddle_call_run(call))
    return failed();
  heddle_tensor *result =
      heddle_call_result(call, heddle_value_name(heddle_entry_result(entry, 0)));
  if (heddle_tensor_copy_to(result, sums, table_order, 1))
    return failed();
  printf("%g\n%g\n", sums[0], sums[1]);
  heddle_tensor_free(result);
  heddle_tensor_free(weight);
  heddle_tensor_free(table);
  heddle_call_free(call);
  heddle_program_free(program);
  return 0;
}

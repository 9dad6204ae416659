/*===- Abi.h - the interface of compiled code ----------------------*- C -*-===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Compiled code imports nothing. The call context holds all that it needs:
 * the address of each value, and a table of functions that only the runtime
 * can provide. An entry function is run by every thread of a team at once:
 *
 *     int32_t entry(HeddleCall *call, int32_t thread, int32_t threads);
 *
 * The program's nests are its steps. Step s consists of `chunks` equal pieces
 * of work; threads fetch chunk numbers from `counters[s]` until none is left,
 * then meet at a barrier. Which thread runs which chunk never changes a value
 * (chunks write disjoint elements, reductions are split by size). Small steps are
 * run by thread 0 alone.
 *
 * A kernel has the type
 *
 *     void kernel(void *const *addresses, int64_t chunk, void *scratch);
 *
 * `addresses[i]` is its i-th operand or result; behind them lie, as numbers of 64 bits, the size
 * symbols that it needs. scratch is private to a thread.
 *
 *===----------------------------------------------------------------------===*/

#ifndef HEDDLE_PROGRAM_ABI_H
#define HEDDLE_PROGRAM_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_ABI_VERSION = 2 };

typedef struct HeddleCall HeddleCall;

/** Functions that the runtime provides to compiled code. Each returns 0, or a
 *  status that makes every thread leave the entry function with that status. */
typedef struct HeddleCallTable {
  /** All threads of the team wait for one another. */
  int32_t (*barrier)(HeddleCall *call, int32_t thread);
  /** Called by thread 0 before step `step`, after a barrier, when `call->hooks`
   *  is non-zero: managed memory makes and frees buffers here, profilers take
   *  the time. Step numbers run from 0, through branches and loops as these
   *  go; a last call with the number of steps ends the program. */
  int32_t (*step)(HeddleCall *call, int32_t step);
  /** Called by a thread whose step `step` failed, before it leaves the entry
   *  function with the status that this returns: `reason` goes into the error
   *  that the caller of the program gets, with the step's name and source location. */
  int32_t (*fail)(HeddleCall *call, int32_t step, const char *reason);
  /** Each runs a step that calls a library (`StepKind::Invoke`, `Start`, `Await`), on thread 0:
   *  `invoke` returns when the library's function has, `start` at once, and `await` when the
   *  function that an earlier step started has returned. */
  int32_t (*invoke)(HeddleCall *call, int32_t step);
  int32_t (*start)(HeddleCall *call, int32_t step);
  int32_t (*await)(HeddleCall *call, int32_t step);
} HeddleCallTable;

/** One call in flight. Filled by the runtime. The order of the fields is the
 *  ABI: compiled code reads them at fixed offsets (8 bytes each). */
struct HeddleCall {
  void **addresses;       /**< 0: address of each value of the entry */
  int64_t *counters;      /**< 8: one chunk counter a step, zero at the start; 64 bytes apart */
  void **scratch;         /**< 16: one private area a thread */
  const int64_t *symbols; /**< 24: values of the size symbols, and what follows from them */
  const HeddleCallTable *table; /**< 32 */
  int64_t hooks;                /**< 40: non-zero if table->step is to be called */
  void *runtime;                /**< 48: the runtime's own data */
  void *device;                 /**< 56: of the device that loaded the entry; null for the CPU */
};

typedef int32_t (*HeddleEntry)(HeddleCall *call, int32_t thread, int32_t threads);

/** A function of a library that steps call by name: `values[i]` is the address of the step's i-th
 *  value, `numbers[i]` its i-th number (a size symbol, or what follows from them). It returns 0, or a
 *  status that ends the program. */
typedef int32_t (*HeddleLibraryFunction)(void *const *values, const int64_t *numbers);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_PROGRAM_ABI_H */

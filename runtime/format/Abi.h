/*===- Abi.h - the interface of compiled code ----------------------*- C -*-===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Compiled code imports nothing. The call context holds all that it needs: the address of each
 * value, and a table of functions that only the runtime can provide. Every thread of a team runs
 * an entry function at once:
 *
 *     int32_t entry(HeddleCall *call, int32_t thread, int32_t threads);
 *
 * The program's nests are its steps. Step s consists of `chunks` equal pieces of work; threads take
 * chunk numbers from `counters[s]` until none is left, and then wait at a barrier. Values do not
 * depend on which thread runs which chunk: chunks write disjoint elements, and reductions are split
 * by size. Thread 0 alone runs small steps.
 *
 * A kernel has the type
 *
 *     void kernel(void *const *addresses, int64_t chunk, void *scratch);
 *
 * `addresses[i]` is the address of its i-th operand or result. The values of the size symbols that
 * it uses follow, 64 bits each. `scratch` is memory that is private to a thread.
 *
 *===----------------------------------------------------------------------===*/

#ifndef HEDDLE_RUNTIME_FORMAT_ABI_H
#define HEDDLE_RUNTIME_FORMAT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_ABI_VERSION = 2 };

typedef struct HeddleCall HeddleCall;

/** Functions that the runtime provides to compiled code. Each returns 0, or a status: every thread
 *  then leaves the entry function with that status. */
typedef struct HeddleCallTable {
  /** A barrier for all threads of the team. */
  int32_t (*barrier)(HeddleCall *call, int32_t thread);
  /** Called by thread 0 before step `step`, after a barrier, if `call->hooks` is not 0: managed
   *  memory allocates and frees buffers here, and profilers read the time. Steps are numbered from
   *  0; branches and loops skip and repeat numbers. The last call has the number of steps. */
  int32_t (*step)(HeddleCall *call, int32_t step);
  /** Called by a thread in which step `step` failed; the thread then leaves the entry function with
   *  the returned status. The program's caller gets an error with `reason` and with the name and
   *  source location of the step. */
  int32_t (*fail)(HeddleCall *call, int32_t step, const char *reason);
  /** Run steps that call a library (`StepKind::Invoke`, `Start`, `Await`), in thread 0. `invoke`
   *  returns after the function of the library has returned, `start` immediately, and `await` after
   *  the function that an earlier step started has returned. */
  int32_t (*invoke)(HeddleCall *call, int32_t step);
  int32_t (*start)(HeddleCall *call, int32_t step);
  int32_t (*await)(HeddleCall *call, int32_t step);
} HeddleCallTable;

/** A call of an entry. The runtime fills it in. Compiled code reads the fields at
 *  fixed offsets, which are the ABI: each takes 8 bytes. */
struct HeddleCall {
  void **addresses;  /**< 0: address of each value of the entry */
  int64_t *counters; /**< 8: a chunk counter for each step, 64 bytes apart, zero at the start */
  void **scratch;    /**< 16: private memory of each thread */
  const int64_t *symbols; /**< 24: values of the size symbols, then numbers derived from them */
  const HeddleCallTable *table; /**< 32 */
  int64_t hooks;                /**< 40: not 0 if table->step is to be called */
  void *runtime;                /**< 48: data of the runtime */
  void *device; /**< 56: data of the device that loaded the entry; null for the CPU */
};

typedef int32_t (*HeddleEntry)(HeddleCall *call, int32_t thread, int32_t threads);

/** A function of a library that steps call by name. `values[i]` is the address of the i-th value of
 *  the step, `numbers[i]` its i-th number (a size symbol, or one derived from them). It returns 0,
 *  or a status that ends the program. */
typedef int32_t (*HeddleLibraryFunction)(void *const *values, const int64_t *numbers);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_RUNTIME_FORMAT_ABI_H */

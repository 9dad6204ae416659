/*===- runtime_c.h - running compiled programs from C --------------*- C -*-===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * All that is needed to run a program file, for any language that can call C:
 *
 *     heddle_program *program = heddle_program_load("classifier.heddle");
 *     heddle_call *call = heddle_call_create(program, "classify", NULL);
 *
 *     const char *names[] = {"row", "column"};      // the order of the host's data
 *     int64_t sizes[] = {28, 28};
 *     heddle_tensor *image = heddle_tensor_create(HEDDLE_F32, 2, names, sizes, NULL);
 *     heddle_tensor_copy_from(image, pixels, names, 2);
 *
 *     if (heddle_call_bind(call, "image", image, 0) || heddle_call_run(call))
 *       fprintf(stderr, "%s\n", heddle_last_error());
 *     heddle_tensor *scores = heddle_call_result(call, "scores");
 *
 * Rules that hold for every function:
 * - Nothing is thrown and nothing aborts. A function that gives a handle gives
 *   NULL when it fails, one that gives a status HEDDLE_OK or another number; then
 *   `heddle_last_error()` says why, for the thread that called.
 * - Whoever creates a handle frees it; a result is a handle of its own. Freeing
 *   NULL does nothing. Handles keep what they need alive: a call may outlive its
 *   program, a result its call. Texts live as long as the handle that gave them.
 * - Different threads may use different handles at once, and one program. A call
 *   and a tensor belong to one thread at a time.
 * - A child of `fork` may use all handles that it has: threads are made anew there.
 *
 * A program file is native code that runs with all rights of the process. Load one
 * only if you would start an executable from the same source: its checksums find
 * damage, they prove nothing about who made it.
 *
 *===----------------------------------------------------------------------===*/

#ifndef HEDDLE_RUNTIME_C_H
#define HEDDLE_RUNTIME_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_program heddle_program; /**< a loaded program file */
typedef struct heddle_entry heddle_entry;     /**< one of its functions; belongs to the program */
typedef struct heddle_value heddle_value;     /**< an argument or a result of an entry; likewise */
typedef struct heddle_tensor heddle_tensor;   /**< a tensor in memory */
typedef struct heddle_call heddle_call;       /**< an entry with its memory and what is bound */

typedef int32_t heddle_status;
enum {
  HEDDLE_OK = 0,
  HEDDLE_ERROR = 1,           /**< a mistake of the caller or a failure of the machine */
  HEDDLE_EXECUTION_ERROR = 2, /**< the program gave up while it ran: donated tensors are lost */
};

typedef int32_t heddle_element;
enum {
  HEDDLE_I1 = 0, /**< one byte, 0 or 1 */
  HEDDLE_I8,
  HEDDLE_I16,
  HEDDLE_I32,
  HEDDLE_I64,
  HEDDLE_UI8,
  HEDDLE_UI16,
  HEDDLE_UI32,
  HEDDLE_UI64,
  HEDDLE_F16,
  HEDDLE_BF16,
  HEDDLE_F32,
  HEDDLE_F64,
  HEDDLE_F8E4M3FN,
  HEDDLE_F8E5M2,
};

/** Why the last call on this thread that failed did so; never NULL. */
const char *heddle_last_error(void);
/** "0.1.0" */
const char *heddle_runtime_version(void);

/*===-- Programs ----------------------------------------------------------===*/

/** Verifies every length and checksum, and that this CPU can run the code. The file has to be one
 *  that you trust: see above. */
heddle_program *heddle_program_load(const char *path);
void heddle_program_free(heddle_program *program);

size_t heddle_program_entry_count(const heddle_program *program);
const heddle_entry *heddle_program_entry(const heddle_program *program, size_t index);
const heddle_entry *heddle_program_find(const heddle_program *program, const char *name);
/** The whole manifest as JSON. */
const char *heddle_program_manifest(heddle_program *program);

const char *heddle_entry_name(const heddle_entry *entry);
size_t heddle_entry_argument_count(const heddle_entry *entry);
size_t heddle_entry_result_count(const heddle_entry *entry);
const heddle_value *heddle_entry_argument(const heddle_entry *entry, size_t index);
const heddle_value *heddle_entry_result(const heddle_entry *entry, size_t index);

const char *heddle_value_name(const heddle_value *value);
heddle_element heddle_value_element(const heddle_value *value);
size_t heddle_value_rank(const heddle_value *value);
/** Dimensions are numbered in the sorted order of their names. */
const char *heddle_value_dim_name(const heddle_value *value, size_t index);
/** -1: the size is an expression, which `heddle_value_dim_text` tells. */
int64_t heddle_value_dim_size(const heddle_value *value, size_t index);
const char *heddle_value_dim_text(const heddle_value *value, size_t index);
/** The layout in which the program takes or gives it, `[row, column floordiv 16, column mod 16]`.
 */
const char *heddle_value_layout(const heddle_value *value);

/** What an entry needs beside its arguments, for the sizes of an entry without symbols. */
typedef struct heddle_memory_needs {
  int64_t arguments, results, constants; /**< bytes */
  int64_t arena;                         /**< temporaries, as planned */
  int64_t live;                          /**< no plan can do with less than this */
  int64_t scratch;                       /**< a thread */
} heddle_memory_needs;
heddle_status heddle_entry_memory(const heddle_entry *entry, heddle_memory_needs *needs);

/*===-- Tensors -----------------------------------------------------------===*/

/** Undefined values. `layout` NULL: row-major in the order in which the names are given. */
heddle_tensor *heddle_tensor_create(heddle_element element, size_t rank, const char *const *names,
                                    const int64_t *sizes, const char *layout);
/** A view of the caller's dense row-major memory, which has to outlive it. A program reads it where
 *  it lies if the order is that of the program's layout and the address a multiple of 64. */
heddle_tensor *heddle_tensor_view(heddle_element element, size_t rank, const char *const *names,
                                  const int64_t *sizes, void *memory);
/** Another handle on the same tensor. */
heddle_tensor *heddle_tensor_share(const heddle_tensor *tensor);
void heddle_tensor_free(heddle_tensor *tensor);

heddle_element heddle_tensor_element(const heddle_tensor *tensor);
size_t heddle_tensor_rank(const heddle_tensor *tensor);
const char *heddle_tensor_dim_name(const heddle_tensor *tensor, size_t index);
int64_t heddle_tensor_dim_size(const heddle_tensor *tensor, size_t index);
/** Number of elements. */
int64_t heddle_tensor_count(const heddle_tensor *tensor);
/** Where it lies, in its own layout; NULL after it was given up. */
void *heddle_tensor_address(const heddle_tensor *tensor);
const char *heddle_tensor_layout(heddle_tensor *tensor);

/** Copies all elements from or to a dense row-major array; `order` lists every name once. */
heddle_status heddle_tensor_copy_from(heddle_tensor *tensor, const void *dense,
                                      const char *const *order, size_t rank);
heddle_status heddle_tensor_copy_to(const heddle_tensor *tensor, void *dense,
                                    const char *const *order, size_t rank);

/*===-- Calls -------------------------------------------------------------===*/

/** Zero means the default everywhere. */
typedef struct heddle_call_options {
  int32_t threads; /**< 0: all cores that the process may use */
  int32_t managed; /**< non-zero: temporaries one by one from the memory manager, no arena */
} heddle_call_options;

heddle_call *heddle_call_create(heddle_program *program, const char *entry,
                                const heddle_call_options *options);
void heddle_call_free(heddle_call *call);
/** Binds an argument for this and all later runs. `donate` non-zero: the tensor is given up, and a
 *  result may take its memory; it has to be bound again before the next run. */
heddle_status heddle_call_bind(heddle_call *call, const char *argument, heddle_tensor *tensor,
                               int32_t donate);
heddle_status heddle_call_run(heddle_call *call);
/** The result of the last run; the next run writes into the same tensor. */
heddle_tensor *heddle_call_result(heddle_call *call, const char *result);

/*===-- Memory ------------------------------------------------------------===*/

/** A memory manager of the caller's; one thread at a time calls it. */
typedef struct heddle_memory_manager {
  void *user; /**< has to live as long as anything that was allocated */
  /** NULL: no memory. `alignment` is a power of two. */
  void *(*allocate)(void *user, int64_t bytes, int64_t alignment);
  void (*release)(void *user, void *address, int64_t bytes);
} heddle_memory_manager;
/** All tensors and calls made from now on take their memory there. NULL: the original one again. */
heddle_status heddle_set_memory_manager(const heddle_memory_manager *manager);

typedef struct heddle_memory_event {
  int32_t freed; /**< 0: allocated */
  void *address;
  int64_t bytes, alignment;
  const char *name;     /**< of the op, argument or result that it is for */
  const char *location; /**< where that was written, "file:line:column" */
} heddle_memory_event;
/** Called for every allocation and free of the manager in use, on the thread that makes it. NULL:
 *  nobody is called. */
heddle_status heddle_set_memory_listener(void (*listener)(void *user, const heddle_memory_event *),
                                         void *user);

typedef struct heddle_memory_statistics {
  int64_t live, peak;  /**< bytes handed out, now and at most */
  int64_t reserved;    /**< bytes taken from the system */
  int64_t allocations; /**< how many */
} heddle_memory_statistics;
void heddle_memory_now(heddle_memory_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_RUNTIME_C_H */

/*===- runtime_c.h - run compiled programs from C ------------------*- C -*-===*
 *
 * Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Runs a program file, from any language that can call C:
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
 * - A function neither throws nor aborts. If it fails, it returns a NULL handle or a
 *   status other than HEDDLE_OK, and `heddle_last_error()` returns the reason to the
 *   thread that called.
 * - The caller frees every handle that a function creates or returns, except those of
 *   entries and values, which belong to their program. Freeing NULL does nothing.
 *   Handles keep alive what they refer to: a call may outlive its program, a result
 *   its call. Strings live as long as the handle that they were queried from.
 * - Several threads may use different handles at once, and share a program. A call or
 *   a tensor is used by one thread at a time.
 * - A child process made by `fork` may use all handles: its threads are started anew.
 *
 * A program file is native code that runs with all rights of the process. Load one
 * only if you would run an executable from the same source: its checksums detect
 * damage, they do not authenticate its author.
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
typedef struct heddle_entry heddle_entry;     /**< a function of a program; the program owns it */
typedef struct heddle_value heddle_value;     /**< an argument or a result; the program owns it */
typedef struct heddle_tensor heddle_tensor;   /**< a tensor in memory */
typedef struct heddle_call heddle_call;       /**< an entry with bound arguments and its memory */

typedef int32_t heddle_status;
enum {
  HEDDLE_OK = 0,
  HEDDLE_ERROR = 1,           /**< a mistake of the caller or a failure of the machine */
  HEDDLE_EXECUTION_ERROR = 2, /**< the program failed while it ran: donated tensors are lost */
};

typedef int32_t heddle_element;
enum {
  HEDDLE_I1 = 0, /**< in memory one byte, 0 or 1 */
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

/** The message of the last error in this thread; never NULL. */
const char *heddle_last_error(void);
/** The version of the library, such as "0.1.0". */
const char *heddle_runtime_version(void);

/*===-- Programs ----------------------------------------------------------===*/

/** Loads a program file. Verifies its lengths and checksums, and that this CPU can run the code.
 *  Load only files that you trust: see above. */
heddle_program *heddle_program_load(const char *path);
void heddle_program_free(heddle_program *program);

size_t heddle_program_entry_count(const heddle_program *program);
const heddle_entry *heddle_program_entry(const heddle_program *program, size_t index);
/** The entry called `name`; NULL if there is none. */
const heddle_entry *heddle_program_find(const heddle_program *program, const char *name);
/** The manifest of the program as JSON. */
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
/** The size of a dimension; -1 if it is an expression over symbols. */
int64_t heddle_value_dim_size(const heddle_value *value, size_t index);
/** The size of a dimension as text: a number or an expression. */
const char *heddle_value_dim_text(const heddle_value *value, size_t index);
/** The layout in which the program reads or writes the value, such as
 *  `[row, column floordiv 16, column mod 16]`. */
const char *heddle_value_layout(const heddle_value *value);

/** The memory that an entry needs, in bytes. */
typedef struct heddle_memory_needs {
  int64_t arguments, results, constants;
  int64_t arena;   /**< temporaries, as planned */
  int64_t live;    /**< lower bound of the arena: the most bytes that are live at once */
  int64_t scratch; /**< for each thread */
} heddle_memory_needs;
/** Fails for an entry with symbolic sizes. */
heddle_status heddle_entry_memory(const heddle_entry *entry, heddle_memory_needs *needs);

/*===-- Tensors -----------------------------------------------------------===*/

/** Creates a tensor with undefined values. A NULL `layout` is row-major in the order of `names`. */
heddle_tensor *heddle_tensor_create(heddle_element element, size_t rank, const char *const *names,
                                    const int64_t *sizes, const char *layout);
/** Creates a view of the caller's dense memory, row-major in the order of `names`; the memory must
 *  outlive the view. A program reads it without a copy if its layout is the one that the program
 *  expects and its address is a multiple of 64 bytes. */
heddle_tensor *heddle_tensor_view(heddle_element element, size_t rank, const char *const *names,
                                  const int64_t *sizes, void *memory);
/** Creates another handle on the same tensor. */
heddle_tensor *heddle_tensor_share(const heddle_tensor *tensor);
void heddle_tensor_free(heddle_tensor *tensor);

heddle_element heddle_tensor_element(const heddle_tensor *tensor);
size_t heddle_tensor_rank(const heddle_tensor *tensor);
const char *heddle_tensor_dim_name(const heddle_tensor *tensor, size_t index);
int64_t heddle_tensor_dim_size(const heddle_tensor *tensor, size_t index);
/** The number of elements. */
int64_t heddle_tensor_count(const heddle_tensor *tensor);
/** The address of the elements, in the tensor's own layout; NULL after it was donated, and for a
 *  tensor in a device's memory. */
void *heddle_tensor_address(const heddle_tensor *tensor);
const char *heddle_tensor_layout(heddle_tensor *tensor);

/** Copies all elements from or to a dense row-major array; `order` lists every name once. */
heddle_status heddle_tensor_copy_from(heddle_tensor *tensor, const void *dense,
                                      const char *const *order, size_t rank);
heddle_status heddle_tensor_copy_to(const heddle_tensor *tensor, void *dense,
                                    const char *const *order, size_t rank);

/*===-- Calls -------------------------------------------------------------===*/

/** Options of a call. 0 is the default of each. */
typedef struct heddle_call_options {
  int32_t threads; /**< number of threads; 0: HEDDLE_THREADS, else all cores */
  int32_t managed; /**< non-zero: allocate each temporary by itself, without an arena */
} heddle_call_options;

heddle_call *heddle_call_create(heddle_program *program, const char *entry,
                                const heddle_call_options *options);
void heddle_call_free(heddle_call *call);
/** Binds an argument for this and all later runs. If `donate` is not 0, the caller gives the tensor
 *  up, so that a result may take its memory; it must be bound again before the next run. */
heddle_status heddle_call_bind(heddle_call *call, const char *argument, heddle_tensor *tensor,
                               int32_t donate);
heddle_status heddle_call_run(heddle_call *call);
/** A result of the last run. The next run overwrites it. */
heddle_tensor *heddle_call_result(heddle_call *call, const char *result);

/*===-- Memory ------------------------------------------------------------===*/

/** A memory manager of the caller. Its functions are called by one thread at a time. */
typedef struct heddle_memory_manager {
  void *user; /**< passed to the functions; must live as long as the memory that they allocate */
  /** Returns memory at a multiple of `alignment` bytes, a power of two; NULL if there is none. */
  void *(*allocate)(void *user, int64_t bytes, int64_t alignment);
  /** Frees memory; `bytes` is the size with which it was allocated. */
  void (*release)(void *user, void *address, int64_t bytes);
} heddle_memory_manager;
/** Sets the manager from which tensors and calls that are created from now on allocate; NULL sets
 *  the default one. */
heddle_status heddle_set_memory_manager(const heddle_memory_manager *manager);

/** An allocation or a release of memory. */
typedef struct heddle_memory_event {
  int32_t freed; /**< 0: allocated, 1: freed */
  void *address;
  int64_t bytes, alignment;
  const char *name;     /**< of the op, argument or result that uses the memory */
  const char *location; /**< its source location, "file:line:column" */
} heddle_memory_event;
/** Sets a function that is called for every allocation and release of the current manager, in the
 *  thread that makes it; NULL sets none. */
heddle_status heddle_set_memory_listener(void (*listener)(void *user, const heddle_memory_event *),
                                         void *user);

/** Statistics of the current memory manager. */
typedef struct heddle_memory_statistics {
  int64_t live, peak;  /**< bytes that are allocated now, and the most so far */
  int64_t reserved;    /**< bytes that the manager has obtained from the system */
  int64_t allocations; /**< number of allocations so far */
} heddle_memory_statistics;
void heddle_memory_now(heddle_memory_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_RUNTIME_C_H */

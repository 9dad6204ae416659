/* Oclgrind takes bitcode of LLVM 14, not SPIR-V: this library adds the function that takes SPIR-V,
 * by a command "$HEDDLE_TO_BITCODE FROM TO", to those of the library that it is linked with.
 *
 * Its plugin for unwritten values remembers a buffer's size by the buffer's number, also when the
 * buffer is released: a larger one with the same number would be taken for unwritten. So buffers
 * are not released. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *Handle;
int32_t clGetContextInfo(Handle, uint32_t, size_t, void *, size_t *);
Handle clCreateProgramWithBinary(Handle, uint32_t, const Handle *, const size_t *,
                                 const unsigned char **, int32_t *, int32_t *);

Handle clCreateProgramWithIL(Handle context, const void *il, size_t bytes, int32_t *status) {
  static unsigned char bitcode[1 << 24];
  const char *folder = getenv("TMPDIR");
  char from[1000], to[1010], command[4000];
  snprintf(from, sizeof from, "%s/heddle-XXXXXX", folder && *folder ? folder : "/tmp");
  int file = mkstemp(from);
  *status = -42; /* CL_INVALID_BINARY */
  if (file < 0)
    return 0;
  ssize_t written = write(file, il, bytes);
  close(file);
  snprintf(to, sizeof to, "%s.bc", from);
  snprintf(command, sizeof command, "%s %s %s", getenv("HEDDLE_TO_BITCODE"), from, to);
  int failed = written != (ssize_t)bytes || system(command);
  FILE *in = failed ? 0 : fopen(to, "rb");
  size_t length = in ? fread(bitcode, 1, sizeof bitcode, in) : 0;
  if (in)
    fclose(in);
  unlink(from), unlink(to);
  if (!length)
    return 0;
  const unsigned char *start = bitcode;
  Handle device;
  clGetContextInfo(context, 0x1081 /* CL_CONTEXT_DEVICES */, sizeof device, &device, 0);
  return clCreateProgramWithBinary(context, 1, &device, &length, &start, 0, status);
}

int32_t clReleaseMemObject(Handle buffer) {
  (void)buffer;
  return 0;
}

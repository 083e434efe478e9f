#ifndef KILN_H
#define KILN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libkiln: compiles OpenCL C to SPIR-V. docs/c-api.md describes it.
 *
 * Options and results are handles, and every function accepts NULL as a handle. Strings are UTF-8 and end with a
 * zero; those that the library returns are valid until their result or their options are freed. Threads may use
 * the same options concurrently while none of them changes them, and the same result always.
 *
 * Generated from compiler/capi/src by `cargo xtask bless header`. */

#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0

// The outcome of a function.
typedef enum kiln_status {
  // It succeeded. A compilation may have warnings.
  KILN_STATUS_SUCCESS = 0,
  // The source has errors, which are the diagnostics of the result.
  KILN_STATUS_ERRORS = 1,
  // An argument is wrong; see kiln_options_error() and kiln_result_messages().
  KILN_STATUS_INVALID_ARGUMENT = 2,
  // The compiler has a bug, which kiln_result_messages() describes. Please report it.
  KILN_STATUS_INTERNAL_ERROR = 3,
} kiln_status;

// The severity of a diagnostic.
typedef enum kiln_severity {
  // There is a module.
  KILN_SEVERITY_WARNING = 0,
  // There is no module.
  KILN_SEVERITY_ERROR = 1,
} kiln_severity;

// The version of OpenCL C, with the values of __OPENCL_C_VERSION__.
typedef enum kiln_language {
  // OpenCL C 1.0
  KILN_LANGUAGE_CL10 = 100,
  // OpenCL C 1.1
  KILN_LANGUAGE_CL11 = 110,
  // OpenCL C 1.2
  KILN_LANGUAGE_CL12 = 120,
  // OpenCL C 2.0, the default
  KILN_LANGUAGE_CL20 = 200,
  // OpenCL C 3.0
  KILN_LANGUAGE_CL30 = 300,
  // OpenCL C 3.1
  KILN_LANGUAGE_CL31 = 310,
} kiln_language;

// The environment of a module.
typedef enum kiln_environment {
  // Vulkan 1.2 with the Vulkan memory model, the default
  KILN_ENVIRONMENT_VULKAN = 0,
  // OpenCL, for clCreateProgramWithIL()
  KILN_ENVIRONMENT_OPENCL = 1,
} kiln_environment;

// The optimization of a module.
typedef enum kiln_optimization {
  // No passes that only improve speed, as -O0
  KILN_OPTIMIZATION_NONE = 0,
  // All passes, the default
  KILN_OPTIMIZATION_SPEED = 1,
} kiln_optimization;

// The implementation of memory_order_seq_cst on Vulkan, which has no such order.
typedef enum kiln_seq_cst {
  // Sequentially consistent, the default
  KILN_SEQ_CST_STRICT = 0,
  // Acquire-release, as in other compilers, with a warning
  KILN_SEQ_CST_ACQ_REL = 1,
} kiln_seq_cst;

// The kind of output of a compilation.
typedef enum kiln_output {
  // A module, the default: kiln_result_words()
  KILN_OUTPUT_SPIRV = 0,
  // The assembly text of a module: kiln_result_text()
  KILN_OUTPUT_ASSEMBLY = 1,
  // The source after preprocessing: kiln_result_text()
  KILN_OUTPUT_PREPROCESSED = 2,
  // Diagnostics only
  KILN_OUTPUT_NOTHING = 3,
} kiln_output;

// The format of kiln_result_messages().
typedef enum kiln_format {
  // With source lines, the default
  KILN_FORMAT_RICH = 0,
  // `file:line:column: error[code]: message`
  KILN_FORMAT_SHORT = 1,
  // `file:line:column: error: message [-Wname]`
  KILN_FORMAT_GCC = 2,
  // One JSON object per line
  KILN_FORMAT_JSON = 3,
  // A SARIF log
  KILN_FORMAT_SARIF = 4,
} kiln_format;

// The result of a compilation. It does not change, so several threads can read it concurrently.
typedef struct kiln_result kiln_result;

// The options of compilations. One object can serve several threads concurrently while none of them changes it.
typedef struct kiln_options kiln_options;

// An included file, as the application passes it.
typedef struct kiln_included_file {
  // The bytes. They must stay valid until the file is released.
  const char *text;
  // The number of bytes.
  size_t length;
  // For the application.
  void *handle;
} kiln_included_file;

// Finds an included file. The path is an include folder, or the folder of the including file, joined with the name in the
// directive. Returns 0 if there is no such file; the compiler then tries the next folder.
//
// Kiln calls it on another thread while kiln_compile() waits, never concurrently for one compilation. It must not
// throw exceptions.
typedef int (*kiln_include_find)(void *data, const char *path, struct kiln_included_file *file);

// Releases an included file, which the compiler has copied. Called once for each file that was found.
typedef void (*kiln_include_release)(void *data, struct kiln_included_file *file);

// A range of a file.
typedef struct kiln_location {
  // The name of the source or of an included file, or of a #line directive; NULL for a message without location.
  const char *file;
  // The line, from 1.
  uint32_t line;
  // The column in characters, from 1.
  uint32_t column;
  // The line of the end.
  uint32_t end_line;
  // The column after the end.
  uint32_t end_column;
  // The offset of the first byte in the file.
  size_t start;
  // The offset after the last byte.
  size_t end;
} kiln_location;

// Another location that a diagnostic refers to.
typedef struct kiln_label {
  // The location.
  struct kiln_location location;
  // The text of the label.
  const char *text;
} kiln_label;

// A change of a file that repairs a mistake.
typedef struct kiln_fix {
  // A short description.
  const char *title;
  // The text that it replaces, perhaps in a different file from the mistake. May be empty.
  struct kiln_location location;
  // The new text.
  const char *replacement;
} kiln_fix;

// A message about the source. Later versions of the library may add members at the end.
typedef struct kiln_diagnostic {
  // The severity.
  enum kiln_severity severity;
  // The code, such as "undeclared-name"; `kiln explain CODE` explains it.
  const char *code;
  // The message: one sentence without a full stop.
  const char *message;
  // The location of the mistake.
  struct kiln_location location;
  // The label of this location; may be "".
  const char *label;
  // Other locations.
  const struct kiln_label *labels;
  // The number of other locations.
  size_t label_count;
  // Suggestions.
  const char *const *help;
  // The number of suggestions.
  size_t help_count;
  // Reasons, with the section of the specification.
  const char *const *notes;
  // The number of reasons.
  size_t note_count;
  // A change that repairs the mistake, or NULL.
  const struct kiln_fix *fix;
} kiln_diagnostic;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0".
const char *kiln_version(void);

// Creates options: OpenCL C 2.0 for Vulkan, with all features. Free them with kiln_options_free().
struct kiln_options *kiln_options_new(void);

// Copies options. The copy calls the same callbacks.
struct kiln_options *kiln_options_clone(const struct kiln_options *options);

// Frees options. Results stay valid.
void kiln_options_free(struct kiln_options *options);

// Why the last function with these options returned KILN_STATUS_INVALID_ARGUMENT; otherwise "". Valid until the next
// call with them.
const char *kiln_options_error(const struct kiln_options *options);

// Applies options in the spelling of clBuildProgram() and clang, such as "-cl-std=CL3.0 -DN=4 -I include -Werror". If one of
// them is wrong, none is applied.
enum kiln_status kiln_options_parse(struct kiln_options *options,
                                    const char *text);

// Sets the language version: a kiln_language.
enum kiln_status kiln_options_set_language(struct kiln_options *options, uint32_t language);

// Sets the environment of the module: a kiln_environment.
enum kiln_status kiln_options_set_environment(struct kiln_options *options, uint32_t environment);

// Sets the device: "minimal", "swiftshader", "lavapipe", "lavapipe-25", "nvidia", "full", or the path of a file that
// `kiln devices --profile` wrote. Kiln emulates features that the device lacks, or reports their use.
enum kiln_status kiln_options_set_profile(struct kiln_options *options,
                                          const char *profile);

// Defines a macro. NULL as the value means 1. The name can have parameters: "MAX(a, b)".
enum kiln_status kiln_options_define(struct kiln_options *options, const char *name, const char *value);

// Removes the definition of a macro.
enum kiln_status kiln_options_undefine(struct kiln_options *options, const char *name);

// Adds a folder at the end of the search path for included files.
enum kiln_status kiln_options_add_include_folder(struct kiln_options *options, const char *folder);

// Includes a file before the source.
enum kiln_status kiln_options_add_forced_include(struct kiln_options *options, const char *path);

// Sets the functions that find included files, instead of the file system, and the `data` that is passed to them.
// `release` may be NULL. With NULL as `find`, included files are read from the file system again.
enum kiln_status kiln_options_set_include_callbacks(struct kiln_options *options,
                                                    kiln_include_find find,
                                                    kiln_include_release release,
                                                    void *data);

// Enables an extension or a feature, such as "cl_khr_fp64" or "__opencl_c_images"; "-" before it disables it, "all"
// means all of them.
enum kiln_status kiln_options_add_extension(struct kiln_options *options,
                                            const char *name);

// Sets the optimization: a kiln_optimization.
enum kiln_status kiln_options_set_optimization(struct kiln_options *options, uint32_t optimization);

// Sets whether the module has debug information, as -g.
enum kiln_status kiln_options_set_debug(struct kiln_options *options, bool debug);

// Sets the implementation of memory_order_seq_cst on Vulkan: a kiln_seq_cst.
enum kiln_status kiln_options_set_seq_cst(struct kiln_options *options, uint32_t seq_cst);

// Changes a warning, as -W: "NAME", "no-NAME", "error", "error=NAME", "no-error=NAME". A name is a code or a group:
// "all", "extra", "pedantic".
enum kiln_status kiln_options_add_warning(struct kiln_options *options,
                                          const char *warning);

// Sets the maximum number of errors to report; further errors are only counted. 0 means no limit; the
// default is 20.
enum kiln_status kiln_options_set_error_limit(struct kiln_options *options, size_t limit);

// Sets the kind of output of a compilation: a kiln_output.
enum kiln_status kiln_options_set_output(struct kiln_options *options, uint32_t output);

// Sets the format of kiln_result_messages(): a kiln_format, and whether it has colors for terminals.
enum kiln_status kiln_options_set_format(struct kiln_options *options, uint32_t format, bool colors);

// Compiles a source of `length` bytes. `name` is its name in messages and in __FILE__; files that it includes with
// quotes are searched first in the folder of `name`. With NULL as `options`, uses those of kiln_options_new().
//
// Returns a result even if the source has errors; free it with kiln_result_free().
struct kiln_result *kiln_compile(const char *source,
                                 size_t length,
                                 const char *name,
                                 const struct kiln_options *options);

// Frees a result and everything that the functions below returned for it.
void kiln_result_free(struct kiln_result *result);

// The outcome.
enum kiln_status kiln_result_status(const struct kiln_result *result);

// The words of the module, in the byte order of this machine; NULL if there is no module.
const uint32_t *kiln_result_words(const struct kiln_result *result);

// The number of words of the module; 0 if there is no module.
size_t kiln_result_word_count(const struct kiln_result *result);

// The assembly text or the preprocessed source; NULL if there is none.
const char *kiln_result_text(const struct kiln_result *result);

// The interface as JSON, as `kiln compile --emit json` writes it: kernels, parameters, types; NULL if the source has errors.
const char *kiln_result_interface(const struct kiln_result *result);

// All diagnostics as text; "" if there are none.
const char *kiln_result_messages(const struct kiln_result *result);

// The number of errors, including those beyond the limit.
size_t kiln_result_error_count(const struct kiln_result *result);

// The number of warnings.
size_t kiln_result_warning_count(const struct kiln_result *result);

// The number of diagnostics.
size_t kiln_result_diagnostic_count(const struct kiln_result *result);

// The diagnostic with this index, in source order; NULL if the index is too large.
const struct kiln_diagnostic *kiln_result_diagnostic(const struct kiln_result *result, size_t index);

// The number of files that the source includes, directly or indirectly.
size_t kiln_result_dependency_count(const struct kiln_result *result);

// The path of the included file with this index, in the order of first use; NULL if the index is too large.
const char *kiln_result_dependency(const struct kiln_result *result, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KILN_H */

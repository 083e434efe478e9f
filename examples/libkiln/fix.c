/* Compiles a kernel with a mistake, applies the fix that the compiler suggests, and compiles it again. The included file is
   in memory.

   cc -std=c11 fix.c -o fix $(pkg-config --cflags --libs kiln) */

#include <kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEADER[] = "#define ANSWER 42\n";

static const char SOURCE[] =
    "#include \"answer.h\"\n"
    "\n"
    "kernel void publish(global int *data, global atomic_int *flag)\n"
    "{\n"
    "    data[0] = ANSWER;\n"
    "    atomic_store_explicit(flag, 1, memory_order_acquire, memory_scope_device);\n"
    "}\n";

/* Finds an included file. There is only one. */
static int find(void *data, const char *path, kiln_included_file *file)
{
    (void)data;
    if (strcmp(path, "answer.h") != 0)
        return 0;
    file->text = HEADER;
    file->length = strlen(HEADER);
    return 1;
}

/* A copy of the source with the change of a fix. */
static char *apply(const char *source, const kiln_fix *fix)
{
    size_t start = fix->location.start, end = fix->location.end, added = strlen(fix->replacement);
    size_t rest = strlen(source) - end;
    char *text = malloc(start + added + rest + 1);
    if (text == NULL)
        abort();
    memcpy(text, source, start);
    memcpy(text + start, fix->replacement, added);
    memcpy(text + start + added, source + end, rest + 1);
    return text;
}

int main(void)
{
    kiln_options *options = kiln_options_new();
    kiln_options_set_language(options, KILN_LANGUAGE_CL30);
    kiln_options_set_include_callbacks(options, find, NULL, NULL);
    if (kiln_options_set_profile(options, "no-such-device") != KILN_STATUS_SUCCESS)
        printf("%.60s...\n\n", kiln_options_error(options));

    kiln_result *result = kiln_compile(SOURCE, strlen(SOURCE), "publish.cl", options);
    fputs(kiln_result_messages(result), stdout);

    /* The same diagnostics as data. */
    char *repaired = NULL;
    for (size_t i = 0; i < kiln_result_diagnostic_count(result); i++) {
        const kiln_diagnostic *diagnostic = kiln_result_diagnostic(result, i);
        printf("\n%s in line %u, column %u\n", diagnostic->code, diagnostic->location.line,
               diagnostic->location.column);
        if (diagnostic->fix != NULL && repaired == NULL) {
            printf("fix: %s\n", diagnostic->fix->title);
            repaired = apply(SOURCE, diagnostic->fix);
        }
    }
    kiln_result_free(result);
    if (repaired == NULL)
        return EXIT_FAILURE;

    result = kiln_compile(repaired, strlen(repaired), "publish.cl", options);
    if (kiln_result_status(result) != KILN_STATUS_SUCCESS)
        return EXIT_FAILURE;
    printf("\na module: %08x, %s\n", kiln_result_words(result)[0], kiln_result_dependency(result, 0));
    fputs(kiln_result_interface(result), stdout);

    kiln_result_free(result);
    kiln_options_free(options);
    free(repaired);
    return EXIT_SUCCESS;
}

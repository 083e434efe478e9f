"""Compiles kernels with `kiln`. Kiln reads only its inputs and writes no absolute paths, so the actions are hermetic."""

def _kiln_program_impl(context):
    program = context.attr.path or context.which("kiln")
    if not program:
        fail("`kiln` is not in PATH; pass its path to `kiln_program`")
    context.symlink(program, "kiln")
    context.file("BUILD", "exports_files(['kiln'], visibility = ['//visibility:public'])\n")

# In WORKSPACE: makes the program `kiln` in PATH, or at a path, available to the rule below.
kiln_program = repository_rule(
    implementation = _kiln_program_impl,
    attrs = {"path": attr.string()},
    environ = ["PATH"],
    local = True,
)

def _module(context, source, options, extra):
    extension = ".h" if context.attr.emit == "header" else ".spv"
    package = context.label.package + "/" if context.label.package else ""
    path = source.short_path
    name = path[len(package):] if path.startswith(package) else source.basename
    output = context.actions.declare_file(name[:-len(".cl")] + extension)
    arguments = context.actions.args()
    arguments.add("compile")
    arguments.add(source)
    arguments.add("-o", output)
    if context.attr.emit == "header":
        arguments.add("--emit", "header")
    arguments.add_all(options)
    context.actions.run(
        executable = context.executable._kiln,
        arguments = [arguments],
        inputs = depset([source] + context.files.hdrs + extra),
        outputs = [output],
        mnemonic = "Kiln",
        progress_message = "Compiling kernels of " + source.short_path,
    )
    return output

def _kiln_kernels_impl(context):
    options = list(context.attr.options)
    for folder in context.attr.includes:
        options.append("-I" + "/".join([part for part in [context.label.workspace_root, context.label.package, folder] if part]))
    extra = []
    if context.file.config:
        # Kiln finds it in the folders above the sources.
        extra.append(context.file.config)
    else:
        # Without sandboxes, a file that is no input would be found too.
        options.append("--no-config")
    outputs = depset([_module(context, source, options, extra) for source in context.files.srcs])
    return [DefaultInfo(files = outputs, runfiles = context.runfiles(transitive_files = outputs))]

# A module, or a C header with the module, of each source.
kiln_kernels = rule(
    implementation = _kiln_kernels_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cl"], mandatory = True),
        "hdrs": attr.label_list(allow_files = True),
        "includes": attr.string_list(),
        "options": attr.string_list(),
        "emit": attr.string(default = "spirv", values = ["spirv", "header"]),
        "config": attr.label(allow_single_file = [".toml"]),
        "_kiln": attr.label(default = "@kiln//:kiln", executable = True, cfg = "exec", allow_single_file = True),
    },
)

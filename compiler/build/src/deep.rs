//! Compiles deeply nested sources, such as sums of thousands of terms, which would overflow an ordinary stack.

use std::{
    panic,
    thread::{self, Builder},
};

use kiln_compiler::{
    Emit, Output,
    diag::Code,
    session::{DEEP, DEEP_STACK, Loader, Options, Source},
};

/// Compiles a source. If it nests too deeply for the current stack, compiles it again on a larger one.
pub fn compile_deep(source: Source, options: &Options, loader: &(dyn Loader + Sync), emit: &Emit) -> Output {
    let output = kiln_compiler::compile(source.clone(), options, loader, emit);
    if output.diagnostics.iter().all(|diagnostic| diagnostic.code != Code::NestingDepth) {
        return output;
    }
    let options = Options { max_depth: DEEP, ..options.clone() };
    thread::scope(|scope| {
        let compile = || kiln_compiler::compile(source, &options, loader, emit);
        match Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, compile) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            // The larger stack cannot be allocated: keep the first result.
            Err(_) => output,
        }
    })
}

//! Compiles deeply nested sources, such as sums of thousands of terms, which would overflow an ordinary stack.

use std::{
    any::Any,
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

/// The stack of a thread that compiles. Compilation needs up to 2 MiB, and more in debug builds.
const STACK: usize = 16 << 20;

/// Runs the compiler on a stack that is large enough: threads of an application may have less. The error is the message
/// of a panic, or the reason why the thread could not start.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.map_err(|why| why.to_string())?.join().map_err(|panic| message(panic.as_ref()))
    })
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

//! Compiles the kernels. Cargo reruns it when a kernel or a file that it includes changes.

fn main() -> kiln_build::Result {
    kiln_build::Builder::new().file("kernels/buddhabrot.cl").define("MAX_STEPS", 400).warnings_as_errors().compile()
}

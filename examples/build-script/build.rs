//! Compiles the kernels; cargo reruns it when one of them, or what they include, changes.

fn main() -> kiln_build::Result {
    kiln_build::Builder::new().file("kernels/buddhabrot.cl").define("MAX_STEPS", 400).warnings_as_errors().compile()
}

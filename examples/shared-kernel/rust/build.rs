//! Compiles the kernel that both hosts share.

fn main() -> kiln_build::Result {
    kiln_build::Builder::new().file("../kernels/heat.cl").warnings_as_errors().compile()
}

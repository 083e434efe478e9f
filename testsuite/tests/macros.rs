//! The macros of `kiln-macros`, expanded here.

/// From a file, with options.
mod histogram {
    kiln_macros::kernel_file!(
        "../examples/histogram/histogram.cl",
        std = "CL2.0",
        device_profile = "lavapipe"
    );
}

/// From a literal, with everything that bindings can contain.
mod things {
    kiln_macros::kernel! {
        r#"
        enum mode { SLOW, FAST = 7 };
        typedef struct { float x; float4 v; float3 w[2]; char c; global int *p; union { int i; float f; } u; } thing;
        struct __attribute__((packed)) odd { char a; int b; };
        kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1)))
        void type(global thing *self, constant float *range, local float4 *scratch, thing one, global struct odd *fn,
                  uint n, enum mode mode, read_only image2d_t picture, sampler_t sampler, const global void *)
        {
            self[0].x = range[0] + one.x + fn[0].b + mode + n;
        }
        "#,
        define = "WIDTH=64"
    }
}

#[test]
fn bindings_have_the_layouts_and_names_of_the_program() {
    use things::{Anonymous0, FAST, SLOW, TYPE_WORK_GROUP_SIZE, odd, thing};
    assert_eq!((SLOW, FAST), (0, 7));
    assert_eq!(TYPE_WORK_GROUP_SIZE, [64, 1, 1]);
    assert_eq!((size_of::<thing>(), align_of::<thing>(), size_of::<odd>()), (96, 16, 5));
    let one = thing { x: 1.0, p: 8, u: Anonymous0 { bytes: 5i32.to_ne_bytes() }, ..Default::default() };
    assert_eq!(bytemuck::bytes_of(&one)[80..84], 5i32.to_ne_bytes());
}

#[test]
fn modules_are_embedded() {
    for module in [things::SPIRV, histogram::SPIRV] {
        assert_eq!(module[..4], 0x0723_0203_u32.to_le_bytes());
    }
}

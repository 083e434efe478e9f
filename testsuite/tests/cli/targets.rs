//! Device profiles, and the workarounds for driver bugs.

use std::fs;

use kiln_testsuite::device;

use crate::{folder, kiln};

#[test]
fn device_profiles_disable_missing_features() {
    let folder = folder(&[
        ("double.cl", "kernel void k(global double *d) { d[0] *= 2.0; }\n"),
        (
            "image.cl",
            "kernel void k(global int *d, read_write image2d_t i) { d[0] = read_imagei(i, (int2)(0)).x; }\n",
        ),
        ("mine.profile", "int64\nfp64 # and no more\npush_constant_size = 256\n"),
        ("wrong.profile", "int64\nfp65\n"),
    ]);
    let compile =
        |words: &[&str]| kiln(&folder, &[&["compile", "double.cl", "-o", "out.spv"], words].concat());
    for (words, code) in [
        (&["--device-profile", "full"][..], 0),
        (&["--device-profile", "nvidia"], 0),
        (&["--device-profile", "minimal"], 1),
        (&["--device-profile", "minimal", "--feature", "+fp64,+int64"], 0),
        (&["--feature=-fp64"], 1),
        (&["--device-profile", "mine.profile"], 0),
        (&["--device-profile", "wrong.profile"], 2),
        (&["--device-profile", "toaster"], 2),
        (&["--feature", "+fp65"], 2),
    ] {
        let finished = compile(words);
        assert_eq!(finished.status.code(), Some(code), "{words:?}: {}", finished.stderr);
    }
    // No option of the language helps a device that lacks the type.
    assert!(compile(&["--feature=-fp64"]).stderr.contains("the target device does not have `cl_khr_fp64`"));
    assert!(compile(&["-cl-ext=-all"]).stderr.contains("with `-cl-ext=`"));
    let words = ["compile", "image.cl", "--device-profile", "lavapipe", "--feature", "-fp16"];
    let rejection = kiln(&folder, &words).stderr;
    assert!(rejection.contains("images that are read and written"), "{rejection}");
    assert!(rejection.contains("device profile `lavapipe -fp16`"), "{rejection}");
    assert!(compile(&["--device-profile", "wrong.profile"]).stderr.contains("line 2: `fp65`"));

    let profile = kiln(&folder, &["devices", "--profile", "llvmpipe"]);
    fs::write(folder.path().join("llvmpipe.profile"), profile.text()).expect("a file");
    assert_eq!(compile(&["--device-profile", "llvmpipe.profile"]).status.code(), Some(0));
}

/// A device binds a limited number of images to a kernel.
#[test]
fn images_beyond_the_limit_of_a_device_are_rejected() {
    let kernel = |access: &str, count: usize| {
        let images: Vec<String> = (0..count).map(|i| format!("{access} image2d_t i{i}")).collect();
        let access = match access {
            "read_only" => "o[0] += read_imagei(i0, (int2)(0)).x;",
            _ => "write_imagei(i0, (int2)(0), (int4)(o[0]));",
        };
        format!("\nkernel void many(global int *o, {}) {{ {access} }}\n", images.join(", "))
    };
    let folder = folder(&[
        ("read.cl", &kernel("read_only", 12)),
        ("many_read.cl", &kernel("read_only", 17)),
        ("written.cl", &kernel("write_only", 16)),
        ("many_written.cl", &kernel("write_only", 17)),
        ("few.profile", "images\nread_images = 16\nwritten_images = 16\n"),
    ]);
    for (source, profile, wanted) in [
        ("read.cl", "minimal", None),
        ("many_read.cl", "minimal", Some("this kernel has 17 read images, and a kernel can have at most 16")),
        ("many_read.cl", "swiftshader", None),
        ("written.cl", "minimal", Some("this kernel has 16 written images, and a kernel can have at most 4")),
        ("written.cl", "swiftshader", None),
        ("many_written.cl", "full", None),
        ("many_written.cl", "few.profile", Some("17 written images, and a kernel can have at most 16")),
        ("many_written.cl", "swiftshader", Some("17 written images, and a kernel can have at most 16")),
    ] {
        let finished = kiln(&folder, &["compile", source, "--device-profile", profile, "-o", "out.spv"]);
        assert_eq!(finished.status.success(), wanted.is_none(), "{source} {profile}: {}", finished.stderr);
        let position = format!("{source}:2:13");
        if let Some(wanted) = wanted {
            assert!(finished.stderr.contains(wanted), "{}", finished.stderr);
            assert!(finished.stderr.contains(&position), "{}", finished.stderr);
        }
    }
}

#[test]
fn workarounds_follow_from_the_profile_or_the_option() {
    let folder = folder(&[
        ("good.cl", "kernel void k(global int *a) { a[0] = 1; }\n"),
        ("old.profile", "driver = lavapipe 22.3.6\nint64\n"),
        ("new.profile", "driver = lavapipe 25.0.7\nint64\n"),
        ("wrong.profile", "driver = lavapipe\n"),
    ]);
    let compile = |words: &[&str]| kiln(&folder, &[&["compile", "good.cl", "-o", "out.spv"], words].concat());
    let old = "works around freeze_loop_exit_values,compare_as_unsigned,early_group_end";
    let both = "works around freeze_loop_exit_values,compare_as_unsigned";
    for (words, wanted) in [
        (&[][..], ""),
        (&["--device-profile", "lavapipe"], old),
        (&["--device-profile", "old.profile"], old),
        (&["--device-profile", "new.profile"], "works around round_doubles"),
        (&["--device-profile", "nvidia"], "works around expand_int64_division"),
        (&["--device-profile", "lavapipe", "--workarounds", "none"], ""),
        (&["--workarounds", "compare_as_unsigned"], "works around compare_as_unsigned"),
        (&["--workarounds", "compare_as_unsigned,freeze_loop_exit_values"], both),
        (&["--workarounds", "all"], "works around freeze_loop_exit_values"),
    ] {
        let finished = compile(words);
        assert_eq!(finished.status.code(), Some(0), "{words:?}: {}", finished.stderr);
        let printed = kiln(&folder, &["reflect", "out.spv"]).text();
        assert_eq!(printed.contains("works around"), !wanted.is_empty(), "{words:?}: {printed}");
        assert!(printed.contains(wanted), "{words:?}: {printed}");
    }
    for (words, wanted) in [
        (&["--workarounds", "toaster"][..], "there is no workaround `toaster`"),
        (&["--workarounds", "loop_iteration_limit"], "there is no workaround `loop_iteration_limit`"),
        (&["--env", "opencl", "--workarounds", "all"], "modules for Vulkan"),
        (&["--device-profile", "wrong.profile"], "a driver and its version are expected"),
    ] {
        let finished = compile(words);
        assert_eq!(finished.status.code(), Some(2), "{words:?}");
        assert!(finished.stderr.contains(wanted), "{words:?}: {}", finished.stderr);
    }
}

/// Modules require rounding to the nearest number on devices that can do it, unless their driver has the bug
/// `omit_rounding_mode`.
#[test]
fn modules_request_rounding_to_nearest() {
    let folder = folder(&[("sum.cl", "kernel void k(global float *a) { a[0] += 1.0f; }\n")]);
    for (words, is_wanted) in [
        (&[][..], false),
        (&["--feature", "+float_controls_rte32"], true),
        (&["--feature", "+float_controls_rte32", "--workarounds", "omit_rounding_mode"], false),
    ] {
        let text = kiln(&folder, &[&["compile", "sum.cl", "-S", "-o", "-"], words].concat()).text();
        assert_eq!(text.contains("OpExecutionMode %1 RoundingModeRTE 32"), is_wanted, "{words:?}: {text}");
    }
}

/// Roots are instructions only on drivers that were measured to be precise and to return a NaN for negative numbers.
#[test]
fn modules_contain_the_instructions_of_precise_drivers() {
    let source = "kernel void k(global float *a) { a[0] = sqrt(a[0]); a[1] = rsqrt(a[1]); }\n";
    let folder = folder(&[("roots.cl", source)]);
    for (profile, is_precise) in [("nvidia", true), ("lavapipe", false), ("minimal", false)] {
        let words = ["compile", "roots.cl", "--device-profile", profile, "-S", "-o", "-"];
        let text = kiln(&folder, &words).text();
        assert!(text.contains("InverseSqrt"), "{profile}: {text}");
        assert_eq!(text.contains("OpSelect"), !is_precise, "{profile}: {text}");
    }
}

/// The runtime detects the driver and its version, and warns about modules compiled ahead of time.
#[test]
fn launches_apply_the_workarounds_of_the_device() {
    let folder = folder(&[("good.cl", "kernel void k(global int *a) { a[0] = 1; }\n")]);
    let minimal = ["compile", "good.cl", "--device-profile", "minimal", "-o", "out.spv"];
    assert_eq!(kiln(&folder, &minimal).status.code(), Some(0));
    for device in device::vulkan().filter(|device| ["lavapipe", "swiftshader"].contains(&device.name)) {
        let on_device = |words: &[&str]| {
            let mut command = kiln::command();
            device.only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
            kiln::run(command.current_dir(folder.path()).args(words))
                .unwrap_or_else(|reason| panic!("{reason}"))
        };
        let listed = on_device(&["devices"]).text();
        assert!(listed.contains("freeze_loop_exit_values"), "{listed}");
        let profile = on_device(&["devices", "--profile", "0"]).text();
        assert!(profile.contains(&format!("\ndriver = {} ", device.name)), "{profile}");
        let launch = ["--kernel", "k", "--global", "1", "--arg", "buf:i32[1]", "--check", "a[0]=1"];
        let fresh = on_device(&[&["run", "good.cl"], &launch[..]].concat());
        assert!(fresh.status.success() && !fresh.stderr.contains("warning"), "{}", fresh.stderr);
        let ahead = on_device(&[&["run", "out.spv"], &launch[..]].concat());
        assert!(ahead.status.success(), "{}", ahead.stderr);
        assert!(ahead.stderr.contains("does not work around: freeze_loop_exit_values"), "{}", ahead.stderr);
    }
}

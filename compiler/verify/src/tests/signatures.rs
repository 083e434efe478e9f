//! Negative tests of the types of OpenCL.std, pipes and device-side enqueue: each operand of each instruction, and each
//! result, is replaced by one of a different type.

use rspirv::{grammar::OPENCL_STD_100_INSTRUCTION_TABLE, spirv::OpenclStd100Op};

use super::{Finding, OPENCL, accepts, findings, rejects};

const HEAD: &str = "OpCapability Float64
OpCapability Float16Buffer
OpCapability Int8
OpCapability Int16
OpCapability DeviceEnqueue
OpCapability Pipes
%std = OpExtInstImport \"OpenCL.std\"
OpMemoryModel";

/// A value of each type, of the same name.
const GLOBALS: &str = "%char = OpTypeInt 8 0
%short = OpTypeInt 16 0
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%uint4 = OpTypeVector %uint 4
%ulong4 = OpTypeVector %ulong 4
%float4 = OpTypeVector %float 4
%float2 = OpTypeVector %float 2
%queue = OpTypeQueue
%event = OpTypeDeviceEvent
%pipe = OpTypePipe 0
%out_pipe = OpTypePipe 1
%reservation = OpTypeReserveId
%space = OpTypeStruct %uint
%to_char = OpTypePointer Generic %char
%to_half = OpTypePointer CrossWorkgroup %half
%to_float = OpTypePointer CrossWorkgroup %float
%to_float4 = OpTypePointer CrossWorkgroup %float4
%to_uint4 = OpTypePointer CrossWorkgroup %uint4
%to_event = OpTypePointer Generic %event
%v_char = OpUndef %char
%v_short = OpUndef %short
%v_uint = OpUndef %uint
%v_float = OpUndef %float
%v_double = OpUndef %double
%v_uint4 = OpUndef %uint4
%v_ulong4 = OpUndef %ulong4
%v_float4 = OpUndef %float4
%v_float2 = OpUndef %float2
%v_queue = OpUndef %queue
%v_event = OpUndef %event
%v_pipe = OpUndef %pipe
%v_out_pipe = OpUndef %out_pipe
%v_reservation = OpUndef %reservation
%v_space = OpUndef %space
%v_to_char = OpUndef %to_char
%v_to_half = OpUndef %to_half
%v_to_float = OpUndef %to_float
%v_to_float4 = OpUndef %to_float4
%v_to_uint4 = OpUndef %to_uint4
%v_to_event = OpUndef %to_event
%callee_type = OpTypeFunction %void %to_char";

const CALLEE: &str = "%callee = OpFunction %void 0 %callee_type
%captured = OpFunctionParameter %to_char
%first = OpLabel
OpReturn
OpFunctionEnd";

/// Instructions of OpenCL.std, the type of their result, and their operands.
const OPENCL_STD: &[(&str, &str, &str)] = &[
    (
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2 exp10",
        "float4",
        "%v_float4",
    ),
    (
        "expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh",
        "double",
        "%v_double",
    ),
    ("tanpi tgamma trunc degrees radians sign normalize fast_normalize", "float4", "%v_float4"),
    (
        "atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter",
        "float4",
        "%v_float4 %v_float4",
    ),
    ("pow powr remainder fmax_common fmin_common step cross", "float4", "%v_float4 %v_float4"),
    ("fma mad fclamp mix smoothstep", "float4", "%v_float4 %v_float4 %v_float4"),
    ("half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip", "float", "%v_float"),
    (
        "half_rsqrt half_sin half_sqrt half_tan native_cos native_exp native_exp2 native_exp10",
        "float4",
        "%v_float4",
    ),
    (
        "native_log native_log2 native_log10 native_recip native_rsqrt native_sin native_sqrt native_tan",
        "float4",
        "%v_float4",
    ),
    ("half_divide half_powr native_divide native_powr", "float", "%v_float %v_float"),
    ("fract modf sincos", "float4", "%v_float4 %v_to_float4"),
    ("frexp lgamma_r", "float4", "%v_float4 %v_to_uint4"),
    ("remquo", "float4", "%v_float4 %v_float4 %v_to_uint4"),
    ("ilogb", "uint4", "%v_float4"),
    ("ldexp pown rootn", "float4", "%v_float4 %v_uint4"),
    ("nan", "float4", "%v_uint4"),
    ("distance fast_distance", "float", "%v_float4 %v_float4"),
    ("length fast_length", "float", "%v_float4"),
    ("s_abs u_abs clz ctz popcount", "uint4", "%v_uint4"),
    (
        "s_abs_diff u_abs_diff s_add_sat u_add_sat s_hadd u_hadd s_rhadd u_rhadd s_max u_max",
        "uint4",
        "%v_uint4 %v_uint4",
    ),
    ("s_min u_min s_mul_hi u_mul_hi rotate s_sub_sat u_sub_sat", "char", "%v_char %v_char"),
    ("s_clamp u_clamp s_mad_hi u_mad_hi s_mad_sat u_mad_sat", "ulong4", "%v_ulong4 %v_ulong4 %v_ulong4"),
    ("s_upsample u_upsample", "ulong4", "%v_uint4 %v_uint4"),
    ("s_upsample u_upsample", "short", "%v_char %v_char"),
    ("s_mad24 u_mad24", "uint4", "%v_uint4 %v_uint4 %v_uint4"),
    ("s_mul24 u_mul24", "uint", "%v_uint %v_uint"),
    ("vloadn", "float4", "%v_uint %v_to_float 4"),
    ("vstoren", "void", "%v_float4 %v_uint %v_to_float"),
    ("vload_half", "float", "%v_uint %v_to_half"),
    ("vload_halfn vloada_halfn", "float4", "%v_uint %v_to_half 4"),
    ("vstore_half", "void", "%v_double %v_uint %v_to_half"),
    ("vstore_half_r", "void", "%v_float %v_uint %v_to_half 1"),
    ("vstore_halfn vstorea_halfn", "void", "%v_float4 %v_uint %v_to_half"),
    ("vstore_halfn_r vstorea_halfn_r", "void", "%v_float4 %v_uint %v_to_half 3"),
    ("shuffle", "float4", "%v_float2 %v_uint4"),
    ("shuffle2", "float4", "%v_float2 %v_float2 %v_uint4"),
    ("bitselect", "float4", "%v_float4 %v_float4 %v_float4"),
    ("select", "float4", "%v_float4 %v_float4 %v_uint4"),
    ("prefetch", "void", "%v_to_float %v_uint"),
    ("printf", "uint", "%v_to_char"),
];

/// Instructions of device-side enqueue with the type of their result, or `-`, and their operands.
const ENQUEUE: &[(&str, &str, &str)] = &[
    ("EnqueueMarker", "uint", "%v_queue %v_uint %v_to_event %v_to_event"),
    (
        "EnqueueKernel",
        "uint",
        "%v_queue %v_uint %v_space %v_uint %v_to_event %v_to_event %callee %v_to_char %v_uint %v_uint %v_uint",
    ),
    ("GetKernelNDrangeSubGroupCount", "uint", "%v_space %callee %v_to_char %v_uint %v_uint"),
    ("GetKernelNDrangeMaxSubGroupSize", "uint", "%v_space %callee %v_to_char %v_uint %v_uint"),
    ("GetKernelWorkGroupSize", "uint", "%callee %v_to_char %v_uint %v_uint"),
    ("GetKernelPreferredWorkGroupSizeMultiple", "uint", "%callee %v_to_char %v_uint %v_uint"),
    ("RetainEvent", "-", "%v_event"),
    ("ReleaseEvent", "-", "%v_event"),
    ("CreateUserEvent", "event", ""),
    ("IsValidEvent", "bool", "%v_event"),
    ("SetUserEventStatus", "-", "%v_event %v_uint"),
    ("CaptureEventProfilingInfo", "-", "%v_event %v_uint %v_to_uint4"),
    ("GetDefaultQueue", "queue", ""),
    ("BuildNDRange", "space", "%v_uint %v_uint %v_uint"),
];

/// Instructions of pipes.
const PIPES: &[(&str, &str, &str)] = &[
    ("ReadPipe", "uint", "%v_pipe %v_to_char %v_uint %v_uint"),
    ("WritePipe", "uint", "%v_out_pipe %v_to_char %v_uint %v_uint"),
    ("ReservedReadPipe", "uint", "%v_pipe %v_reservation %v_uint %v_to_char %v_uint %v_uint"),
    ("ReservedWritePipe", "uint", "%v_out_pipe %v_reservation %v_uint %v_to_char %v_uint %v_uint"),
    ("ReserveReadPipePackets", "reservation", "%v_pipe %v_uint %v_uint %v_uint"),
    ("ReserveWritePipePackets", "reservation", "%v_out_pipe %v_uint %v_uint %v_uint"),
    ("CommitReadPipe", "-", "%v_pipe %v_reservation %v_uint %v_uint"),
    ("CommitWritePipe", "-", "%v_out_pipe %v_reservation %v_uint %v_uint"),
    ("IsValidReserveId", "bool", "%v_reservation"),
    ("GetNumPipePackets", "uint", "%v_pipe %v_uint %v_uint"),
    ("GetMaxPipePackets", "uint", "%v_out_pipe %v_uint %v_uint"),
    ("GroupReserveReadPipePackets", "reservation", "#2 %v_pipe %v_uint %v_uint %v_uint"),
    ("GroupReserveWritePipePackets", "reservation", "#2 %v_out_pipe %v_uint %v_uint %v_uint"),
    ("GroupCommitReadPipe", "-", "#2 %v_pipe %v_reservation %v_uint %v_uint"),
    ("GroupCommitWritePipe", "-", "#2 %v_out_pipe %v_reservation %v_uint %v_uint"),
];

fn examine(line: &str) -> Vec<Finding> {
    let changes = [("OpMemoryModel", HEAD), ("globals", GLOBALS), ("functions", CALLEE), ("body", line)];
    findings((1, 2), OPENCL, &changes)
}

/// Accepts the instruction, and rejects it with another result type, or another operand.
#[track_caller]
fn rejects_other_types(rule: &str, instruction: &str, result: &str, operands: &str) {
    let line = |result: &str, operands: &[&str]| match result {
        "-" => format!("{instruction} {}", operands.join(" ")),
        _ => {
            let (name, rest) = instruction.split_once(' ').unwrap_or((instruction, ""));
            format!("%a = {name} %{result} {rest} {}", operands.join(" "))
        }
    };
    let operands: Vec<&str> = operands.split_whitespace().collect();
    accepts(&examine(&line(result, &operands)));
    if result != "-" {
        rejects(rule, &examine(&line("float2", &operands)));
    }
    let has_type = |operand: &str| operand != "%callee" && !operand.starts_with('#');
    for (index, operand) in operands.iter().enumerate().filter(|(_, operand)| has_type(operand)) {
        let mut changed = operands.clone();
        changed[index] = if operand.starts_with('%') { "%true" } else { "5" };
        rejects(rule, &examine(&line(result, &changed)));
    }
}

#[test]
fn wrong_extended_instructions_of_kernels_are_rejected() {
    let mut tested = Vec::new();
    for (names, result, operands) in OPENCL_STD {
        for name in names.split(' ') {
            let row = OPENCL_STD_100_INSTRUCTION_TABLE.iter().find(|row| row.opname == name);
            let number = u32::from(row.expect("an instruction").opcode);
            rejects_other_types("OpenCL.std-types", &format!("OpExtInst %std {number}"), result, operands);
            tested.push(number);
        }
    }
    let untested =
        OPENCL_STD_100_INSTRUCTION_TABLE.iter().find(|row| !tested.contains(&u32::from(row.opcode)));
    assert_eq!(untested.map(|row| row.opname), None);
}

#[test]
fn wrong_widths_and_pointees_are_rejected() {
    for (op, rest) in [
        (OpenclStd100Op::sin, "%float4 %std {} %v_float2"),
        (OpenclStd100Op::native_sin, "%double %std {} %v_double"),
        (OpenclStd100Op::rotate, "%uint %std {} %v_uint %v_char"),
        (OpenclStd100Op::s_mul24, "%ulong4 %std {} %v_ulong4 %v_ulong4"),
        (OpenclStd100Op::u_upsample, "%ulong4 %std {} %v_ulong4 %v_ulong4"),
        (OpenclStd100Op::fract, "%float %std {} %v_float %v_to_float4"),
        (OpenclStd100Op::frexp, "%float %std {} %v_float %v_to_float"),
        (OpenclStd100Op::ldexp, "%float4 %std {} %v_float4 %v_uint"),
        (OpenclStd100Op::vloadn, "%float4 %std {} %v_uint %v_to_half 4"),
        (OpenclStd100Op::vload_half, "%float %std {} %v_uint %v_to_float"),
        (OpenclStd100Op::shuffle2, "%float4 %std {} %v_float2 %v_float4 %v_uint4"),
        (OpenclStd100Op::select, "%float4 %std {} %v_float4 %v_float4 %v_ulong4"),
    ] {
        let line = format!("%a = OpExtInst {}", rest.replace("{}", &(op as u32).to_string()));
        rejects("OpenCL.std-types", &examine(&line));
    }
}

#[test]
fn operands_of_extended_instructions_must_be_defined_before() {
    let sin = OpenclStd100Op::sin as u32;
    rejects("SPIRV-id-defined", &examine(&format!("%a = OpExtInst %float %std {sin} %missing")));
}

#[test]
fn wrong_device_side_enqueues_are_rejected() {
    for (name, result, operands) in ENQUEUE {
        rejects_other_types("SPIRV-enqueue-types", &format!("Op{name}"), result, operands);
    }
    let not_global = "OpCaptureEventProfilingInfo %v_event %v_uint %v_to_char";
    rejects("SPIRV-enqueue-types", &examine(not_global));
}

#[test]
fn wrong_pipe_operations_are_rejected() {
    for (name, result, operands) in PIPES {
        rejects_other_types("SPIRV-pipe-types", &format!("Op{name}"), result, operands);
    }
    let other_direction = "%a = OpReadPipe %uint %v_out_pipe %v_to_char %v_uint %v_uint";
    rejects("SPIRV-pipe-types", &examine(other_direction));
}

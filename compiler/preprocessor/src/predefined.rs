//! Predefined macros (OpenCL C 6.12, 6.15, and C99's limits).
//!
//! Initially, only their names are interned. A definition is parsed at its first use.

mod gnu;

use std::rc::Rc;

use kiln_session::{
    Options,
    extensions::{Extension, Extensions},
    source::FileKind,
};
use kiln_syntax::{Span, Symbol};
use kiln_vocabulary::opencl::LanguageVersion;

use super::{
    Preprocessor, Purpose,
    file::SourceFile,
    macros::{Dynamic, Macro, MacroKind},
    piece::Piece,
    token::Tok,
};

use LanguageVersion::{Cl10, Cl11, Cl12, Cl20, Cl30, Cl31};

/// A predefined macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A row of the tables below.
    Table(&'static str),
    /// An extension or feature.
    Extension(Extension),
    /// The language version.
    Version,
    /// A macro whose replacement depends on its position.
    Dynamic(Dynamic),
    /// A function of GNU C in text for the user: a macro that expands to its own name.
    Itself,
}

/// The condition for the macros of a table.
enum When {
    Always,
    Since(LanguageVersion),
    Only(LanguageVersion),
    With(Extension),
    RelaxedMath,
}

impl When {
    fn holds(&self, options: &Options, extensions: Extensions) -> bool {
        match self {
            Self::Always => true,
            Self::Since(version) => options.std >= *version,
            Self::Only(version) => options.std == *version,
            Self::With(extension) => extensions.has(*extension),
            Self::RelaxedMath => options.math.fast_relaxed,
        }
    }
}

const DYNAMIC: [(&str, Dynamic); 8] = [
    ("__LINE__", Dynamic::Line),
    ("__FILE__", Dynamic::File),
    ("__COUNTER__", Dynamic::Counter),
    ("__INCLUDE_LEVEL__", Dynamic::IncludeLevel),
    ("__BASE_FILE__", Dynamic::BaseFile),
    // C99 6.10.8. Fixed values as for reproducible builds (SOURCE_DATE_EPOCH=0).
    ("__DATE__", Dynamic::Text("\"Jan  1 1970\"")),
    ("__TIME__", Dynamic::Text("\"00:00:00\"")),
    ("__TIMESTAMP__", Dynamic::Text("\"Thu Jan  1 00:00:00 1970\"")),
];

/// The definitions, as after `#define`.
static TABLES: &[(When, &[&str])] = &[
    (When::Always, gnu::TYPES),
    (
        When::Always,
        &[
            // C99 6.10.8
            "__STDC__ 1",
            "__STDC_VERSION__ 199901L",
            // OpenCL C 6.12
            "__ENDIAN_LITTLE__ 1",
            "CL_VERSION_1_0 100",
            "__kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))",
            "kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))",
            "NULL ((void*)0)",
            // OpenCL C 6.15.3, integers
            "CHAR_BIT 8",
            "CHAR_MAX SCHAR_MAX",
            "CHAR_MIN SCHAR_MIN",
            "INT_MAX 2147483647",
            "INT_MIN (-2147483647 - 1)",
            "LONG_MAX 0x7fffffffffffffffL",
            "LONG_MIN (-0x7fffffffffffffffL - 1)",
            "SCHAR_MAX 127",
            "SCHAR_MIN (-127 - 1)",
            "SHRT_MAX 32767",
            "SHRT_MIN (-32767 - 1)",
            "UCHAR_MAX 255",
            "USHRT_MAX 65535",
            "UINT_MAX 0xffffffff",
            "ULONG_MAX 0xffffffffffffffffUL",
            // OpenCL C 6.15.2, floating point
            "MAXFLOAT 0x1.fffffep127f",
            "HUGE_VALF (__builtin_astype(0x7f800000, float))",
            "INFINITY (__builtin_astype(0x7f800000, float))",
            "NAN (__builtin_astype(0x7fc00000, float))",
            "HUGE_VAL (__builtin_astype(0x7ff0000000000000L, double))",
            "FP_ILOGB0 INT_MIN",
            "FP_ILOGBNAN INT_MAX",
            "FLT_DIG 6",
            "FLT_MANT_DIG 24",
            "FLT_MAX_10_EXP +38",
            "FLT_MAX_EXP +128",
            "FLT_MIN_10_EXP -37",
            "FLT_MIN_EXP -125",
            "FLT_RADIX 2",
            "FLT_MAX 0x1.fffffep127f",
            "FLT_MIN 0x1.0p-126f",
            "FLT_EPSILON 0x1.0p-23f",
            "M_E_F 2.71828182845904523536f",
            "M_LOG2E_F 1.44269504088896340736f",
            "M_LOG10E_F 0.43429448190325182765f",
            "M_LN2_F 0.69314718055994530942f",
            "M_LN10_F 2.30258509299404568402f",
            "M_PI_F 3.14159265358979323846f",
            "M_PI_2_F 1.57079632679489661923f",
            "M_PI_4_F 0.78539816339744830962f",
            "M_1_PI_F 0.31830988618379067154f",
            "M_2_PI_F 0.63661977236758134308f",
            "M_2_SQRTPI_F 1.12837916709551257390f",
            "M_SQRT2_F 1.41421356237309504880f",
            "M_SQRT1_2_F 0.70710678118654752440f",
            "DBL_DIG 15",
            "DBL_MANT_DIG 53",
            "DBL_MAX_10_EXP +308",
            "DBL_MAX_EXP +1024",
            "DBL_MIN_10_EXP -307",
            "DBL_MIN_EXP -1021",
            "DBL_RADIX 2",
            "DBL_MAX 0x1.fffffffffffffp1023",
            "DBL_MIN 0x1.0p-1022",
            "DBL_EPSILON 0x1.0p-52",
            "M_E 2.71828182845904523536",
            "M_LOG2E 1.44269504088896340736",
            "M_LOG10E 0.43429448190325182765",
            "M_LN2 0.69314718055994530942",
            "M_LN10 2.30258509299404568402",
            "M_PI 3.14159265358979323846",
            "M_PI_2 1.57079632679489661923",
            "M_PI_4 0.78539816339744830962",
            "M_1_PI 0.31830988618379067154",
            "M_2_PI 0.63661977236758134308",
            "M_2_SQRTPI 1.12837916709551257390",
            "M_SQRT2 1.41421356237309504880",
            "M_SQRT1_2 0.70710678118654752440",
            // OpenCL C 6.15.8; the values are `opencl::FenceFlags`
            "CLK_LOCAL_MEM_FENCE 1",
            "CLK_GLOBAL_MEM_FENCE 2",
            // OpenCL C 6.15.15.1: samplers; the values are `sampler`'s
            "CLK_ADDRESS_NONE 0",
            "CLK_ADDRESS_CLAMP_TO_EDGE 2",
            "CLK_ADDRESS_CLAMP 4",
            "CLK_ADDRESS_REPEAT 6",
            "CLK_ADDRESS_MIRRORED_REPEAT 8",
            "CLK_NORMALIZED_COORDS_FALSE 0",
            "CLK_NORMALIZED_COORDS_TRUE 1",
            "CLK_FILTER_NEAREST 0x10",
            "CLK_FILTER_LINEAR 0x20",
            // OpenCL C 6.15.15.7: image formats, with the values of the host headers
            "CLK_SNORM_INT8 0x10D0",
            "CLK_SNORM_INT16 0x10D1",
            "CLK_UNORM_INT8 0x10D2",
            "CLK_UNORM_INT16 0x10D3",
            "CLK_UNORM_SHORT_565 0x10D4",
            "CLK_UNORM_SHORT_555 0x10D5",
            "CLK_UNORM_INT_101010 0x10D6",
            "CLK_SIGNED_INT8 0x10D7",
            "CLK_SIGNED_INT16 0x10D8",
            "CLK_SIGNED_INT32 0x10D9",
            "CLK_UNSIGNED_INT8 0x10DA",
            "CLK_UNSIGNED_INT16 0x10DB",
            "CLK_UNSIGNED_INT32 0x10DC",
            "CLK_HALF_FLOAT 0x10DD",
            "CLK_FLOAT 0x10DE",
            "CLK_UNORM_INT24 0x10DF",
            "CLK_R 0x10B0",
            "CLK_A 0x10B1",
            "CLK_RG 0x10B2",
            "CLK_RA 0x10B3",
            "CLK_RGB 0x10B4",
            "CLK_RGBA 0x10B5",
            "CLK_BGRA 0x10B6",
            "CLK_ARGB 0x10B7",
            "CLK_INTENSITY 0x10B8",
            "CLK_LUMINANCE 0x10B9",
            "CLK_Rx 0x10BA",
            "CLK_RGx 0x10BB",
            "CLK_RGBx 0x10BC",
            "CLK_DEPTH 0x10BD",
            "CLK_DEPTH_STENCIL 0x10BE",
        ],
    ),
    (When::Only(Cl10), &["__ROUNDING_MODE__ rte"]),
    (When::Since(Cl11), &["CL_VERSION_1_1 110"]),
    (When::Since(Cl12), &["CL_VERSION_1_2 120"]),
    (
        When::Since(Cl20),
        &[
            "CL_VERSION_2_0 200",
            "CLK_IMAGE_MEM_FENCE 4",
            "CLK_sRGB 0x10BF",
            "CLK_sRGBx 0x10C0",
            "CLK_sRGBA 0x10C1",
            "CLK_sBGRA 0x10C2",
            "CLK_ABGR 0x10C3",
            // OpenCL C 6.15.12
            "ATOMIC_VAR_INIT(x) (x)",
            "ATOMIC_FLAG_INIT ATOMIC_FLAG_INIT",
            // OpenCL C 6.15.18
            "CL_COMPLETE 0",
            "CL_RUNNING 1",
            "CL_SUBMITTED 2",
            "CL_QUEUED 3",
            "CLK_SUCCESS 0",
            "CLK_ENQUEUE_FAILURE -101",
            "CLK_INVALID_QUEUE -102",
            "CLK_INVALID_NDRANGE -160",
            "CLK_INVALID_EVENT_WAIT_LIST -57",
            "CLK_DEVICE_QUEUE_FULL -161",
            "CLK_INVALID_ARG_SIZE -51",
            "CLK_EVENT_ALLOCATION_FAILURE -100",
            "CLK_OUT_OF_RESOURCES -5",
        ],
    ),
    (When::Since(Cl30), &["CL_VERSION_3_0 300", "CLK_UNORM_INT_101010_2 0x10E0"]),
    (When::Since(Cl31), &["CL_VERSION_3_1 310"]),
    (When::With(Extension::Images), &["__IMAGE_SUPPORT__ 1"]),
    (When::RelaxedMath, &["__FAST_RELAXED_MATH__ 1"]),
    (
        When::With(Extension::KhrFp16),
        &[
            "HALF_DIG 3",
            "HALF_MANT_DIG 11",
            "HALF_MAX_10_EXP +4",
            "HALF_MAX_EXP +16",
            "HALF_MIN_10_EXP -4",
            "HALF_MIN_EXP -13",
            "HALF_RADIX 2",
            "HALF_MAX 0x1.ffcp15h",
            "HALF_MIN 0x1.0p-14h",
            "HALF_EPSILON 0x1.0p-10h",
            "M_E_H 2.71828182845904523536h",
            "M_LOG2E_H 1.44269504088896340736h",
            "M_LOG10E_H 0.43429448190325182765h",
            "M_LN2_H 0.69314718055994530942h",
            "M_LN10_H 2.30258509299404568402h",
            "M_PI_H 3.14159265358979323846h",
            "M_PI_2_H 1.57079632679489661923h",
            "M_PI_4_H 0.78539816339744830962h",
            "M_1_PI_H 0.31830988618379067154h",
            "M_2_PI_H 0.63661977236758134308h",
            "M_2_SQRTPI_H 1.12837916709551257390h",
            "M_SQRT2_H 1.41421356237309504880h",
            "M_SQRT1_2_H 0.70710678118654752440h",
        ],
    ),
];

/// The predefined macros without parameters, such as `M_PI_F` and `true`, that do not begin with `__`.
pub fn constants(version: LanguageVersion, extensions: Extensions) -> impl Iterator<Item = &'static str> {
    let holds = move |when: &When| match when {
        When::Always => true,
        When::Since(since) => version >= *since,
        When::Only(only) => version == *only,
        When::With(extension) => extensions.has(*extension),
        When::RelaxedMath => false,
    };
    let tables = TABLES.iter().filter(move |(when, _)| holds(when));
    let names =
        tables.flat_map(|(_, definitions)| definitions.iter()).filter_map(|row| row.split(' ').next());
    names.filter(|name| !name.starts_with("__") && !name.contains('('))
}

impl Preprocessor<'_> {
    /// Registers the names.
    pub(super) fn predefine(&mut self) {
        for (name, dynamic) in DYNAMIC {
            self.predefine_row(name, Row::Dynamic(dynamic));
        }
        for name in ["__OPENCL_VERSION__", "__OPENCL_C_VERSION__"] {
            self.predefine_row(name, Row::Version);
        }
        for extension in self.extensions.iter().filter(|it| it.has_macro(self.options.std)) {
            self.predefine_row(extension.name(), Row::Extension(extension));
        }
        for (when, definitions) in TABLES {
            if when.holds(self.options, self.extensions) {
                for definition in *definitions {
                    self.predefine_row(name_of(definition), Row::Table(definition));
                }
            }
        }
        for definition in gnu::FUNCTIONS {
            let row = if self.purpose == Purpose::Print { Row::Itself } else { Row::Table(definition) };
            self.predefine_row(name_of(definition), row);
        }
    }

    fn predefine_row(&mut self, name: &str, row: Row) {
        let name = self.interner.intern(name);
        self.macros.predefine(name, row);
    }

    /// Defines a predefined macro at its first use: parses its definition as a separate file.
    pub(super) fn define_predefined(&mut self, name: Symbol, row: Row) -> Rc<Macro> {
        if let Row::Dynamic(dynamic) = row {
            let definition = Span::default();
            let made = Macro::new(name, definition, MacroKind::Dynamic(dynamic), Vec::new());
            let index = self.macros.define(made);
            return self.macros.get(index);
        }
        let text = match row {
            Row::Table(definition) => definition.to_owned(),
            Row::Version => format!("{} {}", self.interner.text(name), self.options.std.macro_value()),
            Row::Extension(_) | Row::Dynamic(_) => format!("{} 1", self.interner.text(name)),
            Row::Itself => format!("{0} {0}", self.interner.text(name)),
        };
        let file = SourceFile::new("<built-in>".into(), text.into_bytes());
        let lo = self
            .map
            .add_file(file.name.clone(), file.text.clone(), FileKind::BuiltIn, None)
            .map_or(0, |id| self.map.span(id, 0..0).lo);
        let location =
            |token: &Tok| Tok { span: Span::new(token.span.lo + lo, token.span.hi + lo), ..*token };
        let line: Vec<Tok> = Piece::whole(&file, self.interner).tokens.iter().map(location).collect();
        let made = self
            .definition(&line, Span::default())
            .unwrap_or_else(|| Macro::new(name, Span::default(), MacroKind::Object, Vec::new()));
        let index = self.macros.define(made);
        self.macros.get(index)
    }
}

/// The name that a definition of the tables defines.
fn name_of(definition: &'static str) -> &'static str {
    // Hundreds of names at every start: faster than `find`, which decodes UTF-8.
    let end = definition.bytes().position(|it| matches!(it, b' ' | b'('));
    &definition[..end.unwrap_or(definition.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_match_those_of_other_modules() {
        use kiln_vocabulary::opencl::FenceFlags;
        let all: Vec<_> = TABLES.iter().flat_map(|table| table.1).collect();
        for (name, flag) in [
            ("CLK_LOCAL_MEM_FENCE", FenceFlags::LOCAL),
            ("CLK_GLOBAL_MEM_FENCE", FenceFlags::GLOBAL),
            ("CLK_IMAGE_MEM_FENCE", FenceFlags::IMAGE),
        ] {
            assert!(all.contains(&&format!("{name} {}", flag.bits()).as_str()), "{name}");
        }
    }
}

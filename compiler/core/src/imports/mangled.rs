//! Names of functions that C++ compilers mangle (Itanium C++ ABI 5.1), for the types of OpenCL C.

/// A function: its name and the types of its parameters, in OpenCL C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mangled {
    pub(super) name: String,
    pub(super) params: Vec<String>,
}

/// Parses a name. `None` if it is not mangled, or has types that OpenCL C's built-in functions do not have.
pub(super) fn parse(text: &str) -> Option<Mangled> {
    let mut parser = Parser { rest: text.strip_prefix("_Z")?, seen: Vec::new() };
    let name = parser.identifier()?;
    let mut params = Vec::new();
    while !parser.rest.is_empty() {
        params.push(parser.ty()?);
    }
    if params == ["void"] {
        params.clear();
    }
    Some(Mangled { name, params })
}

struct Parser<'t> {
    rest: &'t str,
    /// The types that later ones can refer to, in order.
    seen: Vec<String>,
}

impl Parser<'_> {
    fn consume(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn parse_number(&mut self) -> Option<usize> {
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    /// A length, and a name of that length.
    fn identifier(&mut self) -> Option<String> {
        let length = self.parse_number()?;
        let (name, rest) = (self.rest.get(..length)?, self.rest.get(length..)?);
        self.rest = rest;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (length > 0 && name.chars().all(is_word)).then(|| name.to_owned())
    }

    fn ty(&mut self) -> Option<String> {
        if let Some(simple) = self.simple() {
            return Some(simple.to_owned());
        }
        if self.consume("S") {
            return self.substitution();
        }
        let ty = if self.consume("P") {
            format!("{} *", self.ty()?)
        } else if self.consume("Dv") {
            let count = self.parse_number()?;
            if !self.consume("_") {
                return None;
            }
            format!("{}{count}", self.ty()?)
        } else if self.consume("U7_Atomic") {
            format!("atomic_{}", self.ty()?)
        } else if self.rest.starts_with(['U', 'K', 'V', 'r']) {
            self.qualified()?
        } else {
            named(&self.identifier()?)?
        };
        self.seen.push(ty.clone());
        Some(ty)
    }

    /// A type without a number.
    fn simple(&mut self) -> Option<&'static str> {
        const SIMPLE: [(&str, &str); 16] = [
            ("Dh", "half"),
            ("v", "void"),
            ("b", "bool"),
            ("a", "char"),
            ("c", "char"),
            ("h", "uchar"),
            ("s", "short"),
            ("t", "ushort"),
            ("i", "int"),
            ("j", "uint"),
            ("l", "long"),
            ("m", "ulong"),
            ("x", "long"),
            ("y", "ulong"),
            ("f", "float"),
            ("d", "double"),
        ];
        SIMPLE.into_iter().find(|(letter, _)| self.consume(letter)).map(|(_, ty)| ty)
    }

    /// A type that was mentioned before: `S_`, `S0_`, `S1_` and so on, in base 36.
    fn substitution(&mut self) -> Option<String> {
        let (digits, rest) = self.rest.split_once('_')?;
        self.rest = rest;
        let index = if digits.is_empty() { 0 } else { usize::from_str_radix(digits, 36).ok()? + 1 };
        self.seen.get(index).cloned()
    }

    /// A type with an address space and qualifiers of C, which are one component.
    fn qualified(&mut self) -> Option<String> {
        let mut words = String::new();
        loop {
            if self.rest.starts_with("U7_Atomic") {
                break;
            }
            if self.consume("U") {
                words.push_str(space(&self.identifier()?)?);
                continue;
            }
            let found = [("r", ""), ("V", "volatile "), ("K", "const ")];
            let Some((_, word)) = found.into_iter().find(|(letter, _)| self.consume(letter)) else { break };
            words.push_str(word);
        }
        Some(format!("{words}{}", self.ty()?))
    }
}

/// The keyword of an address space, by clang's number for the target `spir`.
fn space(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("AS")? {
        "0" => "private ",
        "1" => "global ",
        "2" => "constant ",
        "3" => "local ",
        "4" => "",
        _ => return None,
    })
}

/// A type that has a name: an opaque one, or an enumeration.
fn named(name: &str) -> Option<String> {
    let Some(opaque) = name.strip_prefix("ocl_") else {
        let is_known = matches!(name, "memory_order" | "memory_scope" | "ndrange_t");
        return is_known.then(|| name.to_owned());
    };
    let image = [("_ro", "read_only"), ("_wo", "write_only"), ("_rw", "read_write")]
        .into_iter()
        .find_map(|(suffix, access)| Some((opaque.strip_suffix(suffix)?, access)));
    Some(match (opaque, image) {
        ("sampler", _) => "sampler_t".to_owned(),
        ("event", _) => "event_t".to_owned(),
        ("queue", _) => "queue_t".to_owned(),
        ("clkevent", _) => "clk_event_t".to_owned(),
        ("reserveid", _) => "reserve_id_t".to_owned(),
        // clang omits underscores: `image2darray`.
        (_, Some((image, access))) if image.starts_with("image") => {
            let mut name = image.to_owned();
            for part in ["array", "buffer", "msaa", "depth"] {
                if !name.contains(&format!("_{part}")) {
                    name = name.replace(part, &format!("_{part}"));
                }
            }
            format!("{access} {name}_t")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        parse(text).map(|mangled| format!("{}({})", mangled.name, mangled.params.join(", ")))
    }

    #[test]
    fn mangled_names_are_parsed() {
        let cases = [
            ("_Z13get_global_idj", "get_global_id(uint)"),
            ("_Z17clock_read_devicev", "clock_read_device()"),
            ("_Z3minDv4_fS_", "min(float4, float4)"),
            ("_Z6vload4mPU3AS1Kf", "vload4(ulong, global const float *)"),
            ("_Z5fractDv2_fPU3AS3S_", "fract(float2, local float2 *)"),
            ("_Z5frexpDhPi", "frexp(half, int *)"),
            // `global const float` is one component, and the pointer is the next.
            ("_Z1fPU3AS1KfS0_", "f(global const float *, global const float *)"),
            (
                "_Z20atomic_load_explicitPU3AS4VU7_Atomici12memory_order12memory_scope",
                "atomic_load_explicit(volatile atomic_int *, memory_order, memory_scope)",
            ),
            (
                "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f",
                "read_imagef(read_only image2d_t, sampler_t, float2)",
            ),
            (
                "_Z12write_imagef20ocl_image2d_array_woDv4_iDv4_f",
                "write_imagef(write_only image2d_array_t, int4, float4)",
            ),
            (
                "_Z12write_imagef19ocl_image2darray_woDv4_iDv4_f",
                "write_imagef(write_only image2d_array_t, int4, float4)",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    /// Parsing a truncated name never panics.
    #[test]
    fn damaged_names_are_rejected() {
        let whole = "_Z23atomic_compare_exchangePU3AS4VU7_AtomiciPU3AS4iS3_Dv16_fé";
        for (end, _) in whole.char_indices() {
            parse(&whole[..end]);
        }
        for text in
            ["sin", "_Z", "_Z3si", "_Z3sinS_", "_Z3sinDvf", "_Z3sin99999999999999999999x", "_Z3sinPU3AS9f"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}

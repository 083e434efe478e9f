//! Applies the fixes of the diagnostics in a case: each must repair the source, and the fixed program must compute the
//! same results as the corrected example on the page.

use std::path::Path;

use crate::{
    case::{Case, SOURCE, write},
    device,
    kiln::{self, Diagnostic},
};

/// The number of elements of each buffer.
const LENGTH: usize = 64;

impl Case {
    /// Applies each suggested edit of the source alone: its diagnostic disappears, and no other one appears.
    pub(crate) fn apply_fixes(
        &self,
        scratch: &Path,
        words: &[&str],
        before: &[Diagnostic],
    ) -> Result<(), String> {
        let source = self.source_bytes()?;
        for diagnostic in before {
            let Some(fix) = &diagnostic.fix else { continue };
            let Some(location) = fix.location.as_ref().filter(|location| location.file == SOURCE) else {
                continue;
            };
            let mut fixed = source.clone();
            fixed.splice(location.start_byte..location.end_byte, fix.replacement.bytes());
            write(scratch, SOURCE, &fixed)?;
            let result = self.check_fix(scratch, words, before, diagnostic);
            write(scratch, SOURCE, &source)?;
            result.map_err(|reason| {
                format!("the fix `{}` of `{}`: {reason}", fix.replacement, diagnostic.message)
            })?;
        }
        Ok(())
    }

    fn check_fix(
        &self,
        scratch: &Path,
        words: &[&str],
        before: &[Diagnostic],
        repaired: &Diagnostic,
    ) -> Result<(), String> {
        let after = kiln::diagnostics(&kiln::run(self.command(scratch, &["check"]).args(words))?)?;
        let count = |list: &[Diagnostic], code: &str| list.iter().filter(|it| it.code == code).count();
        let is_gone = count(&after, &repaired.code) < count(before, &repaired.code);
        let others = after.iter().find(|it| it.code != repaired.code && count(before, &it.code) == 0);
        if !is_gone || others.is_some() {
            return Err(format!("it does not repair it: {after:?}"));
        }
        match &self.corrected {
            Some(corrected) if after.is_empty() => self.compare(scratch, corrected),
            _ => Ok(()),
        }
    }

    /// Runs the source and the corrected example with the same arguments, if all are numbers and buffers of numbers.
    fn compare(&self, scratch: &Path, corrected: &str) -> Result<(), String> {
        let Some(arguments) = arguments(corrected) else { return Ok(()) };
        let found = self.results(scratch, &arguments)?;
        write(scratch, SOURCE, corrected.as_bytes())?;
        let expected = self.results(scratch, &arguments)?;
        if found == expected {
            return Ok(());
        }
        Err(format!("it computes\n{found}and the corrected example\n{expected}"))
    }

    /// The contents of all buffers after a launch on the reference device, and what the program prints.
    fn results(&self, scratch: &Path, arguments: &[String]) -> Result<String, String> {
        let mut command = self.command(scratch, &["run", "--global", "1"]);
        device::Device::named("reference").expect("it is always there").only(&mut command)?;
        let finished = kiln::run(command.args(arguments))?;
        match finished.status.success() {
            true => Ok(finished.text()),
            false => Err(format!("a launch ended with {}:\n{}", finished.status, finished.stderr)),
        }
    }
}

/// Arguments for the only kernel of a source, and the options that print its buffers. `None` if a parameter is not a
/// number or a pointer to numbers.
fn arguments(source: &str) -> Option<Vec<String>> {
    let (_, rest) = source.split_once("kernel void ")?;
    if rest.contains("kernel void ") {
        return None;
    }
    let (list, _) = rest.split_once('(')?.1.split_once(')')?;
    let mut arguments = Vec::new();
    for parameter in list.split(',').map(str::trim).filter(|it| !matches!(*it, "" | "void")) {
        let (ty, name) = parameter.rsplit_once([' ', '*'])?;
        let is_pointer = parameter.contains('*');
        let is_local = ty.split(' ').any(|word| word == "local");
        let is_qualifier = |word: &&str| {
            !matches!(*word, "" | "global" | "local" | "constant" | "const" | "restrict" | "volatile")
        };
        let words: Vec<&str> = ty.split([' ', '*']).filter(is_qualifier).collect();
        let [ty] = words[..] else { return None };
        let ty = ty.strip_prefix("atomic_").unwrap_or(ty);
        let count: usize = match ty.trim_start_matches(char::is_alphabetic) {
            "" => 1,
            digits => digits.parse().ok()?,
        };
        let scalar = ty.trim_end_matches(|c: char| c.is_ascii_digit());
        if !["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float"].contains(&scalar) {
            return None;
        }
        let argument = match (is_pointer, is_local) {
            (true, true) => format!("local:{}", LENGTH * 8),
            (true, false) => format!("buf:{ty}[{LENGTH}]=iota%5+1"),
            _ => format!("{ty}:{}", vec!["7"; count].join(",")),
        };
        arguments.extend(["--arg".to_owned(), argument]);
        if is_pointer && !is_local {
            arguments.extend(["--print".to_owned(), format!("{name}[0..{LENGTH}]")]);
        }
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_get_numbers_and_buffers() {
        let words = |list: &str| arguments(&format!("kernel void k({list}) {{}}")).map(|it| it.join(" "));
        assert_eq!(words("").as_deref(), Some(""));
        assert_eq!(
            words("global const float4 *in, int n").as_deref(),
            Some("--arg buf:float4[64]=iota%5+1 --print in[0..64] --arg int:7")
        );
        assert_eq!(
            words("local int *scratch, uchar2 v").as_deref(),
            Some("--arg local:512 --arg uchar2:7,7")
        );
        assert_eq!(words("struct S s"), None);
        assert_eq!(words("sampler_t s"), None);
    }
}

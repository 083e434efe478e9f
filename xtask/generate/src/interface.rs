//! Adds the interface that `parse/machine.rs` of kiln-syntax needs to the parser that LALRPOP generates.
//!
//! LALRPOP keeps its automaton private, but the driver of kiln-syntax runs it: a trial of a repair stops at its first
//! error, without the list of expected terminals that LALRPOP's own driver computes, and reductions that only rename
//! a value do not move it. So this module adds two pieces of text to the generated file, and changes nothing in it:
//!
//! - at the start of the module of the start symbol, the functions in `INTERFACE`, which access its private items;
//! - at the end of the file, the module `driver`, which exports these functions and the table `RENAMES`.
//!
//! The additions fit the version of LALRPOP in `VERSION` only. After an update: compare the items that `INTERFACE`
//! uses and the texts that `rename` searches with the new output, change `VERSION` here and in `Cargo.toml`, and run
//! `cargo xtask grammar`. `parse/machine.rs` has a test that compares `RENAMES` with the automaton.

/// The version of LALRPOP whose output the additions fit.
const VERSION: &str = "0.23.2";

/// The first line of the module of the start symbol.
const MODULE: &str = "\nmod ___parse___Unit {\n";

/// The functions that access the private items of that module. `ParserDefinition` is LALRPOP's public interface of an
/// automaton; the module has its only implementation.
const INTERFACE: &str = "
pub(crate) const TERMINALS: &[&str] = ___TERMINAL;
pub(crate) const RULES: i16 = RULE_COUNT;
pub(crate) fn machine<'t, 'a, 's>(state: &'s State<'t, 'a>) -> impl crate::parse::machine::Automaton {
___StateMachine { state, ___phantom: core::marker::PhantomData }
}
pub(crate) fn accepts(states: &[i16], terminal: usize) -> bool {
___accepts(None, states, Some(terminal), core::marker::PhantomData)
}
";

/// Adds the interface to the generated parser.
pub(crate) fn add(parser: &str) -> Result<String, String> {
    let header = format!("// auto-generated: \"lalrpop {VERSION}\"\n");
    if !parser.starts_with(&header) {
        let first = parser.lines().next().unwrap_or_default();
        return Err(format!("the additions fit LALRPOP {VERSION}, but the output starts with `{first}`"));
    }
    let (before, module) = match parser.matches(MODULE).count() {
        1 => parser.split_once(MODULE).expect("counted above"),
        count => return Err(format!("LALRPOP generated {count} modules `{}`", MODULE.trim())),
    };
    let renames: Vec<Option<u8>> =
        functions(parser, "___reduce").map(|(_, reduction)| rename(parser, reduction)).collect();
    if !renames.iter().any(Option::is_some) {
        return Err("no reduction of the generated parser was recognized as a renaming".to_owned());
    }
    let interface = INTERFACE.replace("RULE_COUNT", &renames.len().to_string());
    let table: String = renames.iter().map(|name| format!("{name:?},\n")).collect();
    Ok(format!(
        "{before}{MODULE}{interface}{module}\
         pub(crate) mod driver {{\n\
         pub(crate) use super::___parse___Unit::{{RULES, TERMINALS, accepts, machine}};\n\
         pub(crate) const RENAMES: [Option<u8>; {}] = [\n{table}];\n}}\n",
        renames.len()
    ))
}

/// For productions that only rename the value on top of the stack, such as `Cast = Unary`, the new name. An operand
/// passes through seven of them; with the table the driver does not move the value each time.
fn rename(parser: &str, reduction: &str) -> Option<u8> {
    let between = |before: &str, after: &str| Some(reduction.split_once(before)?.1.split_once(after)?.0);
    let taken = between("let ___sym0 = ___pop_", "(")?;
    let action = between("super::___action", "::<>(state, ___sym0);")?;
    let given = between("___Symbol::", "(___nt)")?;
    let name = between("\n(1, ", ")")?;
    let (_, action) = functions(parser, "___action").find(|(number, _)| *number == action)?;
    let is_same = action.trim_end().ends_with("{\n___0\n}") && action.contains("(_, ___0, _):");
    if taken == given && is_same { name.parse().ok() } else { None }
}

/// The functions with this name and a number, in order: the number, and the text up to the end of the function.
fn functions<'p>(parser: &'p str, name: &str) -> impl Iterator<Item = (&'p str, &'p str)> {
    parser.split("\nfn ").filter_map(move |function| {
        let (number, text) = function.strip_prefix(name)?.split_once('<')?;
        number.parse::<usize>().ok()?;
        Some((number, text.split_inclusive("\n}").next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDUCTIONS: &str = "
fn ___reduce0<>(state: &S) -> (usize, usize) {
let ___sym0 = ___pop_Variant1(___symbols);
let ___nt = super::___action0::<>(state, ___sym0);
___symbols.push((___start, ___Symbol::Variant1(___nt), ___end));
(1, 7)
}
fn ___reduce1<>(state: &S) -> (usize, usize) {
let ___sym0 = ___pop_Variant1(___symbols);
let ___nt = super::___action1::<>(state, ___sym0);
___symbols.push((___start, ___Symbol::Variant1(___nt), ___end));
(1, 8)
}
}
fn ___action0<>(state: &S, (_, ___0, _): (u32, u8, u32)) -> u8
{
___0
}
fn ___action1<>(state: &S, (_, ___0, _): (u32, u8, u32)) -> u8
{
___0 + 1
}
";

    fn parser(version: &str, modules: usize) -> String {
        let modules = MODULE.repeat(modules);
        format!("// auto-generated: \"lalrpop {version}\"\n{modules}{REDUCTIONS}")
    }

    #[test]
    fn only_reductions_that_keep_the_value_are_renames() {
        let text = add(&parser(VERSION, 1)).unwrap();
        assert!(text.contains("RENAMES: [Option<u8>; 2] = [\nSome(7),\nNone,\n];"), "{text}");
        assert!(text.contains("RULES: i16 = 2;"), "{text}");
    }

    #[test]
    fn other_versions_and_forms_of_the_output_are_rejected() {
        assert!(add(&parser("0.24.0", 1)).unwrap_err().contains("fit LALRPOP 0.23.2"));
        assert!(add(&parser(VERSION, 2)).unwrap_err().contains("2 modules"));
        assert!(add(&parser(VERSION, 0)).unwrap_err().contains("0 modules"));
        let without = parser(VERSION, 1).replace("{\n___0\n}", "{\nkeep(___0)\n}");
        assert!(add(&without).unwrap_err().contains("no reduction"));
    }
}

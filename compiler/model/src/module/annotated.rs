//! SPIR-V modules with the annotations of Dat3M's tests: `; @Input: %x = {0}`, `; @Output: forall (%x[0] == 1)`,
//! `; @Filter: %x[0] == 1` and `; @Config: 2, 1, 1`: the numbers of work-items in a sub-group, of sub-groups in a work-group,
//! and of work-groups. The names are those of `OpName`, with `@` before them.

use std::collections::BTreeMap;

use spirv::{Op, StorageClass};

use super::{Launch, Module, Unsupported, interface::Bound};
use crate::{
    event::{Location, Object, Skeleton},
    text::{Condition, Quantifier},
};

/// A test, with all runs of its work-items.
#[derive(Clone, Debug)]
pub struct AnnotatedTest {
    /// The runs.
    pub skeleton: Skeleton,
    /// The condition. Without one, the test is about data races.
    pub condition: Option<Condition>,
    /// Only the outcomes that satisfy it count.
    pub filter: Option<Condition>,
    parts: BTreeMap<String, Part>,
}

/// How to run the work-items of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// The maximum number of iterations of a loop with accesses to shared memory.
    pub max_iterations: u32,
    /// The values of objects that the test does not initialize.
    pub undefined: Undefined,
    /// See [`Launch::keeps_spins`].
    pub keeps_spins: bool,
}

/// The values of objects that a test does not initialize. Only these choices are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undefined {
    /// Zero.
    #[default]
    Zero,
    /// All uninitialized objects and undefined values have different values.
    Distinct,
}

/// A scalar that a condition names.
#[derive(Clone, Copy, Debug)]
struct Part {
    location: Location,
    size: u64,
    initial: u64,
}

/// The value of an `@Input`.
enum Input {
    Scalar(i64),
    List(Vec<Self>),
}

/// The annotations of a module.
#[derive(Default)]
struct Annotations {
    inputs: Vec<(String, Input)>,
    condition: Option<(Quantifier, String)>,
    filter: Option<String>,
    /// The names in the conditions, such as `x[0][1]`.
    names: Vec<String>,
    config: [u32; 3],
}

impl AnnotatedTest {
    /// Reads the annotations of a test, whose assembly has this text, and runs its work-items.
    pub fn read(module: &Module, text: &str, options: TestOptions) -> Result<Self, Unsupported> {
        let annotations = Annotations::read(text).map_err(Unsupported::Other)?;
        let [lanes, sub_groups, groups] = annotations.config;
        let local = [lanes * sub_groups, 1, 1];
        let mut launch = Launch {
            global: [local[0] * groups, 1, 1],
            local,
            sub_group: lanes,
            max_iterations: options.max_iterations,
            keeps_cut: true,
            keeps_spins: options.keeps_spins,
            only_consistent: true,
            objects: Some(BTreeMap::new()),
            ..Launch::default()
        };
        let bound = module.bind(&launch)?;
        let mut objects = BTreeMap::new();
        for (name, input) in &annotations.inputs {
            // Some tests describe parameters that they do not have.
            let Some(id) = module.named(name) else { continue };
            let bytes = module.input(id, input, &bound)?;
            objects.insert(id, bytes);
        }
        if options.undefined == Undefined::Distinct {
            module.fill_undefined(&bound, &mut objects)?;
        }
        launch.objects = Some(objects);
        let bound = module.bind(&launch)?;
        let mut parts = BTreeMap::new();
        for name in &annotations.names {
            let part = module.part(name, &bound)?;
            parts.insert(name.clone(), part);
        }
        let signed = |expression: &str| with_signs(expression, &parts);
        let condition = annotations.condition.map(|it| Condition::new(it.0, signed(&it.1)));
        let filter = annotations.filter.map(|it| Condition::new(Quantifier::Exists, signed(&it)));
        let skeleton = module.skeleton(&launch)?;
        Ok(Self { skeleton, condition, filter, parts })
    }

    /// The value of a part of an outcome, sign-extended.
    pub fn value(&self, outcome: &[u64], name: &str) -> Option<i64> {
        let Part { location, size, initial } = self.parts.get(name.strip_prefix(NAME)?)?;
        let part = self.skeleton.parts.binary_search(location).ok();
        let value = part.and_then(|index| outcome.get(index)).unwrap_or(initial);
        let unused = 64 - 8 * (*size).min(8) as u32;
        Some((value << unused) as i64 >> unused)
    }
}

impl Annotations {
    fn read(text: &str) -> Result<Self, String> {
        let mut all = Self { config: [1; 3], ..Self::default() };
        let mut conditions = Vec::new();
        for line in text.lines() {
            let Some(rest) = line.trim_start().strip_prefix(';').map(str::trim_start) else { continue };
            if let Some(inputs) = rest.strip_prefix("@Input:") {
                let mut rest = inputs.trim();
                while !rest.is_empty() {
                    let (name, value) = rest.split_once('=').ok_or("an input has no value")?;
                    let (value, after) = input(value)?;
                    all.inputs.push((name.trim().trim_start_matches('%').to_owned(), value));
                    rest = after.trim_start().trim_start_matches(',').trim();
                }
            } else if let Some(condition) = rest.strip_prefix("@Output:") {
                conditions.push(condition.trim());
            } else if let Some(filter) = rest.strip_prefix("@Filter:") {
                let expression = all.expression(filter);
                all.filter = Some(expression);
            } else if let Some(config) = rest.strip_prefix("@Config:") {
                let numbers: Result<Vec<u32>, _> = config.split(',').map(|it| it.trim().parse()).collect();
                all.config =
                    numbers.ok().and_then(|it| it.try_into().ok()).ok_or("@Config is not understood")?;
            }
        }
        all.condition = all.join(&conditions)?;
        Ok(all)
    }

    /// Joins conditions, which have the same quantifier.
    fn join(&mut self, conditions: &[&str]) -> Result<Option<(Quantifier, String)>, String> {
        let kinds = [
            ("forall", Quantifier::Always, " /\\ "),
            ("exists", Quantifier::Exists, " \\/ "),
            ("not exists", Quantifier::Never, " \\/ "),
        ];
        let Some(first) = conditions.first() else { return Ok(None) };
        let kind = kinds.into_iter().find(|(word, ..)| first.starts_with(word));
        let (word, quantifier, operator) = kind.ok_or("a condition has no quantifier")?;
        let mut all = Vec::new();
        for condition in conditions {
            let expression = condition.strip_prefix(word).ok_or("the quantifiers of conditions differ")?;
            all.push(format!("({})", self.expression(expression)));
        }
        Ok(Some((quantifier, all.join(operator))))
    }

    /// An expression in the syntax of litmus tests; collects its names.
    fn expression(&mut self, text: &str) -> String {
        for after in text.split('%').skip(1) {
            let end = after.find(|c: char| !(c.is_alphanumeric() || "_[]".contains(c)));
            self.names.push(after[..end.unwrap_or(after.len())].to_owned());
        }
        // A number that is a name must not look like a literal.
        text.replace(" and ", " /\\ ").replace(" or ", " \\/ ").replace('%', NAME)
    }
}

/// Converts the numbers in an expression to signed values of the type of the name before each.
fn with_signs(expression: &str, parts: &BTreeMap<String, Part>) -> String {
    let mut pieces = expression.split(NAME);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(NAME);
        let end = piece.find(|c: char| !(c.is_alphanumeric() || "_[]".contains(c))).unwrap_or(piece.len());
        let operator = piece[end..].find(|c: char| !" =!<>".contains(c)).map_or(piece.len(), |it| end + it);
        let digits =
            piece[operator..].find(|c: char| !c.is_ascii_digit()).map_or(piece.len(), |it| operator + it);
        match (parts.get(&piece[..end]), piece[operator..digits].parse::<i64>()) {
            (Some(part), Ok(number)) => {
                let unused = 64 - 8 * part.size.min(8) as u32;
                let number = number << unused >> unused;
                text.push_str(&format!("{}{number}{}", &piece[..operator], &piece[digits..]));
            }
            _ => text.push_str(piece),
        }
    }
    text
}

/// The prefix of each name in an expression.
const NAME: &str = "_:";

/// The value at the start of a text, and the rest of the text.
fn input(text: &str) -> Result<(Input, &str), String> {
    let text = text.trim_start();
    let Some(mut rest) = text.strip_prefix('{') else {
        let end = text.find([',', '}']).unwrap_or(text.len());
        let number = match text[..end].trim() {
            "true" => 1,
            "false" => 0,
            number => number.parse().map_err(|_| format!("not a number: {number}"))?,
        };
        return Ok((Input::Scalar(number), &text[end..]));
    };
    let mut list = Vec::new();
    loop {
        let (value, after) = input(rest)?;
        list.push(value);
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => {
                let end = after.strip_prefix('}').ok_or("an input has no end")?;
                return Ok((Input::List(list), end));
            }
        }
    }
}

fn mismatch() -> Unsupported {
    Unsupported::Other("a name or value does not have the type of its object".to_owned())
}

impl Module {
    /// The object with this name.
    fn named(&self, name: &str) -> Option<u32> {
        let is_it = |it: &&super::Instruction| {
            it.op == Op::Name && it.text(1).strip_prefix('@').is_some_and(|it| it == name)
        };
        self.instructions.iter().find(is_it).map(|it| it.word(0))
    }

    /// The type of an object, or of its elements if it is an array of unknown length, such as that of a pointer parameter. Returns
    /// whether it is such an array.
    fn object(&self, id: u32) -> Result<(u32, bool), Unsupported> {
        let it = self.definition(id)?;
        Ok(match self.pointer(it.word(0)) {
            Ok((_, ty)) => (ty, it.op == Op::FunctionParameter),
            Err(_) => (it.word(0), false),
        })
    }

    /// The bytes of an input.
    fn input(&self, id: u32, input: &Input, bound: &Bound) -> Result<Vec<u8>, Unsupported> {
        let (ty, is_array) = self.object(id)?;
        let mut bytes = Vec::new();
        match input {
            Input::List(elements) if is_array => {
                let size = self.size(ty, bound)?;
                for (index, element) in (0..).zip(elements) {
                    self.fill(ty, element, index * size, bound, &mut bytes)?;
                }
            }
            _ => self.fill(ty, input, 0, bound, &mut bytes)?,
        }
        Ok(bytes)
    }

    /// Fills uninitialized objects and undefined values with different bytes.
    fn fill_undefined(&self, bound: &Bound, objects: &mut BTreeMap<u32, Vec<u8>>) -> Result<(), Unsupported> {
        let mut number = 0_u8;
        for it in self.instructions.iter().filter(|it| matches!(it.op, Op::Variable | Op::Undef)) {
            let id = it.word(1);
            let is_initialized = it.op == Op::Variable && it.words.len() > 3;
            if is_initialized || objects.contains_key(&id) {
                continue;
            }
            let ty = if it.op == Op::Variable { self.pointer(it.word(0))?.1 } else { it.word(0) };
            number += 1;
            let word = [number, 0, 0, 0];
            let size = self.size(ty, bound)?.min(1 << 16) as usize;
            objects.insert(id, word.into_iter().cycle().take(size).collect());
        }
        Ok(())
    }

    /// Writes the value of an object of this type.
    fn fill(
        &self,
        ty: u32,
        input: &Input,
        at: u64,
        bound: &Bound,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Unsupported> {
        match input {
            Input::Scalar(value) => {
                let from = at as usize;
                let size = self.size(ty, bound)?.min(8) as usize;
                bytes.resize(bytes.len().max(from + size), 0);
                bytes[from..from + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            Input::List(elements) => {
                for (index, element) in (0..).zip(elements) {
                    let (part, offset) = self.member(ty, index, bound)?;
                    self.fill(part, element, at + offset, bound, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The type and the offset of an element or member.
    fn member(&self, ty: u32, index: u32, bound: &Bound) -> Result<(u32, u64), Unsupported> {
        let it = self.definition(ty)?;
        match it.op {
            Op::TypeStruct => {
                let member = it.words.get(1 + index as usize).copied().ok_or_else(mismatch)?;
                Ok((member, self.offset(ty, index, bound)?))
            }
            Op::TypeVector => Ok((it.word(1), u64::from(index) * self.size(it.word(1), bound)?)),
            Op::TypeArray | Op::TypeRuntimeArray => {
                Ok((it.word(1), u64::from(index) * self.stride(ty, bound)?))
            }
            _ => Err(mismatch()),
        }
    }

    /// The scalar with a name such as `x[0][1]`.
    fn part(&self, name: &str, bound: &Bound) -> Result<Part, Unsupported> {
        let mut words = name.split(['[', ']']).filter(|it| !it.is_empty());
        let id = words.next().and_then(|it| self.named(it)).ok_or_else(mismatch)?;
        let (mut ty, mut is_array) = self.object(id)?;
        let mut at = 0;
        for word in words {
            let index: u32 = word.parse().map_err(|_| mismatch())?;
            if std::mem::take(&mut is_array) {
                at += u64::from(index) * self.size(ty, bound)?;
            } else {
                let (part, offset) = self.member(ty, index, bound)?;
                (ty, at) = (part, at + offset);
            }
        }
        let (class, _) = self.pointer(self.definition(id)?.word(0))?;
        let object = match class == StorageClass::Workgroup as u32 {
            true => Object::LocalVariable(id, 0),
            false => Object::Argument(id),
        };
        let size = self.size(ty, bound)?;
        let address = super::interface::address(object) + at;
        let initial = super::memory::initial(bound, address, size);
        Ok(Part { location: Location { object, offset: at as u32 }, size, initial })
    }
}

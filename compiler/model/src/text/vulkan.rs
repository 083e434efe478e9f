//! Tests in the format that Dat3M has for Vulkan, which is herd's with the operands of SPIR-V.
//!
//! ```text
//! VULKAN MP
//! { x=0; y=0; }
//!  P0@sg 0, wg 0, qf 0            | P1@sg 0, wg 1, qf 0               ;
//!  st.av.dv.sc0 x, 1              | ld.atom.acq.dv.sc0.semsc0 r0, y   ;
//!  st.atom.rel.dv.sc0.semsc0 y, 1 | ld.vis.dv.sc0 r1, x               ;
//! exists (P1:r0 == 1 /\ P1:r1 == 0)
//! ```

mod quorum;

use super::{
    Words,
    condition::{self, Condition},
    program::{Compute, Instruction, Operand, Program, Thread, Wanted, barrier},
};
use crate::{
    event::{Action, Event, Location, Skeleton, scope},
    explore::{Error, Model, Options, Outcomes, explore_until},
};

use quorum::LateArrivals;

/// A litmus test in Dat3M's format for Vulkan.
#[derive(Clone, Debug)]
pub struct VulkanTest {
    /// The runs of its work-items: several sets if more work-items reach a barrier than its quorum, so that it can end before
    /// some of them arrive.
    pub skeletons: Vec<Skeleton>,
    /// The names of the values in an outcome: of locations such as `x`, and of registers such as `P0:r1`.
    pub parts: Vec<(String, Location)>,
    /// The condition on its outcomes.
    pub condition: Option<Condition>,
    /// The condition that selects outcomes.
    pub filter: Option<Condition>,
}

impl VulkanTest {
    /// Whether a text is a test in this format.
    pub fn recognizes(text: &str) -> bool {
        text.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("vulkan"))
    }

    /// Parses a test.
    pub fn read(text: &str) -> Result<Self, String> {
        Self::read_with(text, false, false)
    }

    /// Reads a test whose skeleton is for [`progress`](crate::progress).
    pub fn read_for_progress(text: &str) -> Result<Self, String> {
        Self::read_with(text, true, false)
    }

    /// Reads a test whose atomic reads can return values out of thin air: the numbers in the test and in its condition, and
    /// values that stores compute from them.
    pub fn read_with_thin_air(text: &str) -> Result<Self, String> {
        Self::read_with(text, false, true)
    }

    fn read_with(text: &str, keeps_spins: bool, thin_air: bool) -> Result<Self, String> {
        let (head, condition) = condition::split(text);
        let mut program = Program { keeps_spins, ..Program::default() };
        let (_, rest) = head.split_once('{').ok_or("the test has no initial state")?;
        let (initial, mut rest) = rest.split_once('}').ok_or("the test has no initial state")?;
        if let Some((system, behind)) = rest.trim_start().strip_prefix('{').and_then(|it| it.split_once('}'))
        {
            for pair in system.split(';').map(|pair| pair.replace("ssw", "")) {
                let numbers: Vec<usize> = pair
                    .split_whitespace()
                    .filter_map(|it| it.trim_start_matches('P').parse().ok())
                    .collect();
                if let [first, second] = numbers[..] {
                    program.system.push((first, second));
                }
            }
            rest = behind;
        }
        let mut rows = rest.split(';').map(|row| row.split('|').collect::<Vec<_>>());
        let heads = rows.next().ok_or("the test has no work-items")?;
        program.threads = heads.iter().map(|head| thread(head)).collect::<Result<_, _>>()?;
        declare(&mut program, initial)?;
        let rows: Vec<Vec<&str>> = rows.collect();
        let (filter, condition) = condition.unwrap_or_default();
        if thin_air {
            let words = rows.iter().flatten().flat_map(|cell| cell.split([' ', ',']));
            program.assumed.extend(words.filter_map(|word| word.parse::<u64>().ok()));
            let numbers = condition.iter().flat_map(Condition::numbers);
            program.assumed.extend(numbers.map(|number| number as u64));
        }
        let (mut skeletons, mut parts) = (Vec::new(), Vec::new());
        for late in quorum::late_arrivals(&rows)? {
            let mut program = program.clone();
            for row in &rows {
                for (number, cell) in row.iter().enumerate() {
                    let cell = cell.trim();
                    if !cell.is_empty() {
                        let code = instructions(&mut program, cell, (number, &rows, &late))?;
                        let thread = program.threads.get_mut(number).ok_or("a row has too many columns")?;
                        thread.code.extend(code);
                    }
                }
            }
            skeletons.push(program.skeleton()?);
            parts = program.parts();
        }
        Ok(Self { skeletons, parts, condition, filter })
    }

    /// Explores the test until an execution has an outcome that decides the question.
    pub fn explore(
        &self,
        model: Model,
        options: Options,
        decides: &dyn Fn(&[u64]) -> bool,
    ) -> Result<Outcomes, Error> {
        let mut all = Outcomes::default();
        for skeleton in &self.skeletons {
            let found = explore_until(skeleton, model, options, decides)?;
            for (outcome, witness) in found.allowed {
                all.allowed.entry(outcome).or_insert(witness);
            }
            all.racing.extend(found.racing);
            all.racefree.extend(found.racefree);
            all.is_cut |= found.is_cut || skeleton.is_cut;
            all.executions += found.executions;
            all.candidates += found.candidates;
        }
        Ok(all)
    }

    /// Whether an outcome decides the condition: it shows that one exists, or that not all satisfy it.
    pub fn decides(&self, outcome: &[u64]) -> bool {
        let holds = |it: &Condition| it.is_satisfied(&|name| self.value(outcome, name)).unwrap_or(false);
        let counts = self.filter.as_ref().is_none_or(holds);
        counts && self.condition.as_ref().is_some_and(|it| it.is_decided(holds(it)))
    }

    /// The value of a part of an outcome.
    pub fn value(&self, outcome: &[u64], name: &str) -> Option<i64> {
        let (_, location) = self.parts.iter().find(|(known, _)| known == name)?;
        let index = self.skeletons.first()?.parts.binary_search(location).ok()?;
        Some(i64::from(outcome[index] as i32))
    }
}

/// `P0@sg 0, wg 0, qf 0`
fn thread(head: &str) -> Result<Thread, String> {
    let number = |name: &str| -> Option<u32> {
        head.split_once(name)?.1.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut thread = Thread::default();
    let (Some(sub_group), Some(group), Some(family)) = (number("sg"), number("wg"), number("qf")) else {
        return Err(format!("a work-item has no position: {}", head.trim()));
    };
    // Numbers are those within the group above.
    thread.position.family = family;
    thread.position.group = family << 8 | group;
    thread.position.sub_group = thread.position.group << 8 | sub_group;
    Ok(thread)
}

/// `x = 1; y aliases x; P0:r0 = 2;`
fn declare(program: &mut Program, initial: &str) -> Result<(), String> {
    for part in initial.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        if let Some((name, of)) = part.split_once("aliases") {
            program.alias(name.trim(), of.trim());
            continue;
        }
        let (name, value) = part.split_once('=').ok_or_else(|| format!("not understood: {part}"))?;
        let value = value.trim().parse::<i64>().map_err(|_| format!("not understood: {part}"))? as u64;
        match name.split_once(':') {
            Some((thread, register)) => {
                let number: usize = thread
                    .trim()
                    .trim_start_matches('P')
                    .parse()
                    .map_err(|_| format!("not understood: {part}"))?;
                let thread = program.threads.get_mut(number).ok_or("there is no such work-item")?;
                thread.registers.insert(register.trim().to_owned(), value);
            }
            None => {
                let (location, _) = program.location(name.trim());
                program.initial.insert(location, value);
            }
        }
    }
    Ok(())
}

/// A register or a number.
fn operand(text: &str) -> Result<Operand, String> {
    let text = text.trim();
    match text.parse::<i64>() {
        Ok(number) => Ok(Operand::Number(number as u64)),
        Err(_) if text.starts_with('r') => Ok(Operand::Register(text.to_owned())),
        Err(_) => Err(format!("not a register nor a number: {text}")),
    }
}

fn computation(name: &str) -> Option<Compute> {
    Some(match name {
        "add" => |a, b| a.wrapping_add(b),
        "sub" => |a, b| a.wrapping_sub(b),
        "mul" => |a, b| a.wrapping_mul(b),
        "div" => |a, b| a.checked_div(b).unwrap_or_default(),
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return None,
    })
}

fn comparison(name: &str) -> Option<fn(u64, u64) -> bool> {
    Some(match name {
        "beq" => |a, b| a == b,
        "bne" => |a, b| a != b,
        "bge" => |a, b| a >= b,
        "ble" => |a, b| a <= b,
        "bgt" => |a, b| a > b,
        "blt" => |a, b| a < b,
        _ => return None,
    })
}

/// The instructions of a cell.
fn instructions(
    program: &mut Program,
    cell: &str,
    (thread, rows, late): (usize, &[Vec<&str>], &LateArrivals),
) -> Result<Vec<Instruction>, String> {
    let unknown = || format!("not understood: {cell}");
    if let Some(label) = cell.strip_suffix(':') {
        return Ok(vec![Instruction::Label(label.to_owned())]);
    }
    let (name, rest) = cell.split_once(char::is_whitespace).unwrap_or((cell, ""));
    let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
    let pair = |from: usize| -> Result<[Operand; 2], String> {
        let part = |index: usize| parts.get(from + index).ok_or_else(unknown).and_then(|it| operand(it));
        Ok([part(0)?, part(1)?])
    };
    match name {
        "goto" => return Ok(vec![Instruction::Goto(rest.trim().to_owned())]),
        "avdevice" => return Ok(vec![device(Action::MakeAvailable)]),
        "visdevice" => return Ok(vec![device(Action::MakeVisible)]),
        _ => {}
    }
    if let Some(compute) = computation(name) {
        let register = parts.first().ok_or_else(unknown)?.to_string();
        return Ok(vec![Instruction::Compute { register, compute, operands: pair(1)? }]);
    }
    if let Some(holds) = comparison(name) {
        let label = parts.get(2).ok_or_else(unknown)?.to_string();
        return Ok(vec![Instruction::Branch { holds, operands: pair(0)?, label }]);
    }
    let (mut words, mut compute) = (Words::default(), None);
    for word in name.split('.') {
        compute = compute.or(computation(word));
        if !words.add(word) && computation(word).is_none() {
            return Err(unknown());
        }
    }
    let kind = name.split('.').next().unwrap_or_default();
    match (kind, &parts[..]) {
        ("membar", _) => {
            let scope = words.scope.unwrap_or(scope::DEVICE);
            Ok(vec![Instruction::Order(Event::fence(Action::Fence, scope, words.mask()))])
        }
        ("cbar", [_, _, _]) if program.keeps_spins => {
            Err("a barrier with a quorum is not supported for forward progress".to_owned())
        }
        ("cbar", [instance, _, number]) if quorum::hangs(rows, instance, number)? => {
            Ok(vec![Instruction::Hang])
        }
        ("cbar", [instance, ..]) => {
            let instance = instance.parse().map_err(|_| unknown())?;
            // A barrier has no wider scope for execution than the work-group (SPIR-V, Vulkan environment).
            let is_narrow = words.scope == Some(scope::SUBGROUP);
            let execution = if is_narrow { scope::SUBGROUP } else { scope::WORKGROUP };
            let [mut arrive, leave] = barrier(words, instance, execution);
            if late.contains(thread, parts[0]) {
                arrive.site = quorum::LATE + thread as u32;
            }
            Ok([arrive, leave].map(Instruction::Order).into())
        }
        ("st", [name, value]) => {
            let event = program.access(words, name);
            let value = operand(value)?;
            Ok(vec![Instruction::Access { event, register: None, wanted: Wanted::Any, value, compute }])
        }
        ("ld", [register, name]) => {
            let event = program.access(words, name);
            let (register, value) = (Some((*register).to_owned()), Operand::Number(0));
            Ok(vec![Instruction::Access { event, register, wanted: Wanted::Any, value, compute }])
        }
        ("rmw", [register, name, value]) => {
            let event = program.access(words, name);
            let (register, value) = (Some((*register).to_owned()), operand(value)?);
            Ok(vec![Instruction::Access { event, register, wanted: Wanted::Any, value, compute }])
        }
        _ => Err(unknown()),
    }
}

fn device(action: Action) -> Instruction {
    Instruction::Order(Event::fence(action, scope::DEVICE, 0))
}

//! Drives the generated tables. At every error, LALRPOP's own driver computes all terminals that the grammar accepts.
//! Most runs are trials that end at an error and do not need this.

use std::sync::LazyLock;

use lalrpop_util::state_machine::{ParserAction, ParserDefinition, SimulatedReduce};
use rustc_hash::FxHashMap;

use super::{
    adaptor::{Adaptor, Stop, Terminal},
    grammar::driver::{RENAMES, TERMINALS, accepts, machine},
    state::State,
};

/// LALRPOP's interface of an automaton, with the types that it generates for the grammar.
pub(crate) trait Automaton:
    ParserDefinition<
        Location = u32,
        Error = Stop,
        Token = Terminal,
        TokenIndex = usize,
        Success = (),
        StateIndex = i16,
        Action = i16,
        ReduceIndex = i16,
        NonterminalIndex = usize,
    >
{
}

impl<M> Automaton for M where
    M: ParserDefinition<
            Location = u32,
            Error = Stop,
            Token = Terminal,
            TokenIndex = usize,
            Success = (),
            StateIndex = i16,
            Action = i16,
            ReduceIndex = i16,
            NonterminalIndex = usize,
        >
{
}

/// The state stack of the automaton.
pub(super) struct Stack(Vec<i16>);

/// Why the automaton stopped.
pub(super) enum Halt {
    /// The input is accepted.
    Accepted,
    /// The adaptor has stopped.
    Stopped(Stop),
    /// The grammar does not accept this terminal here. `None` is the end of the input.
    Rejected(Option<Terminal>, Stack),
}

/// Runs the automaton on the terminals. Grammar actions store their results in the state.
pub(super) fn drive(state: &State<'_, '_>, terminals: Adaptor<'_, '_, '_>) -> Halt {
    run(machine(state), terminals)
}

fn run<M: Automaton>(mut machine: M, terminals: Adaptor<'_, '_, '_>) -> Halt {
    let mut renamed = Renamed::default();
    let mut states = vec![machine.start_state()];
    let mut symbols = vec![];
    for terminal in terminals {
        let (lo, terminal, hi) = match terminal {
            Ok(terminal) => terminal,
            Err(stop) => return Halt::Stopped(stop),
        };
        // The grammar does not use some keywords.
        let Some(index) = machine.token_to_index(&terminal) else {
            return Halt::Rejected(Some(terminal), Stack(states));
        };
        loop {
            let action = machine.action(top(&states), index);
            if let Some(target) = ParserAction::<M>::as_shift(action) {
                symbols.push((lo, machine.token_to_symbol(index, terminal), hi));
                states.push(target);
                break;
            }
            let Some(rule) = ParserAction::<M>::as_reduce(action) else {
                return Halt::Rejected(Some(terminal), Stack(states));
            };
            if let Some(name) = RENAMES[rule as usize] {
                states.pop();
                let state = renamed.state(&machine, top(&states), name, index);
                states.push(state);
                continue;
            }
            if let Some(end) = machine.reduce(rule, Some(&lo), &mut states, &mut symbols) {
                unreachable!("only the end of the input ends a unit: {end:?}")
            }
        }
    }
    loop {
        let action = machine.eof_action(top(&states));
        let Some(rule) = ParserAction::<M>::as_reduce(action) else {
            return Halt::Rejected(None, Stack(states));
        };
        if machine.reduce(rule, None, &mut states, &mut symbols).is_some() {
            return Halt::Accepted;
        }
    }
}

/// A cache for `rename`: few combinations of operands and operators are frequent.
struct Renamed([(u32, i16); 256]);

impl Default for Renamed {
    fn default() -> Self {
        Self([(u32::MAX, 0); 256])
    }
}

impl Renamed {
    fn state(&mut self, machine: &impl Automaton, below: i16, name: u8, terminal: usize) -> i16 {
        let key = (terminal as u32) << 24 | u32::from(name) << 16 | u32::from(below as u16);
        let position = (key.wrapping_mul(0x9e37_79b9) >> 24) as usize;
        let (known, state) = &mut self.0[position];
        if *known != key {
            (*known, *state) = (key, rename(machine, below, name, terminal));
        }
        *state
    }
}

/// The state after pushing the nonterminal `name` in the state `below`, with the unit reductions that the next
/// terminal triggers.
fn rename<M: Automaton>(machine: &M, below: i16, mut name: u8, terminal: usize) -> i16 {
    loop {
        let state = machine.goto(below, usize::from(name));
        let rule = ParserAction::<M>::as_reduce(machine.action(state, terminal));
        match rule.and_then(|rule| RENAMES[rule as usize]) {
            Some(next) => name = next,
            None => return state,
        }
    }
}

fn top(states: &[i16]) -> i16 {
    *states.last().expect("the first state is never left")
}

impl Stack {
    /// Whether the grammar accepts this terminal here.
    pub(super) fn accepts(&self, name: &str) -> bool {
        static INDICES: LazyLock<FxHashMap<&str, usize>> = LazyLock::new(|| {
            TERMINALS.iter().enumerate().map(|(index, name)| (name.trim_matches('"'), index)).collect()
        });
        INDICES.get(name).is_some_and(|&index| self.accepts_index(index))
    }

    /// Whether it accepts only this terminal.
    pub(super) fn accepts_only(&self, name: &str) -> bool {
        self.accepts(name) && (0..TERMINALS.len()).filter(|&index| self.accepts_index(index)).count() == 1
    }

    fn accepts_index(&self, index: usize) -> bool {
        accepts(&self.0, index)
    }

    /// Whether the grammar accepts all these terminals here. No actions run, so declarations have no effect.
    pub(super) fn accepts_sequence(&self, state: &State<'_, '_>, terminals: Adaptor<'_, '_, '_>) -> bool {
        accepts_all(machine(state), self.0.clone(), terminals)
    }
}

/// Whether the automaton accepts the terminals after these states.
fn accepts_all<M: Automaton>(machine: M, mut states: Vec<i16>, terminals: Adaptor<'_, '_, '_>) -> bool {
    for terminal in terminals {
        let Ok((_, terminal, _)) = terminal else { return true };
        let Some(index) = machine.token_to_index(&terminal) else { return false };
        loop {
            let action = machine.action(top(&states), index);
            if let Some(target) = ParserAction::<M>::as_shift(action) {
                states.push(target);
                break;
            }
            let Some(rule) = ParserAction::<M>::as_reduce(action) else { return false };
            let SimulatedReduce::Reduce { states_to_pop, nonterminal_produced } =
                machine.simulate_reduce(rule)
            else {
                return true;
            };
            states.truncate(states.len() - states_to_pop);
            states.push(machine.goto(top(&states), nonterminal_produced));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Arena,
        parse::{grammar::driver::RULES, layout::NoLayout},
    };

    /// `cargo xtask grammar` finds the renames in the generated text.
    #[test]
    fn renames_replace_one_symbol_by_another() {
        let arena = Arena::default();
        let state = State::new(&[], &arena, &NoLayout, 1);
        let automaton = machine(&state);
        let mut count = 0;
        for (rule, name) in (0..RULES).zip(RENAMES) {
            let Some(name) = name else { continue };
            let SimulatedReduce::Reduce { states_to_pop, nonterminal_produced } =
                automaton.simulate_reduce(rule)
            else {
                panic!("rule {rule} ends the parse");
            };
            assert_eq!((states_to_pop, nonterminal_produced), (1, usize::from(name)), "rule {rule}");
            count += 1;
        }
        assert!(count > 20, "only {count} of {RULES} rules are renames");
    }
}

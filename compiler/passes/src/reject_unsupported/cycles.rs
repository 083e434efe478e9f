//! Finds cycles of addresses in initializers: SPIR-V initializers cannot refer to variables that are declared later.

use kiln_ir::{Module, VarId};
use kiln_types::index::Id as _;

/// The state of an object in the depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// One object of each cycle of addresses in initializers.
pub(super) fn cycles(module: &Module) -> Vec<VarId> {
    let mut states = vec![State::New; module.vars.len()];
    let mut found = Vec::new();
    for start in module.vars.ids() {
        // The path from `start`: each object with the number of its addresses that were followed.
        let mut path = vec![(start, 0)];
        while let Some((var, followed)) = path.last_mut() {
            let state = &mut states[var.index()];
            if *state == State::Done {
                path.pop();
                continue;
            }
            *state = State::Open;
            let addresses = module.vars[*var].init.as_ref().map_or(&[][..], |data| &data.relocations);
            match addresses.get(*followed) {
                None => {
                    *state = State::Done;
                    path.pop();
                }
                Some(&(_, target, _)) => {
                    *followed += 1;
                    match states[target.index()] {
                        State::New => path.push((target, 0)),
                        State::Open => found.push(target),
                        State::Done => {}
                    }
                }
            }
        }
    }
    found
}

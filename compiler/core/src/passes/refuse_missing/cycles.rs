//! Objects whose first values hold each other's addresses: a SPIR-V module has no initialiser that refers forward.

use crate::{
    index::Id as _,
    ir::{Module, VarId},
};

/// How far the walk has come with an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// An object on each cycle of addresses in first values.
pub(super) fn cycles(module: &Module) -> Vec<VarId> {
    let mut states = vec![State::New; module.vars.len()];
    let mut found = Vec::new();
    for start in module.vars.ids() {
        // Objects on the way from `start`, each with the number of its addresses that were followed.
        let mut way = vec![(start, 0)];
        while let Some((var, followed)) = way.last_mut() {
            let state = &mut states[var.index()];
            if *state == State::Done {
                way.pop();
                continue;
            }
            *state = State::Open;
            let addresses = module.vars[*var].init.as_ref().map_or(&[][..], |data| &data.relocations);
            match addresses.get(*followed) {
                None => {
                    *state = State::Done;
                    way.pop();
                }
                Some(&(_, target, _)) => {
                    *followed += 1;
                    match states[target.index()] {
                        State::New => way.push((target, 0)),
                        State::Open => found.push(target),
                        State::Done => {}
                    }
                }
            }
        }
    }
    found
}

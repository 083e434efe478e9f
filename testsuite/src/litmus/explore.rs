//! The outcomes that a memory model permits for the module of a litmus test, by the package `kiln-memory-model`.

use std::collections::BTreeSet;

use kiln_memory_model::{Argument, Launch, Location, Module, Object, explore};
pub use kiln_memory_model::{Event, Model};

use super::{Outcome, Setting, Space, Test};

/// The values of the parameters `seq_cst`, `acq_rel`, `scope` and `flags`: memory_order_seq_cst, memory_order_acq_rel,
/// memory_scope_device, and the flags of both memories.
pub const PARAMETERS: [u32; 4] = [5, 4, 2, 3];

/// The iterations of a loop that are explored, such as that of a weak compare-exchange.
const MAX_ITERATIONS: u32 = 3;

/// The possible outcomes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The outcomes.
    pub outcomes: BTreeSet<Outcome>,
    /// Whether there is a data race, which makes the program's behavior undefined.
    pub has_race: bool,
    /// The number of consistent executions.
    pub executions: u64,
    /// The number of executions that were checked.
    pub candidates: u64,
}

/// Finds the outcomes of a module compiled from a test's `plain_source`. `change` may modify events, to test the models.
pub fn outcomes(
    test: &Test,
    words: &[u32],
    setting: Setting,
    model: Model,
    change: &dyn Fn(&mut Event),
) -> Result<Outcomes, String> {
    let mut skeleton = Module::new(words).skeleton(&launch(test, setting)).map_err(|e| e.to_string())?;
    skeleton.events_mut().for_each(change);
    // A program with very many executions is not explored to the end.
    let options = explore::Options { budget: 2_000_000, ..explore::Options::default() };
    let found = explore::explore(&skeleton, model, options).map_err(|e| e.to_string())?;
    let named = |values: &Vec<u64>| {
        let value = |part: String| {
            let location = location(test, setting, &part);
            let index = skeleton.parts.iter().position(|it| *it == location);
            // A work-item that never runs leaves the initial value.
            (part, index.map_or(0, |index| values[index] as u32))
        };
        test.parts().into_iter().map(value).collect()
    };
    Ok(Outcomes {
        outcomes: found.allowed.keys().map(named).collect(),
        has_race: !found.undefined.is_empty(),
        executions: found.executions,
        candidates: found.candidates,
    })
}

/// The launch of a test's kernel: `result`, the objects, and the parameters.
pub fn launch(test: &Test, setting: Setting) -> Launch {
    let count = test.work_items.len() as u32;
    let object = |object: &super::Object| match object.space_in(setting) {
        Space::Global => Argument::Buffer(vec![0; 4]),
        Space::Local => Argument::Local(4),
    };
    let mut arguments = vec![Argument::Buffer(vec![0; 4 * test.parts().len()])];
    arguments.extend(test.objects.iter().map(object));
    arguments.extend(PARAMETERS.map(|value| Argument::Value(value.to_le_bytes().to_vec())));
    Launch {
        kernel: "test".to_owned(),
        global: [count, 1, 1],
        local: [if setting.one_group { count } else { 1 }, 1, 1],
        sub_group: 1,
        arguments,
        max_iterations: MAX_ITERATIONS,
        only_consistent: true,
        ..Launch::default()
    }
}

/// The location of a part of an outcome.
fn location(test: &Test, setting: Setting, part: &str) -> Location {
    match test.objects.iter().position(|object| object.name == part) {
        Some(index) => {
            let number = index as u32 + 1;
            let object = match test.objects[index].space_in(setting) {
                Space::Global => Object::Argument(number),
                Space::Local => Object::LocalArgument(number, 0),
            };
            Location { object, offset: 0 }
        }
        None => {
            let index = test.parts().iter().position(|it| it == part).unwrap_or_default();
            Location { object: Object::Argument(0), offset: 4 * index as u32 }
        }
    }
}

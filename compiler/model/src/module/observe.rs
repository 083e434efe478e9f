//! Runs a work-item in a context: an observer that chooses the values of reads and receives all events.

use super::{
    Launch, Module, Unsupported,
    interface::Bound,
    memory::Shared,
    skeleton,
    walk::{Run, Stop},
};
use crate::event::{Event, Location};

/// The context of a run. It sees every access to memory that other work-items could access.
pub(crate) trait Observer {
    /// Chooses the value of a location.
    fn read(&mut self, location: Location, size: u64, is_atomic: bool) -> u64;
    /// Called when the run writes a location.
    fn write(&mut self, location: Location, size: u64, value: u64, is_atomic: bool);
    /// Called for each event, after its accesses.
    fn event(&mut self, event: &Event);
}

/// A module with a launch.
pub(crate) struct Prepared<'m> {
    module: &'m Module,
    bound: Bound,
    shared: Shared,
    launch: Launch,
}

impl<'m> Prepared<'m> {
    pub(crate) fn new(module: &'m Module, launch: &Launch) -> Result<Self, Unsupported> {
        let bound = module.bind(launch)?;
        Ok(Self { module, bound, shared: Shared::default(), launch: launch.clone() })
    }

    /// Runs a work-item. Returns whether it ended before the bound on loops.
    pub(crate) fn run(&self, item: usize, observer: &mut dyn Observer) -> Result<bool, Unsupported> {
        let items = skeleton::items(&self.launch);
        let Some(item) = items.get(item) else { return Ok(false) };
        let mut run = Run::new(self.module, &self.bound, &self.shared, Vec::new(), *item)?;
        run.observer = Some(observer);
        match run.resume() {
            Ok(_) => Ok(true),
            Err(Stop::Long | Stop::Idle(_) | Stop::Choose(..)) => Ok(false),
            Err(Stop::Unsupported(what)) => Err(what),
        }
    }
}

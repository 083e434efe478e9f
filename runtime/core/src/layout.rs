//! The layout of a launch: the sizes of push constants and argument blocks, checked against the device.
//!
//! Owns the validation of an interface: whatever a module or a user claims, a checked layout never writes outside its
//! blocks. Must not depend on the values of arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::backend::KernelLayout;
use crate::error::{Error, Result};
use crate::interface::{
    Argument, ArgumentKind, ArgumentLocation, Binding, BindingClass, DataLocation, KernelInterface,
    ProgramData, ProgramInterface,
};
use crate::sampler::Sampler;

/// The size of one value of the execution state.
pub(crate) const STATE_SIZE: u32 = 12;
/// The size of an image or sampler property.
const FACT_SIZE: u32 = 4;
/// The size of an address.
pub(crate) const ADDRESS_SIZE: u32 = 8;
/// The uniform buffer range that every device supports (Vulkan, required limits: maxUniformBufferRange).
const UNIFORM_BLOCK: u32 = 16384;
/// The size of an argument block is a multiple of this, as in uniform buffer layout.
const BLOCK_ALIGNMENT: u32 = 16;

/// The layout of one kernel.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) name: Arc<str>,
    /// The initial push constants.
    pub(crate) blank: Box<[u8]>,
    /// The bindings, in order.
    pub(crate) slots: Vec<(Binding, Slot)>,
    /// The name and the location of each argument that is the address of a buffer.
    pointers: Vec<(String, ArgumentLocation)>,
}

/// What a binding refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// An argument block.
    Block { size: u32 },
    /// The buffer of an argument.
    Argument(usize),
    /// A level of the image of an argument.
    Level(usize),
    /// The program-scope variables.
    Variables,
    /// The program-scope constants.
    Constants,
    /// The printf buffer.
    Printf,
    /// A sampler that the module defines.
    Sampler(Sampler),
}

impl Layout {
    /// Computes the layout of a kernel, or returns what is wrong with its interface.
    pub(crate) fn new(
        program: &ProgramInterface,
        kernel: &KernelInterface,
        push_constant_limit: u32,
    ) -> Result<Self> {
        let mut builder = Builder { kernel, slots: BTreeMap::new(), push_constants: 0 };
        for field in &program.state {
            builder.reserve(ArgumentLocation::PushConstants { offset: field.offset }, STATE_SIZE)?;
        }
        match program.printf.as_ref().map(|printf| printf.location) {
            Some(DataLocation::Address { offset }) => {
                builder.reserve(ArgumentLocation::PushConstants { offset }, ADDRESS_SIZE)?;
            }
            Some(DataLocation::Bound(binding)) if kernel.prints => builder.bind(binding, Slot::Printf)?,
            _ => {}
        }
        for offset in [program.device_queue, program.command].into_iter().flatten() {
            builder.reserve(ArgumentLocation::PushConstants { offset }, ADDRESS_SIZE)?;
        }
        for literal in &program.samplers {
            builder.bind(literal.binding, Slot::Sampler(literal.sampler))?;
        }
        builder.reserve_data(program.variables.as_ref(), Slot::Variables)?;
        builder.reserve_data(program.constants.as_ref(), Slot::Constants)?;
        for (index, argument) in kernel.arguments.iter().enumerate() {
            match argument.kind {
                ArgumentKind::Local { element_size: 0, .. } => {
                    return Err(builder.layout_error("has a local argument with elements of 0 bytes"));
                }
                ArgumentKind::Unused | ArgumentKind::Local { .. } => {}
                ArgumentKind::Pointer(location)
                | ArgumentKind::Pipe(location)
                | ArgumentKind::Queue(location) => builder.reserve(location, ADDRESS_SIZE)?,
                ArgumentKind::Value { location, size } => builder.reserve(location, size)?,
                ArgumentKind::Buffer(binding)
                | ArgumentKind::Image(binding)
                | ArgumentKind::Sampler(binding) => {
                    builder.bind(binding, Slot::Argument(index))?;
                }
                ArgumentKind::Unsupported(what) => {
                    return Err(builder
                        .layout_error(&format!("takes {what}, which the runtime does not support yet")));
                }
            }
        }
        for level in &kernel.written_levels {
            builder.bind(level.binding, Slot::Level(level.argument as usize))?;
        }
        for fact in &kernel.image_facts {
            builder.reserve(fact.location, FACT_SIZE)?;
        }
        for fact in &kernel.sampler_facts {
            builder.reserve(fact.location, FACT_SIZE)?;
        }
        // Rounds up to whole vectors, because the block that a module declares may end in padding.
        let extent = builder.push_constants.next_multiple_of(BLOCK_ALIGNMENT).min(push_constant_limit);
        if extent < builder.push_constants {
            return Err(builder.layout_error(&format!(
                "has {} bytes of push constants, and the device supports {push_constant_limit}",
                builder.push_constants
            )));
        }
        Ok(Self {
            name: kernel.name.as_str().into(),
            blank: vec![0; extent as usize].into(),
            slots: builder.slots.into_iter().collect(),
            pointers: kernel.arguments.iter().filter_map(pointer).collect(),
        })
    }

    /// The part of the layout that the back end needs.
    pub(crate) fn for_backend(&self) -> KernelLayout {
        KernelLayout {
            name: self.name.clone(),
            bindings: self.slots.iter().map(|(binding, _)| *binding).collect(),
            pointers: self.pointers.clone(),
        }
    }
}

/// The name and the location of an argument that is the address of a buffer.
fn pointer(argument: &Argument) -> Option<(String, ArgumentLocation)> {
    match (&argument.info, argument.kind) {
        (Some(info), ArgumentKind::Pointer(location)) => Some((info.name.clone(), location)),
        _ => None,
    }
}

struct Builder<'a> {
    kernel: &'a KernelInterface,
    slots: BTreeMap<Binding, Slot>,
    push_constants: u32,
}

impl Builder<'_> {
    fn layout_error(&self, what: &str) -> Error {
        Error::BadModule { reason: format!("kernel `{}` {what}", self.kernel.name) }
    }

    /// Reserves bytes at a location.
    fn reserve(&mut self, location: ArgumentLocation, size: u32) -> Result<()> {
        let (ArgumentLocation::PushConstants { offset } | ArgumentLocation::Block { offset, .. }) = location;
        let end = offset.checked_add(size).filter(|end| *end <= UNIFORM_BLOCK).ok_or_else(|| {
            self.layout_error(&format!(
                "has an argument of {size} bytes at offset {offset}, which is too far"
            ))
        })?;
        match location {
            ArgumentLocation::PushConstants { .. } => self.push_constants = self.push_constants.max(end),
            ArgumentLocation::Block { binding, .. } => {
                let needed = end.next_multiple_of(BLOCK_ALIGNMENT);
                match self.slots.entry(binding).or_insert(Slot::Block { size: needed }) {
                    Slot::Block { size } => *size = needed.max(*size),
                    _ => return Err(self.layout_error("binds a buffer where it has an argument block")),
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self, binding: Binding, slot: Slot) -> Result<()> {
        let taken = |other: &Binding| other.set == binding.set && other.binding == binding.binding;
        if self.slots.keys().any(taken) {
            return Err(
                self.layout_error(&format!("binds two things at ({}, {})", binding.set, binding.binding))
            );
        }
        self.slots.insert(binding, slot);
        Ok(())
    }

    fn reserve_data(&mut self, data: Option<&ProgramData>, slot: Slot) -> Result<()> {
        match data.map(|data| (data.location, data.bytes.len())) {
            None => Ok(()),
            Some((DataLocation::Address { offset }, _)) => {
                self.reserve(ArgumentLocation::PushConstants { offset }, ADDRESS_SIZE)
            }
            Some((DataLocation::Bound(binding), size)) => {
                if binding.class == BindingClass::Uniform && size > UNIFORM_BLOCK as usize {
                    return Err(self.layout_error(&format!("has {size} bytes of uniform constants")));
                }
                self.bind(binding, slot)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{Argument, StateField, StateValue};

    fn kernel(kinds: Vec<ArgumentKind>) -> KernelInterface {
        KernelInterface {
            name: "k".to_owned(),
            arguments: kinds.into_iter().map(|kind| Argument { info: None, kind }).collect(),
            required_local_size: None,
            attributes: String::new(),
            prints: false,
            image_facts: Vec::new(),
            sampler_facts: Vec::new(),
            written_levels: Vec::new(),
            uses_queue: false,
            static_local_size: 0,
        }
    }

    fn push(offset: u32) -> ArgumentLocation {
        ArgumentLocation::PushConstants { offset }
    }

    fn block(class: BindingClass, offset: u32) -> ArgumentLocation {
        ArgumentLocation::Block { binding: Binding { set: 0, binding: 0, class }, offset }
    }

    fn rejection(kinds: Vec<ArgumentKind>) -> String {
        Layout::new(&ProgramInterface::default(), &kernel(kinds), 128)
            .expect_err("a bad interface")
            .to_string()
    }

    #[test]
    fn extents_cover_every_value() {
        let program = ProgramInterface {
            state: vec![StateField { value: StateValue::GlobalSize, offset: 4 }],
            ..Default::default()
        };
        let kernel = kernel(vec![
            ArgumentKind::Pointer(push(16)),
            ArgumentKind::Value { location: push(24), size: 3 },
            ArgumentKind::Value { location: block(BindingClass::Uniform, 60), size: 8 },
        ]);
        let layout = Layout::new(&program, &kernel, 128).expect("a good interface");
        assert_eq!(layout.blank.len(), 32);
        assert_eq!(layout.slots[0].1, Slot::Block { size: 80 });
    }

    #[test]
    fn invalid_layouts_are_rejected() {
        assert!(rejection(vec![ArgumentKind::Pointer(push(124))]).contains("132 bytes of push constants"));
        assert!(
            rejection(vec![ArgumentKind::Value { location: push(u32::MAX), size: 8 }]).contains("too far")
        );
        assert!(
            rejection(vec![ArgumentKind::Value { location: block(BindingClass::Uniform, 16380), size: 8 }])
                .contains("too far")
        );
        let nothing = ArgumentKind::Local { count: crate::interface::SpecId(0), element_size: 0 };
        assert!(rejection(vec![nothing]).contains("elements of 0 bytes"));
        assert!(rejection(vec![ArgumentKind::Unsupported("an image")]).contains("takes an image"));
        let binding = Binding { set: 0, binding: 3, class: BindingClass::Storage };
        let twice = vec![ArgumentKind::Buffer(binding), ArgumentKind::Buffer(binding)];
        assert!(rejection(twice).contains("two things at (0, 3)"));
    }
}

//! Describes objects in memory for reports.

use super::{GroupContext, Item};
use crate::{
    code::ResourceLocation,
    execute::Argument,
    interface::ParameterKind,
    memory::{Location, Space},
};

/// The description of an object, and its size in bytes if that is known.
type Description = (String, Option<u64>);

impl GroupContext<'_> {
    /// Describes the object that an address belongs to.
    pub(super) fn describe_object(&self, item: &Item, address: u64) -> Option<String> {
        let location = Location::from_address(address)?;
        let (object, size) = match location.space {
            Space::Global => self.global_object(location),
            Space::Local => self.local_object(location),
            Space::Private => self.private_object(item, location),
            Space::Input => ("a built-in variable".to_owned(), None),
            Space::Resource => (self.resource(location)?, None),
        };
        let size = size.map_or(String::new(), |size| format!(", which has {size} bytes"));
        Some(format!("the address is byte {} of {object}{size}", location.offset))
    }

    /// A program-scope variable, or the buffer of an argument.
    fn global_object(&self, location: Location) -> Description {
        let (launch, program) = (self.position.launch, self.position.program());
        let start = Space::Global.address(location.object);
        if let Some((buffer, name)) = program.globals.iter().find(|(buffer, _)| buffer.address() == start) {
            return (variable(name, "program-scope variable"), Some(buffer.size()));
        }
        let is_in_object = |address: u64| {
            let it = Location::from_address(address);
            it.is_some_and(|it| (it.space, it.object) == (Space::Global, location.object))
        };
        let arguments = launch.arguments.iter().zip(&program.kernels[launch.kernel].parameters);
        let passed = arguments.filter_map(|(argument, parameter)| match argument {
            Argument::Bytes(bytes) => {
                Some((parameter.name.as_str(), u64::from_le_bytes(*bytes.first_chunk()?)))
            }
            Argument::Local(_) => None,
        });
        match passed.chain(launch.buffers.iter().copied()).find(|(_, address)| is_in_object(*address)) {
            Some((name, _)) => (part_of_argument(name, "the buffer"), None),
            None => ("a buffer that is not an argument or was freed".to_owned(), None),
        }
    }

    /// A local variable, or the memory of a local argument.
    fn local_object(&self, location: Location) -> Description {
        let (launch, program) = (self.position.launch, self.position.program());
        let number = location.object as usize;
        let size = self.local.get(number).map(|local| local.cells.len());
        let parameters = program.kernels[launch.kernel].parameters.iter();
        let mut arguments = parameters.filter(|it| it.kind == ParameterKind::Local);
        match (program.locals.get(number), number.checked_sub(program.locals.len())) {
            (Some(object), _) => (variable(&object.name, "local variable"), size),
            (None, Some(index)) => match arguments.nth(index) {
                Some(argument) => (part_of_argument(&argument.name, "the local memory"), size),
                None => ("no local object".to_owned(), None),
            },
            (None, None) => ("no local object".to_owned(), None),
        }
    }

    /// A private variable of a function that the work-item has called.
    fn private_object(&self, item: &Item, location: Location) -> Description {
        let Some(object) = item.private.object(location.object) else {
            return ("a private variable whose function has returned".to_owned(), None);
        };
        let function = self.position.program().functions.get(object.function as usize);
        let name = function.and_then(|it| it.objects.get(object.number as usize));
        let name = name.map_or("", |object| object.name.as_str());
        (variable(name, "private variable"), Some(object.size))
    }

    /// A variable that the launch binds.
    fn resource(&self, location: Location) -> Option<String> {
        let resource = self.position.program().resources.get(location.object as usize)?;
        Some(match resource.location {
            ResourceLocation::PushConstants => "the push constants".to_owned(),
            ResourceLocation::Descriptor { set, binding } => {
                let name = variable(&resource.name, "variable");
                format!("{name} at set {set}, binding {binding}")
            }
        })
    }
}

fn variable(name: &str, what: &str) -> String {
    if name.is_empty() { format!("an unnamed {what}") } else { format!("the {what} `{name}`") }
}

fn part_of_argument(name: &str, part: &str) -> String {
    if name.is_empty() {
        format!("{part} of an unnamed argument")
    } else {
        format!("{part} of argument `{name}`")
    }
}

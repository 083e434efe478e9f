//! Warnings for driver bugs that a module does not work around.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use kiln_runtime::{Device, Program};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

use crate::module;

/// Collects the messages of warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").unwrap();
        }
    }
}

/// The modules of these tests contain no workarounds.
pub(crate) fn missing_workarounds_are_warned_of_once(device: &Device) {
    let device = crate::same_device(device);
    let needed = device.info().workarounds();
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        for module in [module::copy(), module::reverse()] {
            let program = Program::from_spirv(&device, &module).unwrap();
            assert!(program.interface().workarounds.is_empty());
            assert_eq!(program.missing_workarounds(), needed);
        }
    });
    let texts = warnings.0.lock().unwrap();
    let texts: Vec<_> = texts.iter().filter(|it| it.contains("work around")).collect();
    if needed.is_empty() {
        assert!(texts.is_empty(), "{texts:?}");
    } else {
        assert!(texts.len() == 1 && texts[0].contains(&needed.to_string()), "{texts:?}");
    }
}

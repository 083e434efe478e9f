//! `printf` through the runtime: when and where text appears, and in which order.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use kiln_runtime::{Device, UserEvent};

use crate::{compile, launch};

#[derive(Clone, Default)]
pub(crate) struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    pub(crate) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const TELL: &str = "kernel void tell(uint n) { printf(\"%u.%u\\n\", n, (uint)get_global_id(0)); }";

pub(crate) fn order(device: &Device) {
    let text = Text::default();
    device.print_to(text.clone());
    let (program, queue) = (compile(device, TELL), device.queue().unwrap());
    let mut kernel = program.kernel("tell").unwrap();
    let mut last = None;
    for n in 0..30u32 {
        kernel.set(0, n).unwrap();
        last = Some(launch(&queue, &kernel, 1).unwrap());
    }
    last.unwrap().wait().unwrap();
    let expected: String = (0..30).map(|n| format!("{n}.0\n")).collect();
    assert_eq!(text.take(), expected, "in the order of the launches, when the last is waited for");
    kernel.set(0, 7u32).unwrap();
    launch(&queue, &kernel, 64).unwrap();
    queue.finish().unwrap();
    let printed = text.take();
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    let mut all: Vec<String> = (0..64).map(|item| format!("7.{item}")).collect();
    all.sort_unstable();
    assert_eq!(lines, all, "each work-item once");
}

/// Launches of an out-of-order queue that are held back print when they have run.
pub(crate) fn held_back(device: &Device) {
    let text = Text::default();
    device.print_to(text.clone());
    let (program, queue) = (compile(device, TELL), device.unordered_queue().unwrap());
    let mut kernel = program.kernel("tell").unwrap();
    let gate = UserEvent::new();
    kernel.set(0, 1u32).unwrap();
    let first = launch(&queue.after([gate.event()]), &kernel, 1).unwrap();
    kernel.set(0, 2u32).unwrap();
    let second = launch(&queue, &kernel, 1).unwrap();
    second.wait().unwrap();
    assert_eq!(text.take(), "2.0\n");
    gate.complete();
    first.wait().unwrap();
    assert_eq!(text.take(), "1.0\n");
}

/// A launch without a wait prints before the device is dropped.
pub(crate) fn at_the_end(device: &Device) {
    let text = Text::default();
    let again = crate::same_device(device);
    again.print_to(text.clone());
    let program = compile(&again, TELL);
    let mut kernel = program.kernel("tell").unwrap();
    kernel.set(0, 5u32).unwrap();
    drop(launch(&again.queue().unwrap(), &kernel, 1).unwrap());
    drop((kernel, program, again));
    assert_eq!(text.take(), "5.0\n");
}

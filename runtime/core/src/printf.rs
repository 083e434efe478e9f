//! `printf` and traps: the buffer that a launch writes to, and the output once it is complete.
//!
//! Owns the order of output: launches in order, and within a launch the order in which calls reserved space in the
//! buffer. Must not depend on how the buffer reaches a kernel.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backend::{Memory, Placement};
use crate::error::{Error, Result};
use crate::event::{Event, Status};
use crate::interface::{PrintedText, Printf, Traps};
use crate::kernel::Kernel;
use crate::launch_error::Failures;
use crate::staging::Arrival;
use kiln_printf::Value;

/// The destination of output.
pub(crate) type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// The launches of a device whose output is pending, and its destination.
pub(crate) struct Prints {
    pending: Mutex<VecDeque<Pending>>,
    output: Output,
    watchdog: Option<Duration>,
}

struct Pending {
    launched: Event,
    arrival: Arrival,
    printf: Arc<Printf>,
    kernel: Arc<str>,
    failures: Failures,
}

/// The printf buffer and formats of a launch.
pub(crate) struct Printing {
    /// The buffer that the kernel writes to.
    pub(crate) buffer: Memory,
    pub(crate) printf: Arc<Printf>,
}

impl Printing {
    /// Allocates a buffer if the kernel may print. The caller must clear its first word.
    pub(crate) fn for_kernel(kernel: &Kernel) -> Result<Option<Self>> {
        let program = &kernel.program.inner;
        match &program.interface.printf {
            Some(printf) if kernel.interface().prints => {
                let buffer = program.device.backend().allocate(printf.size.into(), Placement::Device)?;
                Ok(Some(Self { buffer, printf: printf.clone() }))
            }
            _ => Ok(None),
        }
    }
}

impl Prints {
    pub(crate) fn new(watchdog: Option<Duration>) -> Self {
        Self {
            pending: Mutex::default(),
            output: Arc::new(Mutex::new(Box::new(std::io::stdout()))),
            watchdog,
        }
    }

    /// The destination, for a back end that prints by itself.
    pub(crate) fn output(&self) -> Output {
        self.output.clone()
    }

    pub(crate) fn redirect(&self, output: impl Write + Send + 'static) {
        *self.output.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(output);
    }

    /// Registers a launch that prints, and the copy of its buffer to the host.
    pub(crate) fn expect(
        &self,
        launched: &Event,
        arrival: Arrival,
        printf: Arc<Printf>,
        kernel: Arc<str>,
        failures: &Failures,
    ) {
        // Clears the device, because waiting for an event with a device flushes output.
        let alone = |event: &Event| Event { device: None, ..event.clone() };
        let arrival = Arrival { event: alone(&arrival.event), memory: arrival.memory };
        let failures = failures.clone();
        self.lock().push_back(Pending { launched: alone(launched), arrival, printf, kernel, failures });
    }

    /// Prints the output of all completed launches.
    pub(crate) fn flush(&self) {
        // Held while printing, to keep the output in order.
        let mut pending = self.lock();
        let is_over =
            |launch: &Pending| !matches!(launch.launched.status(), Ok(status) if status != Status::Complete);
        for _ in 0..pending.len() {
            match pending.pop_front() {
                Some(launch) if is_over(&launch) => self.print(launch),
                Some(launch) => pending.push_back(launch),
                None => return,
            }
        }
    }

    fn print(&self, launch: Pending) {
        let Pending { launched, arrival, printf, kernel, failures } = launch;
        let mut buffer = vec![0; printf.size as usize];
        if let Err(error) = arrival.copy_when_done_within(self.watchdog, &mut buffer) {
            return tracing::error!("the output of kernel `{kernel}` is lost: {error}");
        }
        if let Some(trap) = trap_error(&buffer, &printf.traps, &kernel) {
            failures.add(launched.launch_error.as_ref(), trap);
        }
        if printf.texts.is_empty() {
            return;
        }
        let end = if printf.traps.sites.is_empty() { buffer.len() } else { printf.traps.offset as usize };
        let (text, lost) = decode_buffer(&buffer[..end], &printf.texts);
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(&text).and_then(|()| output.flush()) {
            tracing::error!("the output of kernel `{kernel}` cannot be written: {error}");
        }
        if lost > 0 {
            tracing::warn!("kernel `{kernel}` printed {lost} bytes more than its buffer holds");
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Prints {
    fn drop(&mut self) {
        let pending = std::mem::take(&mut *self.lock());
        pending.into_iter().for_each(|launch| self.print(launch));
    }
}

/// The launch's error, if a work-item reached a trap.
fn trap_error(buffer: &[u8], traps: &Traps, kernel: &str) -> Option<Error> {
    if traps.sites.is_empty() {
        return None;
    }
    let (words, _) = buffer.get(traps.offset as usize..)?.as_chunks::<4>();
    let &[is_there, number, x, y, z] = words.first_chunk()?;
    // Without a trap, the rest is uninitialized.
    if u32::from_le_bytes(is_there) == 0 {
        return None;
    }
    let [number, x, y, z] = [number, x, y, z].map(u32::from_le_bytes);
    // An invalid number means that the kernel wrote out of bounds.
    let site = traps.sites.get(number as usize)?;
    Some(Error::Trap {
        kernel: kernel.to_owned(),
        site: site.location.clone(),
        work_item: [x, y, z].map(u64::from),
        message: site.message.clone(),
    })
}

/// The text in a buffer, and the number of bytes that did not fit.
fn decode_buffer(buffer: &[u8], texts: &HashMap<u32, PrintedText>) -> (Vec<u8>, u64) {
    let Some((head, words)) = buffer.split_first_chunk() else { return (Vec::new(), 0) };
    let asked = 4 * u64::from(u32::from_le_bytes(*head));
    let written = asked.min(words.len() as u64);
    let mut text = Vec::new();
    format_calls(&words[..written as usize], texts, &mut text);
    (text, asked - written)
}

/// Appends the text of every call that fits in the buffer.
fn format_calls(mut bytes: &[u8], texts: &HashMap<u32, PrintedText>, out: &mut Vec<u8>) {
    while let Some((number, mut rest)) = bytes.split_first_chunk() {
        // An invalid number means that the kernel wrote out of bounds.
        let Some(call) = texts.get(&u32::from_le_bytes(*number)) else { return };
        let mut values = Vec::with_capacity(call.sizes.len());
        let mut is_string = kiln_printf::strings(&call.text).into_iter();
        for &size in &call.sizes {
            let Some((argument, after)) = rest.split_at_checked(size.next_multiple_of(4) as usize) else {
                return;
            };
            rest = after;
            values.push(match (is_string.next(), argument.first_chunk()) {
                (Some(true), Some(number)) => {
                    let string = texts.get(&u32::from_le_bytes(*number));
                    Value::Text(string.map_or(&[][..], |string| &string.text))
                }
                _ => Value::Bytes(&argument[..size as usize]),
            });
        }
        kiln_printf::write(&call.text, &values, out);
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_separated() {
        let text = |text: &str, sizes: &[u32]| PrintedText { text: text.into(), sizes: sizes.to_vec() };
        let texts = HashMap::from([
            (0, text("%d %s\n", &[4, 4])),
            (1, text("two", &[])),
            (2, text("%v3hhd\n", &[3])),
        ]);
        let words = [12u32, 0, 7, 1, 2, 0x00fe_0201, 0, 8, 1, 0, 9];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (text, lost) = decode_buffer(&bytes, &texts);
        assert_eq!(String::from_utf8_lossy(&text), "7 two\n1,2,-2\n8 two\n");
        assert_eq!(lost, 8);
        assert_eq!(decode_buffer(&[1, 0, 0, 0, 9, 0, 0, 0], &texts), (Vec::new(), 0));
    }
}

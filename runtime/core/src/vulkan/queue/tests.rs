//! Queues on several `VkQueue`s. Software drivers have one, which stands in for three here. The waits between queues
//! are the same as on a device that has several.

use super::*;
use crate::backend::{Backend, Memory, Placement};
use crate::device::Validation;
use crate::vulkan::instance::Instance;

const BYTES: u64 = 4096;

fn word(memory: &Memory) -> u32 {
    let host = memory.handle.host().expect("memory that the host sees");
    // SAFETY: the memory has this many bytes, and the command that writes it is complete.
    let words = unsafe { std::slice::from_raw_parts(host.as_ptr().cast::<u32>(), BYTES as usize / 4) };
    assert!(words.iter().all(|word| *word == words[0]));
    words[0]
}

/// A chain of commands in random queues, ordered by wait lists or by host waits.
#[test]
fn chains_through_several_queues() {
    let instance = Instance::new(Validation::Synchronization).expect("a driver");
    let infos = instance.devices().expect("devices");
    let info = infos.iter().find(|info| info.lacks.is_empty()).expect("a usable device");
    let mut handle = instance.open_handle(info, None).expect("an open device");
    let device = Arc::get_mut(&mut handle.0).expect("this is the only reference");
    device.queues = vec![device.queues[0].clone(); 3];
    let first = handle.queue(Purpose::FirstContents).unwrap();
    let queues = [0; 5].map(|_| handle.queue(Purpose::Commands { profiled: false }).unwrap());
    let buffers = [0; 4].map(|_| handle.allocate(BYTES, Placement::Device).unwrap());
    let seen = handle.allocate(BYTES, Placement::Download).unwrap();

    let now = std::time::Instant::now;
    let fill = |target: &Memory, word| Command::Fill { target: target.clone(), at: 0, bytes: BYTES, word };
    let copy = |source: &Memory, target: &Memory| {
        let (source, target) = (source.clone(), target.clone());
        Command::Copy { source, from: 0, target, to: 0, bytes: BYTES }
    };
    let mut expected = [7, 8, 9, 10];
    for (buffer, word) in buffers.iter().zip(expected) {
        first.push(fill(buffer, word), Start { ordered: true, after: &[], queued: now() }).unwrap();
    }
    first.flush().unwrap();
    let mut last: Option<(usize, Arc<dyn backend::Completion>)> = None;
    let mut state = 12345u32;
    let mut chance = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for round in 100..500 {
        let (queue, from, to) = (chance(5) as usize, chance(4) as usize, chance(4) as usize);
        let mut after = Vec::new();
        match &last {
            Some((other, completion)) if *other != queue && chance(3) > 0 => {
                queues[*other].flush().unwrap();
                after.push(completion.clone());
            }
            Some((other, completion)) if *other != queue => completion.wait(None).unwrap(),
            _ => {}
        }
        let command = if from == to {
            expected[to] = round;
            fill(&buffers[to], round)
        } else {
            expected[to] = expected[from];
            copy(&buffers[from], &buffers[to])
        };
        let start = Start { ordered: true, after: &after, queued: now() };
        let completion = queues[queue].push(command, start).unwrap();
        last = Some((queue, completion));
        if chance(10) == 0 {
            let (queue, completion) = last.as_ref().unwrap();
            let start = Start { ordered: true, after: &[], queued: now() };
            completion.wait(None).unwrap();
            let read = queues[(queue + 1) % 5].push(copy(&buffers[to], &seen), start).unwrap();
            read.wait(None).unwrap();
            assert_eq!(word(&seen), expected[to]);
        }
    }
    drop(queues);
    assert_eq!(handle.take_messages(), Vec::<String>::new());
}

//! Several devices: wait lists across them, and buffers that migrate.

use fastrand::Rng;
use kiln_runtime::{
    Device, DeviceUse, Error, Event, Instance, MigratingBuffer, Queue, QueueOptions, QueueOrder, Selector,
    Status, UserEvent,
};

/// This device, the same one opened again, and the reference device.
fn devices(device: &Device) -> Vec<Device> {
    let instance = Instance::new(super::options()).unwrap();
    let reference = instance.device(&Selector::Name("reference".to_owned())).unwrap();
    vec![device.clone(), super::same_device(device), reference]
}

/// A command waits for commands of other devices, and fails with them.
pub(crate) fn wait_lists(device: &Device) {
    let devices = devices(device);
    let queues: Vec<Queue> = devices.iter().map(|device| device.queue().unwrap()).collect();
    let gate = UserEvent::new();
    let mut chain = vec![queues[0].after([gate.event()]).marker().unwrap()];
    for step in 1..30 {
        let last = chain[step - 1].clone();
        let queue = queues[step % 3].after([&last]);
        chain.push(match step % 2 {
            0 => queue.marker().unwrap(),
            _ => {
                let work = move || {
                    assert_eq!(last.status(), Ok(Status::Complete));
                    Ok(())
                };
                queue.host(work).unwrap()
            }
        });
    }
    assert!(chain.iter().all(|event| event.status() == Ok(Status::Queued)));
    gate.complete();
    chain[29].wait().unwrap();
    Event::wait_all(&chain).unwrap();
    let failed = queues[1].host(|| Err(Error::HostCommand { reason: "no reason".to_owned() })).unwrap();
    let doomed = queues[0].after([&failed]).marker().unwrap();
    assert!(matches!(doomed.wait(), Err(Error::WaitList { .. })));
}

/// Random commands on random devices, ordered by events, enqueued immediately or after a user event that is set last.
pub(crate) fn buffers(device: &Device) {
    const BYTES: usize = 1024;
    let devices = devices(device);
    let mut queues = Vec::new();
    for device in &devices {
        for order in [QueueOrder::InOrder, QueueOrder::OutOfOrder] {
            queues.push(device.queue_with(QueueOptions { order, profiling: false }).unwrap());
        }
    }
    let mut random = Rng::with_seed(21);
    for is_held in [false, true] {
        let gate = UserEvent::new();
        let shared = MigratingBuffer::new(BYTES);
        let mut model = vec![0u8; BYTES];
        let mut last: Option<Event> = is_held.then(|| gate.event().clone());
        let mut reads = Vec::new();
        for round in 0..60u8 {
            let queue = queues[random.usize(..queues.len())].after(&last);
            if round == 0 || random.u64(..3) > 0 {
                let (copy, ready) = shared.acquire(&queue, DeviceUse::Write).unwrap();
                let (start, end) = match round {
                    0 => (0, BYTES),
                    _ => {
                        let start = random.usize(..BYTES - 1);
                        (start, random.usize(start + 1..BYTES))
                    }
                };
                let part = copy.slice(start..end).unwrap();
                last = Some(queue.after(&ready).fill(&part, round).unwrap());
                model[start..end].fill(round);
            } else {
                let (copy, ready) = shared.acquire(&queue, DeviceUse::Read).unwrap();
                let reading = queue.after(&ready).read_later(&copy).unwrap();
                last = Some(reading.event());
                reads.push((reading, model.clone()));
            }
        }
        gate.complete();
        assert!(reads.len() > 10);
        for (reading, expected) in reads {
            assert!(reading.wait().unwrap() == expected);
        }
    }
    assert!(matches!(
        MigratingBuffer::new(0).acquire(&queues[0], DeviceUse::Read),
        Err(Error::BufferSize { bytes: 0, .. })
    ));
}

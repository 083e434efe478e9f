//! The order of commands: fourteen rules (OpenCL API 3.2.1, 3.3.6.3, 5.11 to 5.13), each with a test that detects a
//! violation.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use kiln_runtime::{
    Buffer, Device, Error, Event, Program, Queue, QueueOptions, QueueOrder, Status, UserEvent,
};

use crate::module;

const WORDS: usize = 4096;

fn buffer(device: &Device, value: u32) -> Buffer<u32> {
    device.buffer_from(&[value; WORDS]).unwrap()
}

/// Copies by a kernel.
fn launch_copy(queue: &Queue, program: &Program, from: &Buffer<u32>, to: &Buffer<u32>) -> Event {
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, from).unwrap().set(1, to).unwrap().set(2, WORDS as u32).unwrap();
    crate::launch(queue, &kernel, WORDS).unwrap()
}

fn read_all(queue: &Queue, buffer: &Buffer<u32>) -> u32 {
    let words = queue.read(buffer).unwrap();
    assert!(words.iter().all(|word| *word == words[0]));
    words[0]
}

/// 1: in order, a command sees the writes of earlier commands of any kind.
pub(crate) fn in_order_commands_see_earlier_writes(device: &Device) {
    let (queue, program) = (device.queue().unwrap(), Program::from_spirv(device, &module::copy()).unwrap());
    let [a, b, c] = [0; 3].map(|value| buffer(device, value));
    for round in 1..20 {
        queue.fill(&a, round).unwrap();
        launch_copy(&queue, &program, &a, &b);
        queue.copy(&b, &c).unwrap();
        launch_copy(&queue, &program, &c, &a);
        assert_eq!(read_all(&queue, &a), round);
        queue.write(&a, &[round + 100; WORDS]).unwrap();
        launch_copy(&queue, &program, &a, &c);
        assert_eq!(read_all(&queue, &c), round + 100);
    }
}

/// 2: in order, a command does not write what an earlier one still reads, and does not begin before that has ended.
pub(crate) fn in_order_commands_follow_each_other(device: &Device) {
    let options = QueueOptions { profiling: true, ..QueueOptions::default() };
    let queue = device.queue_with(options).unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let source = buffer(device, 0);
    let copies: Vec<_> = (0..40).map(|_| buffer(device, 99)).collect();
    let mut events = Vec::new();
    for (value, copy) in (0..).zip(&copies) {
        events.push(queue.fill(&source, value).unwrap());
        events.push(launch_copy(&queue, &program, &source, copy));
    }
    queue.finish().unwrap();
    for (value, copy) in (0..).zip(&copies) {
        assert_eq!(read_all(&queue, copy), value);
    }
    let times: Vec<_> = events.iter().map(|event| event.times().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0].end <= pair[1].start));
    assert!(times.iter().all(|t| t.queued <= t.submitted && t.submitted <= t.start && t.start <= t.end));
}

/// 3: out of order, a wait list orders commands.
pub(crate) fn wait_lists_order_unordered_commands(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let buffers: Vec<_> = (0..30).map(|_| buffer(device, 0)).collect();
    let mut last = queue.fill(&buffers[0], 7).unwrap();
    for pair in buffers.windows(2) {
        last = launch_copy(&queue.after([&last]), &program, &pair[0], &pair[1]);
    }
    assert_eq!(read_all(&queue.after([&last]), &buffers[29]), 7);
}

/// 4: a wait list may name commands of other queues, which have not been flushed.
pub(crate) fn wait_lists_reach_other_queues(device: &Device) {
    let queues: Vec<_> = (0..5).map(|_| device.queue().unwrap()).collect();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let buffers: Vec<_> = (0..30).map(|_| buffer(device, 0)).collect();
    let mut last = queues[0].fill(&buffers[0], 9).unwrap();
    for (index, pair) in buffers.windows(2).enumerate() {
        last = launch_copy(&queues[index % 5].after([&last]), &program, &pair[0], &pair[1]);
    }
    last.wait().unwrap();
    assert_eq!(read_all(&queues[0], &buffers[29]), 9);
    // Events of another device can be in wait lists, too.
    let (other, gate) = (crate::same_device(device).queue().unwrap(), UserEvent::new());
    let foreign = other.after([gate.event()]).marker().unwrap();
    let held = queues[0].after([&foreign]).marker().unwrap();
    stays_queued(&queues[0], &held);
    gate.complete();
    held.wait().unwrap();
}

/// 5: a command waits for every event of its list.
pub(crate) fn commands_wait_for_the_whole_wait_list(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let (first, second) = (UserEvent::new(), UserEvent::new());
    let held = queue.after([first.event(), second.event()]).marker().unwrap();
    second.complete();
    stays_queued(&queue, &held);
    first.complete();
    held.wait().unwrap();
}

/// 6: a marker without a wait list is complete after all earlier commands, held back or not.
pub(crate) fn markers_follow_everything(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let gate = UserEvent::new();
    let target = buffer(device, 0);
    let held = queue.after([gate.event()]).fill(&target, 3).unwrap();
    let marker = queue.marker().unwrap();
    stays_queued(&queue, &marker);
    gate.complete();
    marker.wait().unwrap();
    assert_eq!(held.status(), Ok(Status::Complete));
    assert_eq!(read_all(&queue, &target), 3);
}

/// 7: a marker with a wait list waits for nothing else, and holds nothing back.
pub(crate) fn markers_do_not_delay_commands(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let (gate, other) = (UserEvent::new(), UserEvent::new());
    let held = queue.after([other.event()]).marker().unwrap();
    let marker = queue.after([gate.event()]).marker().unwrap();
    let later = queue.fill(&buffer(device, 0), 1).unwrap();
    later.wait().unwrap();
    assert_eq!(marker.status(), Ok(Status::Queued));
    gate.complete();
    marker.wait().unwrap();
    assert_eq!(held.status(), Ok(Status::Queued));
    other.complete();
    held.wait().unwrap();
}

/// 8: a barrier without a wait list separates the earlier commands from the later ones.
pub(crate) fn barriers_separate_commands(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let [a, b] = [0; 2].map(|value| buffer(device, value));
    for round in 1..20 {
        queue.fill(&a, round).unwrap();
        queue.barrier().unwrap();
        launch_copy(&queue, &program, &a, &b);
        queue.barrier().unwrap();
        assert_eq!(read_all(&queue, &b), round);
    }
    let gate = UserEvent::new();
    let early = queue.after([gate.event()]).fill(&a, 77).unwrap();
    queue.barrier().unwrap();
    let later = queue.copy(&a, &b).unwrap();
    stays_queued(&queue, &later);
    gate.complete();
    later.wait().unwrap();
    assert_eq!(early.status(), Ok(Status::Complete));
    assert_eq!(read_all(&queue, &b), 77);
}

/// 9: a barrier with a wait list holds the later commands back until its list is complete, and waits for nothing else.
pub(crate) fn barriers_wait_for_their_wait_list(device: &Device) {
    let queue = device.unordered_queue().unwrap();
    let (gate, other) = (UserEvent::new(), UserEvent::new());
    let held = queue.after([other.event()]).marker().unwrap();
    let barrier = queue.after([gate.event()]).barrier().unwrap();
    let later = queue.fill(&buffer(device, 0), 1).unwrap();
    stays_queued(&queue, &later);
    gate.complete();
    later.wait().unwrap();
    barrier.wait().unwrap();
    assert_eq!(held.status(), Ok(Status::Queued));
    other.complete();
    held.wait().unwrap();
}

/// 10: a user event holds back the commands that wait for it, later commands of in-order queues, and commands of other
/// queues that wait for those.
pub(crate) fn user_events_delay_commands(device: &Device) {
    let (queue, other) = (device.queue().unwrap(), device.queue().unwrap());
    let [a, b, c] = [0; 3].map(|value| buffer(device, value));
    let gate = UserEvent::new();
    let first = queue.after([gate.event()]).fill(&a, 5).unwrap();
    let second = queue.copy(&a, &b).unwrap();
    let third = other.after([&second]).copy(&b, &c).unwrap();
    for held in [&first, &second, &third] {
        stays_queued(&queue, held);
    }
    assert!(matches!(first.wait_for(Duration::from_millis(5)), Err(Error::Held { .. })));
    gate.complete();
    assert_eq!(read_all(&other, &c), 5);
    for done in [&first, &second, &third] {
        assert_eq!(done.status(), Ok(Status::Complete));
    }
    // A long chain through two queues does not exhaust the stack.
    let gate = UserEvent::new();
    let mut last = queue.after([gate.event()]).marker().unwrap();
    for round in 0..5000 {
        last = [&queue, &other][round % 2].after([&last]).marker().unwrap();
    }
    gate.complete();
    last.wait().unwrap();
}

/// 11: a command whose wait list fails does not run and fails; a command that only follows it in order runs.
pub(crate) fn failures_follow_wait_lists(device: &Device) {
    let queue = device.queue().unwrap();
    let [a, b] = [0; 2].map(|value| buffer(device, value));
    let gate = UserEvent::new();
    let doomed = queue.after([gate.event()]).fill(&a, 5).unwrap();
    let doomed_too = device.queue().unwrap().after([&doomed]).fill(&a, 6).unwrap();
    let behind = queue.fill(&b, 7).unwrap();
    gate.fail("no reason");
    for event in [&doomed, &doomed_too] {
        let error = event.wait().unwrap_err();
        assert!(matches!(error, Error::WaitList { .. }), "{error}");
        assert!(error.to_string().contains("no reason"));
        assert_eq!(event.status(), Err(error));
    }
    behind.wait().unwrap();
    assert_eq!((read_all(&queue, &a), read_all(&queue, &b)), (0, 7));
    assert!(matches!(queue.after([&doomed]).marker().unwrap().wait(), Err(Error::WaitList { .. })));
    // A user event that can no longer be completed fails too.
    let gate = UserEvent::new();
    let held = queue.after([gate.event()]).marker().unwrap();
    drop(gate);
    assert!(held.wait().unwrap_err().to_string().contains("dropped"));
}

/// 12: a blocking command in an in-order queue returns after all earlier commands, and a non-blocking one immediately.
pub(crate) fn blocking_commands_block(device: &Device) {
    let queue = device.queue().unwrap();
    let (a, gate) = (buffer(device, 0), UserEvent::new());
    let early = queue.fill(&a, 4).unwrap();
    queue.read_into(&a.slice(..1).unwrap(), &mut [0]).unwrap();
    assert_eq!(early.status(), Ok(Status::Complete));
    let held = queue.after([gate.event()]);
    let mut source = vec![6; WORDS];
    held.write(&a, &source).unwrap();
    // The data is copied, so the slice can be changed immediately.
    source.fill(8);
    let reading = queue.read_later(&a).unwrap();
    assert_eq!(reading.event().status(), Ok(Status::Queued));
    gate.complete();
    assert_eq!(reading.wait().unwrap(), [6; WORDS]);
}

/// 13: a flush submits a launch, which completes even if nothing waits for it; after `finish`, all commands are complete.
pub(crate) fn flushed_commands_complete(device: &Device) {
    let queue = device.queue().unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let [a, b] = [1, 2].map(|value| buffer(device, value));
    let events: Vec<_> = (0..4).map(|_| launch_copy(&queue, &program, &a, &b)).collect();
    assert!(events.iter().all(|event| event.status() == Ok(Status::Queued)));
    queue.flush().unwrap();
    let started = Instant::now();
    while events[3].status() != Ok(Status::Complete) {
        assert_ne!(events[3].status(), Ok(Status::Queued));
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    let event = launch_copy(&queue, &program, &b, &a);
    queue.finish().unwrap();
    assert_eq!(event.status(), Ok(Status::Complete));
    // Dropping the queue submits too, and its commands outlive it.
    let event = device.queue().unwrap().fill(&a, 11).unwrap();
    event.wait().unwrap();
    assert_eq!(read_all(&queue, &a), 11);
}

/// The reference device executes each command as it is enqueued, so a flush changes nothing.
pub(crate) fn launches_are_complete_when_they_return(device: &Device) {
    let queue = device.queue().unwrap();
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let [a, b] = [1, 2].map(|value| buffer(device, value));
    let event = launch_copy(&queue, &program, &a, &b);
    assert_eq!(event.status(), Ok(Status::Complete));
    queue.flush().unwrap();
    assert_eq!(event.status(), Ok(Status::Complete));
    assert_eq!(read_all(&queue, &b), 1);
}

/// 14: when the event of a command is complete, the host and all commands that are enqueued later, in every queue, see what the
/// command wrote. Callbacks run after that.
pub(crate) fn completion_makes_writes_visible(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let [a, b, c] = [0; 3].map(|value| buffer(device, value));
    for order in [QueueOrder::InOrder, QueueOrder::OutOfOrder] {
        let options = QueueOptions { order, ..QueueOptions::default() };
        let [one, two] = [0; 2].map(|_| device.queue_with(options).unwrap());
        for round in 1..20 {
            one.fill(&a, round).unwrap().wait().unwrap();
            launch_copy(&two, &program, &a, &b).wait().unwrap();
            let (sender, receiver) = mpsc::channel();
            let (reader, target) = (one.clone(), c.clone());
            let copied = two.copy(&b, &c).unwrap();
            copied.on_end(move |result| {
                result.unwrap();
                sender.send(reader.read(&target).unwrap()).unwrap();
            });
            let seen = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
            assert_eq!(seen, [round; WORDS]);
        }
    }
    // Callbacks of an event that is complete, and of one that is held back and fails.
    let (sender, receiver) = mpsc::channel();
    let tell = |sender: &mpsc::Sender<_>| {
        let sender = sender.clone();
        move |result: kiln_runtime::Result<()>| sender.send(result.is_ok()).unwrap()
    };
    let queue = device.queue().unwrap();
    let done = queue.marker().unwrap();
    done.wait().unwrap();
    done.on_end(tell(&sender));
    assert!(receiver.recv_timeout(Duration::from_secs(60)).unwrap());
    let gate = UserEvent::new();
    queue.after([gate.event()]).marker().unwrap().on_end(tell(&sender));
    assert!(receiver.recv_timeout(Duration::from_millis(20)).is_err());
    gate.fail("for a test");
    assert!(!receiver.recv_timeout(Duration::from_secs(60)).unwrap());
}

/// A command is held back even after a flush, for a while.
fn stays_queued(queue: &Queue, event: &Event) {
    queue.flush().unwrap();
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(event.status(), Ok(Status::Queued));
}

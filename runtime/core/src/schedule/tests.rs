//! Tests of scheduling with a failing back end: device loss and memory exhaustion, and their effect on later commands.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, mpsc};
use std::time::Duration;

use super::*;
use crate::event::Times;

/// A back end whose commands complete on request, and which can simulate device loss.
#[derive(Default)]
struct Faulty {
    state: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    lost: AtomicBool,
    full: AtomicBool,
    pushed: AtomicU64,
    flushed: AtomicU64,
    ended: Mutex<u64>,
    changed: Condvar,
}

struct Ending {
    state: Arc<Shared>,
    number: u64,
}

impl Shared {
    fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(Error::DeviceLost { kernel: Some("k".to_owned()) });
        }
        if self.full.load(Ordering::Relaxed) {
            return Err(Error::OutOfMemory { bytes: 64, device: "faulty".to_owned() });
        }
        Ok(())
    }

    fn end_all(&self) {
        *self.ended.lock().unwrap() = self.pushed.load(Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

impl BackendQueue for Faulty {
    fn push(&self, _command: Command, _start: Start<'_>) -> Result<Arc<dyn Completion>> {
        self.state.check()?;
        let number = self.state.pushed.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Arc::new(Ending { state: self.state.clone(), number }))
    }

    fn flush(&self) -> Result<()> {
        self.state.check()?;
        self.state.flushed.store(self.state.pushed.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }
}

impl Completion for Ending {
    fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        let deadline = Instant::now() + timeout.unwrap_or(Duration::from_secs(60));
        let mut ended = self.state.ended.lock().unwrap();
        while *ended < self.number {
            self.state.check()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Timeout { kernel: None, after: timeout.unwrap_or_default() });
            }
            ended = self.state.changed.wait_timeout(ended, left).unwrap().0;
        }
        Ok(())
    }

    fn give_up(&self) {}

    fn status(&self) -> Result<Status> {
        if *self.state.ended.lock().unwrap() >= self.number {
            return Ok(Status::Complete);
        }
        self.state.check()?;
        Ok(Status::Submitted)
    }

    fn times(&self) -> Option<Times> {
        None
    }
}

fn lane(order: Order) -> (Arc<Shared>, Arc<Lane>) {
    let backend = Faulty::default();
    (backend.state.clone(), Lane::new(Arc::new(backend), order, None))
}

fn enqueue(lane: &Arc<Lane>, wait: &[&Event]) -> Result<Event> {
    let wait = wait.iter().map(|event| (*event).clone()).collect();
    let node = lane.enqueue(Command::Nothing, &wait, QueueOrder::USUAL)?;
    Ok(Event::of_host(node))
}

#[test]
fn a_lost_device_fails_all_commands() {
    let (state, lane) = lane(Order::InOrder);
    let gate = crate::UserEvent::new();
    let running = enqueue(&lane, &[]).unwrap();
    let (sender, receiver) = mpsc::channel();
    let result_sender = sender.clone();
    running.on_end(move |result| result_sender.send(result).unwrap());
    let held = enqueue(&lane, &[gate.event()]).unwrap();
    held.on_end(move |result| sender.send(result).unwrap());
    state.lose();
    let lost = Error::DeviceLost { kernel: Some("k".to_owned()) };
    assert_eq!(running.wait(), Err(lost.clone()));
    assert_eq!(running.status(), Err(lost.clone()));
    assert_eq!(enqueue(&lane, &[]).unwrap().status(), Ok(Status::Queued));
    gate.complete();
    assert_eq!(held.wait(), Err(lost.clone()));
    assert_eq!(enqueue(&lane, &[]).unwrap_err(), lost);
    assert_eq!(
        enqueue(&lane, &[&held]).unwrap().wait(),
        Err(Error::WaitList { cause: Box::new(lost.clone()) })
    );
    for _ in 0..2 {
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)).unwrap(), Err(lost.clone()));
    }
}

#[test]
fn a_command_without_memory_fails_alone() {
    let (state, lane) = lane(Order::OutOfOrder);
    let gate = crate::UserEvent::new();
    let held = enqueue(&lane, &[gate.event()]).unwrap();
    let behind = enqueue(&lane, &[&held]).unwrap();
    state.full.store(true, Ordering::Relaxed);
    assert!(matches!(enqueue(&lane, &[]), Err(Error::OutOfMemory { .. })));
    gate.complete();
    assert!(matches!(held.wait(), Err(Error::OutOfMemory { .. })));
    assert!(matches!(behind.wait(), Err(Error::WaitList { .. })));
    state.full.store(false, Ordering::Relaxed);
    let after = enqueue(&lane, &[]).unwrap();
    state.end_all();
    assert_eq!(after.wait(), Ok(()));
}

#[test]
fn commands_are_submitted_only_on_a_flush_or_wait() {
    let ((state, lane), (other, second)) = (self::lane(Order::InOrder), self::lane(Order::InOrder));
    let first = enqueue(&lane, &[]).unwrap();
    enqueue(&lane, &[&first]).unwrap();
    assert_eq!(state.flushed.load(Ordering::Relaxed), 0);
    // A wait from another queue flushes this one.
    enqueue(&second, &[&first]).unwrap();
    assert_eq!(state.flushed.load(Ordering::Relaxed), 2);
    assert_eq!(other.flushed.load(Ordering::Relaxed), 0);
}

#[test]
fn commands_outlive_their_queue() {
    let (state, lane) = lane(Order::InOrder);
    let gate = crate::UserEvent::new();
    let held = enqueue(&lane, &[gate.event()]).unwrap();
    drop(lane);
    assert_eq!(state.pushed.load(Ordering::Relaxed), 0);
    gate.complete();
    assert_eq!(state.pushed.load(Ordering::Relaxed), 1);
    state.end_all();
    assert_eq!(held.wait(), Ok(()));
}

/// Callbacks run in the order in which their commands end, and the watcher thread ends with its queue.
#[test]
fn callbacks_come_in_any_order() {
    let (state, lane) = lane(Order::OutOfOrder);
    let (sender, receiver) = mpsc::channel();
    for number in 0..100 {
        let sender = sender.clone();
        enqueue(&lane, &[]).unwrap().on_end(move |result| sender.send((number, result)).unwrap());
        if number == 50 {
            state.end_all();
        }
    }
    drop(sender);
    let first = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(first.0 <= 50 && first.1.is_ok());
    state.end_all();
    assert_eq!(receiver.iter().count(), 99);
}

/// A host command runs after the device's commands before it, and never if the device is lost before that.
#[test]
fn host_commands_wait_for_the_device() {
    for loses in [false, true] {
        let (state, lane) = lane(Order::InOrder);
        enqueue(&lane, &[]).unwrap();
        let ran = Arc::new(AtomicBool::new(false));
        let note = ran.clone();
        let work: Work = Box::new(move || {
            note.store(true, Ordering::Relaxed);
            Ok(())
        });
        let host =
            Event::of_host(lane.enqueue(Task::Host(work), &Arc::default(), QueueOrder::USUAL).unwrap());
        let behind = enqueue(&lane, &[]).unwrap();
        assert_eq!((host.status(), behind.status()), (Ok(Status::Submitted), Ok(Status::Queued)));
        assert!(!lane.holds_nothing());
        std::thread::sleep(Duration::from_millis(2));
        assert!(!ran.load(Ordering::Relaxed));
        if loses {
            state.lose();
            assert!(matches!(host.wait(), Err(Error::DeviceLost { .. })));
            assert!(matches!(behind.wait(), Err(Error::DeviceLost { .. })));
        } else {
            state.end_all();
            host.wait().unwrap();
        }
        assert_eq!(ran.load(Ordering::Relaxed), !loses);
    }
}

//! The public types are `Send`, `Sync` and `Debug`, and errors have a source.

use std::fmt::Debug;

use kiln_runtime::{
    ArgValue, Buffer, Capabilities, Device, DeviceInfo, Error, Event, Image, ImageDesc, Instance, Kernel,
    MapAccess, Mapped, Mapping, MigratingBuffer, NdRange, Options, PinnedMemory, Pipe, Program, Queue,
    QueueOptions, Reading, Rect, Sampler, Selector, Svm, SvmAtomics, Timers, Times, UserEvent,
    interface::ProgramInterface,
};

fn is_send_sync_and_debug<T: Send + Sync + Debug>() {}

#[test]
fn public_types_are_send_sync_and_debug() {
    is_send_sync_and_debug::<(Instance, Device, DeviceInfo, Capabilities, Options, Selector)>();
    is_send_sync_and_debug::<(Queue, QueueOptions, Event, UserEvent, Times, NdRange)>();
    is_send_sync_and_debug::<(Program, ProgramInterface, Kernel, ArgValue, Sampler, Error)>();
    is_send_sync_and_debug::<(
        Buffer,
        Buffer<f32>,
        Mapped<u8>,
        Mapping,
        MapAccess,
        Reading<[u32; 4]>,
        Image,
        ImageDesc,
        Pipe,
        PinnedMemory,
    )>();
    is_send_sync_and_debug::<(Svm<u64>, SvmAtomics<i32>, Rect, Timers, MigratingBuffer)>();
}

/// Errors return their cause as `source`.
#[test]
fn errors_have_sources() {
    let cause = Error::UserEvent { reason: "no".to_owned() };
    let error = Error::WaitList { cause: Box::new(cause.clone()) };
    let source = std::error::Error::source(&error).expect("a cause");
    assert_eq!(source.to_string(), cause.to_string());
}

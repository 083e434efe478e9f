//! Runs kernels/heat.cl on the first Vulkan device: `cargo run`.

use std::error::Error;

use kiln_runtime::Device;

mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

use kernels::heat::{Program, settings};

const SIZE: usize = 64;
const STEPS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open()?;
    let queue = device.queue()?;
    let program = Program::load(&device)?;
    let mut field = vec![0.0f32; SIZE * SIZE];
    field[SIZE / 2 * SIZE + SIZE / 2] = 1000.0;
    let fields = [device.buffer_from(&field)?, device.buffer_from(&field)?];
    let with = settings { size: SIZE as i32, rate: 0.2 };
    for step in 0..STEPS {
        // SAFETY: the kernel checks the indices of neighbors, and has one work-item for each cell.
        unsafe { program.spread(&queue, [SIZE, SIZE], &fields[step % 2], &fields[(step + 1) % 2], with)? };
    }
    let field = queue.read(&fields[STEPS % 2])?;
    println!("{:.4} in the middle after {STEPS} steps", field[SIZE / 2 * SIZE + SIZE / 2]);
    Ok(())
}

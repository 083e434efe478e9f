//! Draws the Buddhabrot: `cargo run --release [picture.png] [millions of orbits]`.

use std::{env, error::Error, fs, io};

use kiln_runtime::Device;

mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

use kernels::buddhabrot::{Program, view};

const COLUMNS: u32 = 512;
const ROWS: u32 = 640;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "buddhabrot.png".to_owned());
    let rounds = arguments.next().map_or(Ok(4), |text| text.parse())?;

    let device = Device::open()?;
    let queue = device.queue()?;
    let program = Program::load(&device)?;
    let view = view { center: [-0.45, 0.0], width: 2.6, columns: COLUMNS, rows: ROWS, ..Default::default() };
    let pixels = (COLUMNS * ROWS) as usize;
    let hits = device.buffer_from(&vec![0u32; pixels])?;
    let max = device.buffer_from(&[0u32])?;
    let picture = device.buffer::<u32>(pixels)?;
    // SAFETY: `trace` checks its indices; the other kernels have one work-item for each pixel.
    unsafe {
        for round in 0..rounds {
            program.trace(&queue, 1_000_000, view, round * 7919, &hits)?;
        }
        program.brightest(&queue, pixels, &hits, &max)?;
        program.tone(&queue, pixels, &hits, &max, &picture)?;
    }
    let bytes: Vec<u8> = queue.read(&picture)?.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();

    let mut encoder = png::Encoder::new(io::BufWriter::new(fs::File::create(&path)?), COLUMNS, ROWS);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(&bytes)?;
    println!("{path}: {rounds} million orbits on {}", device.name());
    Ok(())
}

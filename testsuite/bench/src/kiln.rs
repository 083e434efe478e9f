//! Kiln as one of the implementations compared: its compiler and its runtime in this process.

use kiln_compiler::session::{NoFiles, Options, Source};
use kiln_compiler::{Artifact, Emit, opencl::Environment, target::Target};
use kiln_runtime::{
    Buffer, Device, DeviceKind, Event, Instance, Kernel, Local, NdRange, Program, Queue, QueueOptions,
    Selector,
};

use crate::kernels::{Argument, Benchmark, Contents};
use crate::run::Prepared;

#[path = "../../../compiler/cli/src/run/target.rs"]
mod target;

/// An open device.
pub(crate) struct Kiln {
    device: Device,
}

/// A program with its buffers.
struct Running {
    queue: Queue,
    zeroed: Vec<Buffer<u8>>,
    steps: Vec<(Kernel, NdRange)>,
    result: Buffer<u8>,
}

impl Kiln {
    pub(crate) fn new(selector: &str) -> Result<Self, String> {
        let instance = Instance::new(kiln_runtime::Options::from_env()).map_err(text)?;
        let device = instance.device(&Selector::from(selector)).map_err(text)?;
        Ok(Self { device })
    }

    pub(crate) fn name(&self) -> String {
        format!("{} ({})", self.device.name(), self.device.info().driver)
    }

    pub(crate) fn is_cpu(&self) -> bool {
        self.device.info().kind == DeviceKind::Cpu
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    fn compile(&self, name: &str, source: &str) -> Result<Program, String> {
        let words = module(name, source, target::target(self.device.info()))?;
        Program::from_spirv(&self.device, &words).map_err(text)
    }

    /// A module that any device takes.
    pub(crate) fn plain_module(&self, source: &str) -> Result<Vec<u32>, String> {
        module("plain", source, Target::minimal(Environment::Vulkan))
    }

    pub(crate) fn prepare(&self, benchmark: &Benchmark) -> Result<impl Prepared + use<>, String> {
        let program = self.compile(benchmark.name, benchmark.source)?;
        let queue = self
            .device
            .queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })
            .map_err(text)?;
        let buffers = benchmark
            .buffers
            .iter()
            .map(|contents| match contents {
                Contents::Input(bytes) => self.device.buffer_from(bytes),
                Contents::Zeros(bytes) => self.device.buffer(*bytes),
            })
            .collect::<Result<Vec<Buffer<u8>>, _>>()
            .map_err(text)?;
        let mut steps = Vec::new();
        for step in &benchmark.steps {
            let mut kernel = program.kernel(step.kernel).map_err(text)?;
            for (index, argument) in step.arguments.iter().enumerate() {
                let set = match *argument {
                    Argument::Buffer(buffer) => kernel.set(index, &buffers[buffer]),
                    Argument::Uint(value) => kernel.set(index, value),
                    Argument::Local(bytes) => kernel.set(index, Local(bytes)),
                };
                set.map_err(text)?;
            }
            steps.push((kernel, NdRange::from(step.global).local(step.local)));
        }
        let zeroed = benchmark.buffers.iter().zip(&buffers);
        let zeroed = zeroed.filter(|(contents, _)| matches!(contents, Contents::Zeros(_)));
        let zeroed = zeroed.map(|(_, buffer)| buffer.clone()).collect();
        Ok(Running { queue, zeroed, steps, result: buffers[benchmark.result].clone() })
    }
}

impl Prepared for Running {
    fn run(&mut self) -> Result<f64, String> {
        for buffer in &self.zeroed {
            self.queue.fill(buffer, 0u8).map_err(text)?;
        }
        let mut events: Vec<Event> = Vec::new();
        for (kernel, range) in &self.steps {
            // SAFETY: the kernels of these programs stay within the buffers that `kernels.rs` gives them.
            #[allow(unsafe_code, reason = "a launch trusts its kernel")]
            events.push(unsafe { self.queue.launch(kernel, *range) }.map_err(text)?);
        }
        self.queue.finish().map_err(text)?;
        let times = events.iter().map(|event| event.times().map(|times| times.execution().as_secs_f64()));
        times.sum::<Option<f64>>().ok_or_else(|| "the device cannot tell times".to_owned())
    }

    fn result(&mut self) -> Result<Vec<u8>, String> {
        self.queue.read(&self.result).map_err(text)
    }
}

fn module(name: &str, source: &str, target: Target) -> Result<Vec<u32>, String> {
    let options = Options { target, ..Options::default() };
    let source = Source { name: format!("{name}.cl"), text: source.as_bytes().to_vec() };
    let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
    match &output.artifact {
        Some(Artifact::Module(words)) => Ok(words.clone()),
        _ => Err(kiln_report::report(kiln_report::Format::Gcc, &output)),
    }
}

fn text(error: kiln_runtime::Error) -> String {
    error.to_string()
}

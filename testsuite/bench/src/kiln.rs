//! Kiln as one of the implementations compared: its compiler and its runtime in this process.

use std::time::Duration;

use kiln_compiler::session::{NoFiles, Options, Source};
use kiln_compiler::{
    Artifact, Emit,
    driver_bugs::Workarounds,
    opencl::{Environment, LanguageVersion},
    target::Target,
};
use kiln_runtime::{
    Buffer, ChannelOrder, ChannelType, Device, DeviceKind, Event, Image, ImageDesc, ImageFormat, Instance,
    Kernel, Local, NdRange, Program, Queue, QueueOptions, Selector,
};

use kiln_testsuite::programs::{Initial, Program as RandomProgram};

use crate::kernels::{Argument, Benchmark, Contents, noise};
use crate::run::Prepared;

/// An open device.
pub(crate) struct Kiln {
    device: Device,
    target: Target,
}

/// A program with its buffers.
struct Running {
    queue: Queue,
    zeroed: Vec<Buffer<u8>>,
    steps: Vec<(Kernel, NdRange)>,
    result: Buffer<u8>,
}

/// An argument in device memory.
enum Object {
    Buffer(Buffer<u8>),
    Image(Image),
}

impl Kiln {
    pub(crate) fn new(selector: &str) -> Result<Self, String> {
        let instance = Instance::new(kiln_runtime::Options::from_env()).map_err(text)?;
        let device = instance.device(&Selector::from(selector)).map_err(text)?;
        let target = device.info().target();
        Ok(Self { device, target })
    }

    /// A device whose modules use more or fewer features (each change is as `-int64`) and work around other driver bugs.
    pub(crate) fn with_target(
        selector: &str,
        changes: &[String],
        workarounds: Option<&str>,
    ) -> Result<Self, String> {
        let mut kiln = Self::new(selector)?;
        for change in changes {
            kiln_compiler::target::profile::apply(&mut kiln.target.features, change)?;
        }
        if let Some(workarounds) = workarounds {
            kiln.target.workarounds = Workarounds::parse(workarounds)?;
        }
        Ok(kiln)
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

    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Program, String> {
        let words = module(name, source, self.target.clone(), LanguageVersion::default())?;
        Program::from_spirv(&self.device, &words).map_err(text)
    }

    /// Runs a random program: all words that it leaves in its buffers.
    pub(crate) fn results(&self, program: &RandomProgram) -> Result<Vec<u32>, String> {
        let version = LanguageVersion::parse(program.std).ok_or("the program has no version")?;
        let words = module("program", &program.source, self.target.clone(), version)?;
        let program_of_device = Program::from_spirv(&self.device, &words).map_err(text)?;
        let mut kernel = program_of_device.kernel("k").map_err(text)?;
        let queue = self.device.queue().map_err(text)?;
        let arguments = program.buffers();
        let mut numbers = noise(arguments.iter().map(|(_, size, _)| size).sum()).into_iter();
        let mut buffers = Vec::new();
        for (_, size, initial) in arguments {
            let contents: Vec<u32> = match initial {
                Initial::Zeros => vec![0; size],
                Initial::Random(_) => numbers.by_ref().take(size).collect(),
            };
            buffers.push(self.device.buffer_from(&contents).map_err(text)?);
        }
        for (index, buffer) in buffers.iter().enumerate() {
            kernel.set(index, buffer).map_err(text)?;
        }
        kernel.set(4, 3u32).map_err(text)?;
        kernel.set(5, Local(program.local_bytes)).map_err(text)?;
        let range = match (&program.global[..], &program.local[..]) {
            (&[x], &[a]) => NdRange::from(x).local(a),
            (&[x, y], &[a, b]) => NdRange::from([x, y]).local([a, b]),
            (&[x, y, z], &[a, b, c]) => NdRange::from([x, y, z]).local([a, b, c]),
            _ => return Err("the program has no index space".to_owned()),
        };
        // SAFETY: the generator keeps its programs within these buffers.
        #[allow(unsafe_code, reason = "a launch trusts its kernel")]
        let event = unsafe { queue.launch(&kernel, range) }.map_err(text)?;
        event.wait_for(Duration::from_secs(60)).map_err(text)?;
        let mut results = Vec::new();
        for buffer in &buffers {
            results.extend(queue.read(buffer).map_err(text)?);
        }
        Ok(results)
    }

    /// A module that any device accepts.
    pub(crate) fn plain_module(&self, source: &str) -> Result<Vec<u32>, String> {
        let target = Target { workarounds: Workarounds::ALL, ..Target::minimal(Environment::Vulkan) };
        module("plain", source, target, LanguageVersion::default())
    }

    pub(crate) fn prepare(&self, benchmark: &Benchmark) -> Result<impl Prepared + use<>, String> {
        let program = self.compile(benchmark.name, benchmark.source)?;
        let queue = self
            .device
            .queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })
            .map_err(text)?;
        let objects = benchmark
            .buffers
            .iter()
            .map(|contents| {
                Ok(match contents {
                    Contents::Input(bytes) => Object::Buffer(self.device.buffer_from(bytes)?),
                    Contents::Zeros(bytes) => Object::Buffer(self.device.buffer(*bytes)?),
                    Contents::Image { size, texels } => {
                        let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8);
                        let [width, height] = size.map(|it| it as u32);
                        let image = self.device.image(&ImageDesc::d2(format, width, height))?;
                        queue.write_image(&image, texels)?;
                        Object::Image(image)
                    }
                })
            })
            .collect::<kiln_runtime::Result<Vec<Object>>>()
            .map_err(text)?;
        let mut steps = Vec::new();
        for step in &benchmark.steps {
            let mut kernel = program.kernel(step.kernel).map_err(text)?;
            for (index, argument) in step.arguments.iter().enumerate() {
                let set = match *argument {
                    Argument::Buffer(number) => match &objects[number] {
                        Object::Buffer(buffer) => kernel.set(index, buffer),
                        Object::Image(image) => kernel.set(index, image),
                    },
                    Argument::Uint(value) => kernel.set(index, value),
                    Argument::Local(bytes) => kernel.set(index, Local(bytes)),
                };
                set.map_err(text)?;
            }
            steps.push((kernel, NdRange::from(step.global).local(step.local)));
        }
        let zeroed = benchmark.buffers.iter().zip(&objects).filter_map(|pair| match pair {
            (Contents::Zeros(_), Object::Buffer(buffer)) => Some(buffer.clone()),
            _ => None,
        });
        let zeroed = zeroed.collect();
        let Object::Buffer(result) = &objects[benchmark.result] else {
            return Err("the result is not a buffer".to_owned());
        };
        Ok(Running { queue, zeroed, steps, result: result.clone() })
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

fn module(name: &str, source: &str, target: Target, version: LanguageVersion) -> Result<Vec<u32>, String> {
    let options = Options { target, std: version, ..Options::default() };
    let source = Source { name: format!("{name}.cl"), text: source.as_bytes().to_vec() };
    let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
    match &output.artifact {
        Some(Artifact::Module(module)) => Ok(module.words().to_vec()),
        _ => Err(kiln_report::report(kiln_report::Format::Gcc, &output)),
    }
}

pub(crate) fn text(error: kiln_runtime::Error) -> String {
    error.to_string()
}

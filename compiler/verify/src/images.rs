//! Image types, the operands of image instructions, and their optional image operands (SPIR-V 3.14 and 3.49.10).

use rspirv::spirv::{Capability, Dim, ImageFormat, ImageOperands, Op, Word};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    numeric_type::{Kind, NumericType},
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[
    TYPE,
    IMAGE,
    RESULT,
    FORMAT,
    OPERANDS,
    OPERAND_TYPES,
    OPERAND_IMAGE,
    TEXEL,
    COORDINATE,
    SAMPLED_TYPE,
    SAMPLED,
    COMBINED,
    OFFSET,
    QUERY,
];

const TYPE: Rule = Rule {
    id: "SPIRV-OpTypeImage",
    text: "in an image type, Depth and Sampled are at most 2, Arrayed and MS at most 1",
};
const IMAGE: Rule = Rule {
    id: "SPIRV-image-operand",
    text: "an image instruction takes an image, or a sampled image if it needs a sampler",
};
const RESULT: Rule = Rule {
    id: "SPIRV-image-query-type",
    text: "an image query returns integers, and a size query one for each dimension; OpSampledImage has the required types",
};
const FORMAT: Rule = Rule {
    id: "SPIRV-image-format",
    text: "reads and writes of storage images without a format need StorageImageReadWithoutFormat or StorageImageWriteWithoutFormat",
};
const OPERANDS: Rule = Rule {
    id: "SPIRV-ImageOperands",
    text: "an image instruction has the image operands that it requires, and none that it does not allow or that exclude each other",
};
const OPERAND_TYPES: Rule = Rule {
    id: "SPIRV-ImageOperands-type",
    text: "image operands have the required types, and constant offsets are constants",
};
const OPERAND_IMAGE: Rule = Rule {
    id: "SPIRV-ImageOperands-image",
    text: "Bias, Lod, Grad and MinLod need an image with levels, and Sample a multisampled one; cubes allow no offsets",
};
const TEXEL: Rule = Rule {
    id: "SPIRV-texel-type",
    text: "texels have the sampled type of the image, and four components if they are sampled or fetched",
};
const COORDINATE: Rule = Rule {
    id: "SPIRV-image-coordinate",
    text: "coordinates have enough components, and are integers for single texels, otherwise floats, or also integers in kernels",
};
const SAMPLED_TYPE: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpTypeImage-04656",
    text: "the sampled type of an image is a 32-bit float, or a 32- or 64-bit integer",
};
const SAMPLED: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpTypeImage-04657",
    text: "the Sampled operand of an image type is 1 or 2",
};
const COMBINED: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpTypeSampledImage-06671",
    text: "OpTypeSampledImage has an image type whose Sampled operand is 1",
};
const OFFSET: Rule = Rule {
    id: "VUID-StandaloneSpirv-Offset-04865",
    text: "Offset, ConstOffset and ConstOffsets are for images whose Sampled operand is 1",
};
const QUERY: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpImageQuerySizeLod-04659",
    text: "OpImageQuerySizeLod, OpImageQueryLod and OpImageQueryLevels take images whose Sampled operand is 1",
};

/// The Sampled operand of an image that is used with a sampler.
const WITH_SAMPLER: u32 = 1;
const STORAGE: u32 = 2;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let (module, environment) = (context.module, context.environment);
    for entry in module.preamble() {
        let broken = match entry.op() {
            Op::TypeImage if !is_in_range(entry) => Some((&TYPE, "an operand is too large")),
            Op::TypeImage | Op::TypeSampledImage if environment == Environment::Vulkan => ty(module, entry),
            _ => None,
        };
        findings.extend(broken.map(|(rule, message)| entry.finding(rule, message)));
    }
    for entry in module.functions.iter().flat_map(|function| module.body(function)) {
        let Some(needs_sampler) = takes_sampled_image(entry.op()) else { continue };
        let ty = entry.id(0).and_then(|id| module.type_of(id)).and_then(|ty| module.definition(ty));
        let wanted = if needs_sampler { Op::TypeSampledImage } else { Op::TypeImage };
        let Some(image) = ty.filter(|ty| ty.op() == wanted).and_then(|ty| Image::of_type(module, ty)) else {
            findings
                .push(entry.finding(&IMAGE, format!("the type of the first operand is not Op{wanted:?}")));
            continue;
        };
        match Access::from_op(entry.op()) {
            Some(access) => Instruction { module, environment, entry, access, image }.check(findings),
            None => query(module, environment, entry, image, findings),
        }
    }
}

/// Whether an instruction takes an image with a sampler; `None` for instructions that take no image.
fn takes_sampled_image(op: Op) -> Option<bool> {
    use Op::*;
    match op {
        SampledImage | ImageQuerySizeLod | ImageQuerySize | ImageQueryLevels | ImageQuerySamples
        | ImageQueryFormat | ImageQueryOrder => Some(false),
        Image | ImageQueryLod => Some(true),
        _ => Access::from_op(op).map(|access| !access.is_texel_access()),
    }
}

fn is_in_range(entry: &Entry<'_>) -> bool {
    // Depth, Arrayed, MS, Sampled.
    (2..).zip([2, 1, 1, 2]).all(|(index, max)| entry.literal(index).is_some_and(|value| value <= max))
}

/// Returns the problem with an image type of Vulkan.
fn ty(module: &Module<'_>, entry: &Entry<'_>) -> Option<(&'static Rule, &'static str)> {
    match entry.op() {
        Op::TypeImage => {
            let sampled = entry.id(0).and_then(|ty| NumericType::of_type(module, ty));
            let is_valid = sampled.is_some_and(|it| {
                it.count == 1 && matches!((it.kind, it.bits), (Kind::Float, 32) | (Kind::Int, 32 | 64))
            });
            if !is_valid {
                return Some((
                    &SAMPLED_TYPE,
                    "the sampled type is not a 32-bit float, or a 32- or 64-bit integer",
                ));
            }
            let is_sampled = matches!(entry.literal(5), Some(WITH_SAMPLER | STORAGE));
            (!is_sampled).then_some((&SAMPLED, "the Sampled operand is neither 1 nor 2"))
        }
        Op::TypeSampledImage => {
            let image = Image::of_type(module, module.definition(entry.id(0)?)?);
            let is_valid = image.is_some_and(|image| image.sampled == WITH_SAMPLER);
            (!is_valid).then_some((&COMBINED, "its type is not an image type whose Sampled operand is 1"))
        }
        _ => None,
    }
}

/// Checks a query, or an instruction that adds or removes a sampler.
fn query(
    module: &Module<'_>,
    environment: Environment,
    entry: &Entry<'_>,
    image: Image,
    findings: &mut Vec<Finding>,
) {
    let numeric = entry.result_type.and_then(|ty| NumericType::of_type(module, ty));
    let is_int = |count: u32| numeric.is_some_and(|it| it.kind == Kind::Int && it.count == count);
    let of_type = |id: Option<Word>| id.and_then(|id| module.type_of(id));
    let is_valid = match entry.op() {
        Op::ImageQuerySizeLod | Op::ImageQuerySize => {
            // The faces of a cube are squares.
            let dimensions = if image.dim == Dim::DimCube { 2 } else { image.dimensions() };
            let level = NumericType::of_value(module, entry.id(1));
            let is_level = |it: NumericType| it.kind == Kind::Int && it.count == 1;
            is_int(dimensions + u32::from(image.is_array))
                && (entry.op() == Op::ImageQuerySize || level.is_some_and(is_level))
        }
        Op::ImageQueryLevels | Op::ImageQuerySamples | Op::ImageQueryFormat | Op::ImageQueryOrder => {
            is_int(1)
        }
        Op::ImageQueryLod => numeric.is_some_and(|it| it.kind == Kind::Float && it.count == 2),
        Op::Image => {
            let combined = of_type(entry.id(0)).and_then(|ty| module.definition(ty));
            combined.is_some_and(|ty| ty.id(0) == entry.result_type)
        }
        _ => {
            let combined = entry.result_type.and_then(|ty| module.definition(ty));
            let sampler = of_type(entry.id(1)).and_then(|ty| module.definition(ty));
            combined.is_some_and(|it| it.op() == Op::TypeSampledImage && it.id(0) == of_type(entry.id(0)))
                && sampler.is_some_and(|it| it.op() == Op::TypeSampler)
        }
    };
    if !is_valid {
        findings.push(entry.finding(&RESULT, "the result or an operand has the wrong type"));
    }
    let needs_sampler =
        matches!(entry.op(), Op::ImageQuerySizeLod | Op::ImageQueryLod | Op::ImageQueryLevels);
    if needs_sampler && environment == Environment::Vulkan && image.sampled != WITH_SAMPLER {
        findings.push(entry.finding(&QUERY, "the Sampled operand of the image is not 1"));
    }
}

/// How an instruction accesses an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    SampleImplicit,
    SampleExplicit,
    Fetch,
    Gather,
    Read,
    Write,
}

impl Access {
    fn from_op(op: Op) -> Option<Self> {
        use Op::*;
        Some(match op {
            ImageSampleImplicitLod
            | ImageSampleDrefImplicitLod
            | ImageSampleProjImplicitLod
            | ImageSampleProjDrefImplicitLod
            | ImageSparseSampleImplicitLod
            | ImageSparseSampleDrefImplicitLod => Self::SampleImplicit,
            ImageSampleExplicitLod
            | ImageSampleDrefExplicitLod
            | ImageSampleProjExplicitLod
            | ImageSampleProjDrefExplicitLod
            | ImageSparseSampleExplicitLod
            | ImageSparseSampleDrefExplicitLod => Self::SampleExplicit,
            ImageFetch | ImageSparseFetch => Self::Fetch,
            ImageGather | ImageDrefGather | ImageSparseGather | ImageSparseDrefGather => Self::Gather,
            ImageRead | ImageSparseRead => Self::Read,
            ImageWrite => Self::Write,
            _ => return None,
        })
    }

    /// Whether the coordinates are those of a single texel.
    fn is_texel_access(self) -> bool {
        matches!(self, Self::Fetch | Self::Read | Self::Write)
    }

    /// The image operands that the instruction can have.
    fn allows(self, operands: ImageOperands) -> bool {
        type Bits = ImageOperands;
        let synchronized = Bits::NON_PRIVATE_TEXEL | Bits::VOLATILE_TEXEL;
        let always = synchronized | Bits::SIGN_EXTEND | Bits::ZERO_EXTEND | Bits::NONTEMPORAL;
        let offsets = Bits::CONST_OFFSET | Bits::OFFSET;
        let own = match self {
            Self::SampleImplicit => offsets | Bits::BIAS | Bits::MIN_LOD,
            Self::SampleExplicit => offsets | Bits::LOD | Bits::GRAD | Bits::MIN_LOD,
            Self::Fetch => offsets | Bits::LOD | Bits::SAMPLE,
            // VK_AMD_texture_gather_bias_lod has a capability for Bias and Lod.
            Self::Gather => offsets | Bits::CONST_OFFSETS | Bits::OFFSETS | Bits::BIAS | Bits::LOD,
            Self::Read => offsets | Bits::LOD | Bits::SAMPLE | Bits::MAKE_TEXEL_VISIBLE,
            Self::Write => offsets | Bits::LOD | Bits::SAMPLE | Bits::MAKE_TEXEL_AVAILABLE,
        };
        (always | own).contains(operands)
    }
}

/// The properties of an image type.
#[derive(Clone, Copy)]
struct Image {
    sampled_type: Word,
    dim: Dim,
    is_array: bool,
    is_multisampled: bool,
    sampled: u32,
    has_format: bool,
}

impl Image {
    /// The properties of an image type or sampled image type.
    fn of_type(module: &Module<'_>, ty: &Entry<'_>) -> Option<Self> {
        let number = |index: usize| ty.literal(index);
        match (ty.op(), ty.operands()) {
            (Op::TypeSampledImage, _) => {
                let image = module.definition(ty.id(0)?).filter(|image| image.op() == Op::TypeImage)?;
                Self::of_type(module, image)
            }
            (Op::TypeImage, [Operand::IdRef(sampled_type), Operand::Dim(dim), ..]) => Some(Self {
                sampled_type: *sampled_type,
                dim: *dim,
                is_array: number(3)? != 0,
                is_multisampled: number(4)? != 0,
                sampled: number(5)?,
                has_format: ty.operands().get(6) != Some(&Operand::ImageFormat(ImageFormat::Unknown)),
            }),
            _ => None,
        }
    }

    /// The number of coordinates, without the layer of an array.
    fn dimensions(&self) -> u32 {
        match self.dim {
            Dim::Dim1D | Dim::DimBuffer => 1,
            Dim::DimCube | Dim::Dim3D => 3,
            _ => 2,
        }
    }

    fn has_levels(&self) -> bool {
        matches!(self.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::DimCube) && !self.is_multisampled
    }
}

/// An instruction that accesses texels.
struct Instruction<'m> {
    module: &'m Module<'m>,
    environment: Environment,
    entry: &'m Entry<'m>,
    access: Access,
    image: Image,
}

impl Instruction<'_> {
    fn check(&self, findings: &mut Vec<Finding>) {
        let mut report = |rule, message: Option<String>| {
            findings.extend(message.map(|message| self.entry.finding(rule, message)));
        };
        report(&TEXEL, self.texel());
        report(&COORDINATE, self.coordinate());
        report(&FORMAT, self.format());
        let operands = self.entry.operands();
        let at = operands.iter().position(|operand| matches!(operand, Operand::ImageOperands(_)));
        let mask = match at.map(|at| operands[at]) {
            Some(Operand::ImageOperands(mask)) => mask,
            _ => ImageOperands::NONE,
        };
        report(&OPERANDS, self.combination(mask));
        let mut next = at.unwrap_or(0);
        for bit in mask.iter() {
            // Grad has two.
            let count = if bit == ImageOperands::GRAD { 2 } else { usize::from(has_value(bit)) };
            for _ in 0..count {
                next += 1;
                report(&OPERAND_TYPES, self.operand_type(bit, self.entry.id(next)));
            }
            report(&OPERAND_IMAGE, self.operand_image(bit));
            let needs_sampler =
                ImageOperands::OFFSET | ImageOperands::CONST_OFFSET | ImageOperands::CONST_OFFSETS;
            if self.environment == Environment::Vulkan
                && needs_sampler.contains(bit)
                && self.image.sampled != WITH_SAMPLER
            {
                report(&OFFSET, Some("the Sampled operand of the image is not 1".to_owned()));
            }
        }
    }

    fn combination(&self, mask: ImageOperands) -> Option<String> {
        type Bits = ImageOperands;
        let offsets = Bits::OFFSET | Bits::CONST_OFFSET | Bits::CONST_OFFSETS | Bits::OFFSETS;
        let several = |bits: Bits| (mask & bits).bits().count_ones() > 1;
        let needs = |bit: Bits, other: Bits| mask.intersects(bit) && !mask.intersects(other);
        let message = if !self.access.allows(mask) {
            "the instruction does not allow an image operand"
        } else if self.access == Access::SampleExplicit && !mask.intersects(Bits::LOD | Bits::GRAD) {
            "it has neither Lod nor Grad"
        } else if several(Bits::LOD | Bits::GRAD) {
            "it has both Lod and Grad"
        } else if several(offsets) {
            "it has several kinds of offsets"
        } else if several(Bits::SIGN_EXTEND | Bits::ZERO_EXTEND) {
            "it has both SignExtend and ZeroExtend"
        } else if needs(Bits::MAKE_TEXEL_AVAILABLE | Bits::MAKE_TEXEL_VISIBLE, Bits::NON_PRIVATE_TEXEL) {
            "it makes a private texel available or visible"
        } else if self.access == Access::SampleExplicit && needs(Bits::MIN_LOD, Bits::GRAD) {
            "it has MinLod without Grad"
        } else if self.access.is_texel_access()
            && self.image.is_multisampled
            && !mask.intersects(Bits::SAMPLE)
        {
            "the image is multisampled, but the instruction has no Sample"
        } else {
            return None;
        };
        Some(message.to_owned())
    }

    /// Returns the problem with the value of an image operand.
    fn operand_type(&self, bit: ImageOperands, value: Option<Word>) -> Option<String> {
        type Bits = ImageOperands;
        let value = value?;
        let numeric = NumericType::of_value(self.module, Some(value));
        let is = |kind: Kind, count: u32| numeric.is_some_and(|it| it.kind == kind && it.count == count);
        let is_valid = match bit {
            Bits::BIAS | Bits::MIN_LOD => is(Kind::Float, 1),
            // OpenCL reads and writes levels. The level is an integer, like that of a fetch.
            Bits::LOD if self.access.is_texel_access() => is(Kind::Int, 1),
            Bits::LOD => is(Kind::Float, 1),
            // OpenCL C passes four components for three dimensions.
            Bits::GRAD if self.is_kernel() => {
                numeric.is_some_and(|it| it.kind == Kind::Float && it.count >= self.image.dimensions())
            }
            Bits::GRAD => is(Kind::Float, self.image.dimensions()),
            Bits::CONST_OFFSET => is(Kind::Int, self.image.dimensions()) && self.is_constant(value),
            Bits::OFFSET => is(Kind::Int, self.image.dimensions()),
            Bits::CONST_OFFSETS => self.is_array_of_offsets(value) && self.is_constant(value),
            Bits::OFFSETS => self.is_array_of_offsets(value),
            Bits::SAMPLE => is(Kind::Int, 1),
            // Scopes; the rules of synchronization check them.
            _ => true,
        };
        (!is_valid).then(|| format!("{bit:?} has the wrong type, or is not a constant"))
    }

    fn is_constant(&self, value: Word) -> bool {
        let op = self.module.definition(value).map(Entry::op);
        matches!(
            op,
            Some(
                Op::Constant
                    | Op::ConstantComposite
                    | Op::ConstantNull
                    | Op::SpecConstant
                    | Op::SpecConstantComposite
                    | Op::SpecConstantOp
            )
        )
    }

    /// Whether a value is an array of four offsets of two integers.
    fn is_array_of_offsets(&self, value: Word) -> bool {
        let ty = self.module.type_of(value).and_then(|ty| self.module.definition(ty));
        let Some(array) = ty.filter(|ty| ty.op() == Op::TypeArray) else { return false };
        let element = array.id(0).and_then(|element| NumericType::of_type(self.module, element));
        let length = array.id(1).and_then(|length| self.module.constant(length));
        element.is_some_and(|it| it.kind == Kind::Int && it.count == 2) && length == Some(4)
    }

    /// Returns the problem with the image for an image operand.
    fn operand_image(&self, bit: ImageOperands) -> Option<String> {
        type Bits = ImageOperands;
        let is_valid = match bit {
            Bits::BIAS | Bits::LOD | Bits::GRAD | Bits::MIN_LOD => self.image.has_levels(),
            Bits::SAMPLE => self.image.is_multisampled,
            Bits::OFFSET | Bits::CONST_OFFSET | Bits::CONST_OFFSETS => self.image.dim != Dim::DimCube,
            _ => true,
        };
        (!is_valid).then(|| format!("the image does not allow {bit:?}"))
    }

    fn format(&self) -> Option<String> {
        let needed = match self.access {
            Access::Read => Capability::StorageImageReadWithoutFormat,
            Access::Write => Capability::StorageImageWriteWithoutFormat,
            _ => return None,
        };
        let is_subject = !self.image.has_format
            && self.image.sampled == STORAGE
            && self.image.dim != Dim::DimSubpassData
            && !self.is_kernel();
        (is_subject && !self.module.has(needed)).then(|| format!("the module does not declare {needed:?}"))
    }

    fn is_kernel(&self) -> bool {
        self.module.has(Capability::Kernel)
    }

    /// Returns the problem with the type of the texel. Ignores sparse instructions, whose result is a structure.
    fn texel(&self) -> Option<String> {
        let name = self.entry.class.opname;
        if name.contains("Sparse") {
            return None;
        }
        let texel = match self.access {
            Access::Write => NumericType::of_value(self.module, self.entry.id(2)),
            _ => self.entry.result_type.and_then(|ty| NumericType::of_type(self.module, ty)),
        };
        let Some(texel) = texel.filter(|texel| texel.kind != Kind::Bool) else {
            return Some("the texel is not a number or a vector".to_owned());
        };
        let sampled = NumericType::of_type(self.module, self.image.sampled_type);
        if sampled.is_some_and(|sampled| texel.with_count(1) != sampled) {
            return Some("the texel has a different component type from the image".to_owned());
        }
        let is_dref = name.contains("Dref") && self.access != Access::Gather;
        let has_four = matches!(
            self.access,
            Access::SampleImplicit | Access::SampleExplicit | Access::Fetch | Access::Gather
        );
        let is_valid = match texel.count {
            1 => is_dref || !has_four || self.is_kernel(),
            4 => !is_dref,
            _ => !has_four,
        };
        (!is_valid).then(|| format!("the texel has {} components", texel.count))
    }

    /// Returns the problem with the coordinates.
    fn coordinate(&self) -> Option<String> {
        let Some(numeric) = NumericType::of_value(self.module, self.entry.id(1)) else {
            return Some("the coordinate is not a number or a vector".to_owned());
        };
        let is_valid = match (self.access.is_texel_access(), numeric.kind) {
            (true, kind) => kind == Kind::Int,
            (false, Kind::Float) => true,
            (false, Kind::Int) => self.is_kernel(),
            (false, Kind::Bool) => false,
        };
        if !is_valid {
            return Some("the coordinate has the wrong component type".to_owned());
        }
        let is_cube_texel = self.image.dim == Dim::DimCube && self.access.is_texel_access();
        let layer = u32::from(self.image.is_array && !is_cube_texel);
        let projection = u32::from(self.entry.class.opname.contains("Proj"));
        let needed = self.image.dimensions() + layer + projection;
        (numeric.count < needed)
            .then(|| format!("the coordinate has {} of {needed} components", numeric.count))
    }
}

/// Whether a value belongs to an image operand.
fn has_value(bit: ImageOperands) -> bool {
    type Bits = ImageOperands;
    let without = Bits::NON_PRIVATE_TEXEL
        | Bits::VOLATILE_TEXEL
        | Bits::SIGN_EXTEND
        | Bits::ZERO_EXTEND
        | Bits::NONTEMPORAL;
    !without.contains(bit)
}

//! The index space of a launch: its sizes, the choice of a local size, and its partition into regions.
//!
//! Owns the rules of `clEnqueueNDRangeKernel` (OpenCL API 3.2.1 and 5.8). Pure arithmetic: must not depend on a back
//! end.

use smallvec::SmallVec;

/// The index space of a launch: one to three dimensions, an optional local size, an optional offset.
///
/// ```
/// use kiln_runtime::NdRange;
/// let _ = NdRange::from(1024);
/// let _ = NdRange::from([640, 480]).local([16, 16]);
/// let _ = NdRange::from([100]).local([32]).offset([7]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NdRange {
    dims: u32,
    global: [usize; 3],
    local: Option<(u32, [usize; 3])>,
    offset: (u32, [usize; 3]),
}

/// One to three sizes, such as `64`, `[64]`, `[8, 8]`.
pub trait Sizes {
    /// The number of dimensions, and the sizes. Entries beyond that number are ignored.
    fn sizes(self) -> (u32, [usize; 3]);
}

impl Sizes for usize {
    fn sizes(self) -> (u32, [usize; 3]) {
        (1, [self, 1, 1])
    }
}

impl Sizes for [usize; 1] {
    fn sizes(self) -> (u32, [usize; 3]) {
        (1, [self[0], 1, 1])
    }
}

impl Sizes for [usize; 2] {
    fn sizes(self) -> (u32, [usize; 3]) {
        (2, [self[0], self[1], 1])
    }
}

impl Sizes for [usize; 3] {
    fn sizes(self) -> (u32, [usize; 3]) {
        (3, self)
    }
}

impl<S: Sizes> From<S> for NdRange {
    fn from(global: S) -> Self {
        let (dims, global) = global.sizes();
        Self { dims, global, local: None, offset: (dims, [0; 3]) }
    }
}

impl NdRange {
    /// Sets the local size. By default the runtime chooses it.
    #[must_use]
    pub fn local(self, local: impl Sizes) -> Self {
        Self { local: Some(local.sizes()), ..self }
    }

    /// Sets the global offset.
    #[must_use]
    pub fn offset(self, offset: impl Sizes) -> Self {
        let (dims, mut offset) = offset.sizes();
        offset[dims as usize..].fill(0);
        Self { offset: (dims, offset), ..self }
    }

    /// The number of dimensions.
    pub fn dims(&self) -> u32 {
        self.dims
    }

    /// The global size; 1 in unused dimensions.
    pub fn global_size(&self) -> [usize; 3] {
        self.global
    }
}

/// The limits of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`
    pub(crate) group_size: u32,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`
    pub(crate) item_sizes: [u32; 3],
    /// The maximum number of work-groups in one dispatch.
    pub(crate) group_counts: [u32; 3],
    /// Preferred multiple for a chosen local size.
    pub(crate) preferred_multiple: u32,
    /// The local size that the kernel requires.
    pub(crate) required: Option<[u32; 3]>,
    /// Whether regions may use different local sizes.
    pub(crate) non_uniform: bool,
}

/// A launch, partitioned into regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) dims: u32,
    pub(crate) global: [u32; 3],
    pub(crate) offset: [u32; 3],
    /// The requested or chosen local size.
    pub(crate) local: [u32; 3],
    /// The number of work-groups in the whole launch.
    pub(crate) groups: [u32; 3],
    /// Empty if a size is zero.
    pub(crate) regions: SmallVec<[Region; 1]>,
}

/// Work-groups of equal size, launched by one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) first_item: [u32; 3],
    pub(crate) first_group: [u32; 3],
    pub(crate) local: [u32; 3],
    pub(crate) groups: [u32; 3],
}

/// Limits the run time of a launch and the memory of its list of dispatches.
const MAX_DISPATCHES: u64 = 1 << 20;

/// Local sizes that the runtime chooses have about this many work-items.
const CHOSEN_GROUP_SIZE: u32 = 128;
/// The maximum number of work-items of a small launch. It leaves most of a GPU idle, whatever the size of its groups.
const SMALL_LAUNCH: u64 = 1024;

impl Plan {
    /// Partitions a range, or returns why it cannot be launched.
    pub(crate) fn new(range: &NdRange, limits: &Limits) -> Result<Self, String> {
        let (offset_dims, offsets) = range.offset;
        if offset_dims != range.dims {
            return Err(format!(
                "the offset has {offset_dims} dimensions and the global size {}; give both the same number",
                range.dims
            ));
        }
        let mut global = [1; 3];
        let mut offset = [0; 3];
        for d in 0..3 {
            // Ids and the size must fit in 32 bits.
            let end = range.global[d].checked_add(offsets[d]);
            (global[d], offset[d]) = match (end, u32::try_from(range.global[d]), u32::try_from(offsets[d])) {
                (Some(end), Ok(size), Ok(offset)) if end as u64 <= 1 << 32 => (size, offset),
                _ => {
                    return Err(format!(
                        "global size {} with offset {} in dimension {d} exceeds 32 bits; split the launch",
                        range.global[d], offsets[d]
                    ));
                }
            };
        }
        let local = local_size(range, global, limits)?;
        let groups = [0, 1, 2].map(|d| global[d].div_ceil(local[d]));
        let uniform = (0..3).all(|d| global[d] % local[d] == 0);
        if !uniform && !limits.non_uniform {
            return Err(format!(
                "the global size {global:?} is not a multiple of the local size {local:?} and the module was \
                 compiled for uniform work-groups; use multiples or compile it without \
                 -cl-uniform-work-group-size"
            ));
        }
        let segments = [0, 1, 2].map(|d| segments(global[d], local[d], limits.group_counts[d]));
        let dispatches: u64 = segments.iter().map(|segments| segments.len() as u64).product();
        if dispatches > MAX_DISPATCHES {
            return Err(format!(
                "{dispatches} dispatches would be needed for a global size of {global:?}; use larger work-groups \
                 or split the launch"
            ));
        }
        let mut regions = SmallVec::new();
        for z in &segments[2] {
            for y in &segments[1] {
                for x in &segments[0] {
                    let of = |field: fn(&Segment) -> u32| [field(x), field(y), field(z)];
                    regions.push(Region {
                        first_item: of(|segment| segment.first_item),
                        first_group: of(|segment| segment.first_group),
                        local: of(|segment| segment.local),
                        groups: of(|segment| segment.groups),
                    });
                }
            }
        }
        Ok(Self { dims: range.dims, global, offset, local, groups, regions })
    }
}

/// A region in one dimension.
struct Segment {
    first_item: u32,
    first_group: u32,
    local: u32,
    groups: u32,
}

/// Splits a dimension into runs of at most `limit` whole groups, followed by the partial group at the end.
fn segments(global: u32, local: u32, limit: u32) -> SmallVec<[Segment; 2]> {
    let whole = global / local;
    let mut segments = SmallVec::new();
    let mut first = 0;
    while first < whole {
        let groups = limit.min(whole - first);
        segments.push(Segment { first_item: first * local, first_group: first, local, groups });
        first += groups;
    }
    if !global.is_multiple_of(local) {
        let rest = global % local;
        segments.push(Segment { first_item: whole * local, first_group: whole, local: rest, groups: 1 });
    }
    segments
}

/// The local size: given, required, or chosen.
fn local_size(range: &NdRange, global: [u32; 3], limits: &Limits) -> Result<[u32; 3], String> {
    let local = match (range.local, limits.required) {
        (Some((dims, _)), _) if dims != range.dims => {
            return Err(format!(
                "the local size has {dims} dimensions and the global size {}; give both the same number",
                range.dims
            ));
        }
        (Some((_, given)), required) => {
            let local = given.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
            if let Some(required) = required.filter(|required| *required != local) {
                return Err(format!(
                    "the local size {local:?} is not the required {required:?}; use that or none"
                ));
            }
            local
        }
        (None, Some(required)) => required,
        (None, None) => return Ok(choose(global, limits)),
    };
    for (d, size) in local.into_iter().enumerate() {
        if size == 0 {
            return Err(format!("the local size is 0 in dimension {d}; use at least 1"));
        }
        if size > limits.item_sizes[d] {
            return Err(format!(
                "the local size {size} in dimension {d} exceeds the device's {}; use a smaller one",
                limits.item_sizes[d]
            ));
        }
    }
    let items: u64 = local.iter().map(|size| u64::from(*size)).product();
    if items > u64::from(limits.group_size) {
        return Err(format!(
            "a work-group of {items} work-items exceeds the {} possible here; use a smaller local size",
            limits.group_size
        ));
    }
    Ok(local)
}

/// Chooses a local size that divides the global size, starting with dimension 0, where it prefers multiples of
/// `preferred_multiple`. In a dimension without a good divisor, the last group is partial if that is possible.
///
/// The other dimensions have powers of two only: a driver compiles the kernel again for each local size, which takes
/// longer than a small launch. In small launches they have 1.
fn choose(global: [u32; 3], limits: &Limits) -> [u32; 3] {
    let group_size = CHOSEN_GROUP_SIZE.min(limits.group_size);
    let first = choose_first(global[0], group_size, limits);
    let mut local = [first, 1, 1];
    if global.iter().map(|size| u64::from(*size)).product::<u64>() <= SMALL_LAUNCH {
        return local;
    }
    let mut room = group_size / first;
    for d in 1..3 {
        let max = 1_u32 << room.min(limits.item_sizes[d]).min(global[d]).max(1).ilog2();
        let divisor = max.min(1 << global[d].max(1).trailing_zeros());
        // A dimension that fits into one group makes no partial groups.
        let is_partial = limits.non_uniform && global[d] > room && divisor < max.div_ceil(4);
        local[d] = if is_partial { max } else { divisor };
        room /= local[d];
    }
    local
}

fn choose_first(global: u32, group_size: u32, limits: &Limits) -> u32 {
    let max = group_size.min(limits.item_sizes[0]).min(global).max(1);
    let divisors = || (1..=max).rev().filter(|size| global.is_multiple_of(*size));
    let preferred = divisors().find(|size| size % limits.preferred_multiple.max(1) == 0);
    let size = preferred.or_else(|| divisors().next()).unwrap_or(1);
    if limits.non_uniform && size < max.div_ceil(4) { max } else { size }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LIMITS: Limits = Limits {
        group_size: 256,
        item_sizes: [256, 256, 64],
        group_counts: [65535; 3],
        preferred_multiple: 8,
        required: None,
        non_uniform: true,
    };

    fn plan(range: impl Into<NdRange>) -> Plan {
        Plan::new(&range.into(), &LIMITS).expect("a possible launch")
    }

    fn rejection(range: impl Into<NdRange>, limits: &Limits) -> String {
        Plan::new(&range.into(), limits).expect_err("an impossible launch")
    }

    /// Checks that every work-item is in exactly one region, with the id that its group implies.
    fn covers(plan: &Plan) {
        let count = plan.global.iter().product::<u32>() as usize;
        let mut seen = vec![false; count];
        for region in &plan.regions {
            for group in positions(region.groups) {
                for item in positions(region.local) {
                    let id = [0, 1, 2].map(|d| region.first_item[d] + group[d] * region.local[d] + item[d]);
                    let whole =
                        [0, 1, 2].map(|d| (region.first_group[d] + group[d]) * plan.local[d] + item[d]);
                    assert_eq!(id, whole);
                    let at = (id[2] * plan.global[1] + id[1]) * plan.global[0] + id[0];
                    assert!(!std::mem::replace(&mut seen[at as usize], true));
                }
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
    }

    fn positions(sizes: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
        (0..sizes[2])
            .flat_map(move |z| (0..sizes[1]).flat_map(move |y| (0..sizes[0]).map(move |x| [x, y, z])))
    }

    #[test]
    fn uniform_launch_is_one_region() {
        let plan = plan(NdRange::from([64, 8]).local([16, 4]));
        assert_eq!(plan.groups, [4, 2, 1]);
        assert_eq!(plan.regions.len(), 1);
        covers(&plan);
    }

    #[test]
    fn three_uneven_dimensions_make_eight_regions() {
        let plan = plan(NdRange::from([10, 7, 5]).local([4, 4, 2]));
        assert_eq!(plan.groups, [3, 2, 3]);
        assert_eq!(plan.regions.len(), 8);
        covers(&plan);
    }

    #[test]
    fn all_small_launches_are_covered() {
        for x in 0..9 {
            for y in [0, 1, 2, 5] {
                for local in [[1, 1], [2, 3], [4, 2], [16, 1]] {
                    covers(&plan(NdRange::from([x, y]).local(local)));
                }
            }
            covers(&plan([x, 3, 2]));
        }
    }

    #[test]
    fn group_counts_beyond_the_limit_are_split() {
        let limits = Limits { group_counts: [3, 2, 1], ..LIMITS };
        let plan =
            Plan::new(&NdRange::from([33, 9, 3]).local([4, 2, 1]), &limits).expect("a possible launch");
        assert!(plan.regions.iter().all(|r| (0..3).all(|d| r.groups[d] <= limits.group_counts[d])));
        covers(&plan);
    }

    #[test]
    fn nothing_is_dispatched_for_a_zero_size() {
        assert!(plan(0).regions.is_empty());
        assert!(plan([4, 0, 4]).regions.is_empty());
    }

    #[test]
    fn launches_of_similar_sizes_share_local_sizes() {
        let sizes = positions([12, 8, 8]).map(|at| at.map(|size| size as usize + 1));
        let locals: BTreeSet<[u32; 3]> =
            sizes.flat_map(|size| plan(size).regions.into_iter().map(|region| region.local)).collect();
        assert!(locals.len() <= 12, "{} local sizes", locals.len());
        assert_eq!(plan([12, 7, 6]).local, [12, 1, 1]);
        assert_eq!(plan([12, 70, 6]).local, [12, 2, 2]);
        assert_eq!(plan([3, 1001]).local, [3, 32, 1]);
    }

    #[test]
    fn chosen_sizes_divide_where_they_can() {
        assert_eq!(plan(1024).local, [128, 1, 1]);
        assert_eq!(plan(1000).local, [40, 1, 1]);
        assert_eq!(plan(1009).local, [128, 1, 1]);
        assert_eq!(plan([4, 1024]).local, [4, 32, 1]);
        assert_eq!(plan(5).local, [5, 1, 1]);
        let uniform = Limits { non_uniform: false, ..LIMITS };
        assert_eq!(Plan::new(&1009.into(), &uniform).expect("a possible launch").local, [1, 1, 1]);
    }

    #[test]
    fn impossible_launches_are_errors() {
        let required = Limits { required: Some([8, 1, 1]), ..LIMITS };
        let uniform = Limits { non_uniform: false, ..LIMITS };
        assert!(rejection(NdRange::from(8).local(0), &LIMITS).contains("at least 1"));
        assert!(rejection(NdRange::from(8).local(512), &LIMITS).contains("exceeds the device's 256"));
        assert!(rejection(NdRange::from([8, 8]).local([32, 16]), &LIMITS).contains("512 work-items"));
        assert!(rejection(NdRange::from([8, 8]).local([4]), &LIMITS).contains("same number"));
        assert!(rejection(NdRange::from([8, 8]).offset([4]), &LIMITS).contains("same number"));
        assert!(rejection(NdRange::from(16).local(4), &required).contains("required [8, 1, 1]"));
        assert!(rejection(NdRange::from(10).local(4), &uniform).contains("uniform"));
        assert!(rejection(usize::MAX, &LIMITS).contains("32 bits"));
        assert!(rejection(NdRange::from(u32::MAX as usize).offset(2), &LIMITS).contains("32 bits"));
    }
}

//! The execution model (OpenCL API 3.2.1, OpenCL C 6.15.1): compares the ids and sizes of each work-item with the definition.

use fastrand::Rng;
use kiln_runtime::{Device, Local, NdRange, Program, Queue, Sizes};

use crate::{compile, launch};

/// Words that each work-item writes.
const WORDS: usize = 28;

const IDS: &str = "
kernel void ids(global uint *out) {
    // The position is computed from the global id only.
    uint index = (uint)(get_global_id(0) - get_global_offset(0))
        + (uint)get_global_size(0) * ((uint)(get_global_id(1) - get_global_offset(1))
        + (uint)get_global_size(1) * (uint)(get_global_id(2) - get_global_offset(2)));
    global uint *mine = out + 28 * index;
    for (uint d = 0; d < 3; d++) {
        mine[d] = get_global_id(d);
        mine[3 + d] = get_group_id(d);
        mine[6 + d] = get_local_id(d);
        mine[9 + d] = get_local_size(d);
        mine[12 + d] = get_enqueued_local_size(d);
        mine[15 + d] = get_global_size(d);
        mine[18 + d] = get_num_groups(d);
        mine[21 + d] = get_global_offset(d);
    }
    mine[24] = get_work_dim();
    mine[25] = get_global_linear_id();
    mine[26] = get_local_linear_id();
    mine[27] = get_global_id(3) + get_local_size(3) * 2 + get_num_groups(7) * 4 + get_group_id(9);
}";

#[derive(Debug, Clone, Copy)]
struct Space {
    dims: usize,
    global: [usize; 3],
    local: Option<[usize; 3]>,
    offset: [usize; 3],
}

impl Space {
    fn range(&self) -> NdRange {
        fn range<S: Sizes + Copy>(global: S, local: Option<S>, offset: S) -> NdRange {
            let range = NdRange::from(global).offset(offset);
            local.map_or(range, |local| range.local(local))
        }
        let ([x, y, z], [ox, oy, oz]) = (self.global, self.offset);
        match self.dims {
            1 => range([x], self.local.map(|[x, ..]| [x]), [ox]),
            2 => range([x, y], self.local.map(|[x, y, _]| [x, y]), [ox, oy]),
            _ => range([x, y, z], self.local, [ox, oy, oz]),
        }
    }

    /// The expected ids and sizes of the work-item at this position.
    fn expected(&self, local: [usize; 3], at: [usize; 3]) -> [u32; WORDS] {
        let Self { global, offset, .. } = *self;
        let group = [0, 1, 2].map(|d| at[d] / local[d]);
        let inside = [0, 1, 2].map(|d| at[d] % local[d]);
        let actual = [0, 1, 2].map(|d| local[d].min(global[d] - group[d] * local[d]));
        let mut words = Vec::new();
        words.extend([0, 1, 2].map(|d| offset[d] + at[d]));
        words.extend(group);
        words.extend(inside);
        words.extend(actual);
        words.extend(local);
        words.extend(global);
        words.extend([0, 1, 2].map(|d| global[d].div_ceil(local[d])));
        words.extend(offset);
        words.push(self.dims);
        words.push((at[2] * global[1] + at[1]) * global[0] + at[0]);
        words.push((inside[2] * actual[1] + inside[1]) * actual[0] + inside[0]);
        // Beyond the dimensions: ids are 0, sizes 1.
        words.push(2 + 4);
        std::array::from_fn(|index| words[index] as u32)
    }
}

fn check(queue: &Queue, program: &Program, space: &Space) {
    let items: usize = space.global.iter().product();
    let out = queue.device().buffer::<[u32; WORDS]>(items).unwrap();
    queue.fill(&out.cast::<u32>().unwrap(), 0xdead_beef).unwrap();
    let mut kernel = program.kernel("ids").unwrap();
    kernel.set(0, &out).unwrap();
    launch(queue, &kernel, space.range()).unwrap();
    let records = queue.read(&out).unwrap();
    let local = space.local.unwrap_or_else(|| [12, 13, 14].map(|word| records[0][word] as usize));
    assert!(local.iter().product::<usize>() <= queue.device().capabilities().max_work_group_size as usize);
    for (linear, record) in records.iter().enumerate() {
        let [x, y, _] = space.global;
        let at = [linear % x, linear / x % y, linear / x / y];
        assert_eq!(*record, space.expected(local, at), "item {at:?} of {space:?}");
    }
}

pub(crate) fn random_index_spaces(device: &Device) {
    let (program, queue) = (compile(device, IDS), device.queue().unwrap());
    let mut random = Rng::with_seed(2026);
    for number in 0..200 {
        let dims = 1 + number % 3;
        let mut sizes =
            |max: [usize; 3]| [0, 1, 2].map(|d| if d < dims { 1 + random.usize(..max[dims - 1]) } else { 1 });
        let (global, local) = (sizes([300, 30, 12]), sizes([64, 12, 6]));
        let from = sizes([1000, 1000, 1000]);
        let offset = [0, 1, 2].map(|d| if d < dims && number % 4 > 0 { from[d] } else { 0 });
        check(&queue, &program, &Space { dims, global, local: Some(local), offset });
    }
}

pub(crate) fn chosen_local_sizes(device: &Device) {
    let (program, queue) = (compile(device, IDS), device.queue().unwrap());
    let mut random = Rng::with_seed(7);
    for number in 0..40 {
        let dims = 1 + number % 3;
        let global = [0, 1, 2].map(|d| if d < dims { 1 + random.usize(..400 >> (3 * d)) } else { 1 });
        check(&queue, &program, &Space { dims, global, local: None, offset: [0; 3] });
    }
}

pub(crate) fn barriers_in_uneven_groups(device: &Device) {
    let source = "
        kernel void turn(global uint *data, local uint *part) {
            uint lid = get_local_linear_id();
            uint size = get_local_size(0) * get_local_size(1);
            part[lid] = data[get_global_linear_id()];
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            uint sum = 0;
            for (uint i = 0; i < size; i++)
                sum += part[i];
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            part[size - 1 - lid] = sum + lid;
            work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            data[get_global_linear_id()] = part[lid];
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let mut kernel = program.kernel("turn").unwrap();
    for (global, local) in [([19, 7], [8, 4]), ([5, 3], [8, 4]), ([33, 9], [16, 2]), ([16, 8], [8, 8])] {
        let [width, height]: [usize; 2] = global;
        let data: Vec<u32> = (0..(width * height) as u32).map(|i| i * i + 1).collect();
        let buffer = device.buffer_from(&data).unwrap();
        kernel.set(0, &buffer).unwrap().set(1, Local::array::<u32>(local[0] * local[1])).unwrap();
        launch(&queue, &kernel, NdRange::from(global).local(local)).unwrap();
        let mut expected = data.clone();
        for top in (0..height).step_by(local[1]) {
            for left in (0..width).step_by(local[0]) {
                let (right, bottom) = ((left + local[0]).min(width), (top + local[1]).min(height));
                let indices: Vec<_> =
                    (top..bottom).flat_map(|y| (left..right).map(move |x| y * width + x)).collect();
                let sum: u32 = indices.iter().map(|index| data[*index]).sum();
                for (lid, index) in indices.iter().enumerate() {
                    expected[*index] = sum + (indices.len() - 1 - lid) as u32;
                }
            }
        }
        assert_eq!(queue.read(&buffer).unwrap(), expected, "{global:?} by {local:?}");
    }
}

pub(crate) fn empty_launches(device: &Device) {
    let program = compile(device, "kernel void mark(global uint *out) { out[0] = 1; }");
    let queue = device.queue().unwrap();
    let out = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("mark").unwrap();
    kernel.set(0, &out).unwrap();
    let spaces = [
        NdRange::from(0),
        NdRange::from(0).local(64),
        NdRange::from([0, 5]),
        NdRange::from([5, 0]).local([5, 2]),
        NdRange::from([4, 4, 0]).offset([1, 2, 3]),
        NdRange::from([0, 0, 0]),
    ];
    for space in spaces {
        launch(&queue, &kernel, space).unwrap().wait().unwrap();
    }
    assert_eq!(queue.read(&out).unwrap(), [0]);
    launch(&queue, &kernel, 1).unwrap();
    assert_eq!(queue.read(&out).unwrap(), [1]);
}

/// More groups than one dispatch takes: Vulkan promises 65,535 in each dimension.
pub(crate) fn many_groups(device: &Device) {
    let source = "
        kernel void count(global uint *out) {
            size_t item = get_global_linear_id();
            out[item] += (uint)(get_group_id(0) + 1000000 * get_group_id(1)) + 1;
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let mut kernel = program.kernel("count").unwrap();
    let spaces =
        [([140_001, 1], [2, 1]), ([70_000, 1], [1, 1]), ([2, 66_000], [2, 1]), ([3, 65_537], [2, 1])];
    for (global, local) in spaces {
        let [width, height]: [usize; 2] = global;
        let out = device.buffer_from(&vec![0u32; width * height]).unwrap();
        kernel.set(0, &out).unwrap();
        launch(&queue, &kernel, NdRange::from(global).local(local)).unwrap();
        for (item, value) in queue.read(&out).unwrap().into_iter().enumerate() {
            let group = item % width / local[0] + 1_000_000 * (item / width / local[1]);
            assert_eq!(value, (group + 1) as u32, "item {item} of {global:?}");
        }
    }
}

pub(crate) fn program_scope_variables(device: &Device) {
    let source = "
        global uint counter = 5;
        global uint table[4] = { 10, 20, 30, 40 };
        global uint *global entry = &table[2];
        constant uint squares[5] = { 0, 1, 4, 9, 16 };
        global uint untouched;
        kernel void step(global uint *out) {
            out[0] = counter++;
            out[1] = *entry;
            *entry += squares[3];
            entry = entry == &table[2] ? &table[1] : &table[2];
            out[2] = untouched;
        }
        kernel void look(global uint *out) {
            for (uint i = 0; i < 4; i++)
                out[i] = table[i];
        }";
    let (program, other) = (compile(device, source), compile(device, source));
    let (queue, second) = (device.queue().unwrap(), device.queue().unwrap());
    let out = device.buffer::<u32>(4).unwrap();
    let run = |queue: &Queue, program: &Program, name: &str| {
        queue.fill(&out, 99).unwrap();
        let mut kernel = program.kernel(name).unwrap();
        kernel.set(0, &out).unwrap();
        launch(queue, &kernel, 1).unwrap();
        queue.read(&out).unwrap()
    };
    assert_eq!(run(&queue, &program, "step"), [5, 30, 0, 99]);
    assert_eq!(run(&queue, &program, "step"), [6, 20, 0, 99]);
    // From another queue, and through another handle of the program.
    assert_eq!(run(&second, &program.clone(), "step"), [7, 39, 0, 99]);
    assert_eq!(run(&second, &program, "look"), [10, 29, 48, 40]);
    // Every program has variables of its own.
    assert_eq!(run(&queue, &other, "look"), [10, 20, 30, 40]);
    assert_eq!(run(&queue, &other, "step"), [5, 30, 0, 99]);
}

/// The sub-groups of a work-group wait for each other, in both directions.
pub(crate) fn independent_sub_groups(device: &Device) {
    if !device.info().has_independent_sub_groups() {
        return;
    }
    let source = "
        kernel void relay(global uint *order, uint is_backwards) {
            local atomic_uint turn;
            if (get_local_id(0) == 0) atomic_init(&turn, 0);
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            uint group = get_sub_group_id();
            uint mine = is_backwards ? get_num_sub_groups() - 1 - group : group;
            if (get_sub_group_local_id() == 0) {
                while (atomic_load_explicit(&turn, memory_order_acquire, memory_scope_work_group) != mine) {}
                order[mine] = group + 1;
                atomic_store_explicit(&turn, mine + 1, memory_order_release, memory_scope_work_group);
            }
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let order = device.buffer_from(&[0u32; 256]).unwrap();
    let mut relay = program.kernel("relay").unwrap();
    relay.set(0, &order).unwrap();
    for is_backwards in [0u32, 1] {
        relay.set(1, is_backwards).unwrap();
        launch(&queue, &relay, NdRange::from([256]).local([256])).unwrap();
        let mut seen = queue.read(&order).unwrap();
        seen.retain(|group| *group != 0);
        let expected = 1..=seen.len() as u32;
        let expected: Vec<u32> =
            if is_backwards == 0 { expected.collect() } else { expected.rev().collect() };
        assert!(seen.len() > 1);
        assert_eq!(seen, expected);
    }
}

pub(crate) fn pointers_to_pointers(device: &Device) {
    let source = "
        typedef struct row { global uint *cells; uint count; } row;
        kernel void sum(global const row *rows, uint count, global uint *total) {
            uint sum = 0;
            for (uint i = 0; i < count; i++)
                for (uint j = 0; j < rows[i].count; j++)
                    sum += rows[i].cells[j] * (i + 1);
            *total = sum;
        }
        kernel void relink(global uint *global *table, uint count) {
            // Turns the table around, in memory.
            for (uint i = 0; i < count / 2; i++) {
                global uint *kept = table[i];
                table[i] = table[count - 1 - i];
                table[count - 1 - i] = kept;
            }
        }
        kernel void follow(global uint *global *table, uint count, global uint *out) {
            for (uint i = 0; i < count; i++)
                out[i] = **(table + i);
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let cells: Vec<_> = (1..=5u32).map(|n| device.buffer_from(&vec![n; n as usize]).unwrap()).collect();
    // The layout of `row`: an address, a number, padding.
    let rows: Vec<[u64; 2]> = cells.iter().map(|row| [row.address(), row.len() as u64]).collect();
    let rows = device.buffer_from(&rows).unwrap();
    let total = device.buffer::<u32>(1).unwrap();
    let mut sum = program.kernel("sum").unwrap();
    sum.set(0, &rows).unwrap().set(1, 5u32).unwrap().set(2, &total).unwrap();
    launch(&queue, &sum, 1).unwrap();
    assert_eq!(queue.read(&total).unwrap(), [(1..=5).map(|n| n * n * n).sum::<u32>()]);

    let addresses: Vec<u64> = cells.iter().map(|row| row.address()).collect();
    let table = device.buffer_from(&addresses).unwrap();
    let out = device.buffer::<u32>(5).unwrap();
    let mut relink = program.kernel("relink").unwrap();
    relink.set(0, &table).unwrap().set(1, 5u32).unwrap();
    launch(&queue, &relink, 1).unwrap();
    let mut follow = program.kernel("follow").unwrap();
    follow.set(0, &table).unwrap().set(1, 5u32).unwrap().set(2, &out).unwrap();
    launch(&queue, &follow, 1).unwrap();
    assert_eq!(queue.read(&out).unwrap(), [5, 4, 3, 2, 1]);
    assert_eq!(queue.read(&table).unwrap(), addresses.into_iter().rev().collect::<Vec<_>>());
}

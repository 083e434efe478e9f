//! The functions and the kernel of a composition.

use super::{
    Generator, Helper, ITEMS, Object, SHARED, SUMS, Space, Ty,
    operation::Access,
    types::{Cell, Member, Role},
};

/// The words of `sums` that contain results; the objects follow.
const RESULTS: usize = 4;

/// A part of an object: a structure or a scalar.
#[derive(Clone, Debug)]
struct Part {
    text: String,
    space: Space,
    ty: Ty,
    is_own: bool,
}

impl Object {
    /// The type of a pointer to it.
    fn pointer(&self, generator: &Generator) -> String {
        format!("{}{} *", self.space.name(), generator.spelling(self.ty))
    }
}

impl Generator {
    pub(super) fn is_new(&self) -> bool {
        self.std != "CL1.2"
    }

    /// Emits extension pragmas, and macros that depend on extensions.
    pub(super) fn prologue(&mut self) {
        let mut enable = |name: &str| self.lines.line(format!("#pragma OPENCL EXTENSION {name} : enable"));
        if self.has_wide {
            enable("cl_khr_int64_base_atomics");
            enable("cl_khr_int64_extended_atomics");
        }
        if self.has_double {
            enable("cl_khr_fp64");
        }
        if self.has_sub_groups {
            enable("cl_khr_subgroups");
        }
        self.line("uint mix(uint h, uint v) { return rotate(h ^ v, 7u) * 0x9e3779b1u + 1; }");
        if self.has_wide {
            self.line("uint mix_wide(uint h, ulong v) { return mix(mix(h, (uint)v), (uint)(v >> 32)); }");
        }
        if !self.is_new() {
            return;
        }
        self.float_functions("float", "fp32");
        if self.has_double {
            self.float_functions("double", "fp64");
        }
        if self.has_half {
            let features: Vec<String> = ["load_store", "add", "min_max"]
                .iter()
                .flat_map(|name| ["global", "local"].map(|space| feature("fp16", space, name)))
                .collect();
            self.line(format!("#if {}", features.join(" && ")));
            self.line("#pragma OPENCL EXTENSION cl_khr_fp16 : enable");
            self.line("typedef half narrow; typedef atomic_half atomic_narrow;");
            for name in ["add", "min", "max"] {
                self.line(format!(
                    "#define {name}_narrow(p, v, o, s) atomic_fetch_{name}_explicit(p, v, o, s);"
                ));
            }
            self.line("#else");
            self.line("typedef float narrow; typedef atomic_float atomic_narrow;");
            for name in ["add", "min", "max"] {
                self.line(format!("#define {name}_narrow {name}_float"));
            }
            self.line("#endif");
        }
    }

    /// Arithmetic on atomic floats: functions of cl_ext_float_atomics, or loops without it.
    fn float_functions(&mut self, ty: &str, name: &str) {
        for (operation, group, result) in
            [("add", "add", "e + v"), ("min", "min_max", "min(e, v)"), ("max", "min_max", "max(e, v)")]
        {
            let head = format!("#define {operation}_{ty}(p, v, o, s)");
            let features = ["global", "local"].map(|space| feature(name, space, group));
            self.line(format!("#if {}", features.join(" && ")));
            self.line(format!("{head} atomic_fetch_{operation}_explicit(p, v, o, s);"));
            self.line("#else");
            self.line(format!(
                "{head} {{ {ty} e = atomic_load_explicit(p, memory_order_relaxed, s); while \
                 (!atomic_compare_exchange_weak_explicit(p, &e, {result}, o, memory_order_relaxed, s)) {{}} }}"
            ));
            self.line("#endif");
        }
    }

    /// Chooses the objects of the kernel. Those at program scope are declared here.
    pub(super) fn choose_objects(&mut self) {
        for _ in 0..1 + self.dice.below(3) {
            let ty = self.some_type();
            let length = self.dice.one_in(2).then(|| 2 + self.dice.below(2));
            let text = self.name('x');
            self.objects.push(Object { text, space: Space::Local, ty, length });
        }
        let mut words = RESULTS;
        for _ in 0..self.dice.below(3) {
            let ty = self.some_type();
            // Without a counter, no work-item could read values that depend on the order.
            if !self.is_new() && self.has_arbitrary_values(ty) || self.has_two_sizes(ty) {
                continue;
            }
            let length = self.dice.one_in(2).then(|| 2 + self.dice.below(2));
            let is_at_program_scope = self.is_new() && self.dice.one_in(3);
            // Objects that are not at program scope are in `sums`.
            if !is_at_program_scope {
                words += self.words_in_sums(ty, length);
                if words > SUMS {
                    break;
                }
            }
            let text = self.name(if is_at_program_scope { 'p' } else { 'g' });
            if is_at_program_scope {
                let array = length.map(|it| format!("[{it}]")).unwrap_or_default();
                self.line(format!("global {} {text}{array};", self.spelling(ty)));
            }
            self.objects.push(Object { text, space: Space::Global, ty, length });
        }
    }

    /// The words that a global object occupies in `sums`.
    fn words_in_sums(&self, ty: Ty, length: Option<usize>) -> usize {
        (self.bytes(ty) * length.unwrap_or(1)).next_multiple_of(8) / 4
    }

    /// A structure or union, more rarely a scalar.
    fn some_type(&mut self) -> Ty {
        if self.dice.one_in(5) {
            return Ty::Cell(self.cell());
        }
        Ty::Record(self.dice.below(self.records.len()))
    }

    /// Functions that initialize and read each structure.
    pub(super) fn accessors(&mut self) {
        for number in 0..self.records.len() {
            for space in [Space::Local, Space::Global] {
                if self.uses(Ty::Record(number), space) {
                    self.accessor(number, space);
                }
            }
        }
    }

    /// Whether an object of this space is or contains one of this type.
    fn uses(&self, ty: Ty, space: Space) -> bool {
        self.objects.iter().any(|it| it.space == space && self.contains(it.ty, ty))
    }

    fn contains(&self, outer: Ty, inner: Ty) -> bool {
        let members = match outer {
            Ty::Cell(_) => &[][..],
            Ty::Record(number) => &self.records[number].members,
        };
        outer == inner || members.iter().any(|member| self.contains(member.ty, inner))
    }

    fn accessor(&mut self, number: usize, space: Space) {
        let record = self.records[number].clone();
        let (name, qualifier) = (&record.name, space.name());
        let suffix = qualifier.trim();
        if space == Space::Local {
            self.open(format!("void init_{name}_{suffix}({qualifier}{name} *s) {{"));
            // Initializes a union once.
            let count = if record.is_union { 1 } else { record.members.len() };
            for member in &record.members[..count] {
                self.for_each(&format!("s->{}", member.name), member.length, |it, text| {
                    it.initialize(text, member.ty, space)
                });
            }
            self.close("}");
        }
        self.open(format!("uint see_{name}_{suffix}({qualifier}{name} *s, uint h, private uint *acc) {{"));
        for member in &record.members {
            self.for_each(&format!("s->{}", member.name), member.length, |it, text| {
                it.read_value(text, member.ty, space, "*acc")
            });
        }
        self.line("return h;");
        self.close("}");
    }

    /// Statements for an object, or for each element of an array.
    fn for_each(
        &mut self,
        text: &str,
        length: Option<usize>,
        statement: impl FnOnce(&mut Self, &str) -> String,
    ) {
        let (text, head) = match length {
            None => (text.to_owned(), String::new()),
            Some(length) => (format!("{text}[i]"), format!("for (uint i = 0; i < {length}; ++i) ")),
        };
        let statement = statement(self, &text);
        if !statement.is_empty() {
            self.line(format!("{head}{statement}"));
        }
    }

    fn initialize(&mut self, text: &str, ty: Ty, space: Space) -> String {
        let cell = match ty {
            Ty::Record(number) => {
                return format!("init_{}_{}(&{text});", self.records[number].name, space.name().trim());
            }
            Ty::Cell(cell) => cell,
        };
        let value = cell.initial();
        match (cell.role, cell.is_atomic) {
            (Role::Flag, _) => {
                format!("atomic_flag_clear_explicit(&{text}, memory_order_relaxed, memory_scope_work_group);")
            }
            (_, true) if cell.scalar.value != "narrow" && self.dice.one_in(2) => {
                format!("atomic_init(&{text}, {value});")
            }
            (_, true) => format!(
                "atomic_store_explicit(&{text}, {value}, memory_order_relaxed, memory_scope_work_group);"
            ),
            (_, false) => format!("{text} = {value};"),
        }
    }

    /// Adds the value of an object to the results `h` and `acc`.
    fn read_value(&mut self, text: &str, ty: Ty, space: Space, acc: &str) -> String {
        let cell = match ty {
            Ty::Record(number) => {
                let acc = acc.strip_prefix('*').map_or(format!("&{acc}"), str::to_owned);
                let name = &self.records[number].name;
                return format!("h = see_{name}_{}(&{text}, h, {acc});", space.name().trim());
            }
            Ty::Cell(cell) => cell,
        };
        if cell.role == Role::Flag {
            return String::new();
        }
        let value = self.load(&Access { text: text.to_owned(), space, cell, is_own: false });
        let number =
            if cell.is_float() { format!("(uint)(int)({value} * 4)") } else { format!("(uint){value}") };
        match cell.role {
            Role::Chain => format!("{acc} += {number};"),
            Role::Winner => format!("h = mix(h, {value} != 0);"),
            _ if cell.scalar.bytes == 8 && !cell.is_float() => format!("h = mix_wide(h, (ulong){value});"),
            _ => format!("h = mix(h, {number});"),
        }
    }

    /// A function that operates on an object of one of the types in use.
    pub(super) fn helper(&mut self) {
        let object = self.dice.pick(&self.objects).clone();
        let part = self.part(&object, false);
        let is_generic = self.is_new() && self.dice.one_in(2);
        let space = if is_generic { Space::Generic } else { object.space };
        let name = self.name('f');
        let (qualifier, ty) = (space.name(), self.spelling(part.ty));
        self.open(format!("void {name}({qualifier}{ty} *s, uint id, private uint *acc) {{"));
        (self.acc, self.id) = ("*acc", "id");
        let object = Object { text: "(*s)".to_owned(), space, ty: part.ty, length: None };
        for _ in 0..1 + self.dice.below(4) {
            let statement = self.statement(&object);
            self.line(statement);
        }
        self.close("}");
        self.helpers.push(Helper { name, space, ty: part.ty });
    }

    /// A random part of an object that all work-items share.
    fn part(&mut self, object: &Object, may_be_own: bool) -> Part {
        let text = match object.length {
            None => object.text.clone(),
            Some(length) => format!("{}[{}]", object.text, self.index(length)),
        };
        let mut part = Part { text, space: object.space, ty: object.ty, is_own: false };
        while let Ty::Record(number) = part.ty {
            let stops = !may_be_own && self.dice.one_in(2)
                || may_be_own && self.dice.one_in(2) && self.helper_for(&part).is_some();
            let members: Vec<Member> = self.records[number].members.clone();
            let members: Vec<&Member> = members.iter().filter(|it| may_be_own || !it.is_own).collect();
            if stops || members.is_empty() {
                break;
            }
            let member = *self.dice.pick(&members);
            let text = match part.text.strip_prefix("(*").and_then(|it| it.strip_suffix(')')) {
                Some(pointer) => format!("{pointer}->{}", member.name),
                None => format!("{}.{}", part.text, member.name),
            };
            let text = match member.length {
                None => text,
                Some(_) if member.is_own => format!("{text}[{}]", self.id),
                Some(length) => format!("{text}[{}]", self.index(length)),
            };
            part = Part { text, space: part.space, ty: member.ty, is_own: member.is_own };
        }
        part
    }

    fn helper_for(&mut self, part: &Part) -> Option<Helper> {
        let is_new = self.is_new();
        let fits = |it: &&Helper| {
            it.ty == part.ty && (it.space == part.space || is_new && it.space == Space::Generic)
        };
        let all: Vec<Helper> = self.helpers.iter().filter(fits).cloned().collect();
        (!all.is_empty()).then(|| self.dice.pick(&all).clone())
    }

    /// An index into an array.
    fn index(&mut self, length: usize) -> String {
        if let Some(counter) = self.counter.clone()
            && self.dice.one_in(2)
        {
            return format!("{counter} % {length}");
        }
        if self.dice.one_in(2) {
            return self.dice.below(length).to_string();
        }
        format!("({}) % {length}", self.unsigned_number())
    }

    /// A statement that operates on a part of the object.
    fn statement(&mut self, object: &Object) -> String {
        let part = self.part(object, true);
        let helper = self.helper_for(&part).filter(|_| !part.is_own);
        match (part.ty, helper) {
            (Ty::Cell(cell), helper) if helper.is_none() || self.dice.one_in(2) => {
                let Part { text, space, is_own, .. } = part;
                self.operation(&Access { text, space, cell, is_own })
            }
            (_, Some(helper)) => {
                let acc = if self.is_in_kernel { "&acc" } else { "acc" };
                format!("{}(&{}, {}, {acc});", helper.name, part.text, self.id)
            }
            (_, None) => self.fence(),
        }
    }

    /// The kernel.
    pub(super) fn kernel(&mut self, items: usize) {
        let parcel = self.function_with_structure();
        self.is_in_kernel = true;
        self.acc = "acc";
        let messages: Vec<Message> = match self.has_orders {
            true => (0..self.dice.below(3)).map(|_| self.message()).collect(),
            false => Vec::new(),
        };
        self.open("kernel void k(global uint *out, global uint *own, global const uint *in, global uint *sums, uint n, local uint *shared) {");
        self.line("uint gid = get_global_id(0), lid = get_local_id(0), h = 1, acc = 0, spare = 0;");
        self.declarations();
        let queue = self.dice.one_in(3).then(|| self.name('q'));
        if let Some(name) = &queue {
            let counter = if self.is_new() { "atomic_uint" } else { "uint" };
            self.line(format!("local struct {{ {counter} n; uint slots[{ITEMS}]; }} {name};"));
            let initialize =
                if self.is_new() { format!("atomic_init(&{name}.n, 0)") } else { format!("{name}.n = 0") };
            self.line(format!("if (lid == 0) {initialize};"));
            self.line(format!(
                "for (uint i = lid; i < {ITEMS}; i += get_local_size(0)) {name}.slots[i] = 0;"
            ));
        }
        for message in messages.iter().filter(|it| it.space == Space::Local) {
            let name = &message.name;
            self.line(format!("local struct {{ uint data; atomic_uint full; }} {name};"));
            self.line(format!("if (lid == 0) atomic_init(&{name}.full, 0);"));
        }
        self.initialize_objects();
        self.barrier();
        let phases = 1 + self.dice.below(3);
        for phase in 0..phases {
            let has_message = |message: &&Message| message.phase % phases == phase;
            for message in messages.iter().filter(has_message) {
                self.pass_message(message);
            }
            if phase == 0 {
                if let Some(name) = &queue {
                    self.enqueue(name);
                }
                if let Some(name) = &parcel {
                    self.call_with_structure(name);
                }
            }
            for _ in 0..2 + self.dice.below(6) {
                self.construct();
            }
            self.barrier();
            self.read_local_objects();
            let is_last = phase + 1 == phases;
            if is_last {
                self.line("if (lid == 0) acc += spare;");
            } else {
                self.barrier();
                if self.dice.one_in(2) {
                    // Counts all values that depend on the order before they are overwritten.
                    self.line("if (lid == 0) acc += spare;");
                    self.initialize_objects();
                    self.barrier();
                }
            }
        }
        if let Some(name) = &queue {
            self.line("spare = 0;");
            self.line(format!("for (uint i = 0; i < {ITEMS}; ++i) spare += {name}.slots[i];"));
            self.line("h = mix(h, spare);");
        }
        if let Some(mut dice) = self.calls.take() {
            self.call_functions_with_pointers(&mut dice);
        }
        self.line("out[gid] = h;");
        self.read_global_objects(items);
        self.close("}");
    }

    fn declarations(&mut self) {
        let mut word = RESULTS;
        let mut has_shared = false;
        for index in 0..self.objects.len() {
            let object = self.objects[index].clone();
            let Object { text, space, ty, length } = &object;
            let (declared, pointer) = (self.spelling(*ty), object.pointer(self));
            let bytes = self.bytes(*ty);
            let is_short = length.is_none();
            let count = length.unwrap_or(1);
            let array = length.map(|it| format!("[{it}]")).unwrap_or_default();
            match space {
                Space::Local if !has_shared && bytes * count <= SHARED && self.dice.one_in(4) => {
                    has_shared = true;
                    self.line(format!("{pointer}{text} = ({pointer})shared;"));
                    self.objects[index].text = if is_short { format!("(*{text})") } else { text.clone() };
                }
                Space::Local => self.line(format!("local {declared} {text}{array};")),
                _ if text.starts_with('p') => {}
                _ => {
                    self.line(format!("{pointer}{text} = ({pointer})(sums + {word});"));
                    word += self.words_in_sums(*ty, *length);
                    assert!(word <= SUMS, "the objects do not fit into `sums`");
                    self.objects[index].text = if is_short { format!("(*{text})") } else { text.clone() };
                }
            }
        }
    }

    fn initialize_objects(&mut self) {
        for object in self.objects.clone().iter().filter(|it| it.space == Space::Local) {
            let Object { text, space, ty, length } = object;
            match length {
                Some(length) => {
                    let statement = self.initialize(&format!("{text}[lid]"), *ty, *space);
                    self.line(format!("if (lid < {length}) {statement}"));
                }
                None => {
                    let statement = self.initialize(text, *ty, *space);
                    self.line(format!("if (lid == {}) {statement}", self.names % 4));
                }
            }
        }
    }

    fn barrier(&mut self) {
        let barriers: &[&str] = match self.is_new() {
            false => {
                &["barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"]
            }
            true => &[
                "barrier(CLK_LOCAL_MEM_FENCE);",
                "work_group_barrier(CLK_LOCAL_MEM_FENCE);",
                "work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                "work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);",
                "work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);",
            ],
        };
        let barrier = *self.dice.pick(barriers);
        self.line(barrier);
    }

    /// Reads all local objects.
    fn read_local_objects(&mut self) {
        self.line("spare = 0;");
        for object in self.objects.clone().iter().filter(|it| it.space == Space::Local) {
            self.for_each(&object.text, object.length, |it, text| {
                it.read_value(text, object.ty, Space::Local, "spare")
            });
        }
    }

    /// A statement, in a loop or under a condition or neither.
    fn construct(&mut self) {
        let object = self.dice.pick(&self.objects).clone();
        self.id = if object.space == Space::Local { "lid" } else { "gid" };
        match self.dice.below(8) {
            0 => {
                let counter = self.name('i');
                let rounds = 1 + self.dice.below(3);
                self.open(format!("for (uint {counter} = 0; {counter} < {rounds}; ++{counter}) {{"));
                self.counter = Some(counter);
                for _ in 0..1 + self.dice.below(2) {
                    let statement = self.statement(&object);
                    self.line(statement);
                }
                self.counter = None;
                self.close("}");
            }
            1 => {
                let condition = self.condition();
                self.open(format!("if ({condition}) {{"));
                for _ in 0..1 + self.dice.below(2) {
                    let statement = self.statement(&object);
                    self.line(statement);
                }
                self.close("}");
            }
            2 => {
                let fence = self.fence();
                self.line(fence);
            }
            3 | 4 if self.is_new() => self.operate_on_either(&object),
            _ => {
                let statement = self.statement(&object);
                self.line(statement);
            }
        }
    }

    fn condition(&mut self) -> String {
        match self.dice.below(3) {
            0 => format!("({}) & {}", self.unsigned_number(), 1 << self.dice.below(3)),
            1 => format!("in[{}] & 1", self.dice.below(64)),
            _ => format!("{} < {}", self.id, 1 + self.dice.below(7)),
        }
    }

    /// An operation through a pointer that points to one of two objects of a type, of the same space or of both.
    fn operate_on_either(&mut self, object: &Object) {
        let alike: Vec<Object> = self.objects.iter().filter(|it| it.ty == object.ty).cloned().collect();
        let other = self.dice.pick(&alike).clone();
        self.id = "lid";
        let condition = self.condition();
        let ty = self.spelling(object.ty);
        let mut address = |object: &Object| match object.length {
            None => format!("({ty} *)&{}", object.text),
            Some(length) => format!("({ty} *)&{}[{}]", object.text, self.index(length)),
        };
        let (one, two) = (address(object), address(&other));
        let id = |object: &Object| if object.space == Space::Local { "lid" } else { "gid" };
        let (first, second) = (id(object), id(&other));
        self.id = "id";
        let pointer = Object { text: "(*s)".to_owned(), space: Space::Generic, ty: object.ty, length: None };
        let statement = self.statement(&pointer);
        self.line(format!(
            "{{ bool c = {condition}; {ty} *s = c ? {one} : {two}; uint id = c ? {first} : {second}; {statement} }}"
        ));
    }

    /// A function that gets its objects in a structure of pointers.
    fn function_with_structure(&mut self) -> Option<String> {
        let of = |space| self.objects.iter().find(|it| it.space == space).cloned();
        let (local, global) = (of(Space::Local)?, of(Space::Global)?);
        if self.dice.one_in(2) {
            return None;
        }
        let any = if self.is_new() { format!("{} *any; ", self.spelling(local.ty)) } else { String::new() };
        self.line(format!(
            "typedef struct {{ {}l; uint lid, gid; {}g; {any}}} P;",
            local.pointer(self),
            global.pointer(self)
        ));
        let is_pointer = self.dice.one_in(2);
        let (star, arrow) = if is_pointer { ("private P *", "->") } else { ("P ", ".") };
        self.open(format!("void open_parcel({star}p, private uint *acc) {{"));
        self.acc = "*acc";
        let member = |name: &str, object: &Object, space| Object {
            text: format!("(*p{arrow}{name})"),
            space,
            ty: object.ty,
            length: None,
        };
        let mut objects =
            vec![(member("l", &local, Space::Local), "lid"), (member("g", &global, Space::Global), "gid")];
        if self.is_new() {
            objects.push((member("any", &local, Space::Generic), "lid"));
        }
        for (object, id) in objects {
            self.line(format!("{{ uint id = p{arrow}{id};"));
            self.id = "id";
            let statement = self.statement(&object);
            self.line(format!("    {statement} }}"));
        }
        self.close("}");
        Some(format!("open_parcel({}p, &acc)", if is_pointer { "&" } else { "" }))
    }

    /// Calls the function of `function_with_structure`.
    fn call_with_structure(&mut self, call: &str) {
        let find = |space, objects: &[Object]| objects.iter().find(|it| it.space == space).cloned();
        let local = find(Space::Local, &self.objects).expect("the structure contains it");
        let global = find(Space::Global, &self.objects).expect("the structure contains it");
        self.id = "lid";
        let mut address = |object: &Object| match object.length {
            None => format!("&{}", object.text),
            Some(length) => format!("&{}[{}]", object.text, self.index(length)),
        };
        let (l, g, any) = (address(&local), address(&global), address(&local));
        let any = if self.is_new() { format!(", {any}") } else { String::new() };
        self.line(format!("{{ P p = {{{l}, lid, gid, {g}{any}}}; {call}; }}"));
    }

    /// Enqueues a kernel in which each work-item writes to its own slot.
    fn enqueue(&mut self, name: &str) {
        self.id = "gid";
        let value = self.unsigned_number();
        let slot = if self.is_new() {
            let cell = Cell {
                scalar: &super::types::UINT,
                role: Role::Ticket,
                is_atomic: true,
                has_float_bits: false,
                constant: 0,
            };
            let access = Access { text: format!("{name}.n"), space: Space::Local, cell, is_own: false };
            self.next_ticket(&access)
        } else {
            format!("atomic_inc(&{name}.n)")
        };
        self.line(format!("{name}.slots[{slot}] = {value};"));
    }

    fn message(&mut self) -> Message {
        let space = if self.dice.one_in(2) { Space::Local } else { Space::Global };
        let name = self.name('d');
        if space == Space::Global {
            self.line(format!("global struct {{ uint data; atomic_uint full; }} {name};"));
        }
        Message { name, space, phase: self.dice.below(3) }
    }

    /// One work-item writes plain data, then sets a flag. A work-item that sees the flag reads the data.
    fn pass_message(&mut self, message: &Message) {
        let name = &message.name;
        let (id, scope, flag) = match message.space {
            Space::Local => ("lid", *self.dice.pick(&["work_group", "device"]), "CLK_LOCAL_MEM_FENCE"),
            _ => ("gid", *self.dice.pick(&["device", "all_svm_devices"]), "CLK_GLOBAL_MEM_FENCE"),
        };
        let (value, sender) = (1 + self.dice.below(1000), self.dice.below(4));
        let mut publish = vec![
            format!("atomic_store_explicit(&{name}.full, 1, memory_order_release, memory_scope_{scope});"),
            format!(
                "atomic_fetch_add_explicit(&{name}.full, 1, memory_order_acq_rel, memory_scope_{scope});"
            ),
            format!(
                "atomic_work_item_fence({flag}, memory_order_release, memory_scope_{scope}); \
                 atomic_store_explicit(&{name}.full, 1, memory_order_relaxed, memory_scope_{scope});"
            ),
        ];
        let mut receive = vec![
            (
                format!("atomic_load_explicit(&{name}.full, memory_order_acquire, memory_scope_{scope})"),
                String::new(),
            ),
            (
                format!("atomic_load_explicit(&{name}.full, memory_order_relaxed, memory_scope_{scope})"),
                format!("atomic_work_item_fence({flag}, memory_order_acquire, memory_scope_{scope}); "),
            ),
            (
                format!(
                    "atomic_fetch_or_explicit(&{name}.full, 0, memory_order_acquire, memory_scope_{scope})"
                ),
                String::new(),
            ),
        ];
        if self.has_seq_cst {
            publish.push(format!("atomic_store(&{name}.full, 1);"));
            receive.push((format!("atomic_load(&{name}.full)"), String::new()));
        }
        let (publish, (receive, fence)) =
            (self.dice.pick(&publish).clone(), self.dice.pick(&receive).clone());
        self.line(format!(
            "if ({id} == {sender}) {{ {name}.data = {value}; {publish} }} else if ({receive} == 1) {{ {fence}acc += \
             {name}.data != {value}; }}"
        ));
    }

    /// The last work-item reads the global objects.
    fn read_global_objects(&mut self, items: usize) {
        if !self.is_new() {
            return self.line("atomic_add(&sums[0], acc);");
        }
        self.line("atomic_fetch_add_explicit((global atomic_uint *)&sums[0], acc, memory_order_relaxed, memory_scope_device);");
        let counter = "(global atomic_uint *)&sums[1]";
        let is_fenced = self.dice.one_in(4);
        let order = if is_fenced { "relaxed" } else { "acq_rel" };
        let fence = |order: &str| {
            format!(
                "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_{order}, memory_scope_device);"
            )
        };
        if is_fenced {
            self.line(fence("release"));
        }
        self.open(format!(
            "if (atomic_fetch_add_explicit({counter}, 1, memory_order_{order}, memory_scope_device) == {}) {{",
            items - 1
        ));
        if is_fenced {
            self.line(fence("acquire"));
        }
        self.line("h = 1; spare = 0;");
        for object in self.objects.clone().iter().filter(|it| it.space == Space::Global) {
            self.for_each(&object.text, object.length, |it, text| {
                it.read_value(text, object.ty, Space::Global, "spare")
            });
        }
        self.line("sums[0] += spare;");
        self.line("sums[2] = h;");
        self.line(format!("for (uint i = {RESULTS}; i < {SUMS}; ++i) sums[i] = 0;"));
        self.close("}");
    }
}

/// Data that one work-item passes to the others.
struct Message {
    name: String,
    space: Space,
    /// The phase in which it is passed.
    phase: usize,
}

/// A condition of the preprocessor.
fn feature(format: &str, space: &str, group: &str) -> String {
    format!("defined(__opencl_c_ext_{format}_{space}_atomic_{group})")
}

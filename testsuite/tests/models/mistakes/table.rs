//! The mistakes, and programs that detect those that no litmus test detects.

use super::{
    Change::{self, Again, Down, Drop, First, Last, Statement, Up, Value, Words},
    Mistake,
};

const fn row(
    pass: &'static str,
    what: &'static str,
    program: &'static str,
    lines: &'static [&'static str],
    change: Change,
) -> Mistake {
    Mistake { pass, what, program, lines, change }
}

#[rustfmt::skip]
pub(super) const MISTAKES: &[Mistake] = &[
    row("legalize_atomics", "R1: a seq_cst load is an acquire load",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", "")])),
    row("legalize_atomics", "R1: a seq_cst load is a relaxed load",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "relaxed"), (", i32 0", "")])),
    row("legalize_atomics", "R1: the read-modify-write of a seq_cst load is relaxed",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("acq_rel", "relaxed")])),
    row("legalize_atomics", "R1: the read-modify-write of a seq_cst load only acquires",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "R1: the read-modify-write of a seq_cst load only releases",
        "order: Message passing by seq_cst",
        &["atomic fetch_or", "order acq_rel"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "R1: a seq_cst load has work-group scope",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R1: a seq_cst load has sub-group scope",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "R1: a seq_cst load changes the value",
        "breaking: Narrow seq_cst loads",
        &["atomic fetch_or", "order acq_rel"], Words(&[(", i32 0", ", i32 1")])),
    row("legalize_atomics", "R1: the first seq_cst load is forgotten",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic fetch_or", "order acq_rel"], First(&Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", "")]))),
    row("legalize_atomics", "R1: the last seq_cst load is forgotten",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic fetch_or", "order acq_rel"], Last(&Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", "")]))),
    row("legalize_atomics", "R1: a seq_cst store is a release store",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic exchange", "order acq_rel"], Statement(&[("exchange", "store"), ("acq_rel", "release")])),
    row("legalize_atomics", "R1: a seq_cst store is a relaxed store",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic exchange", "order acq_rel"], Statement(&[("exchange", "store"), ("acq_rel", "relaxed")])),
    row("legalize_atomics", "R1: the exchange of a seq_cst store is relaxed",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order acq_rel"], Words(&[("acq_rel", "relaxed")])),
    row("legalize_atomics", "R1: the exchange of a seq_cst store only acquires",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order acq_rel"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "R1: the exchange of a seq_cst store only releases",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order acq_rel"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "R1: a seq_cst store has work-group scope",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order acq_rel"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R1: a seq_cst store has sub-group scope",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order acq_rel"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "R1: a seq_cst addition is relaxed",
        "store buffering by additions",
        &["atomic fetch_add", "order acq_rel", ", i32 1"], Words(&[("acq_rel", "relaxed")])),
    row("legalize_atomics", "R1: a seq_cst addition only acquires",
        "store buffering by additions",
        &["atomic fetch_add", "order acq_rel", ", i32 1"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "R1: a seq_cst addition only releases",
        "store buffering by additions",
        &["atomic fetch_add", "order acq_rel", ", i32 1"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "R1: seq_cst operations on atomic objects order global memory only",
        "breaking: A narrow seq_cst fence",
        &["atomic", "order acq_rel", "[local, global]"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R1: seq_cst operations on atomic objects order local memory only",
        "order: Message passing by seq_cst",
        &["atomic", "order acq_rel", "[local, global]"], Words(&[("[local, global]", "[local]")])),
    row("legalize_atomics", "R1: seq_cst operations order the memory of their object only",
        "breaking: A narrow seq_cst fence",
        &["atomic", "order acq_rel", "[local, global]"], Words(&[("scope device spaces [local, global]", "scope device spaces [global]"), ("scope work_group spaces [local, global]", "scope work_group spaces [local]")])),
    row("legalize_atomics", "R2: a relaxed store beside seq_cst operations stays a store",
        "breaking: A relaxed store between two seq_cst operations",
        &["atomic exchange", "order relaxed"], Statement(&[("exchange", "store")])),
    row("legalize_atomics", "R2: a release store beside seq_cst operations stays a store",
        "a release store between two seq_cst operations",
        &["atomic exchange", "order release"], Statement(&[("exchange", "store")])),
    row("legalize_atomics", "R2: only the first relaxed store becomes an exchange",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic exchange", "order relaxed"], Last(&Statement(&[("exchange", "store")]))),
    row("legalize_atomics", "R2: only the last relaxed store becomes an exchange",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic exchange", "order relaxed"], First(&Statement(&[("exchange", "store")]))),
    row("legalize_atomics", "R3: an acquire load beside seq_cst loads keeps its narrow scope",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire", "scope device"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R3: a relaxed load beside seq_cst loads keeps its narrow scope",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic load", "order relaxed", "scope device"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R4: a relaxed store after a release stays relaxed",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release", "i32 2"], Words(&[("order release", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "R4: a relaxed store after a release has sub-group scope",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release", "i32 2"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "R5: a failing compare-exchange reads again with a load",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic fetch_or", "order acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", ""), ("scope device", "scope device")])),
    row("legalize_atomics", "R5: the attempt of a compare-exchange is relaxed",
        "store buffering by compare-exchanges that succeed",
        &["atomic compare_exchange", "order acq_rel", "failure relaxed"], Words(&[("acq_rel", "relaxed")])),
    row("legalize_atomics", "R5: the attempt of a compare-exchange only acquires",
        "store buffering by compare-exchanges that succeed",
        &["atomic compare_exchange", "order acq_rel", "failure relaxed"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "R5: the attempt of a compare-exchange only releases",
        "a message to a compare-exchange that succeeds",
        &["atomic compare_exchange", "order acq_rel", "failure relaxed"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "R5: the attempt of a compare-exchange has work-group scope",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic compare_exchange", "order acq_rel", "failure relaxed"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R6: no fence before the word",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order acquire"], Drop),
    row("legalize_atomics", "R6: no fence after the word",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order release"], Drop),
    row("legalize_atomics", "R6: both fences, without the word",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("acq_rel", "relaxed")])),
    row("legalize_atomics", "R6: the word only acquires",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "R6: the word only releases",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "R6: the word is loaded",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("fetch_add", "load"), ("acq_rel", "acquire"), (", i32 0", "")])),
    row("legalize_atomics", "R6: the word has work-group scope",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R6: the word orders global memory only",
        "breaking: A narrow seq_cst fence",
        &["atomic fetch_add", "order acq_rel", "i32 0"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R6: the fence before the word has work-group scope",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order acquire"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R6: the fence before the word orders local memory only",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order acquire"], Words(&[("[local, global]", "[local]")])),
    row("legalize_atomics", "R6: the fence before the word orders global memory only",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order acquire"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R6: the fence after the word has work-group scope",
        "order: Message passing by fences",
        &["fence flags", "order release"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "R6: the fence after the word orders local memory only",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order release"], Words(&[("[local, global]", "[local]")])),
    row("legalize_atomics", "R6: the fence after the word orders global memory only",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order release"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R6: the fence before the word only releases",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order acquire"], Words(&[("order acquire", "order release")])),
    row("legalize_atomics", "R6: the fence after the word only acquires",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order release"], Words(&[("order release", "order acquire")])),
    row("legalize_atomics", "R7: a release fence beside seq_cst operations orders global memory only",
        "breaking: A message in local memory about global memory",
        &["fence", "order release", "scope work_group", "[local, global]"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R7: an acquire fence beside seq_cst operations orders global memory only",
        "breaking: A message in local memory about global memory",
        &["fence", "order acquire", "scope work_group", "[local, global]"], Words(&[("[local, global]", "[global]")])),
    row("legalize_atomics", "R11: a plain load beside seq_cst loads stays plain",
        "a plain load beside a seq_cst load",
        &["atomic load", "order relaxed", "scope device"], Words(&[(" = atomic load i32 order relaxed scope device spaces [global]", " = load align 4")])),
    row("legalize_atomics", "R11: a plain load beside seq_cst loads has work-group scope",
        "a plain load beside a seq_cst load",
        &["atomic load i32 order relaxed", "scope device"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "an acquire load is relaxed",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire"], Words(&[("order acquire", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "a release store is relaxed",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("order release", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "an acquire load has sub-group scope",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "a release store has sub-group scope",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "an acquire load has work-group scope",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "a release store has work-group scope",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "a relaxed load has work-group scope",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic load", "order relaxed"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "a relaxed store has work-group scope",
        "breaking: A narrow seq_cst fence",
        &["atomic store", "order relaxed"], Words(&[("scope device", "scope work_group")])),
    row("legalize_atomics", "an acq_rel addition only acquires",
        "a message by acq_rel additions",
        &["atomic fetch_add", "acq_rel", "[global]"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "an acq_rel addition only releases",
        "a message by acq_rel additions",
        &["atomic fetch_add", "acq_rel", "[global]"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "a relaxed addition is a load and a store",
        "coherence: Additions",
        &["atomic fetch_add", "order relaxed"], Words(&[("fetch_add", "load"), (", i32 1", "")])),
    row("legalize_atomics", "a compare-exchange is relaxed if it succeeds",
        "store buffering by compare-exchanges that succeed",
        &["atomic compare_exchange", "failure relaxed"], Words(&[("order acquire", "order relaxed"), ("order release", "order relaxed"), ("order acq_rel", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "a compare-exchange is relaxed if it fails",
        "order: Message passing by compare-exchange",
        &["atomic compare_exchange", "failure acquire"], Words(&[("failure acquire", "failure relaxed")])),
    row("legalize_atomics", "a compare-exchange has sub-group scope",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic compare_exchange"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "a release fence is dropped",
        "breaking: A message in local memory about global memory",
        &["fence", "order release"], Drop),
    row("legalize_atomics", "an acquire fence is dropped",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence", "order acquire"], Drop),
    row("legalize_atomics", "an acq_rel fence only acquires",
        "a message by acq_rel fences",
        &["fence", "order acq_rel"], Words(&[("acq_rel", "acquire")])),
    row("legalize_atomics", "an acq_rel fence only releases",
        "a message by acq_rel fences",
        &["fence", "order acq_rel"], Words(&[("acq_rel", "release")])),
    row("legalize_atomics", "a release fence has sub-group scope",
        "breaking: A message in local memory about global memory",
        &["fence", "order release"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "an acquire fence has sub-group scope",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence", "order acquire"], Words(&[("scope device", "scope sub_group"), ("scope work_group", "scope sub_group")])),
    row("legalize_atomics", "a release fence orders other memory",
        "breaking: A message in local memory about global memory",
        &["fence", "order release"], Words(&[("flags [global]", "flags [image]"), ("flags [local]", "flags [image]"), ("flags [local, global]", "flags [local]")])),
    row("legalize_atomics", "an acquire fence orders other memory",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence", "order acquire"], Words(&[("flags [global]", "flags [image]"), ("flags [local]", "flags [image]"), ("flags [local, global]", "flags [local]")])),
    row("legalize_atomics", "a barrier does not order the memory of its flags",
        "a message through a barrier",
        &["barrier work_group"], Words(&[("flags [local]", "flags [global]"), ("flags [global]", "flags [local]")])),
    row("legalize_atomics", "a barrier orders nothing",
        "seq_cst stores to local objects, and a barrier for global memory",
        &["barrier work_group"], Words(&[("flags [local, global]", "flags []"), ("flags [global]", "flags []"), ("flags [local]", "flags []")])),
    row("legalize_atomics", "unshared: a store to a shared object is plain",
        "breaking: A message in local memory about global memory",
        &["atomic store", "order relaxed"], Words(&[("atomic store i32 signed order relaxed scope device spaces [global]", "store align 4"), ("atomic store i32 signed order relaxed scope work_group spaces [local]", "store align 4"), ("atomic store i32 signed order relaxed scope work_group spaces [global]", "store align 4")])),
    row("legalize_atomics", "unshared: a load of a shared object is plain",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic load", "order relaxed"], Words(&[("atomic load i32 signed order relaxed scope device spaces [global]", "load align 4"), ("atomic load i32 signed order relaxed scope work_group spaces [local]", "load align 4"), ("atomic load i32 signed order relaxed scope work_group spaces [global]", "load align 4")])),
    row("legalize_atomics", "unshared: an acquire load of a shared object is plain",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire"], Words(&[("atomic load i32 signed order acquire scope device spaces [global]", "load align 4"), ("atomic load i32 signed order acquire scope work_group spaces [local]", "load align 4")])),
    row("legalize_atomics", "unshared: a release store to a shared object is plain",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("atomic store i32 signed order release scope device spaces [global]", "store align 4"), ("atomic store i32 signed order release scope work_group spaces [local]", "store align 4")])),
    row("legalize_atomics", "flags: the clearing of a flag is relaxed",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("order release", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "flags: the setting of a flag is relaxed",
        "order: Message passing by a flag",
        &["atomic exchange", "order acquire"], Words(&[("order acquire", "order relaxed"), (" spaces [global]", ""), (" spaces [local]", "")])),
    row("legalize_atomics", "flags: the setting of a flag is a load",
        "order: Message passing by a flag",
        &["atomic exchange", "order acquire"], Words(&[("exchange", "load"), (", i32 1", "")])),
    row("mark_nonprivate_accesses", "R8: no access is non-private",
        "breaking: A relaxed store after a release",
        &[" shared "], Words(&[(" shared ", " ")])),
    row("mark_nonprivate_accesses", "R8: loads are private",
        "breaking: A relaxed store after a release",
        &["= load ", " shared "], Words(&[(" shared ", " ")])),
    row("mark_nonprivate_accesses", "R8: stores are private",
        "breaking: A relaxed store after a release",
        &[" store ", " shared "], Words(&[(" shared ", " ")])),
    row("mark_nonprivate_accesses", "R8: the first access is private",
        "breaking: A relaxed store after a release",
        &[" shared "], First(&Words(&[(" shared ", " ")]))),
    row("mark_nonprivate_accesses", "R8: the first load is private",
        "breaking: A relaxed store after a release",
        &["= load ", " shared "], First(&Words(&[(" shared ", " ")]))),
    row("mark_nonprivate_accesses", "R8: the last load is private",
        "breaking: A relaxed store after a release",
        &["= load ", " shared "], Last(&Words(&[(" shared ", " ")]))),
    row("simplify", "a store moves after the release that follows it",
        "breaking: A message in local memory about global memory",
        &["store align 4", "i32 1"], First(&Down)),
    row("simplify", "a load moves before the branch that it depends on",
        "breaking: A relaxed store after a release",
        &["= load align 4"], First(&Up)),
    row("simplify", "a store is repeated after the release that follows it",
        "breaking: A message in local memory about global memory",
        &["store align 4", "i32 1"], First(&Again)),
    row("dead_block_params", "a plain store is dropped",
        "breaking: A relaxed store after a release",
        &["store align 4", "i32 1"], First(&Drop)),
    row("dead_block_params", "a release store is dropped",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Drop),
    row("dead_block_params", "an acq_rel fence is dropped",
        "a message by acq_rel fences",
        &["fence flags", "acq_rel"], Drop),
    row("dead_block_params", "a seq_cst fence is dropped",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "seq_cst"], Drop),
    row("dead_block_params", "a barrier is dropped",
        "seq_cst stores to local objects, and a barrier for global memory",
        &["barrier work_group"], Drop),
    row("dead_block_params", "a relaxed store is dropped",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic store", "relaxed"], First(&Drop)),
    row("inline_calls", "a release fence moves before the store that precedes it",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order release"], Up),
    row("inline_calls", "an acquire fence moves before the load that precedes it",
        "breaking: A message in local memory about global memory",
        &["fence flags", "order acquire"], Up),
    row("inline_calls", "a seq_cst fence moves after the load that follows it",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order seq_cst"], Down),
    row("inline_calls", "a seq_cst fence moves before the store that precedes it",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["fence flags", "order seq_cst"], Up),
    row("inline_calls", "a release store moves before the store that precedes it",
        "order: Message passing",
        &["atomic store", "order release"], Up),
    row("infer_address_spaces", "a fence for global memory is taken for one for local memory",
        "order: Message passing by fences",
        &["fence flags [global]"], Words(&[("[global]", "[local]")])),
    row("infer_address_spaces", "a fence for local memory is taken for one for global memory",
        "order: Message passing by fences",
        &["fence flags [local]"], Words(&[("[local]", "[global]")])),
    row("if_to_select", "a seq_cst load is taken for an acquire load",
        "breaking: A seq_cst fence mixed with seq_cst operations",
        &["atomic load", "order seq_cst"], Words(&[("seq_cst", "acquire")])),
    row("if_to_select", "a seq_cst store is taken for a release store",
        "breaking: A failing seq_cst compare-exchange",
        &["atomic store", "order seq_cst"], Words(&[("seq_cst", "release")])),
    row("if_to_select", "a seq_cst fence is taken for an acq_rel fence",
        "breaking: A narrow seq_cst fence",
        &["fence", "order seq_cst"], Words(&[("seq_cst", "acq_rel")])),
    row("if_to_select", "an acquire load is taken for a relaxed load",
        "breaking: A relaxed store after a release",
        &["atomic load", "order acquire"], Words(&[("order acquire", "order relaxed")])),
    row("if_to_select", "a release store is taken for a relaxed store",
        "breaking: A relaxed store after a release",
        &["atomic store", "order release"], Words(&[("order release", "order relaxed")])),
    row("simplify", "a load is replaced by the initial value",
        "breaking: A relaxed store after a release",
        &["= load align 4"], Value("add i32 0, i32 0")),
    row("simplify", "the read of a flag is taken from the register of another read",
        "order: Message passing by a flag",
        &["= load align 4"], Last(&Value("add i32 0, i32 1"))),
    row("legalize_atomics", "a load order known at run time is acquire",
        "run_time: Store buffering with an order known at run time",
        &["atomic fetch_or", "order acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", "")])),
    row("legalize_atomics", "a store order known at run time is release",
        "run_time: Store buffering with an order known at run time",
        &["atomic exchange", "order acq_rel"], Statement(&[("exchange", "store"), ("acq_rel", "release")])),
    row("legalize_atomics", "a load order known at run time is relaxed",
        "run_time: Store buffering with an order known at run time",
        &["atomic fetch_or", "order acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "relaxed"), (", i32 0", "")])),
    row("legalize_atomics", "fence flags known at run time are those of local memory",
        "run_time: Message passing with a scope and fences known at run time",
        &["fence", "order acquire"], Words(&[("flags [local, global]", "flags [local]")])),
    row("legalize_atomics", "a fence order known at run time is acquire",
        "run_time: Message passing with a scope and fences known at run time",
        &["order ", "[local, global]"], Words(&[("order release", "order acquire"), ("order acq_rel", "order acquire")])),
    row("legalize_atomics", "a scope known at run time is the sub-group",
        "run_time: Message passing with a scope and fences known at run time",
        &["order ", "[local, global]"], Words(&[("scope device", "scope sub_group")])),
    row("legalize_atomics", "a failure order known at run time is acquire",
        "run_time: Compare-exchange with two orders known at run time",
        &["atomic fetch_or", "acq_rel"], Words(&[("fetch_or", "load"), ("acq_rel", "acquire"), (", i32 0", "")])),
    row("legalize_atomics", "R7: release and acquire operations beside seq_cst operations on local objects order their own memory only",
        "seq_cst stores to local objects, and a flag in global memory",
        &["order ", "[local, global]"], Words(&[("order acquire scope work_group spaces [local, global] %2", "order acquire scope work_group spaces [local] %2"), ("order release scope work_group spaces [local, global] %3", "order release scope work_group spaces [global] %3"), ("order acquire scope work_group spaces [local, global] %3", "order acquire scope work_group spaces [global] %3")])),
    row("legalize_atomics", "R7: fences beside seq_cst operations on local objects order the memory of their flags only",
        "seq_cst stores to local objects, and fences for global memory",
        &["[local, global]"], Words(&[("order acquire scope work_group spaces [local, global] %2", "order acquire scope work_group spaces [local] %2"), ("fence flags [local, global]", "fence flags [global]")])),
    row("legalize_atomics", "R7: a barrier beside seq_cst operations on local objects orders the memory of its flags only",
        "seq_cst stores to local objects, and a barrier for global memory",
        &["[local, global]"], Words(&[("order acquire scope work_group spaces [local, global] %2", "order acquire scope work_group spaces [local] %2"), ("barrier work_group flags [local, global]", "barrier work_group flags [global]")])),
    row("legalize_atomics", "R7: release and acquire operations beside seq_cst operations on global objects order their own memory only",
        "seq_cst stores to global objects, and a flag in local memory",
        &["order ", "[local, global]"], Words(&[("order acquire scope device spaces [local, global] %2", "order acquire scope device spaces [global] %2"), ("order release scope work_group spaces [local, global] %3", "order release scope work_group spaces [local] %3"), ("order acquire scope work_group spaces [local, global] %3", "order acquire scope work_group spaces [local] %3")])),
    row("legalize_atomics", "R7: a barrier beside seq_cst operations on global objects orders the memory of its flags only",
        "seq_cst stores to global objects, and a barrier for local memory",
        &["[local, global]"], Words(&[("order acquire scope device spaces [local, global] %2", "order acquire scope device spaces [global] %2"), ("barrier work_group flags [local, global]", "barrier work_group flags [local]")])),
];

/// The name of a program, its work-items and those of a group, which of its objects are local, and the kernel.
type Row = (&'static str, [u32; 2], &'static [bool], &'static str);

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Row] = &[
    ("a plain load beside a seq_cst load", [2, 1], &[false],
     "kernel void test(global int *result, global int *d) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit((global atomic_int *)d, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            result[1] = *d;
        }
    }"),
    ("seq_cst stores to local objects, and a flag in global memory", [2, 2], &[true, true, false],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y, global atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
            atomic_store_explicit(z, 1, memory_order_release, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_acquire, memory_scope_work_group) == 1) {
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
            }
        }
    }"),
    ("seq_cst stores to local objects, and fences for global memory", [2, 2], &[true, true, false],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y, global atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
            atomic_store_explicit(z, 1, memory_order_relaxed, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_relaxed, memory_scope_work_group) == 1) {
                atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
            }
        }
    }"),
    ("seq_cst stores to local objects, and a barrier for global memory", [2, 2], &[true, true],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
        }
    }"),
    ("seq_cst stores to global objects, and a flag in local memory", [2, 2], &[false, false, true],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y, local atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(z, 1, memory_order_release, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_acquire, memory_scope_work_group) == 1) {
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
            }
        }
    }"),
    ("seq_cst stores to global objects, and a barrier for local memory", [2, 2], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
        }
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
        }
    }"),
    ("a message by acq_rel fences", [2, 2], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(x, memory_order_relaxed, memory_scope_device) == 1) {
                atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
                result[0] = *d;
            }
        }
    }"),
    ("a message through a barrier", [2, 2], &[false],
     "kernel void test(global int *result, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            result[0] = *d;
        }
    }"),
    ("store buffering by additions", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            atomic_fetch_add_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            result[0] = atomic_fetch_add_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            atomic_fetch_add_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
            result[1] = atomic_fetch_add_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
        }
    }"),
    ("a message by acq_rel additions", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            if (atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device) == 1) result[0] = *d;
        }
    }"),
    ("store buffering by compare-exchanges that succeed", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            int r = 0;
            atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            {
                int r = 0;
                atomic_compare_exchange_strong_explicit(y, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
                result[0] = r;
            }
        }
        if (get_global_id(0) == 1) {
            int r = 0;
            atomic_compare_exchange_strong_explicit(y, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            {
                int r = 0;
                atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
                result[1] = r;
            }
        }
    }"),
    ("a message to a compare-exchange that succeeds", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            int r = 1;
            atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            if (r == 1) result[1] = *d;
        }
    }"),
    ("a release store between two seq_cst operations", [4, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_exchange_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            result[1] = atomic_exchange_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(x, 2, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 2) {
            atomic_store_explicit(x, 3, memory_order_release, memory_scope_device);
        }
        if (get_global_id(0) == 3) {
            atomic_store_explicit(y, 3, memory_order_release, memory_scope_device);
        }
    }"),
];

//! Forward progress of small programs.

use super::{Finding, Progress, Scheduler, State, study};
use crate::{
    explore::{Model, Options},
    text::VulkanTest,
};

/// The work-items of two groups.
const GROUPS: &str = "P0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0";

fn each_level(scheduler: Scheduler) -> Progress {
    Progress { groups: scheduler, sub_groups: scheduler, items: scheduler }
}

/// The findings for a program of two work-items, if all levels have the same scheduler.
fn findings(heads: &str, rows: &str) -> Vec<Finding> {
    let text = format!("VULKAN test\n{{ x=0; y=0; }}\n {heads} ;\n {rows}\nexists (x == 0)");
    let test = VulkanTest::read_for_progress(&text).expect("a test");
    let schedulers = Scheduler::ALL.map(each_level);
    study(&test.skeletons[0], Model::Vulkan, &schedulers, Options::default()).expect("few executions")
}

/// The schedulers under which every run ends.
fn ending(heads: &str, rows: &str) -> Vec<Scheduler> {
    let findings = findings(heads, rows);
    let each = Scheduler::ALL.into_iter().zip(findings);
    each.filter(|(_, finding)| *finding == Finding::Ends).map(|(scheduler, _)| scheduler).collect()
}

use Scheduler::{Fair, First, FirstAndOccupant, Linear, Occupant, Unfair};

#[test]
fn a_later_work_item_can_wait_for_an_earlier_one() {
    let rows = "st.atom.dv.sc0 x, 1 | LC00: ;\n | ld.atom.dv.sc0 r0, x ;\n | beq r0, 0, LC00 ;";
    assert_eq!(ending(GROUPS, rows), [Fair, Linear, FirstAndOccupant, First]);
    let found = findings(GROUPS, rows);
    let Finding::Stuck(stuck) = &found[3] else { panic!("{found:?}") };
    assert_eq!(stuck.states, [State::NotStarted, State::Spins(0)]);
}

#[test]
fn an_earlier_work_item_cannot_wait_for_a_later_one() {
    let rows = "LC00: | st.atom.dv.sc0 x, 1 ;\n ld.atom.dv.sc0 r0, x | ;\n beq r0, 0, LC00 | ;";
    assert_eq!(ending(GROUPS, rows), [Fair]);
}

#[test]
fn a_lock_needs_the_work_items_that_have_started() {
    // Each work-item takes the lock and releases it. Only one that has started can hold it.
    let take = |label: &str| {
        [format!("{label}:"), "rmw.atom.dv.sc0 r0, x, 1".to_owned(), format!("bne r0, 0, {label}")]
    };
    let rows: Vec<String> = take("LC00")
        .iter()
        .zip(&take("LC01"))
        .map(|(a, b)| format!("{a} | {b} ;\n"))
        .chain(["st.atom.dv.sc0 x, 0 | st.atom.dv.sc0 x, 0 ;".to_owned()])
        .collect();
    assert_eq!(ending(GROUPS, &rows.concat()), [Fair, Linear, FirstAndOccupant, Occupant]);
}

#[test]
fn a_loop_without_a_writer_never_ends() {
    assert_eq!(
        ending(GROUPS, "LC00: | st.atom.dv.sc0 y, 1 ;\n ld.atom.dv.sc0 r0, x | ;\n beq r0, 0, LC00 | ;"),
        []
    );
    // Each waits for the other.
    let rows = "LC00: | LC01: ;\n ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y ;\n \
                beq r0, 0, LC00 | beq r0, 0, LC01 ;\n st.atom.dv.sc0 y, 1 | st.atom.dv.sc0 x, 1 ;";
    assert_eq!(ending(GROUPS, rows), []);
}

#[test]
fn a_repeated_loop_sees_the_last_write() {
    // The loop ends at 1 only. The last value can be 1 or 2, so it may not end.
    let rows =
        "st.atom.dv.sc0 x, 1 | LC00: ;\n st.atom.dv.sc0 x, 2 | ld.atom.dv.sc0 r0, x ;\n | bne r0, 1, LC00 ;";
    assert_eq!(ending(GROUPS, rows), []);
    let rows =
        "st.atom.dv.sc0 x, 2 | LC00: ;\n st.atom.dv.sc0 x, 1 | ld.atom.dv.sc0 r0, x ;\n | bne r0, 1, LC00 ;";
    assert_eq!(ending(GROUPS, rows), [Fair, Linear, FirstAndOccupant, First]);
}

#[test]
fn work_items_wait_at_barriers() {
    let group = "P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0";
    let barrier = "cbar.acq_rel.wg.semsc0 0";
    let found = findings(group, &format!("{barrier} | st.atom.dv.sc0 x, 1 ;"));
    let Finding::Stuck(stuck) = &found[0] else { panic!("{found:?}") };
    assert_eq!(stuck.states, [State::Waits(0), State::Done]);
    // Each work-group has its own barriers. Work-items that wait leave the processor to the others.
    assert_eq!(ending(GROUPS, &format!("{barrier} | st.atom.dv.sc0 x, 1 ;")), Scheduler::ALL);
    assert_eq!(ending(group, &format!("{barrier} | {barrier} ;")), Scheduler::ALL);
}

#[test]
fn loops_that_change_something_are_cut() {
    let rows =
        "LC00: | st.atom.dv.sc0 x, 1 ;\n ld.atom.dv.sc0 r0, x | ;\n add r1, r1, 1 | ;\n beq r0, 0, LC00 | ;";
    assert_eq!(findings(GROUPS, rows)[0], Finding::Unknown);
}

/// The work-items of a group can be scheduled in a different way from the groups.
#[test]
fn each_level_has_a_scheduler() {
    let heads = "P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0";
    let text = |heads: &str| {
        format!(
            "VULKAN test\n{{ x=0; }}\n {heads} ;\n LC00: | st.atom.dv.sc0 x, 1 ;\n ld.atom.dv.sc0 r0, x | ;\n \
             beq r0, 0, LC00 | ;\nexists (x == 1)"
        )
    };
    let unfair = [
        Progress { groups: Unfair, ..Progress::default() },
        Progress { sub_groups: Unfair, ..Progress::default() },
        Progress { items: Unfair, ..Progress::default() },
    ];
    let ends = |heads: &str| {
        let test = VulkanTest::read_for_progress(&text(heads)).expect("a test");
        let found =
            study(&test.skeletons[0], Model::Vulkan, &unfair, Options::default()).expect("few executions");
        found.iter().map(|it| *it == Finding::Ends).collect::<Vec<_>>()
    };
    assert_eq!(ends(GROUPS), [false, true, true]);
    assert_eq!(ends(heads), [true, false, true]);
    assert_eq!(ends("P0@sg 0, wg 0, qf 0 | P1@sg 0, wg 0, qf 0"), [true, true, false]);
}

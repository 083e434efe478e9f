//! Litmus tests for Vulkan as text, in the formats of Dat3M and of Khronos.
//!
//! A test is a program for each work-item, which runs for all values that its reads can return.

mod condition;
mod khronos;
mod program;
mod vulkan;

pub use condition::{Condition, Quantifier};
pub use khronos::{Assertion, Khronos};
pub use vulkan::VulkanTest;

use crate::event::{scope, semantics};

/// The storage class that a test calls `sc0` to `sc3`, as its bit in masks of semantics.
fn storage_class(number: u32) -> Option<u32> {
    [
        semantics::UNIFORM_MEMORY,
        semantics::WORKGROUP_MEMORY,
        semantics::IMAGE_MEMORY,
        semantics::ATOMIC_COUNTER_MEMORY,
    ]
    .get(number as usize)
    .copied()
}

/// The parsed words of an instruction, such as `ld.atom.acq.wg.sc0.semsc0`, in either format.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    reads: bool,
    writes: bool,
    is_atomic: bool,
    is_shared: bool,
    is_coherent: bool,
    acquires: bool,
    releases: bool,
    scope: Option<u32>,
    class: u32,
    /// The storage classes, MakeAvailable and MakeVisible.
    semantics: u32,
}

impl Words {
    /// The order and the other semantics.
    fn mask(self) -> u32 {
        let order = match (self.acquires, self.releases) {
            (true, true) => semantics::ACQUIRE_RELEASE,
            (true, false) => semantics::ACQUIRE,
            (false, true) => semantics::RELEASE,
            (false, false) => 0,
        };
        order | self.semantics
    }

    /// Adds a word. Returns whether it is known.
    fn add(&mut self, word: &str) -> bool {
        match word {
            "ld" => self.reads = true,
            "st" => self.writes = true,
            "rmw" => (self.reads, self.writes, self.is_atomic) = (true, true, true),
            "atom" => self.is_atomic = true,
            "nonpriv" => self.is_shared = true,
            "av" | "vis" => self.is_coherent = true,
            "acq" => self.acquires = true,
            "rel" => self.releases = true,
            "acq_rel" => (self.acquires, self.releases) = (true, true),
            "sg" | "scopesg" => self.scope = Some(scope::SUBGROUP),
            "wg" | "scopewg" => self.scope = Some(scope::WORKGROUP),
            "qf" | "scopeqf" => self.scope = Some(scope::QUEUE_FAMILY),
            "dv" | "scopedev" => self.scope = Some(scope::DEVICE),
            "semav" => self.semantics |= semantics::MAKE_AVAILABLE,
            "semvis" => self.semantics |= semantics::MAKE_VISIBLE,
            "membar" | "cbar" => {}
            _ => {
                let number = |prefix: &str| word.strip_prefix(prefix)?.parse().ok().and_then(storage_class);
                match (number("semsc"), number("sc")) {
                    (Some(class), _) => self.semantics |= class,
                    (None, Some(class)) => self.class = class,
                    (None, None) => return false,
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Model, Options};

    /// Whether the condition of a test is true, and whether it has a data race.
    fn verdict(text: &str) -> (bool, bool) {
        let test = VulkanTest::read(text).expect("a test");
        let found = test.explore(Model::Vulkan, Options::default(), &|_| false).expect("few executions");
        let condition = test.condition.as_ref().expect("a condition");
        let holds = |outcome: &Vec<u64>| {
            condition.is_satisfied(&|name| test.value(outcome, name)).expect("a condition with known names")
        };
        (condition.verdict(found.allowed.keys().map(holds)), !found.racing.is_empty())
    }

    /// A message whose flag is stored and loaded with these words.
    fn message(store: &str, load: &str, condition: &str) -> (bool, bool) {
        verdict(&format!(
            "VULKAN message\n{{ x=0; y=0; P1:r1=7; }}\n P0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0 ;\n \
             st.av.dv.sc0 x, 1 | {load} r0, y ;\n {store} y, 1 | beq r0, 0, LC00 ;\n  | ld.vis.dv.sc0 r1, x ;\n  \
             | LC00: ;\n{condition}"
        ))
    }

    #[test]
    fn a_message_of_two_work_groups() {
        let (store, load) = ("st.atom.rel.dv.sc0.semsc0", "ld.atom.acq.dv.sc0.semsc0");
        let old = "exists (P1:r0 == 1 /\\ P1:r1 == 0)";
        assert_eq!(message(store, load, old), (false, false));
        assert_eq!(message(store, load, "forall (P1:r0 == 0 \\/ P1:r1 == 1)"), (true, false));
        assert_eq!(message(store, load, "~exists (P1:r0 == 0 /\\ P1:r1 != 7)"), (true, false));
        // Without the order, with a narrower scope, or for other memory, nothing orders the data.
        assert_eq!(message("st.atom.dv.sc0", load, old), (true, true));
        assert_eq!(message("st.atom.rel.wg.sc0.semsc0", "ld.atom.acq.wg.sc0.semsc0", old), (true, true));
        assert_eq!(message("st.atom.rel.dv.sc0.semsc1", load, old), (true, true));
    }

    #[test]
    fn each_work_item_gets_a_ticket() {
        let ticket = "rmw.atom.dv.sc0.add r0, x, 1";
        let both = |condition: &str| {
            verdict(&format!(
                "VULKAN ticket\n{{ x=3; }}\n P0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0 ;\n {ticket} | {ticket} ;\n{condition}"
            ))
        };
        assert_eq!(both("exists (P0:r0 == P1:r0)"), (false, false));
        assert_eq!(both("forall (x == 5)"), (true, false));
    }

    /// A barrier with a quorum of two of three work-items can end before the third arrives.
    #[test]
    fn a_barrier_can_end_before_late_work_items_arrive() {
        let test = |quorum: u32, condition: &str| {
            let barrier = format!("cbar.acq_rel.dv.semsc0 1, 1, {quorum}");
            verdict(&format!(
                "VULKAN quorum\n{{ x=0; }}\n P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 | P2@sg 2, wg 0, qf 0 ;\n \
                 st.av.dv.sc0 x, 1 | {barrier} | {barrier} ;\n {barrier} | ld.vis.dv.sc0 r0, x | ;\n{condition}"
            ))
        };
        assert_eq!(test(3, "exists (P1:r0 == 0)"), (false, false));
        assert_eq!(test(2, "exists (P1:r0 == 0)"), (true, true));
        // The second arrival ends the barrier.
        assert_eq!(test(2, "exists (P1:r0 == 1)"), (true, true));
        assert_eq!(test(4, "exists (P1:r0 == 0)"), (false, false));
    }

    #[test]
    fn khronos_assertions_are_about_races() {
        let test = |order: &str| {
            let text = format!(
                "NEWWG\nNEWSG\nNEWTHREAD 0\nst.sc0 x = 1\nNEWSG\nNEWTHREAD 1\navdevice\nvisdevice\nNEWSG\nNEWTHREAD 2\n\
                 ld.sc1 y\nSSW 0 1\n{order}\nSLOC x y\nSATISFIABLE consistent[X] && #dr=0\nNOSOLUTION consistent[X] && #dr>0\n"
            );
            let test = Khronos::read(&text).expect("a test");
            test.assertions.iter().map(|it| test.holds(it).expect("few executions")).collect::<Vec<_>>()
        };
        assert_eq!(test("SSW 1 2"), [true, true]);
        assert_eq!(test(""), [false, false]);
    }

    #[test]
    fn unknown_syntax_is_an_error() {
        let test = |code: &str| {
            VulkanTest::read(&format!("VULKAN a\n{{ }}\n P0@sg 0, wg 0, qf 0 ;\n {code} ;\nexists (x == 1)"))
        };
        for code in ["ld.atom.what.sc0 r0, x", "st.sc0 x", "goto LC9", "rmw.atom.dv.sc0 r0, x, y"] {
            assert!(test(code).is_err(), "{code}");
        }
        assert!(Khronos::read("NEWTHREAD\nld.atom.sc9 x").is_err());
    }
}

//! The order of blocks and definitions (SPIR-V 2.16.1), and structured control flow (SPIR-V 2.11).
//!
//! Constructs are identified by their headers: a block is in the innermost construct whose header structurally dominates the
//! block, and whose merge block does not.

use rspirv::{
    grammar::reflect,
    spirv::{Capability, Op, Word},
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{
    Context, Finding, Rule,
    extended::Sets,
    graph::{Dominators, Graph},
    module::{Entry, Function, Module},
    operand::Operand,
    structure::{DEFINED, branch_targets},
};

pub(super) const RULES: &[Rule] =
    &[DOMINANCE, BLOCK_ORDER, PHI, PHI_FORM, MERGE_ONCE, HEADER, BACK_EDGE, CONTINUE, SELECTION, CONSTRUCT];

const DOMINANCE: Rule = Rule {
    id: "SPIRV-dominance",
    text: "the block that defines an id dominates the blocks that use it; for OpPhi, it dominates the parent",
};
const BLOCK_ORDER: Rule =
    Rule { id: "SPIRV-block-order", text: "a block comes before the blocks that it dominates" };
const PHI: Rule = Rule {
    id: "SPIRV-OpPhi",
    text: "the parents of OpPhi are the predecessors of its block, and a parent has one value",
};
const PHI_FORM: Rule =
    Rule { id: "SPIRV-OpPhi-form", text: "OpPhi is at the beginning of its block, and has each parent once" };
const MERGE_ONCE: Rule =
    Rule { id: "SPIRV-merge-block", text: "a block is the merge block of at most one header" };
const HEADER: Rule = Rule {
    id: "SPIRV-construct-header",
    text: "a header strictly structurally dominates its merge block, and structurally dominates its continue target, which \
           is another block",
};
const BACK_EDGE: Rule = Rule {
    id: "SPIRV-back-edge",
    text: "back edges go to loop headers, and each loop header has exactly one",
};
const CONTINUE: Rule = Rule {
    id: "SPIRV-continue-target",
    text: "a continue target structurally dominates its back-edge block, which structurally post-dominates it",
};
const SELECTION: Rule = Rule {
    id: "SPIRV-selection",
    text: "a merge instruction precedes OpSwitch, and a conditional branch to two blocks of its construct",
};
const CONSTRUCT: Rule = Rule {
    id: "SPIRV-construct",
    text: "branches enter a construct only through its header, and leave it only for its merge block, the merge block \
           of the innermost loop or switch, the continue target, or, from the back-edge block, the loop header",
};

/// Checks the functions of a module that follows the rules of `structure`.
pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    for function in module.functions {
        let Some(body) = Body::new(module, function) else { continue };
        let graph = Graph::new(body.blocks.len(), &body.edges);
        let predecessors = graph.reversed();
        let dominators = Dominators::new(&predecessors, &graph.traverse().0);
        check_order(&body, &dominators, findings);
        check_definitions(&body, &dominators, &context.sets, findings);
        check_phis(&body, &predecessors, findings);
        if module.has(Capability::Shader) {
            check_constructs(&body, findings);
        }
    }
}

/// The blocks of a function.
struct Body<'m> {
    module: &'m Module<'m>,
    function: &'m Function,
    blocks: Vec<Block>,
    /// The number of labels before the function.
    before: u32,
    /// The branches, in the order of their blocks.
    edges: Vec<(u32, u32)>,
}

/// A block, as indices of entries of the module.
struct Block {
    label: usize,
    end: usize,
    merge: Option<Merge>,
}

/// A merge instruction.
#[derive(Clone, Copy)]
struct Merge {
    block: u32,
    /// The continue target of a loop.
    continue_target: Option<u32>,
    is_switch: bool,
}

impl<'m> Body<'m> {
    /// `None` for a function without blocks.
    fn new(module: &'m Module<'m>, function: &'m Function) -> Option<Self> {
        let entries = module.body(function);
        let first = entries.iter().position(|entry| entry.op() == Op::Label)?;
        let before = entries[first].block - 1;
        let mut body = Self { module, function, blocks: Vec::new(), before, edges: Vec::new() };
        let mut label = 0;
        for (index, entry) in entries.iter().enumerate().skip(first) {
            let at = function.entries.start + index;
            match entry.op() {
                Op::Label => label = at,
                op if reflect::is_block_terminator(op) => {
                    let number = body.blocks.len() as u32;
                    for target in branch_targets(entry) {
                        body.edges.extend(body.block(target).map(|target| (number, target)));
                    }
                    let merge = body.merge(&entries[index - 1], op);
                    body.blocks.push(Block { label, end: at, merge });
                }
                _ => {}
            }
        }
        Some(body)
    }

    /// The number of a block of this function.
    fn block(&self, label: Word) -> Option<u32> {
        let at = self.module.definition_index(label).filter(|at| self.function.entries.contains(at))?;
        let entry = &self.module.entries[at];
        (entry.op() == Op::Label).then(|| entry.block - self.before - 1)
    }

    fn merge(&self, entry: &Entry<'_>, terminator: Op) -> Option<Merge> {
        let target = |index| entry.id(index).and_then(|label| self.block(label));
        match entry.op() {
            Op::SelectionMerge => {
                Some(Merge { block: target(0)?, continue_target: None, is_switch: terminator == Op::Switch })
            }
            Op::LoopMerge => {
                Some(Merge { block: target(0)?, continue_target: Some(target(1)?), is_switch: false })
            }
            _ => None,
        }
    }

    fn has_branch(&self, (from, to): (u32, u32)) -> bool {
        let first = self.edges.partition_point(|edge| edge.0 < from);
        self.edges[first..].iter().take_while(|edge| edge.0 == from).any(|edge| edge.1 == to)
    }

    fn terminator(&self, block: u32) -> &Entry<'m> {
        &self.module.entries[self.blocks[block as usize].end]
    }

    fn name(&self, block: u32) -> String {
        let label = &self.module.entries[self.blocks[block as usize].label];
        self.module.name(label.result_id.unwrap_or(0))
    }

    fn report(&self, block: u32, rule: &Rule, message: String, findings: &mut Vec<Finding>) {
        findings.push(self.terminator(block).finding(rule, message));
    }
}

fn check_order(body: &Body<'_>, dominators: &Dominators, findings: &mut Vec<Finding>) {
    for block in 0..body.blocks.len() as u32 {
        if let Some(parent) = dominators.parent(block).filter(|parent| *parent > block) {
            let label = &body.module.entries[body.blocks[block as usize].label];
            let message = format!("{}, which dominates this block, comes later", body.name(parent));
            findings.push(label.finding(&BLOCK_ORDER, message));
        }
    }
}

/// Checks that definitions dominate their uses. `structure` has checked uses in the block of the definition.
fn check_definitions(body: &Body<'_>, dominators: &Dominators, sets: &Sets, findings: &mut Vec<Finding>) {
    let module = body.module;
    let globals = module.preamble().len();
    let first = body.blocks[0].label;
    for (number, block) in body.blocks.iter().enumerate() {
        for entry in &module.entries[block.label + 1..=block.end] {
            let known = sets.known_ids(entry);
            for (position, operand) in entry.operands().iter().enumerate().take(known) {
                let Some(id) = operand.id() else { continue };
                let Some(at) = module.definition_index(id).filter(|at| *at >= globals) else { continue };
                let definition = &module.entries[at];
                if matches!(definition.op(), Op::Label | Op::Function) {
                    continue;
                }
                if !body.function.entries.contains(&at) {
                    let message = format!("{} is defined in another function", module.name(id));
                    findings.push(entry.finding(&DEFINED, message));
                    continue;
                }
                let user = match entry.op() {
                    Op::Phi => entry.id(position + 1).and_then(|label| body.block(label)),
                    _ => Some(number as u32),
                };
                let Some(user) = user.filter(|user| at > first && dominators.reaches(*user)) else {
                    continue;
                };
                let definer = definition.block - body.before - 1;
                if definer != user && !dominators.dominates(definer, user) {
                    let (id, definer) = (module.name(id), body.name(definer));
                    let message =
                        format!("{id} is defined in block {definer}, which does not dominate its use");
                    findings.push(entry.finding(&DOMINANCE, message));
                }
            }
        }
    }
}

fn check_phis(body: &Body<'_>, predecessors: &Graph, findings: &mut Vec<Finding>) {
    for (number, block) in body.blocks.iter().enumerate() {
        let mut is_leading = true;
        for entry in &body.module.entries[block.label + 1..block.end] {
            match entry.op() {
                Op::Phi => {
                    if !is_leading {
                        findings.push(entry.finding(&PHI_FORM, "another instruction precedes it"));
                    }
                    check_parents(body, predecessors.successors(number as u32), entry, findings);
                }
                Op::Line | Op::NoLine => {}
                _ => is_leading = false,
            }
        }
    }
}

fn check_parents(body: &Body<'_>, predecessors: &[u32], phi: &Entry<'_>, findings: &mut Vec<Finding>) {
    let mut expected: SmallVec<[Option<u32>; 4]> = predecessors.iter().copied().map(Some).collect();
    expected.sort_unstable();
    expected.dedup();
    let pairs = phi.operands().chunks(2).map(|pair| match pair {
        [Operand::IdRef(value), Operand::IdRef(parent)] => (body.block(*parent), *value),
        _ => (None, 0),
    });
    let mut parents: SmallVec<[(Option<u32>, Word); 4]> = pairs.collect();
    parents.sort_unstable();
    let count = parents.len();
    parents.dedup();
    if !parents.iter().map(|(parent, _)| parent).eq(&expected) {
        findings.push(phi.finding(&PHI, "its parents are not the predecessors of its block"));
    } else if parents.len() < count {
        findings.push(phi.finding(&PHI_FORM, "a parent is repeated"));
    }
}

/// A construct: a selection, a loop, or the continue construct of a loop.
struct Construct {
    outer: Option<usize>,
    header: u32,
    merge: Merge,
    is_continue: bool,
}

/// Constructs, and the innermost one around each block.
#[derive(Default)]
struct Constructs {
    all: Vec<Construct>,
    /// The construct around each block. A header is around its construct, not in it.
    around: Vec<Option<usize>>,
    /// The construct that the successors of each block are in.
    below: Vec<Option<usize>>,
}

fn check_constructs(body: &Body<'_>, findings: &mut Vec<Finding>) {
    let mut edges = Vec::with_capacity(body.edges.len() + body.blocks.len());
    let mut branches = body.edges.iter().peekable();
    for (number, block) in body.blocks.iter().enumerate() {
        let number = number as u32;
        let merge = block.merge.iter().flat_map(|merge| [Some(merge.block), merge.continue_target]);
        edges.extend(merge.flatten().map(|target| (number, target)));
        while let Some(edge) = branches.next_if(|(from, _)| *from == number) {
            edges.push(*edge);
        }
    }
    let graph = Graph::new(body.blocks.len(), &edges);
    let (postorder, back_edges) = graph.traverse();
    let dominators = Dominators::new(&graph.reversed(), &postorder);
    let count = findings.len();
    check_headers(body, &dominators, findings);
    check_loops(body, &graph, &dominators, back_edges, findings);
    if findings.len() == count {
        let constructs = Constructs::collect(body, &dominators, &postorder);
        check_branches(body, &constructs, &dominators, findings);
    }
}

fn check_headers(body: &Body<'_>, dominators: &Dominators, findings: &mut Vec<Finding>) {
    let mut is_merge = vec![false; body.blocks.len()];
    for (number, block) in body.blocks.iter().enumerate() {
        let (number, Some(merge)) = (number as u32, block.merge) else { continue };
        if std::mem::replace(&mut is_merge[merge.block as usize], true) {
            let message = format!("{} is the merge block of two headers", body.name(merge.block));
            body.report(number, &MERGE_ONCE, message, findings);
        }
        if !dominators.reaches(number) {
            continue;
        }
        if merge.block == number || !dominators.dominates(number, merge.block) {
            let message = format!("this block does not dominate its merge block {}", body.name(merge.block));
            body.report(number, &HEADER, message, findings);
        }
        if merge.continue_target == Some(merge.block) {
            let message = "the merge block is also the continue target".to_owned();
            body.report(number, &HEADER, message, findings);
        } else if let Some(target) = merge.continue_target
            && !dominators.dominates(number, target)
        {
            let message = format!("this block does not dominate its continue target {}", body.name(target));
            body.report(number, &HEADER, message, findings);
        }
    }
}

fn check_loops(
    body: &Body<'_>,
    graph: &Graph,
    dominators: &Dominators,
    mut back_edges: Vec<(u32, u32)>,
    findings: &mut Vec<Finding>,
) {
    // A header that is its own continue target needs a branch to itself, too.
    back_edges.retain(|edge| body.has_branch(*edge));
    back_edges.sort_unstable();
    back_edges.dedup();
    let mut counts = vec![0; body.blocks.len()];
    for (from, to) in back_edges {
        counts[to as usize] += 1;
        let merge = body.blocks[to as usize].merge;
        let Some(target) = merge.and_then(|merge| merge.continue_target) else {
            let message = format!("a back edge leads to {}, which is not a loop header", body.name(to));
            body.report(from, &BACK_EDGE, message, findings);
            continue;
        };
        if !dominators.dominates(target, from) {
            let message = format!("the continue target {} does not dominate this block", body.name(target));
            body.report(from, &CONTINUE, message, findings);
        } else if !always_reaches(graph, dominators, target, from) {
            let message = format!("a path from the continue target {} avoids this block", body.name(target));
            body.report(from, &CONTINUE, message, findings);
        }
    }
    for (number, block) in body.blocks.iter().enumerate() {
        let is_loop = block.merge.is_some_and(|merge| merge.continue_target.is_some());
        if is_loop && counts[number] != 1 && dominators.reaches(number as u32) {
            let message = format!("{} back edges lead to this block", counts[number]);
            body.report(number as u32, &BACK_EDGE, message, findings);
        }
    }
}

/// Whether every path from a block leads through another, before it leaves the blocks that the first one dominates.
fn always_reaches(graph: &Graph, dominators: &Dominators, from: u32, through: u32) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), vec![from]);
    while let Some(block) = open.pop() {
        if block == through || !seen.insert(block) {
            continue;
        }
        if !dominators.dominates(from, block) || graph.successors(block).is_empty() {
            return false;
        }
        open.extend(graph.successors(block));
    }
    true
}

impl Constructs {
    fn collect(body: &Body<'_>, dominators: &Dominators, postorder: &[u32]) -> Self {
        let count = body.blocks.len();
        let mut this = Self { all: Vec::new(), around: vec![None; count], below: vec![None; count] };
        // A block comes after its dominators.
        for &block in postorder.iter().rev() {
            this.add(body, dominators, block);
        }
        this
    }

    fn add(&mut self, body: &Body<'_>, dominators: &Dominators, block: u32) {
        let at = block as usize;
        if let Some(parent) = dominators.parent(block) {
            let merge = body.blocks[parent as usize].merge;
            self.around[at] = match merge {
                Some(merge) if merge.block == block => self.around[parent as usize],
                Some(merge) if merge.continue_target == Some(block) => {
                    let outer = self.around[parent as usize];
                    Some(self.open(Construct { outer, header: parent, merge, is_continue: true }))
                }
                _ => self.below[parent as usize],
            };
        }
        self.below[at] = match body.blocks[at].merge {
            Some(merge) => {
                let outer = self.around[at];
                Some(self.open(Construct { outer, header: block, merge, is_continue: false }))
            }
            None => self.around[at],
        };
    }

    fn open(&mut self, construct: Construct) -> usize {
        self.all.push(construct);
        self.all.len() - 1
    }

    fn is_continue_target(&self, block: u32) -> bool {
        self.around[block as usize].is_some_and(|at| {
            let Construct { merge, is_continue, .. } = &self.all[at];
            *is_continue && merge.continue_target == Some(block)
        })
    }

    /// Whether a branch from inside a construct to a block is one of the exits of constructs.
    fn is_exit(&self, construct: Option<usize>, to: u32) -> bool {
        let mut next = construct;
        let mut may_be_switch = true;
        let mut is_first = true;
        while let Some(at) = next {
            let Construct { outer, header, merge, is_continue } = &self.all[at];
            if let Some(target) = merge.continue_target {
                // A continue construct branches back to its header. `check_loops` has checked that only its last block does.
                return to == merge.block || if *is_continue { to == *header } else { to == target };
            }
            if to == merge.block {
                return is_first || merge.is_switch && may_be_switch;
            }
            may_be_switch &= !merge.is_switch;
            is_first = false;
            next = *outer;
        }
        false
    }
}

fn check_branches(
    body: &Body<'_>,
    constructs: &Constructs,
    dominators: &Dominators,
    findings: &mut Vec<Finding>,
) {
    let mut edges = body.edges.iter().copied().peekable();
    for (number, block) in body.blocks.iter().enumerate() {
        let from = number as u32;
        // The successors that are in the same construct.
        let mut inside = Vec::new();
        while let Some((_, to)) = edges.next_if(|edge| edge.0 == from) {
            let (source, target) = (constructs.below[number], constructs.around[to as usize]);
            if !dominators.reaches(from) {
                // Blocks that are not reached are in no construct.
                if constructs.is_continue_target(to) {
                    let message = format!("the continue target {} is in another construct", body.name(to));
                    body.report(from, &CONSTRUCT, message, findings);
                }
                continue;
            }
            if constructs.is_exit(source, to) {
                continue;
            }
            if source == target {
                inside.push(to);
            } else {
                let message = format!("the branch to {} enters or leaves a construct", body.name(to));
                body.report(from, &CONSTRUCT, message, findings);
            }
        }
        inside.sort_unstable();
        inside.dedup();
        let is_switch = body.terminator(from).op() == Op::Switch;
        if block.merge.is_none() && (inside.len() > 1 || is_switch) && dominators.reaches(from) {
            body.report(from, &SELECTION, "no merge instruction precedes it".to_owned(), findings);
        }
    }
}

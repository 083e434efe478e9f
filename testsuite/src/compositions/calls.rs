//! Functions with pointers to two objects, at several positions, and the calls of them. Every work-item uses its own elements.

use super::{Generator, ITEMS};
use crate::programs::dice::Dice;

/// The elements of a local array that belong to one work-item.
const OWN: usize = 4;

impl Generator {
    /// Functions with two pointers to private or to local objects.
    pub(super) fn functions_with_pointers(&mut self) {
        for space in ["private", "local"] {
            self.open(format!("void pair_{space}({space} uint *p, {space} uint *q, uint count) {{"));
            self.open("for (uint i = 0; i < count; ++i) {");
            self.line("p[i] = mix(p[i], q[i]);");
            self.line("q[i] ^= p[i] >> 3;");
            self.close("}");
            self.close("}");
        }
        if !self.has_wide {
            return;
        }
        // The caller's object is an array of a different type.
        self.open("void halves(private ulong *w, private uint *p) {");
        self.line("pair_private((private uint *)w, p, 2);");
        self.line("w[0] = w[0] * 3 + *p;");
        self.close("}");
    }

    /// Calls of these functions with objects of several sizes and types.
    pub(super) fn call_functions_with_pointers(&mut self, dice: &mut Dice) {
        let sizes: [usize; 3] = [0, 1, 2].map(|_| 3 + dice.below(9));
        let [a, b, c] = sizes;
        self.line(format!("uint a[{a}], b[{b}], c[{c}];"));
        let rest = dice.below(3);
        for (name, extra) in [("x", 0), ("y", rest)] {
            self.line(format!("local uint {name}[{}];", OWN * ITEMS + extra));
        }
        for (name, size) in ["a", "b", "c"].into_iter().zip(sizes) {
            self.line(format!("for (uint i = 0; i < {size}; ++i) {name}[i] = mix(gid, i);"));
        }
        self.line(format!(
            "for (uint i = 0; i < {OWN}; ++i) x[lid * {OWN} + i] = mix(y[lid * {OWN} + i] = i, gid);"
        ));
        for _ in 0..3 + dice.below(4) {
            let call = if dice.one_in(3) { local_call(dice) } else { private_call(dice, sizes) };
            self.line(call);
        }
        if self.has_wide {
            self.line("ulong w[3];");
            self.line("for (uint i = 0; i < 3; ++i) w[i] = mix(gid, ~i);");
            self.line("halves(w + (gid & 1), a + 1);");
            self.line("for (uint i = 0; i < 3; ++i) h = mix_wide(h, w[i]);");
        }
        for (name, size) in ["a", "b", "c"].into_iter().zip(sizes) {
            self.line(format!("for (uint i = 0; i < {size}; ++i) h = mix(h, {name}[i]);"));
        }
        self.line(format!(
            "for (uint i = 0; i < {OWN}; ++i) h = mix(mix(h, x[lid * {OWN} + i]), y[lid * {OWN} + i]);"
        ));
    }
}

/// A call with two of the private arrays, or with two parts of one.
fn private_call(dice: &mut Dice, sizes: [usize; 3]) -> String {
    let names = ["a", "b", "c"];
    let first = dice.below(3);
    let other = (first + 1 + dice.below(2)) % 3;
    let mut position = |index: usize| {
        let start = dice.below(sizes[index] - 1);
        if start > 0 && dice.one_in(2) { format!("gid % {}", start + 1) } else { start.to_string() }
    };
    let (p, q) = (position(first), position(other));
    format!("pair_private({} + {p}, {} + {q}, 2);", names[first], names[other])
}

/// A call with the work-item's parts of the local arrays.
fn local_call(dice: &mut Dice) -> String {
    let (p, q) = if dice.one_in(2) { ("x", "y") } else { ("y", "x") };
    let [from, to] = [0, 1].map(|_| dice.below(OWN - 1));
    format!("pair_local({p} + lid * {OWN} + {from}, {q} + lid * {OWN} + {to}, 2);")
}

// --arg buf:uchar[1536] --arg buf:uint[64] --check 1[0..3]=9,9,9
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

const Body = extern struct { x: f32, y: f32, n: u32, t: [3]u32 };
fn step(b: Body) Body {
    var c = b;
    c.x += c.y;
    c.n +%= c.t[1];
    c.t[c.n % 3] = 9;
    return c;
}
export fn k(b: [*]addrspace(.global) Body, out: [*]addrspace(.global) u32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    b[i] = step(b[i]);
    out[i] = b[i].n + b[i].t[b[i].n % 3];
}

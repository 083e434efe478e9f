// --arg buf:uint[16]=15-iota --arg buf:int[64] --check 1[0..3]=15,14,13 --check 1[15..18]=0,-1,-1
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

fn find(a: [*]addrspace(.global) const u32, n: u32, x: u32) ?u32 {
    var i: u32 = 0;
    while (i < n) : (i += 1) {
        if (a[i] == x) return i;
    }
    return null;
}
export fn k(a: [*]addrspace(.global) const u32, out: [*]addrspace(.global) i32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    out[i] = if (find(a, 16, i)) |at| @intCast(at) else -1;
}

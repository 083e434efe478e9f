// --arg buf:uint[64] --check 0[0..3]=190,33,55
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

export fn k(out: [*]addrspace(.global) u32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    var h: [8]u32 = @splat(0);
    var j: u32 = 0;
    while (j < 20) : (j += 1) {
        h[(i *% j) & 7] += j;
    }
    var best: u32 = 0;
    for (h) |v| {
        best = @max(best, v);
    }
    out[i] = best;
}

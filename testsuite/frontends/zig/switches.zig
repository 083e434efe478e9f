// --arg buf:int[64] --check 0[0..8]=10,2,4,-7,0,10,12,14
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

export fn k(out: [*]addrspace(.global) i32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    const r: i32 = switch (i % 5) {
        0 => 10,
        1, 2 => @as(i32, @intCast(i)) * 2,
        3 => -7,
        else => 0,
    };
    out[i] = r;
}

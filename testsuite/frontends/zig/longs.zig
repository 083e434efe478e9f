// --arg buf:ulong[64]=iota --arg buf:ulong[64] --check 1[0..2]=0,2850178709191421463
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

export fn k(a: [*]addrspace(.global) const u64, out: [*]addrspace(.global) u64) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    const v = a[i] *% 0x9e3779b97f4a7c15;
    out[i] = (v ^ (v >> 29)) / (i + 3) + (v << 7) % 1000;
}

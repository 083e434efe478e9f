// --arg buf:float[64]=iota --arg buf:float[64]=1 --arg float:2 --check 1[0..3]=1,3,5
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

export fn k(x: [*]addrspace(.global) const f32, y: [*]addrspace(.global) f32, a: f32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    y[i] = a * x[i] + y[i];
}

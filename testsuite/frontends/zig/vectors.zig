// --arg buf:float[256]=1 --arg buf:float[64] --check 1[0..2]=14,14
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

export fn k(a: [*]addrspace(.global) @Vector(4, f32), out: [*]addrspace(.global) f32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    const v = a[i] * @as(@Vector(4, f32), @splat(2)) + @Vector(4, f32){ 0, 1, 2, 3 };
    out[i] = @reduce(.Add, v);
}

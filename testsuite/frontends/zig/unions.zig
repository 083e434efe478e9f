// --arg buf:float[64] --check 0[0..4]=0,2,4,6
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

const Shape = union(enum) { square: f32, rectangle: struct { w: f32, h: f32 } };
fn area(s: Shape) f32 {
    return switch (s) {
        .square => |a| a * a,
        .rectangle => |r| r.w * r.h,
    };
}
export fn k(out: [*]addrspace(.global) f32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    const f: f32 = @floatFromInt(i);
    out[i] = area(if (i % 2 == 0) .{ .square = f } else .{ .rectangle = .{ .w = f, .h = 2 } });
}

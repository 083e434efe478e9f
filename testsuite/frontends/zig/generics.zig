// --arg buf:int[64] --check 0[0..3]=12,9,6
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

fn Matrix(comptime T: type, comptime n: usize) type {
    return struct {
        cells: [n][n]T,
        fn trace(m: *const @This()) T {
            var t: T = 0;
            inline for (0..n) |j| t += m.cells[j][j];
            return t;
        }
    };
}
export fn k(out: [*]addrspace(.global) i32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    var m: Matrix(i32, 3) = undefined;
    for (&m.cells, 0..) |*row, r| {
        for (row, 0..) |*c, q| c.* = @as(i32, @intCast(r * 3 + q)) - @as(i32, @intCast(i));
    }
    out[i] = m.trace();
}

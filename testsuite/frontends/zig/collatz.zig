// --arg buf:uint[64] --check 0[0..7]=0,1,7,2,5,8,16
const gid = struct {
    fn get() u32 {
        return @workGroupId(0) * 64 + @workItemId(0);
    }
}.get;

fn steps(start: u32) u32 {
    var n = start;
    var c: u32 = 0;
    while (n != 1) {
        if (n % 2 == 0) {
            n /= 2;
        } else {
            n = 3 *% n +% 1;
        }
        c += 1;
    }
    return c;
}
export fn k(out: [*]addrspace(.global) u32) callconv(.{ .spirv_kernel = .{ .x = 64, .y = 1, .z = 1 } }) void {
    const i = gid();
    out[i] = steps(i + 1);
}

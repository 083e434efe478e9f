// --global 8 --local 4 --arg buf:int[6]=2,4,4,8,16,32 --arg buf:int[8]=1,2,3,4,5,16,32,99 --arg buf:long[8]=9 --arg ulong:6 --check found[0..8]=0,0,1,1,3,4,5,6
// A binary search for each work-item.
kernel void _ZTSN5dpctl6tensor7kernels28searchsorted_contig_impl_krnIilLb1EEE(
    global const int *sorted, global const int *wanted, global long *found, ulong count)
{
}

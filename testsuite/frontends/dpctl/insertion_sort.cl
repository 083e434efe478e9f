// --global 4 --local 2 --arg ulong:2 --arg ulong:8 --arg ulong:4 --arg buf:int[16]=0 --arg buf:int[16]=4,3,2,1,8,5,7,6,-1,-9,3,3,0,1,0,1 --check to[0..16]=1,2,3,4,5,6,7,8,-9,-1,3,3,0,0,1,1
// Each work-item sorts a part of a row.
kernel void _ZTSN5dpctl6tensor7kernels17merge_sort_detail25sort_base_step_contig_krnIiiSt4lessIiEEE(
    ulong chunks, ulong length, ulong chunk, global int *to, global const int *from)
{
}

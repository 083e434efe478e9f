// --global 16 --local 8 --arg ulong:32 --arg buf:int[100]=iota --arg ulong:100 --arg buf:int[4]=100,200,300,400 --check data[0..32]=0..31 --check data[32..64]=132..163 --check data[64..96]=264..295 --check data[96..100]=396..399
// The last step of a scan: adds the sums of the previous chunks.
kernel void _ZTSN5dpctl6tensor7kernels12accumulators39inclusive_scan_1d_iter_chunk_update_krnIiLj8ESt4plusIiEEE(
    ulong chunk, global int *data, ulong count, global const int *sums)
{
}

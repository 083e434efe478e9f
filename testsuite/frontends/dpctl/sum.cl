// --global 128 --local 64 --arg buf:int[256]=iota --arg buf:int[1]=5 --arg int:0 --arg struct:{0,256,1} --arg ulong:256 --arg ulong:1 --arg ulong:2 --check sum[0..1]=32645
// The sum of integers: a reduction in each work-group, and `sycl::atomic_ref` with relaxed order and device scope.
typedef struct { long offset; ulong size; long step; } indexer;
kernel void _ZTSN5dpctl6tensor7kernels37reduction_over_group_with_atomics_krnIiiSt4plusIiENS0_12offset_utils26TwoOffsets_CombinedIndexerINS5_11NoOpIndexerES7_EENS5_16Strided1DIndexerEEE(
    global int *in, global int *sum, int identity, indexer at, ulong length, ulong rows, ulong per_item)
{
}

// --global 8 --local 4 --arg buf:int[8]=iota*3 --arg buf:int[8]=0 --arg local:16 --check out[0..8]=0,3,6,9,12,15,18,21
// `sycl::ext::oneapi::experimental::work_group_memory`.
kernel void __sycl_kernel_local_mem_kernel(
    global const int *in, global int *out, local int *memory)
{
}

// --global 64 --local 64 --arg buf:float[100]=iota*iota --arg buf:float[100]=0 --arg ulong:100 --check roots[0..8]=0..7 --check roots[96..100]=96..99
// Square roots. Their tails depend on the size of the sub-group.
kernel void _ZTSN5dpctl6tensor7kernels4sqrt18sqrt_contig_kernelIffLh4ELh2EEE(
    global const float *in, global float *roots, ulong count)
{
}

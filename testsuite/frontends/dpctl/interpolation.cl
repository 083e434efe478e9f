// --global 5 --local 1 --arg buf:float[5]=0 --arg float:1 --arg float:3 --arg ulong:4 --check data[0..5]=1,1.5,2,2.5,3
// Numbers at equal distances.
kernel void _ZTSN5dpctl6tensor7kernels12constructors29linear_sequence_affine_kernelIffEE(
    global float *data, float start, float end, ulong count)
{
}

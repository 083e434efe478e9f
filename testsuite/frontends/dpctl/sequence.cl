// --global 8 --local 4 --arg buf:int[8]=0 --arg int:5 --arg int:-3 --check data[0..8]=5,2,-1,-4,-7,-10,-13,-16
// An arithmetic sequence.
kernel void _ZTSN5dpctl6tensor7kernels12constructors27linear_sequence_step_kernelIiEE(
    global int *data, int start, int step)
{
}

// --global 12 --local 4 --arg buf:int[12]=9 --arg ulong:0 --arg ulong:11 --arg ulong:5 --check data[0..12]=1,0,0,0,0,1,0,0,0,0,1,0
// An identity matrix.
kernel void _ZTSN5dpctl6tensor7kernels12constructors10eye_kernelIiEE(
    global int *data, ulong start, ulong end, ulong step)
{
}

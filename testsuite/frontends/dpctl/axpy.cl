// --kernel axpy --global 4 --local 2 --arg buf:int[4]=1,2,3,4 --arg buf:int[4]=10,20,30,40 --arg buf:int[4]=0 --arg int:-2 --check c[0..4]=-19,-38,-57,-76
// A scaled sum: OpenCL C that DPC++ compiles.
kernel void axpy(
    global const int *a, global const int *b, global int *c, int d)
{
}

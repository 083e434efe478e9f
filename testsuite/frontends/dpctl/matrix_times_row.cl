// --global 64 --local 64 --arg buf:float[64]=iota --arg buf:float[128]=iota%16+1 --arg buf:float[64]=0 --arg ulong:64 --arg ulong:16 --check product[0..4]=0,2,6,12 --check product[60..64]=780,854,930,1008
// Multiplies the rows of a matrix by a row; the barriers have the scope of a sub-group.
kernel void _ZTSN5dpctl6tensor7kernels8multiply36multiply_matrix_row_broadcast_sg_krnIfffEE(
    global const float *matrix, global const float *row, global float *product, ulong count, ulong width)
{
}

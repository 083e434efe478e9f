// --global 8 --local 4 --arg buf:short[8]=0 --arg short:-7 --check data[0..8]=-7
// `sycl::handler::fill`, which a lambda implements.
kernel void _ZTSZN4sycl3_V17handler4fillIsEEvPvRKT_mEUlNS0_2idILi1EEEE_(
    global short *data, short value)
{
}

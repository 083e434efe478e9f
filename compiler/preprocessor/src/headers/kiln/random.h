// Random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011), the generator of
// cuRAND and of NumPy's `Philox`. It has no state: a number depends on a counter and a key only. Work-items with different
// counters or keys have independent sequences.
//
//   uint4 bits = kiln_philox((uint4)(i, 0, 0, 0), (uint2)(seed, get_global_id(0)));
//   float4 u = kiln_unit_float4(bits);            // in (0, 1]
//   float2 n = kiln_normal_float2(bits.xy);       // two normally distributed numbers
#ifndef KILN_RANDOM_H
#define KILN_RANDOM_H

// One of the ten rounds.
inline uint4 kiln_philox_round(uint4 counter, uint2 key)
{
    uint2 high = (uint2)(mul_hi(0xD2511F53u, counter.x), mul_hi(0xCD9E8D57u, counter.z));
    uint2 low = (uint2)(0xD2511F53u * counter.x, 0xCD9E8D57u * counter.z);
    return (uint4)(high.y ^ counter.y ^ key.x, low.y, high.x ^ counter.w ^ key.y, low.x);
}

// 128 random bits for a counter and a key.
inline uint4 kiln_philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        counter = kiln_philox_round(counter, key);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

// A number in (0, 1] from 32 random bits, as cuRAND makes it: never 0, so that its logarithm is finite.
inline float kiln_unit_float(uint bits) { return fma((float)bits, 0x1p-32f, 0x1p-33f); }

inline float4 kiln_unit_float4(uint4 bits) { return fma(convert_float4(bits), (float4)(0x1p-32f), (float4)(0x1p-33f)); }

// An integer in [0, limit) from 32 random bits. The error of each probability is below limit / 2^32.
inline uint kiln_below(uint bits, uint limit) { return mul_hi(bits, limit); }

// Two independent numbers of the standard normal distribution from 64 random bits (Box and Muller).
inline float2 kiln_normal_float2(uint2 bits)
{
    float radius = sqrt(-2.0f * log(kiln_unit_float(bits.x)));
    float angle = 2.0f * kiln_unit_float(bits.y);
    return radius * (float2)(sinpi(angle), cospi(angle));
}

#endif

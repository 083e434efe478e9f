// A hash: the finalizer of MurmurHash3.
uint kiln_litmus_mix(uint x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// The slot of an instance in a buffer. Any odd factor permutes the slots.
uint kiln_litmus_slot(uint instance, uint buffer, uint mask, uint seed) {
    uint factor = kiln_litmus_mix(seed + buffer);
    return factor & 2 ? instance * (factor | 1) & mask : instance;
}

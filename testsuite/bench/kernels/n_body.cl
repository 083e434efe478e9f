// The accelerations of all bodies by all bodies, through tiles in local memory.
kernel void n_body(global const float4 *bodies, global float4 *accelerations, uint count, local float4 *tile) {
    float4 me = bodies[get_global_id(0)];
    float3 sum = (float3)(0.0f, 0.0f, 0.0f);
    for (uint base = 0; base < count; base += get_local_size(0)) {
        tile[get_local_id(0)] = bodies[base + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < get_local_size(0); i++) {
            float4 other = tile[i];
            float3 way = other.xyz - me.xyz;
            float square = way.x * way.x + way.y * way.y + way.z * way.z + 0.01f;
            float inverse = rsqrt(square);
            sum += way * (other.w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    accelerations[get_global_id(0)] = (float4)(sum, 0.0f);
}

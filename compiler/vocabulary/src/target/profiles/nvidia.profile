# NVIDIA H100 80GB HBM3 (NVIDIA 580.159.04)
driver = nvidia 580.159.4
int8                               # 8-bit integer arithmetic
int16                              # 16-bit integer arithmetic
int64                              # 64-bit integer arithmetic
fp16                               # 16-bit floating-point arithmetic
fp64                               # 64-bit floating-point arithmetic
storage8                           # 8-bit loads and stores of global memory
storage16                          # 16-bit loads and stores of global memory
push_constant8                     # 8-bit push constants
push_constant16                    # 16-bit push constants
int64_global_atomics               # 64-bit atomics on global memory
int64_local_atomics                # 64-bit atomics on local memory
float32_atomic_add                 # 32-bit floating-point atomic addition on global and on local memory
variable_pointers                  # Pointers to local memory as values
workgroup_explicit_layout          # Local memory with an explicit layout, for reinterpretation
device_scope                       # The device scope of the Vulkan memory model
availability_chains                # Chains of availability and visibility (R10)
subgroups                          # Basic sub-group operations in compute
clock                              # Clocks of the device and of sub-groups
float_controls_preserve32          # Signed zeros, infinities and NaNs of 32-bit floats can be preserved
float_controls_preserve16          # Signed zeros, infinities and NaNs of 16-bit floats can be preserved
float_controls_preserve64          # Signed zeros, infinities and NaNs of 64-bit floats can be preserved
float_controls_denorm_preserve16   # Denormals of 16-bit floats can be preserved
images                             # Images
read_write_images                  # Images that a kernel both reads and writes
image_level_writes                 # Writes to levels of images: kernels can bind each level of at least 4 images
device_samplers                    # Samplers of the device filter every floating-point format
push_constant_size = 256

# SwiftShader Device (Subzero) (SwiftShader driver)
driver = swiftshader 5.0.0
device_scope                       # The device scope of the Vulkan memory model
availability_chains                # Chains of availability and visibility (R10)
subgroups                          # Basic sub-group operations in compute
float_controls_preserve32          # Signed zeros, infinities and NaNs of 32-bit floats can be preserved
float_controls_preserve16          # Signed zeros, infinities and NaNs of 16-bit floats can be preserved
float_controls_preserve64          # Signed zeros, infinities and NaNs of 64-bit floats can be preserved
images                             # Images
device_samplers                    # Samplers of the device filter every floating-point format
push_constant_size = 128
read_images = 199
written_images = 16

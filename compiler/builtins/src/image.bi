# Images (OpenCL C 6.15.15): read with a sampler, read without, write, query. `T` is the type of coordinates.
@family image
@attributes pure

# With a sampler.
@T int float
@X ro image1d_t
float4 read_imagef(X, sampler_t, T) = image read
int4 read_imagei(X, sampler_t, T) = image read
uint4 read_imageui(X, sampler_t, T) = image read
half4 read_imageh(X, sampler_t, T) = image read
@X ro image2d_t image1d_array_t
float4 read_imagef(X, sampler_t, T2) = image read
int4 read_imagei(X, sampler_t, T2) = image read
uint4 read_imageui(X, sampler_t, T2) = image read
half4 read_imageh(X, sampler_t, T2) = image read
@X ro image3d_t image2d_array_t
float4 read_imagef(X, sampler_t, T4) = image read
int4 read_imagei(X, sampler_t, T4) = image read
uint4 read_imageui(X, sampler_t, T4) = image read
half4 read_imageh(X, sampler_t, T4) = image read
@X ro image2d_depth_t
float read_imagef(X, sampler_t, T2) = image read
@X ro image2d_array_depth_t
float read_imagef(X, sampler_t, T4) = image read

# Without a sampler.
@when 1.2
@X ro rw image1d_t image1d_buffer_t
float4 read_imagef(X, int) = image read
int4 read_imagei(X, int) = image read
uint4 read_imageui(X, int) = image read
half4 read_imageh(X, int) = image read
@X ro rw image2d_t image1d_array_t
float4 read_imagef(X, int2) = image read
int4 read_imagei(X, int2) = image read
uint4 read_imageui(X, int2) = image read
half4 read_imageh(X, int2) = image read
@X ro rw image3d_t image2d_array_t
float4 read_imagef(X, int4) = image read
int4 read_imagei(X, int4) = image read
uint4 read_imageui(X, int4) = image read
half4 read_imageh(X, int4) = image read
@X ro rw image2d_depth_t
float read_imagef(X, int2) = image read
@X ro rw image2d_array_depth_t
float read_imagef(X, int4) = image read

# Multi-sample images: cl_khr_gl_msaa_sharing.
@X ro rw image2d_msaa_t
float4 read_imagef(X, int2, int) = image read
int4 read_imagei(X, int2, int) = image read
uint4 read_imageui(X, int2, int) = image read
@X ro rw image2d_array_msaa_t
float4 read_imagef(X, int4, int) = image read
int4 read_imagei(X, int4, int) = image read
uint4 read_imageui(X, int4, int) = image read
@X ro rw image2d_msaa_depth_t
float read_imagef(X, int2, int) = image read
@X ro rw image2d_array_msaa_depth_t
float read_imagef(X, int4, int) = image read

# With a level of detail or gradients: cl_khr_mipmap_image.
@when 2.0 cl_khr_mipmap_image
@X ro rw image1d_t
float4 read_imagef(X, sampler_t, float, float) = image read
float4 read_imagef(X, sampler_t, float, float, float) = image read
int4 read_imagei(X, sampler_t, float, float) = image read
int4 read_imagei(X, sampler_t, float, float, float) = image read
uint4 read_imageui(X, sampler_t, float, float) = image read
uint4 read_imageui(X, sampler_t, float, float, float) = image read
@X ro rw image1d_array_t
float4 read_imagef(X, sampler_t, float2, float) = image read
float4 read_imagef(X, sampler_t, float2, float, float) = image read
int4 read_imagei(X, sampler_t, float2, float) = image read
int4 read_imagei(X, sampler_t, float2, float, float) = image read
uint4 read_imageui(X, sampler_t, float2, float) = image read
uint4 read_imageui(X, sampler_t, float2, float, float) = image read
@X ro rw image2d_t
float4 read_imagef(X, sampler_t, float2, float) = image read
float4 read_imagef(X, sampler_t, float2, float2, float2) = image read
int4 read_imagei(X, sampler_t, float2, float) = image read
int4 read_imagei(X, sampler_t, float2, float2, float2) = image read
uint4 read_imageui(X, sampler_t, float2, float) = image read
uint4 read_imageui(X, sampler_t, float2, float2, float2) = image read
@X ro rw image2d_array_t
float4 read_imagef(X, sampler_t, float4, float) = image read
float4 read_imagef(X, sampler_t, float4, float2, float2) = image read
int4 read_imagei(X, sampler_t, float4, float) = image read
int4 read_imagei(X, sampler_t, float4, float2, float2) = image read
uint4 read_imageui(X, sampler_t, float4, float) = image read
uint4 read_imageui(X, sampler_t, float4, float2, float2) = image read
@X ro rw image3d_t
float4 read_imagef(X, sampler_t, float4, float) = image read
float4 read_imagef(X, sampler_t, float4, float4, float4) = image read
int4 read_imagei(X, sampler_t, float4, float) = image read
int4 read_imagei(X, sampler_t, float4, float4, float4) = image read
uint4 read_imageui(X, sampler_t, float4, float) = image read
uint4 read_imageui(X, sampler_t, float4, float4, float4) = image read
@X ro rw image2d_depth_t
float read_imagef(X, sampler_t, float2, float) = image read
float read_imagef(X, sampler_t, float2, float2, float2) = image read
@X ro rw image2d_array_depth_t
float read_imagef(X, sampler_t, float4, float) = image read
float read_imagef(X, sampler_t, float4, float2, float2) = image read

# Write.
@attributes
@when
@X wo rw image1d_t image1d_buffer_t
void write_imagef(X, int, float4) = image write
void write_imagei(X, int, int4) = image write
void write_imageui(X, int, uint4) = image write
void write_imageh(X, int, half4) = image write
@X wo rw image2d_t image1d_array_t
void write_imagef(X, int2, float4) = image write
void write_imagei(X, int2, int4) = image write
void write_imageui(X, int2, uint4) = image write
void write_imageh(X, int2, half4) = image write
@X wo rw image2d_array_t
void write_imagef(X, int4, float4) = image write
void write_imagei(X, int4, int4) = image write
void write_imageui(X, int4, uint4) = image write
void write_imageh(X, int4, half4) = image write
@X wo rw image2d_depth_t
void write_imagef(X, int2, float) = image write
@X wo rw image2d_array_depth_t
void write_imagef(X, int4, float) = image write
@when cl_khr_3d_image_writes | 2.0 __opencl_c_3d_image_writes
@X wo rw image3d_t
void write_imagef(X, int4, float4) = image write
void write_imagei(X, int4, int4) = image write
void write_imageui(X, int4, uint4) = image write
void write_imageh(X, int4, half4) = image write

# Write to a mip level: cl_khr_mipmap_image_writes.
@when 2.0 cl_khr_mipmap_image_writes
@X wo rw image1d_t
void write_imagef(X, int, int, float4) = image write
void write_imagei(X, int, int, int4) = image write
void write_imageui(X, int, int, uint4) = image write
@X wo rw image2d_t image1d_array_t
void write_imagef(X, int2, int, float4) = image write
void write_imagei(X, int2, int, int4) = image write
void write_imageui(X, int2, int, uint4) = image write
@X wo rw image2d_array_t
void write_imagef(X, int4, int, float4) = image write
void write_imagei(X, int4, int, int4) = image write
void write_imageui(X, int4, int, uint4) = image write
@X wo rw image2d_depth_t
void write_imagef(X, int2, int, float) = image write
@X wo rw image2d_array_depth_t
void write_imagef(X, int4, int, float) = image write
@X wo rw image3d_t
void write_imagef(X, int4, int, float4) = image write
void write_imagei(X, int4, int, int4) = image write
void write_imageui(X, int4, int, uint4) = image write

# Query.
@attributes const
@when
@X ro wo rw image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image2d_msaa_t image2d_array_msaa_t image2d_msaa_depth_t image2d_array_msaa_depth_t image3d_t
int get_image_width(X) = image width
int get_image_channel_data_type(X) = image channel_data_type
int get_image_channel_order(X) = image channel_order
@X ro wo rw image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image2d_msaa_t image2d_array_msaa_t image2d_msaa_depth_t image2d_array_msaa_depth_t image3d_t
int get_image_height(X) = image height
@X ro wo rw image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image2d_msaa_t image2d_array_msaa_t image2d_msaa_depth_t image2d_array_msaa_depth_t
int2 get_image_dim(X) = image dim
@X ro wo rw image3d_t
int4 get_image_dim(X) = image dim
int get_image_depth(X) = image depth
@X ro wo rw image1d_array_t image2d_array_t image2d_array_depth_t image2d_array_msaa_t image2d_array_msaa_depth_t
size_t get_image_array_size(X) = image array_size
@X ro wo rw image2d_msaa_t image2d_array_msaa_t image2d_msaa_depth_t image2d_array_msaa_depth_t
int get_image_num_samples(X) = image num_samples
@when 2.0 cl_khr_mipmap_image
@X ro wo rw image1d_t image1d_array_t image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image3d_t
int get_image_num_mip_levels(X) = image num_mip_levels
